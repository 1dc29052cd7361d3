package workspace

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestReplaceCarriesAttributes(t *testing.T) {
	w := place(t)
	p := w.Join("f")
	put(t, p, "a")
	if err := unix.Setxattr(string(p), "user.acp", []byte("v"), 0); err != nil {
		t.Fatal(err)
	}
	f := folder(t, w, w)
	s := must[*Staged](t)(f.StageReplace("f", []byte("a"), []byte("b")))
	must[any](t)(nil, s.Commit())
	s.Close()
	buf := make([]byte, 8)
	n, err := unix.Getxattr(string(p), "user.acp", buf)
	if err != nil || string(buf[:n]) != "v" || s.InPlace != "" {
		t.Errorf("attribute %q, %v, in place %q", buf[:max(n, 0)], err, s.InPlace)
	}
	s = must[*Staged](t)(f.StageMoved("g", []byte("c"), f, "f"))
	must[any](t)(nil, s.Commit())
	s.Close()
	if n, err := unix.Getxattr(string(w.Join("g")), "user.acp", buf); err != nil || string(buf[:n]) != "v" {
		t.Errorf("moved: attribute %q, %v", buf[:max(n, 0)], err)
	}
}
