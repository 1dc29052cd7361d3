package workspace

import (
	"encoding/binary"
	"errors"
	"os"
	"strings"
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

// acl is the attribute of an access list: owner rw, user 4321 r, group r, mask r, others as given.
func acl(others uint16) []byte {
	out := binary.LittleEndian.AppendUint32(nil, 2)
	for _, e := range [][3]uint32{{1, 6, 1<<32 - 1}, {2, 4, 4321}, {4, 4, 1<<32 - 1}, {16, 4, 1<<32 - 1}, {32, uint32(others), 1<<32 - 1}} {
		out = binary.LittleEndian.AppendUint16(out, uint16(e[0]))
		out = binary.LittleEndian.AppendUint16(out, uint16(e[1]))
		out = binary.LittleEndian.AppendUint32(out, e[2])
	}
	return out
}

func getACL(t *testing.T, p Path) string {
	t.Helper()
	buf := make([]byte, 256)
	n, err := unix.Getxattr(string(p), "system.posix_acl_access", buf)
	if errors.Is(err, unix.ENODATA) || errors.Is(err, unix.ENOTSUP) {
		return ""
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(buf[:n])
}

// The old file's access list is carried, and a list that the folder would give to new files is not.
func TestReplaceCarriesAccessList(t *testing.T) {
	for _, listed := range []bool{true, false} {
		w := place(t)
		p := w.Join("f")
		put(t, p, "a")
		if listed {
			if err := unix.Setxattr(string(p), "system.posix_acl_access", acl(0), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
				t.Fatal(err)
			}
		}
		want := getACL(t, p)
		info, err := os.Stat(string(p))
		if err != nil {
			t.Fatal(err)
		}
		if err := unix.Setxattr(string(w), "system.posix_acl_default", acl(4), 0); err != nil && !errors.Is(err, unix.ENOTSUP) {
			t.Fatal(err)
		}
		f := folder(t, w, w)
		s := must[*Staged](t)(f.StageReplace("f", []byte("a"), []byte("b")))
		must[any](t)(nil, s.Commit())
		s.Close()
		after, err := os.Stat(string(p))
		if err != nil || getACL(t, p) != want || after.Mode() != info.Mode() || s.InPlace != "" {
			t.Errorf("listed %v: list %q, want %q; mode %v, want %v; %q", listed, getACL(t, p), want, after.Mode(), info.Mode(), s.InPlace)
		}
	}
}

// What a rename would take from another owner, or a closed folder does not allow, is rewritten in
// place: as root the first can be tried, as anybody else the second.
func TestReplaceInPlace(t *testing.T) {
	w := place(t)
	p := w.Join("f")
	put(t, p, "abc")
	want := "takes no new files"
	if os.Geteuid() == 0 {
		want = "another user"
		if err := os.Chown(string(p), 4321, 4321); err != nil {
			t.Fatal(err)
		}
	} else if err := os.Chmod(string(w), 0o555); err != nil {
		t.Fatal(err)
	}
	before, err := os.Stat(string(p))
	if err != nil {
		t.Fatal(err)
	}
	f := folder(t, w, w)
	s := must[*Staged](t)(f.StageReplace("f", []byte("abc"), []byte("longer than before")))
	must[any](t)(nil, s.Commit())
	s.Close()
	after, err := os.Stat(string(p))
	if err != nil || !strings.Contains(s.InPlace, want) || !os.SameFile(before, after) || content(t, p) != "longer than before" {
		t.Errorf("in place %q, want %q; %v; %q", s.InPlace, want, err, content(t, p))
	}
	_, uid, gid, _ := statOwner(after)
	if _, wasUID, wasGID, _ := statOwner(before); uid != wasUID || gid != wasGID {
		t.Errorf("owner %d:%d, was %d:%d", uid, gid, wasUID, wasGID)
	}
	_ = os.Chmod(string(w), 0o755)
}
