//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func content(t *testing.T, p Path) string {
	t.Helper()
	data, err := os.ReadFile(string(p))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// entries lists a folder by name, links with their target.
func entries(t *testing.T, dir Path) string {
	t.Helper()
	list, err := os.ReadDir(string(dir))
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range list {
		out = append(out, e.Name())
	}
	return strings.Join(out, " ")
}

func folder(t *testing.T, w Path, dir Path) *Folder {
	t.Helper()
	f, err := mustRoots(t, w, "").OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Close)
	return f
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

// state is what a test expects of one file.
type state struct {
	data string
	mode fs.FileMode
}

// checkState compares a file with what it should be.
func checkState(t *testing.T, when string, p Path, want state) {
	t.Helper()
	info, err := os.Lstat(string(p))
	switch {
	case want == state{}:
		if !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: exists (%v)", when, err)
		}
	case err != nil || info.Mode() != want.mode || content(t, p) != want.data:
		t.Errorf("%s: %v %q, %v; want %v", when, info.Mode(), content(t, p), err, want)
	}
}

func TestStagedLife(t *testing.T) {
	type step func(t *testing.T, f *Folder) *Staged
	replace := func(name, old, data string) step {
		return func(t *testing.T, f *Folder) *Staged {
			return must[*Staged](t)(f.StageReplace(name, []byte(old), []byte(data)))
		}
	}
	create := func(name, data string, mode fs.FileMode) step {
		return func(t *testing.T, f *Folder) *Staged {
			return must[*Staged](t)(f.StageCreate(name, []byte(data), mode))
		}
	}
	remove := func(name, old string) step {
		return func(t *testing.T, f *Folder) *Staged {
			return must[*Staged](t)(f.StageRemove(name, []byte(old)))
		}
	}
	absent := state{"", 0}
	cases := []struct {
		name    string
		before  state
		file    string
		stage   step
		after   state
		inPlace bool
	}{
		{"replace keeps the mode", state{"a", 0o755}, "f", replace("f", "a", "bcd"), state{"bcd", 0o755}, false},
		{"replace keeps setgid and read-only", state{"a", 0o444 | fs.ModeSetgid}, "f", replace("f", "a", "b"), state{"b", 0o444 | fs.ModeSetgid}, false},
		{"replace several links in place, longer", state{"abc", 0o640}, "hard", replace("hard", "abc", "abcdefgh"), state{"abcdefgh", 0o640}, true},
		{"replace several links in place, shorter", state{"abc", 0o640}, "hard", replace("hard", "abc", "x"), state{"x", 0o640}, true},
		{"create by the umask", absent, "new", create("new", "n", 0), state{"n", 0o644}, false},
		{"create with a mode", absent, "new", create("new", "", 0o700), state{"", 0o700}, false},
		{"remove", state{"a", 0o600}, "f", remove("f", "a"), absent, false},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			defer syscall.Umask(syscall.Umask(0o022))
			w := place(t)
			p := w.Join(c.file)
			if c.before != absent {
				put(t, p, c.before.data)
				if err := os.Chmod(string(p), c.before.mode); err != nil {
					t.Fatal(err)
				}
			}
			other := "other"
			if c.file == "hard" {
				if err := os.Link(string(p), string(w.Join("twin"))); err != nil {
					t.Fatal(err)
				}
				other = "twin"
			} else {
				put(t, w.Join("other"), "o")
			}
			check := func(when string, want state) { t.Helper(); checkState(t, when, p, want) }
			f := folder(t, w, w)
			s := c.stage(t, f)
			s.KeepOld = true
			if (s.InPlace != "") != c.inPlace {
				t.Errorf("in place: %q", s.InPlace)
			}
			check("staged", c.before)
			must[any](t)(nil, s.Commit())
			check("committed", c.after)
			must[any](t)(nil, f.Sync())
			if c.inPlace && content(t, w.Join("twin")) != c.after.data {
				t.Error("the other link has the old content")
			}
			must[any](t)(nil, s.Undo())
			check("undone", c.before)
			s.Close()
			s = c.stage(t, f)
			must[any](t)(nil, s.Commit())
			must[any](t)(nil, s.Undo())
			s.Close()
			check("undone without the old file", c.before)
			s = c.stage(t, f)
			must[any](t)(nil, s.Commit())
			s.Close()
			check("committed again", c.after)
			want := strings.TrimSpace(c.file + " " + other)
			if c.after == absent {
				want = other
			}
			if got := entries(t, w); got != want {
				t.Errorf("left in the folder: %q, want %q", got, want)
			}
		})
	}
}

