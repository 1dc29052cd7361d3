package provenance

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"acp-agent/internal/workspace"
)

// ErrDamaged is a blob whose content is not what its name says.
var ErrDamaged = errors.New("stored content is damaged")

// Blobs keeps contents by hash below a folder (<home>/checkpoints), each in a file of its own named
// by its hash, in folders named by the hash's first two digits.
type Blobs struct {
	dir string
	mu  sync.Mutex // one Put at a time: whoever finds a blob there finds it durable
}

// NewBlobs uses dir, made on the first Put.
func NewBlobs(dir string) *Blobs { return &Blobs{dir: dir} }

// Put stores data, durable before it returns. Storing what is there is cheap. The hash is checked,
// since a blob under a wrong name would be found out only when it is needed.
func (b *Blobs) Put(h workspace.Hash, data []byte) error {
	if workspace.HashBytes(data) != h {
		return fmt.Errorf("store %s: the data has another hash", h)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	path := b.path(h)
	if info, err := os.Stat(path); err == nil && info.Size() == int64(len(data)) {
		return nil
	}
	dir := filepath.Dir(path)
	made, err := makeDir(dir)
	if err != nil {
		return err
	}
	if err := writeDurable(dir, path, data); err != nil {
		return err
	}
	if err := syncDir(dir); err != nil || !made {
		return err
	}
	return syncDir(b.dir)
}

// Get gives the data of a hash, checked against it. os.ErrNotExist when it is not kept, [ErrDamaged]
// when the disk gave something else.
func (b *Blobs) Get(h workspace.Hash) ([]byte, error) {
	// A hash may come from a log that was tampered with, and becomes a path here.
	if raw, err := hex.DecodeString(string(h)); err != nil || len(raw) != sha256.Size {
		return nil, fmt.Errorf("%q is not a hash: %w", h, fs.ErrNotExist)
	}
	data, err := os.ReadFile(b.path(h))
	if err != nil {
		return nil, err
	}
	if workspace.HashBytes(data) != h {
		return nil, fmt.Errorf("%s: %w", b.path(h), ErrDamaged)
	}
	return data, nil
}

func (b *Blobs) path(h workspace.Hash) string {
	return filepath.Join(b.dir, string(h[:2]), string(h[2:]))
}

// makeDir makes dir and says whether it was not there before.
func makeDir(dir string) (made bool, err error) {
	if err := os.MkdirAll(filepath.Dir(dir), 0o700); err != nil {
		return false, err
	}
	err = os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// writeDurable writes a synced file beside path and renames it there.
func writeDurable(dir, path string, data []byte) error {
	tmp, err := os.CreateTemp(dir, "put-*.tmp")
	if err != nil {
		return err
	}
	_, err = tmp.Write(data)
	if err == nil {
		err = tmp.Sync()
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(tmp.Name()))
	}
	return nil
}
