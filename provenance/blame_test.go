package provenance

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"acp-agent/internal/workspace"
)

// story builds a log of changes of small texts, each record named by its proposal.
type story struct {
	t     *testing.T
	log   *Log
	blobs *Blobs
}

func newStory(t *testing.T) *story {
	l, dir, _ := openLog(t)
	return &story{t: t, log: l, blobs: NewBlobs(filepath.Join(filepath.Dir(dir), "checkpoints"))}
}

// none is the text of a file that is not there.
const none = "\x00none"

func (s *story) hash(text string) workspace.Hash {
	s.t.Helper()
	if text == none {
		return ""
	}
	h := workspace.HashBytes([]byte(text))
	if err := s.blobs.Put(h, []byte(text)); err != nil {
		s.t.Fatal(err)
	}
	return h
}

func (s *story) change(kind Kind, name string, files ...File) {
	s.t.Helper()
	mustAppend(s.t, s.log, Record{Kind: kind, Session: "s", Proposal: name, Files: files})
}

func (s *story) file(op, path, before, after string) File {
	s.t.Helper()
	return File{Op: op, Path: workspace.Path(path), Before: s.hash(before), After: s.hash(after)}
}

func (s *story) update(name, path, before, after string) {
	s.t.Helper()
	s.change(Applied, name, s.file("update", path, before, after))
}

// blame checks "owner text" lines; "-" is nobody.
func (s *story) blame(path, text string, want ...string) {
	s.t.Helper()
	lines, err := Blame(s.log, s.blobs, workspace.Path(path), text)
	if err != nil {
		s.t.Fatal(err)
	}
	var got []string
	for i, l := range lines {
		owner := "-"
		if l.Record != nil {
			owner = l.Record.Proposal
		}
		if l.Number != i+1 {
			s.t.Errorf("line %d has number %d", i+1, l.Number)
		}
		got = append(got, owner+" "+l.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		s.t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestBlameFollowsEdits(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "a\nb\nc\n", "a\nB\nc\n")
	s.update("2", "/w/f", "a\nB\nc\n", "new\na\nB\nc\n")
	s.update("x", "/w/other", "", "a\n")
	s.change(Failed, "3", s.file("update", "/w/f", "new\na\nB\nc\n", "a\n"))
	s.change(Intent, "4", s.file("update", "/w/f", "new\na\nB\nc\n", "a\n"))
	s.blame("/w/f", "new\na\nB\nc\n", "2 new", "- a", "1 B", "- c")
}

func TestBlameOfANewFileIsWhole(t *testing.T) {
	s := newStory(t)
	s.change(Applied, "1", s.file("create", "/w/f", none, "a\nb\n"))
	s.blame("/w/f", "a\nb\n", "1 a", "1 b")
	s.blame("/w/unknown", "a\n", "- a")
	s.blame("/w/f", "")
}

func TestBlameSeesUserEdits(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "a\n", "a\nb\nc\n")
	// The user changed b and added a line before the next edit, and another one after it.
	s.update("2", "/w/f", "a\nuser\nc\nuser2\n", "a\nuser\nC\nuser2\n")
	s.blame("/w/f", "top\na\nuser\nC\nuser2\n", "- top", "- a", "- user", "2 C", "- user2")
}

func TestBlameNamesRecordedExternalChanges(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "a\n", "a\nb\n")
	s.change(External, "ext", s.file("update", "/w/f", "a\nb\n", "a\nb\nmade by a command\n"))
	s.blame("/w/f", "a\nb\nmade by a command\n", "- a", "1 b", "ext made by a command")
}

func TestBlameFollowsMoves(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/a", "x\n", "x\none\n")
	s.change(Applied, "2", File{Op: "move", Path: "/w/a", To: "/w/b", Before: s.hash("x\none\n"), After: s.hash("x\none\ntwo\n")})
	// A new file takes the old name; it has nothing of the moved one.
	s.change(Applied, "3", s.file("create", "/w/a", none, "x\none\n"))
	s.update("4", "/w/b", "x\none\ntwo\n", "x\none\ntwo\nfour\n")
	s.blame("/w/b", "x\none\ntwo\nfour\n", "- x", "1 one", "2 two", "4 four")
	s.blame("/w/a", "x\none\n", "3 x", "3 one")
}

func TestBlameOfAMoveAndANewFileInOneRecord(t *testing.T) {
	s := newStory(t)
	s.change(Applied, "1", s.file("create", "/w/a", none, "x\n"))
	s.change(Applied, "2", File{Op: "move", Path: "/w/a", To: "/w/b", Before: s.hash("x\n"), After: s.hash("x\n")},
		s.file("create", "/w/a", none, "x\n"))
	s.blame("/w/b", "x\n", "1 x")
	s.blame("/w/a", "x\n", "2 x")
}

func TestBlameAfterDeletion(t *testing.T) {
	s := newStory(t)
	s.change(Applied, "1", s.file("create", "/w/f", none, "a\n"))
	s.change(Applied, "2", s.file("delete", "/w/f", "a\n", none))
	s.blame("/w/f", "a\n", "- a") // the user made it anew
	s.change(Applied, "3", s.file("create", "/w/f", none, "a\nb\n"))
	s.blame("/w/f", "a\nb\n", "3 a", "3 b")
}

