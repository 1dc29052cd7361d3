//go:build unix

package edits

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"strings"
	"testing"
)

// propose makes an approved proposal.
func (w *world) propose(c call) *Proposal {
	w.t.Helper()
	p, err := c(w.t.Context(), w)
	w.try(err)
	p.State = Approved
	return p
}

// Cases G-E15 and A.5: what changed between the question and the answer is never overwritten.
func TestStale(t *testing.T) {
	files := tree{"v.txt": "v=1\n", "b": "\x00\x01", "../out/v.txt": "v=1\n", "l": "-> v.txt", "d/x": "x\n"}
	write := func(name, content string) func(w *world) {
		return func(w *world) { w.try(os.WriteFile(string(w.path(name)), []byte(content), 0o644)) }
	}
	remove := func(name string) func(w *world) {
		return func(w *world) { w.try(os.RemoveAll(string(w.path(name)))) }
	}
	become := func(name, content string) func(w *world) {
		return func(w *world) {
			remove(name)(w)
			w.put(name, content)
		}
	}
	for _, c := range []struct {
		name   string
		call   call
		change func(w *world)
		says   string
	}{
		{"edit, changed", rp("v.txt", "v=1", "v=2"), write("v.txt", "v=1\n# user\n"), "+# user"},
		{"edit, deleted", rp("v.txt", "v=1", "v=2"), remove("v.txt"), "deleted"},
		{"write, changed", wf("v.txt", "v=2\n"), write("v.txt", "v=1\n# user\n"), "changed on disk"},
		{"write, deleted", wf("v.txt", "v=2\n"), remove("v.txt"), "deleted"},
		{"patch, changed", ap("*** Update File: v.txt", "-v=1", "+v=2"), write("v.txt", "v=1\n# user\n"), "changed on disk"},
		{"same length", rp("v.txt", "v=1", "v=2"), write("v.txt", "v=3\n"), "changed on disk"},
		{"delete, changed", ap("*** Delete File: v.txt"), write("v.txt", "v=1\n# user\n"), "changed on disk"},
		{"delete, deleted", ap("*** Delete File: v.txt"), remove("v.txt"), "deleted"},
		{"delete binary, changed", ap("*** Delete File: b"), write("b", "\x00\x02"), "changed on disk"},
		{"delete a link, led elsewhere", ap("*** Delete File: l"), become("l", "-> d/x"), "changed on disk"},
		{"delete a link, a file by now", ap("*** Delete File: l"), become("l", "v.txt"), "kind of file"},
		{"move, changed", ap("*** Update File: v.txt", "*** Move to: w.txt"), write("v.txt", "u"), "changed on disk"},
		{"move, target appeared", ap("*** Update File: v.txt", "*** Move to: w.txt"), write("w.txt", "u"), "created by somebody else"},
		{"new file appeared", wf("n.txt", "n"), write("n.txt", "user"), "created by somebody else"},
		{"became a folder", rp("v.txt", "v=1", "v=2"), become("v.txt/", "dir"), "can no longer be read"},
		{"became a link out", rp("v.txt", "v=1", "v=2"), become("v.txt", "-> ../out/v.txt"), "leads to"},
		{"became a link inside", rp("d/x", "x", "y"), become("d/x", "-> ../v.txt"), "leads to"},
		{"link led elsewhere", rp("l", "v=1", "v=2"), become("l", "-> ../out/v.txt"), "leads to"},
		{"folder became a link out", wf("d/new", "x"), become("d", "-> ../out"), "leads to"},
		{"new folder became a link out", wf("e/new", "x"), become("e", "-> ../out"), "leads to"},
		{"target's folder became a link out", ap("*** Update File: v.txt", "*** Move to: d/v2"), become("d", "-> ../out"), "leads to"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, files)
			p := w.propose(c.call)
			c.change(w)
			before := w.tree()
			j := &journal{}
			landed, err := p.Apply(t.Context(), w.files, j)
			var r *Refusal
			if !errors.As(err, &r) || r.Code != CodeStale || !strings.Contains(r.Message, c.says) || landed != nil {
				t.Errorf("got %v, %v; want stale with %q", landed, err, c.says)
			}
			if p.State != Stale || j.intents != 0 {
				t.Errorf("state %s, %d intents", p.State, j.intents)
			}
			if got := w.tree(); !maps.Equal(got, before) {
				t.Errorf("files %q, want %q", got, before)
			}
			if got, err := os.ReadFile(string(w.dir.Dir().Join("out", "v.txt"))); string(got) != "v=1\n" {
				t.Errorf("outside: %q, %v", got, err)
			}
		})
	}
}

