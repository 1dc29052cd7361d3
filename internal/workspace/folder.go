package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Folder is an open directory that was reached without following a symbolic link below its root. All
// work on its files goes through the open handle, so that nobody can lead a write elsewhere by
// swapping a folder for a link after the path was approved.
type Folder struct {
	path Path
	root *os.Root
	made []madeFolder // outermost first
}

// madeFolder is a directory that did not exist before, with the handle of its parent.
type madeFolder struct {
	parent *os.Root
	name   string
}

// OpenFolder opens an existing real directory, as [Location].Real has it. A symbolic link on the
// way, from the session's root down, is an error: it was not there when the path was resolved.
func (r *Roots) OpenFolder(dir Path) (*Folder, error) { return r.open(dir, false) }

// MakeFolder is OpenFolder, and makes the directories that do not exist.
func (r *Roots) MakeFolder(dir Path) (*Folder, error) { return r.open(dir, true) }

func (r *Roots) open(dir Path, create bool) (*Folder, error) {
	if _, root, ok := r.owner(dir); ok && root.Contains(dir) {
		top, err := os.OpenRoot(string(root))
		if err != nil {
			return nil, err
		}
		return descend(top, root, dir, create)
	}
	return openAnywhere(dir, create)
}

// OpenAnyFolder opens a real directory that no session's root need contain, as repair after a crash
// does; the path must not lead through symbolic links.
func OpenAnyFolder(dir Path) (*Folder, error) { return openAnywhere(dir, false) }

// MakeAnyFolder is OpenAnyFolder, and makes the directories that do not exist.
func MakeAnyFolder(dir Path) (*Folder, error) { return openAnywhere(dir, true) }

// openAnywhere starts at the longest existing parent, as the folders above it need not be readable.
func openAnywhere(dir Path, create bool) (*Folder, error) {
	top := dir
	for {
		_, err := os.Lstat(string(top))
		if err == nil {
			break
		}
		if !errors.Is(err, fs.ErrNotExist) || !create || top == top.Dir() {
			return nil, err
		}
		top = top.Dir()
	}
	root, err := os.OpenRoot(string(top))
	if err != nil {
		return nil, err
	}
	opened, err := root.Stat(".")
	if err == nil {
		err = sameFolder(top, opened)
	}
	if err != nil {
		root.Close()
		return nil, err
	}
	return descend(root, top, dir, create)
}

func sameFolder(dir Path, opened fs.FileInfo) error {
	real, _, err := resolve(string(dir))
	if err != nil {
		return err
	}
	now, err := os.Lstat(string(dir))
	if err != nil {
		return err
	}
	if Path(real) != dir || !os.SameFile(now, opened) {
		return fmt.Errorf("%s leads elsewhere now: %w", dir, ErrChanged)
	}
	return nil
}

// descend goes from top to dir one element at a time. It takes over top.
func descend(top *os.Root, at, dir Path, create bool) (*Folder, error) {
	f := &Folder{path: dir, root: top}
	rel, err := filepath.Rel(string(at), string(dir))
	if err != nil {
		top.Close()
		return nil, err
	}
	for elem := range strings.SplitSeq(rel, string(filepath.Separator)) {
		if elem == "." {
			continue
		}
		at = at.Join(elem)
		made, next, err := step(f.root, elem, create)
		if err != nil {
			f.RemoveMade()
			f.Close()
			return nil, fmt.Errorf("folder %s: %w", at, err)
		}
		if made {
			f.made = append(f.made, madeFolder{f.root, elem})
		} else {
			f.drop()
		}
		f.root = next
	}
	return f, nil
}

// drop closes the handle that was walked through, unless it is needed to take a made folder away.
func (f *Folder) drop() {
	for _, m := range f.made {
		if m.parent == f.root {
			return
		}
	}
	f.root.Close()
}

// step opens one subfolder that is not a symbolic link, or makes it.
func step(parent *os.Root, name string, create bool) (made bool, next *os.Root, err error) {
	info, err := parent.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) && create {
		if err = parent.Mkdir(name, 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
			return false, nil, err
		}
		made = err == nil
		info, err = parent.Lstat(name)
	}
	if err != nil {
		return false, nil, err
	}
	if isLink(info) {
		return false, nil, fmt.Errorf("it is a symbolic link now: %w", ErrChanged)
	}
	if !info.IsDir() {
		return false, nil, fmt.Errorf("it is %s, not a folder: %w", describe(info.Mode()), ErrUnsupported)
	}
	next, err = parent.OpenRoot(name)
	if err != nil {
		return false, nil, err
	}
	opened, err := next.Stat(".")
	if err == nil && !os.SameFile(opened, info) {
		err = fmt.Errorf("it was replaced: %w", ErrChanged)
	}
	if err != nil {
		next.Close()
		return false, nil, err
	}
	return made, next, nil
}

// Path is the folder's real path.
func (f *Folder) Path() Path { return f.path }

// Made says whether folders were made to open it.
func (f *Folder) Made() bool { return len(f.made) > 0 }

// RemoveMade takes the made folders away again, those that are empty.
func (f *Folder) RemoveMade() {
	for i := len(f.made) - 1; i >= 0; i-- {
		if f.made[i].parent.Remove(f.made[i].name) != nil {
			return // something is in it: so it is in those above
		}
	}
}

// Close frees the handles.
func (f *Folder) Close() {
	f.root.Close()
	for _, m := range f.made {
		m.parent.Close()
	}
}

// Sync makes renames in the folder durable, and the made folders themselves.
func (f *Folder) Sync() error {
	dirs := []*os.Root{f.root}
	for i := len(f.made) - 1; i >= 0; i-- {
		dirs = append(dirs, f.made[i].parent)
	}
	for _, dir := range dirs {
		file, err := dir.Open(".")
		if err != nil {
			return fmt.Errorf("sync %s: %w", f.path, err)
		}
		err = syncDir(file)
		file.Close()
		if err != nil {
			return fmt.Errorf("sync %s: %w", f.path, err)
		}
	}
	return nil
}

// Lstat describes an entry of the folder, a symlink as itself.
func (f *Folder) Lstat(name string) (fs.FileInfo, error) { return f.root.Lstat(name) }

// Read reads a regular file of the folder, or the target's name of a symlink, which is what a link
// consists of. info is set whenever the entry exists.
func (f *Folder) Read(name string, limit int64) (data []byte, info fs.FileInfo, err error) {
	info, err = f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		target, err := f.root.Readlink(name)
		return []byte(target), info, err
	}
	if err := regular(string(f.path.Join(name)), info, limit); err != nil {
		return nil, info, err
	}
	file, err := f.root.OpenFile(name, os.O_RDONLY|openFlags, 0)
	if err != nil {
		return nil, info, err
	}
	defer file.Close()
	data, err = readOpen(file, info, limit)
	return data, info, err
}

// Symlink makes a symbolic link that does not exist yet, for putting one back.
func (f *Folder) Symlink(name, target string) error { return f.root.Symlink(target, name) }