func TestCommitSeesOthers(t *testing.T) {
	cases := []struct {
		name  string
		stage func(f *Folder) (*Staged, error)
		other func(w Path) error
		want  string // content of f afterwards, "" for none
	}{
		{"replaced content", func(f *Folder) (*Staged, error) { return f.StageReplace("f", []byte("old"), []byte("new")) },
			func(w Path) error { return os.WriteFile(string(w.Join("f")), []byte("user"), 0o644) }, "user"},
		{"same length", func(f *Folder) (*Staged, error) { return f.StageReplace("f", []byte("old"), []byte("new")) },
			func(w Path) error { return os.WriteFile(string(w.Join("f")), []byte("usr"), 0o644) }, "usr"},
		{"gone", func(f *Folder) (*Staged, error) { return f.StageReplace("f", []byte("old"), []byte("new")) },
			func(w Path) error { return os.Remove(string(w.Join("f"))) }, ""},
		{"a link to the same content", func(f *Folder) (*Staged, error) { return f.StageReplace("f", []byte("old"), []byte("new")) },
			func(w Path) error {
				return errors.Join(os.Rename(string(w.Join("f")), string(w.Join("g"))), os.Symlink("g", string(w.Join("f"))))
			}, "old"},
		{"removal of changed content", func(f *Folder) (*Staged, error) { return f.StageRemove("f", []byte("old")) },
			func(w Path) error { return os.WriteFile(string(w.Join("f")), []byte("user"), 0o644) }, "user"},
		{"appeared", func(f *Folder) (*Staged, error) { return f.StageCreate("n", []byte("new"), 0) },
			func(w Path) error { return os.WriteFile(string(w.Join("n")), []byte("user"), 0o644) }, "old"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := place(t)
			put(t, w.Join("f"), "old")
			f := folder(t, w, w)
			s := must[*Staged](t)(c.stage(f))
			must[any](t)(nil, c.other(w))
			if err := s.Commit(); !errors.Is(err, ErrChanged) {
				t.Fatalf("commit: %v", err)
			}
			s.Close()
			if c.want == "" {
				if got := entries(t, w); got != "" {
					t.Errorf("entries %q", got)
				}
			} else if got := content(t, w.Join("f")); got != c.want {
				t.Errorf("content %q", got)
			}
			if strings.Contains(entries(t, w), tempPrefix) {
				t.Errorf("left: %s", entries(t, w))
			}
		})
	}
}

func TestUndoLeavesOthersWork(t *testing.T) {
	w := place(t)
	put(t, w.Join("f"), "old")
	f := folder(t, w, w)
	s := must[*Staged](t)(f.StageReplace("f", []byte("old"), []byte("new")))
	must[any](t)(nil, s.Commit())
	must[any](t)(nil, os.Remove(string(w.Join("f"))))
	put(t, w.Join("f"), "user")
	if err := s.Undo(); !errors.Is(err, ErrChanged) || content(t, w.Join("f")) != "user" {
		t.Errorf("undo: %v, %q", err, content(t, w.Join("f")))
	}
	s.Close()
	if got := entries(t, w); got != "f" {
		t.Errorf("left: %s", got)
	}
}

func TestMakeFolder(t *testing.T) {
	top := place(t)
	w := top.Join("w")
	put(t, w.Join("file"), "")
	put(t, top.Join("out", "x"), "")
	r := mustRoots(t, w, "")

	f := must[*Folder](t)(r.MakeFolder(w.Join("a", "b", "c")))
	if !f.Made() {
		t.Error("not made")
	}
	must[any](t)(nil, f.Sync())
	f.RemoveMade()
	f.Close()
	if got := entries(t, w); got != "file" {
		t.Errorf("left: %s", got)
	}

	f = must[*Folder](t)(r.MakeFolder(w.Join("a", "b")))
	put(t, w.Join("a", "keep"), "")
	f.RemoveMade()
	f.Close()
	if got := entries(t, w.Join("a")); got != "keep" {
		t.Errorf("left: %s", got)
	}

	// A folder that became a link after the path was resolved is not followed.
	must[any](t)(nil, os.RemoveAll(string(w.Join("a"))))
	link(t, string(top.Join("out")), w.Join("a"))
	for _, dir := range []Path{w.Join("a"), w.Join("a", "b")} {
		if f, err := r.MakeFolder(dir); !errors.Is(err, ErrChanged) {
			t.Errorf("%s: %v, %v", dir, f, err)
		}
		if f, err := MakeAnyFolder(dir); !errors.Is(err, ErrChanged) {
			t.Errorf("any %s: %v, %v", dir, f, err)
		}
	}
	if _, err := r.MakeFolder(w.Join("file", "b")); !errors.Is(err, ErrUnsupported) {
		t.Errorf("below a file: %v", err)
	}
	if _, err := r.OpenFolder(w.Join("none")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing: %v", err)
	}
	if got := entries(t, top.Join("out")); got != "x" {
		t.Errorf("outside: %s", got)
	}
	f = must[*Folder](t)(r.MakeFolder(top.Join("out", "n", "m")))
	f.RemoveMade()
	f.Close()
	if got := entries(t, top.Join("out")); got != "x" {
		t.Errorf("outside: %s", got)
	}
}

