package lsp

import (
	"context"
	"strings"
	"testing"
	"time"
)

// An edit that began from an editor's unsaved text is judged in that text; the disk stays the truth.
func TestUnsavedBuffer(t *testing.T) {
	f := crossServer()
	withFake(t, map[string]string{"a.x": "on disk\n"}, f, func(b *fakeBench) {
		ch := Change{Op: Update, Path: b.path("a.x"), OldText: "unsaved bad\n", NewText: "unsaved bad\nbad\n"}
		v := b.foreseeIn(b.s, time.Minute, ch)
		if v.Before != 1 || v.After != 2 || len(v.Introduced) != 1 {
			t.Fatalf("%+v", v)
		}
		// The editor took the text and has not saved it: the disk still has the old one.
		c := b.s.Applied("e", []Change{ch})
		v, ok := b.verdictIn(c, time.Minute)
		if !ok || v.After != 2 || len(v.Introduced) != 1 {
			// The disk's text is neither the old nor the new one: it was changed by somebody.
			if v.Reason != ReasonChanged {
				t.Fatalf("%v %+v", ok, v)
			}
		}
		saved := Change{Op: Update, Path: b.path("a.x"), OldText: "on disk\n", NewText: "bad\n"}
		v, ok = b.verdictIn(b.s.Applied("e2", []Change{saved}), time.Minute)
		if !ok || v.After != 1 || b.f.text("a.x") != "bad\n" {
			t.Fatalf("an editor that keeps the text in its buffer: %v %+v", ok, v)
		}
		b.write("a.x", "bad\n") // it saves
		items, notice, err := b.s.Diagnostics(context.Background(), b.path("a.x"), "bad\n")
		if len(items) != 1 || notice != "" || err != nil {
			t.Fatalf("%+v %q %v", items, notice, err)
		}
	})
}

// A text in another encoding than UTF-8 cannot be compared with its bytes; they stand for it.
func TestOtherEncodings(t *testing.T) {
	f := crossServer()
	withFake(t, map[string]string{"a.x": "caf\xe9\n"}, f, func(b *fakeBench) {
		ch := Change{Op: Update, Path: b.path("a.x"), OldText: "café\n", NewText: "café bad\n"}
		b.write("a.x", "caf\xe9 bad\n")
		v, ok := b.verdictIn(b.s.Applied("e", []Change{ch}), time.Minute)
		if !ok || v.State != Findings || b.f.text("a.x") != "café bad\n" {
			t.Fatalf("%v %+v %q", ok, v, b.f.text("a.x"))
		}
		b.write("bom.x", "\uFEFFbad\n")
		v, ok = b.verdictIn(b.s.Applied("e", []Change{{Op: Create, Path: b.path("bom.x"), NewText: "bad\n"}}), time.Minute)
		if !ok || v.State != Findings || b.f.text("bom.x") != "bad\n" {
			t.Fatalf("%v %+v %q", ok, v, b.f.text("bom.x"))
		}
	})
}

func TestOpenDocumentsAreBounded(t *testing.T) {
	f := crossServer()
	f.caps["diagnosticProvider"] = map[string]any{"interFileDependencies": false}
	withFake(t, nil, f, func(b *fakeBench) {
		for i := range maxKnown + 200 {
			name := "f" + strings.Repeat("i", i%7) + time.Duration(i).String() + ".x"
			if v, ok := b.verdictIn(b.edit("e", b.change(name, "bad\n")), time.Minute); !ok || v.State != Findings {
				t.Fatalf("%v %+v", ok, v)
			}
		}
		b.s.Settle(context.Background())
		b.in.mu.Lock()
		defer b.in.mu.Unlock()
		open := 0
		for _, d := range b.in.docs {
			if d.client != nil {
				open++
			}
		}
		if open > maxOpen || len(b.in.docs) > maxKnown+1 {
			t.Errorf("%d open, %d known", open, len(b.in.docs))
		}
	})
}
