//go:build unix

package edits

import (
	"os"
	"strings"
	"testing"
)

// A proposal that cannot be applied to the very files that it was made from is a trap: the user would
// be asked for it, and the model told that somebody else changed the files, again and again.
func TestPatchesThatStandInTheirOwnWay(t *testing.T) {
	for name, c := range map[string]struct {
		call call
		code Code
		says string
		want tree
	}{
		"two names of one file":              {call: ap("*** Update File: a", "-one", "+ONE", "*** Update File: hard", "-two", "+TWO"), code: CodeInvalidPatch, says: "hard link"},
		"one updated, one deleted":           {call: ap("*** Update File: a", "-one", "+ONE", "*** Delete File: hard"), code: CodeInvalidPatch, says: "hard link"},
		"both deleted":                       {call: ap("*** Delete File: a", "*** Delete File: hard"), want: tree{"a": gone, "hard": gone}},
		"a file with the same text":          {call: ap("*** Update File: a", "-one", "+ONE", "*** Update File: same", "-one", "+ONE"), want: tree{"a": "ONE\ntwo\n", "hard": "ONE\ntwo\n", "same": "ONE\ntwo\n"}},
		"updated through a link and deleted": {call: ap("*** Update File: link", "-one", "+ONE", "*** Delete File: a"), want: tree{"a": gone}},
		"updated through a link and moved": {call: ap("*** Update File: link", "-one", "+ONE", "*** Update File: a", "*** Move to: b"),
			want: tree{"a": gone, "b": "ONE\ntwo\n"}},
		"a new file below a new file": {call: ap("*** Add File: n", "+1", "*** Add File: n/m", "+2"), code: CodeInvalidPatch, says: "n is a file"},
		"a new file above a new file": {call: ap("*** Add File: n/m/o", "+1", "*** Add File: n", "+2"), code: CodeInvalidPatch, says: "n is a file"},
		"moved below a new file":      {call: ap("*** Add File: n", "+1", "*** Update File: a", "*** Move to: n/a"), code: CodeInvalidPatch, says: "n is a file"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, tree{"a": "one\ntwo\n", "link": "-> a", "same": "one\ntwo\n"})
			w.try(os.Link(string(w.path("a")), string(w.path("hard"))))
			want := w.tree()
			p, err := c.call(t.Context(), w)
			if c.code != "" {
				r, ok := err.(*Refusal)
				if !ok || r.Code != c.code || !strings.Contains(r.Message, c.says) {
					t.Errorf("got %v, want %s with %q", err, c.code, c.says)
				}
				return
			}
			w.try(err)
			p.State = Approved
			_, err = p.Apply(t.Context(), w.files, &journal{})
			w.try(err)
			got := w.tree()
			for name, content := range c.want {
				if want[name] = content; content == gone {
					delete(want, name)
				}
			}
			for name := range want {
				if got[name] != want[name] {
					t.Errorf("%s is %q, want %q", name, got[name], want[name])
				}
			}
			if len(got) != len(want) {
				t.Errorf("files %q, want %q", got, want)
			}
		})
	}
}
