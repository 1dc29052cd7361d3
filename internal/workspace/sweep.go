package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
	"time"
)

// Sweep removes temp files of atomic writes that a crash left below dir, those not touched since
// before. It follows no links and leaves out .git and node_modules. It gives the removed paths, also
// beside an error.
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
		if !isTemp(path.Base(name)) {
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.ModTime().Before(before) {
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

func isTemp(name string) bool {
	return strings.HasPrefix(name, tempPrefix) && strings.HasSuffix(name, tempSuffix)
}