// three is a patch of three files that has every kind of change.
var three = ap("*** Update File: a.txt", "-a1", "+a2", "*** Delete File: c.txt", "*** Update File: m.txt", "*** Move to: new/m2.txt", "-m1", "+m2",
	"*** Add File: new/deep/n.txt", "+n", "*** Update File: hard", "-h1", "+h2", "*** Update File: b.txt", "-b1", "+b2")

// Case G-E09, variant: what breaks part of the way leaves everything as it was.
func TestRollBack(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world) error // between the check and the first write
		code   Code
		after  tree // what the change itself does
	}{
		{"journal fails", func(w *world) error { return errors.New("disk full") }, CodeIO, nil},
		{"last file became a folder", func(w *world) error {
			return errors.Join(os.Remove(string(w.path("b.txt"))), os.Mkdir(string(w.path("b.txt")), 0o755))
		}, CodeStale, tree{"b.txt": gone, "b.txt/": "dir"}},
		{"last file changed", func(w *world) error { return os.WriteFile(string(w.path("b.txt")), []byte("user\n"), 0o644) }, CodeStale, tree{"b.txt": "user\n"}},
		{"last file gone", func(w *world) error { return os.Remove(string(w.path("b.txt"))) }, CodeStale, tree{"b.txt": gone}},
		{"first file changed", func(w *world) error { return os.WriteFile(string(w.path("a.txt")), []byte("user\n"), 0o644) }, CodeStale, tree{"a.txt": "user\n"}},
		{"new file appeared", func(w *world) error {
			return os.WriteFile(string(w.path("new/deep/n.txt")), []byte("user\n"), 0o644)
		}, CodeStale, tree{"new/deep/n.txt": "user\n"}},
		{"target of the move appeared", func(w *world) error {
			return os.WriteFile(string(w.path("new/m2.txt")), []byte("user\n"), 0o644)
		}, CodeStale, tree{"new/m2.txt": "user\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, tree{"a.txt": "a1\n", "b.txt": "b1\n", "c.txt": "c1\n", "m.txt": "m1\n", "hard": "h1\n"})
			w.try(os.Link(string(w.path("hard")), string(w.path("twin"))))
			w.try(os.Chmod(string(w.path("c.txt")), 0o751))
			want := w.tree()
			p := w.propose(three)
			_, err := p.Apply(t.Context(), w.files, &journal{onIntent: func() error { return c.change(w) }})
			var r *Refusal
			if !errors.As(err, &r) || r.Code != c.code {
				t.Fatalf("got %v, want %s", err, c.code)
			}
			if strings.Contains(r.Message, "taken back") {
				t.Errorf("trouble: %s", r.Message)
			}
			if state := map[Code]State{CodeStale: Stale, CodeIO: Failed}[c.code]; p.State != state {
				t.Errorf("state %s, want %s", p.State, state)
			}
			maps.Copy(want, c.after)
			maps.DeleteFunc(want, func(_, content string) bool { return content == gone })
			if got := w.tree(); !maps.Equal(got, want) {
				t.Errorf("files %q\nwant  %q", got, want)
			}
			if m := w.mode("c.txt"); m != 0o751 {
				t.Errorf("mode %v of the file that was put back", m)
			}
			a, _ := os.Stat(string(w.path("hard")))
			b, _ := os.Stat(string(w.path("twin")))
			if !os.SameFile(a, b) {
				t.Error("the hard link is broken")
			}
		})
	}
}

// The same patch without an accident, for the same files.
func TestThree(t *testing.T) {
	edit{files: tree{"a.txt": "a1\n", "b.txt": "b1\n", "c.txt": "c1\n", "m.txt": "m1\n", "hard": "h1\n"}, call: three,
		want: tree{"a.txt": "a2\n", "b.txt": "b2\n", "c.txt": gone, "m.txt": gone, "new/m2.txt": "m2\n", "new/deep/n.txt": "n\n", "hard": "h2\n"}}.run(t)
}

func TestApplyNeedsApproval(t *testing.T) {
	w := newWorld(t, tree{"f": "a"})
	p := w.propose(wf("f", "b"))
	for _, s := range []State{Pending, Applied, Rejected, Cancelled, Stale, Failed} {
		p.State = s
		if _, err := p.Apply(t.Context(), w.files, &journal{}); err == nil || p.State != s {
			t.Errorf("%s: %v, now %s", s, err, p.State)
		}
	}
	if got := w.tree()["f"]; got != "a" {
		t.Errorf("f is %q", got)
	}
}

