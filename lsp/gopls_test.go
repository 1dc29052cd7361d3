package lsp

import (
	"testing"
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