func TestSweep(t *testing.T) {
	w := place(t)
	old := ".acp-agent-elsewhere.tmp"
	for _, p := range []Path{w.Join(old), w.Join("d", old), w.Join("node_modules", old), w.Join(".acp-agent-notes"), w.Join("f")} {
		put(t, p, "")
		must[any](t)(nil, os.Chtimes(string(p), time.Time{}, time.Unix(1e9, 0)))
	}
	fresh := w.Join("d", ".acp-agent-elsewhere2.tmp")
	put(t, fresh, "")
	removed, err := Sweep(t.Context(), w, time.Now().Add(-time.Hour))
	if err != nil || len(removed) != 2 {
		t.Errorf("removed %v, %v", removed, err)
	}
	if got := entries(t, w); got != ".acp-agent-notes d f node_modules" {
		t.Errorf("left: %s", got)
	}
	if got := entries(t, w.Join("d")); got != fresh.Base() {
		t.Errorf("left: %s", got)
	}
}

// What a process that is gone has left goes at once; what a living one works on stays, whatever its
// time says: a file that is put aside keeps the time of its content.
func TestSweepAsksWhetherTheProcessLives(t *testing.T) {
	w := place(t)
	child := exec.Command("true")
	if err := child.Run(); err != nil {
		t.Fatal(err)
	}
	gone, below := w.Join(TempName(child.Process.Pid)), w.Join("d", TempName(child.Process.Pid))
	mine, other := w.Join(TempName(os.Getpid())), w.Join(TempName(os.Getppid()))
	for _, p := range []Path{gone, below, mine, other} {
		put(t, p, "")
	}
	must[any](t)(nil, os.Chtimes(string(mine), time.Time{}, time.Unix(1e9, 0)))
	removed, err := SweepFolder(w, time.Now())
	if err != nil || len(removed) != 1 || removed[0] != gone {
		t.Errorf("of the folder: %v, %v; want %s", removed, err, gone)
	}
	removed, err = Sweep(t.Context(), w, time.Now())
	if err != nil || len(removed) != 1 || removed[0] != below {
		t.Errorf("below it: %v, %v; want %s", removed, err, below)
	}
}

// An adversary swaps a folder for a link to a place outside while files are written into it: each
// write lands inside or fails.
func TestFolderSwappedForLink(t *testing.T) {
	top := place(t)
	w, out := top.Join("w"), top.Join("out")
	put(t, w.Join("sub", "f"), "0")
	put(t, out.Join("f"), "0")
	r := mustRoots(t, w, "")
	stop, done := make(chan struct{}), make(chan int)
	go func() {
		swaps := 0
		defer func() { done <- swaps }()
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(string(w.Join("sub")), string(w.Join("aside"))) == nil {
				_ = os.Symlink(string(out), string(w.Join("sub")))
				_ = os.Remove(string(w.Join("sub")))
				_ = os.Rename(string(w.Join("aside")), string(w.Join("sub")))
				swaps++
			}
		}
	}()
	wrote := 0
	for n := 0; n < 400 || wrote == 0; n++ {
		f, err := r.OpenFolder(w.Join("sub"))
		if err != nil {
			continue
		}
		if data, _, err := f.Read("f", 10); err == nil {
			if s, err := f.StageReplace("f", data, []byte("1")); err == nil {
				if s.Commit() == nil {
					wrote++
				}
				s.Close()
			}
		}
		f.Close()
	}
	close(stop)
	if swaps := <-done; swaps == 0 {
		t.Error("nothing was swapped")
	}
	if got := content(t, out.Join("f")); got != "0" || entries(t, out) != "f" {
		t.Errorf("outside: %q %s", got, entries(t, out))
	}
}
