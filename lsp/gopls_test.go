package lsp

import (
	"context"
	"testing"
	"time"
)

const goMod = "module example.com/x\n\ngo 1.24\n"

func TestGoplsForeseenThenApplied(t *testing.T) {
	b := newBench(t, map[string]string{
		"go.mod": goMod,
		"a.go":   "package x\n\nfunc A() int { return 1 }\n",
		"b.go":   "package x\n\nfunc B() int { return A() }\n",
	})
	bad := "package x\n\nfunc A() int { return missing }\n"
	v := b.foresee(b.change("a.go", bad))
	if v.State != Findings || len(v.Introduced) != 1 || !v.Foreseen || !v.BaselineKnown {
		t.Fatalf("foreseen: %+v", v)
	}
	v = b.apply("a.go", bad)
	if v.State != Findings || len(v.Introduced) != 1 || v.Foreseen {
		t.Fatalf("applied: %+v", v)
	}
	t.Log(v.ForModel("LSP diagnostics introduced by this edit", 4000))
	v = b.apply("a.go", "package x\n\nfunc A() int { return 2 }\n")
	if v.State != Clean || v.Mended != 1 {
		t.Fatalf("mended: %+v", v)
	}
}

// A verdict that was foreseen is given without waiting, however slow the server was before (its first
// answers take seconds while it reads the standard library) and however long writing took.
func TestGoplsForeseenIsConfirmedAtOnce(t *testing.T) {
	b := newBench(t, map[string]string{"go.mod": goMod, "a.go": "package x\n\nfunc A() int { return 1 }\n"})
	for _, text := range []string{"package x\n\nfunc A() int { return missing }\n", "package x\n\nfunc A() int { return 2 }\n"} {
		foreseen := b.foresee(b.change("a.go", text))
		in := b.m.instances()[0]
		in.mu.Lock()
		in.average = time.Second
		in.mu.Unlock()
		v, ok := b.edit("e1", b.change("a.go", text)).Wait(context.Background(), time.Now())
		if !ok || v.State != foreseen.State || v.Foreseen || len(v.Introduced) != len(foreseen.Introduced) || v.Mended != foreseen.Mended {
			t.Fatalf("ok %v, %+v; foreseen was %+v", ok, v, foreseen)
		}
		if late := b.s.Settle(context.Background()); len(late) != 0 {
			t.Fatalf("given twice: %+v", late)
		}
	}
}
