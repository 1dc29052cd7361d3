package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"time"
)

// Sweep removes temp files of atomic writes that a crash left below dir: those whose process is gone,
// and where that cannot be known those not touched since before. It follows no links and leaves out
// .git and node_modules. It gives the removed paths, also beside an error.
func Sweep(ctx context.Context, dir Path, before time.Time) ([]Path, error) {
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	var removed []Path
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			return nil // a folder that cannot be read holds none of ours
		}
		if d.IsDir() {
			if base := path.Base(name); base == ".git" || base == "node_modules" {
				return fs.SkipDir
			}
			return nil
		}
		if !abandoned(d, before) {
			return nil
		}
		if err := root.Remove(name); err == nil {
			removed = append(removed, dir.Join(name))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	return removed, err
}

// SweepFolder is Sweep for the files of one folder and not of those below it.
func SweepFolder(dir Path, before time.Time) ([]Path, error) {
	root, err := os.OpenRoot(string(dir))
	if err != nil {
		return nil, err
	}
	defer root.Close()
	entries, err := fs.ReadDir(root.FS(), ".")
	var removed []Path
	for _, d := range entries {
		if !d.IsDir() && abandoned(d, before) && root.Remove(d.Name()) == nil {
			removed = append(removed, dir.Join(d.Name()))
		}
	}
	return removed, err
}

// abandoned says whether an entry is a temp file that nobody works on any more. The time of a file
// that was put aside is that of its content, so it says nothing while the process lives.
func abandoned(d fs.DirEntry, before time.Time) bool {
	if !isTemp(d.Name()) {
		return false
	}
	if pid, ok := owner(d.Name()); ok {
		return !alive(pid)
	}
	info, err := d.Info()
	return err == nil && info.ModTime().Before(before)
}
