package lsp

import (
	"context"
	"slices"
	"testing"
)

// A file is edited after somebody has changed another one that it depends on. The server says
// what it finds at once, and again when it hears of more: the first word must know all.
func TestL15_OtherFilesAreToldFirst(t *testing.T) {
	for name, modes := range map[string][]string{"published": nil, "asked": {"pull"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, modes, map[string]string{"a.fk": "\n", "lib.fk": "DEFINES(x)\n"})
			for _, file := range []string{"lib.fk", "a.fk"} { // both are open
				if _, _, err := f.s.Diagnostics(context.Background(), f.path(file), f.read(file)); err != nil {
					t.Fatal(err)
				}
			}
			f.write("lib.fk", "nothing\n")
			v := f.apply("a.fk", "USES(x)\n")
			wantMessages(t, "introduced", v.Introduced, "x is not defined")
			var order []string
			for _, e := range f.server.Received("textDocument/didChange") {
				order = append(order, e.Param("textDocument", "uri"))
			}
			if n := len(order); n < 2 || !slices.Equal(order[:2], []string{toURI(f.path("lib.fk")), toURI(f.path("a.fk"))}) {
				t.Errorf("changed in the order %q", order)
			}
		})
	}
}

// A server that speaks of files which are not open speaks of what is on disk: its word on one does not
// become the verdict on a document that was opened meanwhile with another text.
func TestL15_WordOnAFileIsNotOneOnTheDocument(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"dependents", "slow=100ms", "slow-open=100ms"}, map[string]string{"a.fk": "\n", "b.fk": given("old")})
	f.apply("a.fk", given("one"))
	v := f.foresee(f.change("b.fk", given("proposed")))
	wantMessages(t, "foreseen", v.Items, "proposed")
	v = f.apply("b.fk", given("old", "new"))
	wantMessages(t, "introduced", v.Introduced, "new")
	wantMessages(t, "items", v.Items, "old", "new")
}
