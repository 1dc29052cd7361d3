//go:build unix

package workspace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// place makes a folder whose own path has no symlinks.
func place(t *testing.T) Path {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return Path(dir)
}

func put(t *testing.T, p Path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(string(p)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(string(p), []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func link(t *testing.T, target string, p Path) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(string(p)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, string(p)); err != nil {
		t.Fatal(err)
	}
}

func mustRoots(t *testing.T, cwd, home Path, more ...Path) *Roots {
	t.Helper()
	r, err := NewRoots(cwd, home, more...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestResolve(t *testing.T) {
	w := place(t)
	r := mustRoots(t, w, "/home/u")
	cases := []struct{ arg, want, errHas string }{
		{"a.go", string(w) + "/a.go", ""},
		{"./sub/../a.go", string(w) + "/a.go", ""},
		{"/x//y/../z", "/x/z", ""},
		{"~", "/home/u", ""},
		{"~/a b", "/home/u/a b", ""},
		{"~bob/x", string(w) + "/~bob/x", ""},
		{"file:///x/a%20b%25.go", "/x/a b%.go", ""},
		{"FILE:///x/y", "/x/y", ""},
		{"file://localhost/x", "/x", ""},
		{"file:/x/y#L10", "/x/y", ""},
		{"file:x", string(w) + "/file:x", ""},
		{"-rf", string(w) + "/-rf", ""},
		{"a\nb", string(w) + "/a\nb", ""},
		{"", "", "empty"},
		{"  ", "", "empty"},
		{"a\x00b", "", "NUL"},
		{"file:///x%00y", "", "NUL"},
		{"file:///x%zz", "", "well encoded"},
		{"file://host/x", "", "another machine"},
		{"file://host", "", "no path"},
	}
	for _, c := range cases {
		got, err := r.Resolve(c.arg)
		switch {
		case c.errHas != "":
			if err == nil || !strings.Contains(err.Error(), c.errHas) {
				t.Errorf("%q: %q, error %v; want an error with %q", c.arg, got, err, c.errHas)
			}
		case err != nil || got != Path(c.want):
			t.Errorf("%q: %q (%v), want %q", c.arg, got, err, c.want)
		}
	}
	if _, err := mustRoots(t, w, "").Resolve("~/x"); err == nil {
		t.Error("~ without a home folder was resolved")
	}
}

func TestLocate(t *testing.T) {
	top := place(t)
	w, out := top.Join("w"), top.Join("out")
	put(t, w.Join("real", "conf.txt"), "k=1\n")
	put(t, w.Join("a.txt"), "a\n")
	put(t, out.Join("secret"), "s")
	link(t, "real/conf.txt", w.Join("conf.txt"))
	link(t, string(out), w.Join("away"))
	link(t, "../out/new.txt", w.Join("dangling"))
	link(t, "nowhere/../../out/x", w.Join("through-nothing"))
	link(t, "loop2", w.Join("loop1"))
	link(t, "loop1", w.Join("loop2"))
	link(t, "w", top.Join("alias"))
	link(t, "real", w.Join("dirlink"))
	put(t, top.Join("w2", "x"), "")

	cases := []struct {
		name         string
		path, real   Path
		inside, link bool
	}{
		{"plain", w.Join("a.txt"), w.Join("a.txt"), true, false},
		{"the root itself", w, w, true, false},
		{"new file", w.Join("new", "deep", "x"), w.Join("new", "deep", "x"), true, false},
		{"link (case G-E11)", w.Join("conf.txt"), w.Join("real", "conf.txt"), true, true},
		{"new file through a linked folder (case G-A07)", w.Join("away", "new.txt"), out.Join("new.txt"), false, false},
		{"file through a linked folder", w.Join("away", "secret"), out.Join("secret"), false, false},
		{"linked folder itself", w.Join("away"), out, false, true},
		{"dangling link", w.Join("dangling"), out.Join("new.txt"), false, true},
		{"folder link inside", w.Join("dirlink", "n"), w.Join("real", "n"), true, false},
		{"loop", w.Join("loop1"), w.Join("loop1"), false, false},
		{"below a loop", w.Join("loop1", "x"), w.Join("loop1", "x"), false, false},
		{"link through a missing folder", w.Join("through-nothing"), w.Join("through-nothing"), false, false},
		{"sibling with the same prefix", top.Join("w2", "x"), top.Join("w2", "x"), false, false},
		{"parent", top.Join("esc.txt"), top.Join("esc.txt"), false, false},
		{"below a file", w.Join("a.txt", "x"), w.Join("a.txt", "x"), true, false},
		{"by the alias", top.Join("alias", "a.txt"), w.Join("a.txt"), true, false},
	}
	for _, roots := range []*Roots{mustRoots(t, w, ""), mustRoots(t, top.Join("alias"), "")} {
		for _, c := range cases {
			got := roots.Locate(c.path)
			want := Location{Path: c.path, Real: c.real, Inside: c.inside, Link: c.link}
			if c.inside {
				want.Root = roots.Cwd()
			}
			if got != want {
				t.Errorf("%s: got %+v\nwant %+v", c.name, got, want)
			}
		}
	}
}

func TestLocateEntry(t *testing.T) {
	top := place(t)
	w := top.Join("w")
	put(t, top.Join("out", "f"), "")
	put(t, w.Join("d", "f"), "")
	link(t, "../out/f", w.Join("l"))
	link(t, "d", w.Join("dl"))
	r := mustRoots(t, w, "")
	if got, want := r.LocateEntry(w.Join("l")), (Location{Path: w.Join("l"), Real: w.Join("l"), Root: w, Inside: true, Link: true}); got != want {
		t.Errorf("link: %+v", got)
	}
	if got, want := r.LocateEntry(w.Join("dl", "f")), (Location{Path: w.Join("dl", "f"), Real: w.Join("d", "f"), Root: w, Inside: true}); got != want {
		t.Errorf("through a folder link: %+v", got)
	}
}

func TestRootsInnermost(t *testing.T) {
	w := place(t)
	put(t, w.Join("sub", "f"), "")
	r := mustRoots(t, w, "", w.Join("sub"), w)
	if got := r.Locate(w.Join("sub", "f")).Root; got != w.Join("sub") {
		t.Errorf("root %s", got)
	}
	if n := len(r.Named()); n != 2 {
		t.Errorf("%d roots, want 2", n)
	}
}

func TestNewRootsRefuses(t *testing.T) {
	w := place(t)
	put(t, w.Join("f"), "")
	for _, dir := range []Path{w.Join("none"), w.Join("f"), "rel"} {
		if _, err := NewRoots(w, "", dir); err == nil || !strings.Contains(err.Error(), string(dir)) {
			t.Errorf("%s: error %v", dir, err)
		}
	}
}