func TestBlameUsesWhatWasFound(t *testing.T) {
	s := newStory(t)
	f := s.file("update", "/w/f", "a\n", "a\nb  \n")
	f.Found = s.hash("a\nb\n") // the editor trimmed it on save
	s.change(Applied, "1", f)
	s.update("2", "/w/f", "a\nb\n", "a\nb\nc\n")
	s.blame("/w/f", "a\nb\nc\n", "- a", "1 b", "2 c")
}

func TestBlameAfterUndo(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "a\n", "a\nb\n")
	s.update("2", "/w/f", "a\nb\n", "a\n")
	s.change(Undo, "3", s.file("update", "/w/f", "a\n", "a\nb\n"))
	s.blame("/w/f", "a\nb\n", "- a", "1 b")
}

func TestBlameIgnoresLineEndings(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "\ufeffa\r\nb\r\n", "\ufeffa\r\nb\r\nc")
	s.blame("/w/f", "a\nb\nc\n", "- a", "- b", "1 c")
}

func TestBlameOfUTF16AndLoneCR(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "\xff\xfea\x00\n\x00", "\xff\xfea\x00\n\x00b\x00\n\x00")
	s.blame("/w/f", "a\nb\n", "- a", "1 b")
	s.update("2", "/w/mac", "a\rb\r", "a\rnew\rb\r")
	s.blame("/w/mac", "a\rnew\rb\r", "- a", "2 new", "- b")
}

func TestBlameWithoutOldContents(t *testing.T) {
	s := newStory(t)
	s.update("1", "/w/f", "a\n", "a\nb\n")
	s.update("2", "/w/f", "a\nb\n", "a\nb\nc\n")
	s.update("3", "/w/f", "changed\nb\nc\n", "changed\nb\nc\nd\n")
	s.update("4", "/w/f", "changed\nb\nc\nd\n", "changed\nb\nc\nd\ne\n")
	if err := os.Remove(s.blobs.path(workspace.HashBytes([]byte("changed\nb\nc\n")))); err != nil {
		t.Fatal(err)
	}
	s.blame("/w/f", "changed\nb\nc\nd\ne\n", "- changed", "- b", "- c", "- d", "4 e")
}

func TestBlameThroughALink(t *testing.T) {
	s := newStory(t)
	dir := t.TempDir()
	real, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(real, []byte("a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(real, link); err != nil {
		t.Fatal(err)
	}
	resolved, err := filepath.EvalSymlinks(real)
	if err != nil {
		t.Fatal(err)
	}
	s.change(Applied, "1", s.file("create", resolved, none, "a\n"))
	s.blame(link, "a\n", "1 a")
}

// checkMatches says what is wrong with a matching; "" when it pairs equal lines in order.
func checkMatches(a, b []string, m []int) string {
	last := -1
	for j, i := range m {
		if i < 0 {
			continue
		}
		if i <= last || i >= len(a) || a[i] != b[j] {
			return fmt.Sprintf("line %d of %q paired with line %d of %q", j, b, i, a)
		}
		last = i
	}
	return ""
}

func paired(m []int) int {
	n := 0
	for _, i := range m {
		if i >= 0 {
			n++
		}
	}
	return n
}

// longest is the length of the longest common subsequence, the slow and obvious way.
func longest(a, b []string) int {
	t := make([][]int, len(a)+1)
	for i := range t {
		t[i] = make([]int, len(b)+1)
		for j := range t[i] {
			switch {
			case i == 0 || j == 0:
			case a[i-1] == b[j-1]:
				t[i][j] = t[i-1][j-1] + 1
			default:
				t[i][j] = max(t[i-1][j], t[i][j-1])
			}
		}
	}
	return t[len(a)][len(b)]
}

func TestMatchesPairEqualLinesInOrder(t *testing.T) {
	line := rapid.StringOfN(rapid.RuneFrom([]rune("abc")), 0, 2, -1)
	rapid.Check(t, func(t *rapid.T) {
		a := rapid.SliceOfN(line, 0, 25).Draw(t, "a")
		b := rapid.SliceOfN(line, 0, 25).Draw(t, "b")
		if fault := checkMatches(a, b, matches(a, b)); fault != "" {
			t.Fatal(fault)
		}
		m := make([]int, len(b))
		for i := range m {
			m[i] = -1
		}
		myers(a, b, 0, 0, m)
		if fault := checkMatches(a, b, m); fault != "" {
			t.Fatal(fault)
		}
		if got, want := paired(m), longest(a, b); got != want {
			t.Fatalf("%d lines kept of %d between %q and %q", got, want, a, b)
		}
	})
}

func TestMatchesOfLargeTexts(t *testing.T) {
	var a, b []string
	for i := range 20_000 {
		line := fmt.Sprint("line ", i%500) // hardly any line is unique
		a = append(a, line)
		if i%100 != 7 {
			b = append(b, line)
		}
		if i%150 == 3 {
			b = append(b, fmt.Sprint("new ", i))
		}
	}
	m := matches(a, b)
	if fault := checkMatches(a, b, m); fault != "" {
		t.Fatal(fault)
	}
	if got := paired(m); got != 19_800 {
		t.Errorf("%d lines kept, want 19800", got)
	}
	// Nothing in common: given up within bounds, not searched for ever.
	x, y := strings.Fields(strings.Repeat("x ", 20_000)), strings.Fields(strings.Repeat("y ", 20_000))
	if got := paired(matches(x, y)); got != 0 {
		t.Errorf("%d lines kept of nothing", got)
	}
}
