package provenance

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/workspace"
)

func TestBlobs(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "home", "checkpoints")
	b := NewBlobs(dir)
	if _, err := b.Get(workspace.HashBytes(nil)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("before the first Put: %v", err)
	}
	if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("reading made something: %v", err)
	}
	for _, data := range [][]byte{nil, []byte("a\r\n\xff\x00"), bytes.Repeat([]byte("x"), 3<<20)} {
		h := workspace.HashBytes(data)
		for range 2 {
			if err := b.Put(h, data); err != nil {
				t.Fatal(err)
			}
		}
		got, err := NewBlobs(dir).Get(h)
		if err != nil || !bytes.Equal(got, data) {
			t.Fatalf("%d bytes came back as %d: %v", len(data), len(got), err)
		}
		info, err := os.Stat(b.path(h))
		if err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%v %v", info.Mode(), err)
		}
	}
	files := 0
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if !d.IsDir() {
			files++
		}
		return err
	})
	if err != nil || files != 3 {
		t.Errorf("%d files for three contents: %v", files, err)
	}
}

func TestBlobsRefuse(t *testing.T) {
	b := NewBlobs(t.TempDir())
	h := workspace.HashBytes([]byte("a"))
	if err := b.Put(h, []byte("b")); err == nil {
		t.Error("stored data under another hash")
	}
	if err := b.Put(h, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(b.path(h), []byte("z"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Get(h); !errors.Is(err, ErrDamaged) {
		t.Errorf("damaged content came back: %v", err)
	}
	if err := os.Truncate(b.path(h), 0); err != nil {
		t.Fatal(err)
	}
	if err := b.Put(h, []byte("a")); err != nil {
		t.Fatal(err)
	}
	if got, err := b.Get(h); err != nil || string(got) != "a" {
		t.Errorf("a short blob was not mended: %q %v", got, err)
	}
	for _, h := range []workspace.Hash{"", "a", "../../../../etc/passwd", workspace.Hash(strings.Repeat("/", 64)), workspace.Hash("../" + strings.Repeat("a", 61))} {
		if _, err := b.Get(h); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v", h, err)
		}
	}
}

func TestBlobsSideBySide(t *testing.T) {
	b := NewBlobs(filepath.Join(t.TempDir(), "c"))
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 10 {
				data := fmt.Appendf(nil, "content %d", (i+g)%10)
				h := workspace.HashBytes(data)
				if err := b.Put(h, data); err != nil {
					t.Error(err)
				}
				if got, err := b.Get(h); err != nil || !bytes.Equal(got, data) {
					t.Errorf("%q %v", got, err)
				}
			}
		})
	}
	wg.Wait()
}
