package acp

import (
	"os"
	"testing"

	"acp-agent/provenance"
)

// A repair can break off as well. Wherever it stops, the content is still at one of the two places: the
// file is put back before its moved copy is taken away.
func TestRepairPutsAMovedFileBackFirst(t *testing.T) {
	w := newWreck(t)
	f := provenance.File{Op: "move", Path: w.root.Join("from"), To: w.root.Join("folder"), Before: w.keep("m1"), After: w.keep("m2")}
	if err := os.Mkdir(f.To.String(), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.s.rollBack(f); err == nil {
		t.Error("a copy that cannot be taken away gives no error")
	}
	if data, err := os.ReadFile(f.Path.String()); err != nil || string(data) != "m1" {
		t.Errorf("the file is not back: %q %v", data, err)
	}
}

// One edit of files in two roots is all done or not done at all, whichever root is opened first.
func TestRepairOfAnEditInTwoRoots(t *testing.T) {
	for name, tc := range map[string]struct {
		a, b string // on disk
		kind provenance.Kind
		want string
	}{
		"only one was written": {"new", "old", provenance.Failed, "old"},
		"both were written":    {"new", "new", provenance.Applied, "new"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newWreck(t)
			b := a.beside()
			for w, text := range map[*wreck]string{a: tc.a, b: tc.b} {
				w.write("f", text)
				w.intent(provenance.File{Op: "update", Path: "f", Before: w.keep("old"), After: w.keep("new")})
			}
			a.mend(tc.kind, "at start", map[string]string{"f": tc.want})
			b.mend(tc.kind, "at start", map[string]string{"f": tc.want})
		})
	}
}