// Two edits of one message, case G-E14: the second sees the first, or is told that it is stale.
func TestSecondEdit(t *testing.T) {
	w := newWorld(t, tree{"n.txt": "1\n2\n3\n4\n"})
	first, early := w.propose(rp("n.txt", "2\n", "TWO\n")), w.propose(rp("n.txt", "4\n", "FOUR\n"))
	_, err := first.Apply(t.Context(), w.files, &journal{})
	w.try(err)
	if _, err := early.Apply(t.Context(), w.files, &journal{}); early.State != Stale {
		t.Errorf("made before: %v", err)
	}
	second := w.propose(rp("n.txt", "4\n", "FOUR\n"))
	if !strings.Contains(second.Changes[0].OldText, "TWO") {
		t.Errorf("old text %q", second.Changes[0].OldText)
	}
	_, err = second.Apply(t.Context(), w.files, &journal{})
	w.try(err)
	if got := w.tree()["n.txt"]; got != "1\nTWO\n3\nFOUR\n" {
		t.Errorf("%q", got)
	}
}

func TestRestore(t *testing.T) {
	w := newWorld(t, tree{"f": "new", "d/x": "", "l": "-> d", "link": "-> f", "out/o": "o"})
	hard := w.path("hard")
	w.put("hard", "torn and longer")
	w.try(os.Link(string(hard), string(w.path("twin"))))
	w.try(os.Chmod(string(w.path("f")), 0o750))
	for _, c := range []struct {
		name   string
		path   string
		data   string
		exists bool
		mode   fs.FileMode
		fails  bool
	}{
		{"changed back", "f", "old", true, 0, false},
		{"again", "f", "old", true, 0o750, false},
		{"torn, in place", "hard", "whole", true, 0, false},
		{"deleted file back, with its folder", "gone/deep/g", "g", true, 0o640, false},
		{"created file away", "d/x", "", false, 0, false},
		{"away, already", "d/x", "", false, 0, false},
		{"away, folder too", "none/x", "", false, 0, false},
		{"deleted link back", "l2", "f", true, fs.ModeSymlink | 0o777, false},
		{"link led back", "link", "d", true, fs.ModeSymlink | 0o777, false},
		{"link again", "link", "d", true, fs.ModeSymlink | 0o777, false},
		{"through a link", "l/y", "y", true, 0, true},
		{"a folder is in the way", "out", "y", true, 0, true},
	} {
		if err := Restore(w.path(c.path), []byte(c.data), c.exists, c.mode); (err != nil) != c.fails {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	want := tree{"f": "old", "d/": "dir", "l": "-> d", "hard": "whole", "twin": "whole", "gone/deep/g": "g", "l2": "-> f", "link": "-> d", "out/o": "o"}
	if got := w.tree(); !maps.Equal(got, want) {
		t.Errorf("files %q\nwant  %q", got, want)
	}
	if m := w.mode("f"); m != 0o750 {
		t.Errorf("f: mode %v", m)
	}
	if m := w.mode("gone/deep/g"); m != 0o640 {
		t.Errorf("g: mode %v", m)
	}
}

// An adversary swaps a folder for a link to the outside, and back, while edits apply: nothing
// outside is ever written, and every edit is whole or refused.
func TestApplyAgainstSwaps(t *testing.T) {
	w := newWorld(t, tree{"sub/f": "0\n", "../out/f": "0\n"})
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		swaps := 0
		defer func() { done <- swaps }()
		sub, aside := string(w.path("sub")), string(w.path("aside"))
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(sub, aside) == nil {
				_ = os.Symlink(string(w.dir.Dir().Join("out")), sub)
				_ = os.Remove(sub)
				_ = os.Rename(aside, sub)
				swaps++
			}
		}
	}()
	applied := 0
	for n := 0; n < 300 || applied == 0; n++ {
		for _, c := range []call{wf("sub/f", strings.Repeat("1", n%7+1)+"\n"), wf("sub/new", "x"), ap("*** Delete File: sub/new")} {
			p, err := c(t.Context(), w)
			if err != nil || !p.Changes[0].Inside {
				continue
			}
			p.State = Approved
			if _, err = p.Apply(t.Context(), w.files, &journal{}); err == nil {
				applied++
			}
		}
	}
	close(stop)
	if swaps := <-done; swaps == 0 {
		t.Error("nothing was swapped")
	}
	out, err := os.ReadDir(string(w.dir.Dir().Join("out")))
	data, _ := os.ReadFile(string(w.dir.Dir().Join("out", "f")))
	if err != nil || len(out) != 1 || string(data) != "0\n" {
		t.Errorf("outside: %v %q, %v", out, data, err)
	}
}
