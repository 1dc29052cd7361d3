package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
)

// Staged is one change of one directory entry, prepared and not yet done. Its life: a Stage
// function, [Staged.Commit], perhaps [Staged.Undo], and [Staged.Close] in every case.
type Staged struct {
	folder *Folder
	name   string
	kind   stagedKind
	old    []byte      // what the entry must still hold at Commit; nil for a new entry
	data   []byte      // new content
	temp   string      // the new content's temp file, "" when none is waiting
	ours   fs.FileInfo // the file that Commit puts in place
	backup string      // the old file under a temp name, "" when there is none
	mode   fs.FileMode // of the old entry
	// KeepOld, set before Commit, keeps the old file itself for Undo, not only its content. It costs
	// two more entries in the folder's journal, so a change that stands alone does without.
	KeepOld bool
	// InPlace says why the old file is rewritten rather than replaced by a rename; "" when it is not.
	InPlace string
}

type stagedKind int

const (
	stagedCreate stagedKind = iota
	stagedReplace
	stagedRewrite
	stagedRemove
)

// StageCreate prepares a file that does not exist yet. mode 0 leaves the permission to the umask.
func (f *Folder) StageCreate(name string, data []byte, mode fs.FileMode) (*Staged, error) {
	s := &Staged{folder: f, name: name, kind: stagedCreate, data: data}
	return s, s.writeTemp(data, mode, nil)
}

// StageMoved is StageCreate with mode, group and attributes of the file that is moved here.
func (f *Folder) StageMoved(name string, data []byte, from *Folder, fromName string) (*Staged, error) {
	src, info, err := from.openSame(fromName, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	s := &Staged{folder: f, name: name, kind: stagedCreate, data: data}
	err = s.writeTemp(data, info.Mode(), src)
	if errors.Is(err, errNotCarried) {
		err = s.writeTemp(data, info.Mode(), nil)
	}
	return s, err
}

// StageReplace prepares new content for an existing file that holds old. It chooses between temp
// file with rename, and rewriting in place where a rename would break something (contract §8).
func (f *Folder) StageReplace(name string, old, data []byte) (*Staged, error) {
	src, info, err := f.openSame(name, os.O_RDONLY)
	if err != nil {
		return nil, err
	}
	defer src.Close()
	s := &Staged{folder: f, name: name, kind: stagedReplace, old: old, data: data, mode: info.Mode()}
	s.InPlace = renameBreaks(info)
	if s.InPlace == "" {
		err = s.writeTemp(data, info.Mode(), src)
		switch {
		case err == nil:
			return s, nil
		case errors.Is(err, errNotCarried):
			s.InPlace = "its attributes cannot be carried to a new file"
		case isUnwritable(err):
			s.InPlace = "its folder takes no new files"
		default:
			return nil, err
		}
	}
	s.kind = stagedRewrite
	return s, nil
}

// StageRemove prepares the removal of a file or symlink that holds old.
func (f *Folder) StageRemove(name string, old []byte) (*Staged, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, err
	}
	return &Staged{folder: f, name: name, kind: stagedRemove, old: old, mode: info.Mode()}, nil
}

// renameBreaks says what a rename over the file would lose.
func renameBreaks(info fs.FileInfo) string {
	links, uid, _, ok := statOwner(info)
	switch {
	case ok && links > 1:
		return "it has several hard links"
	case ok && uid != os.Geteuid():
		return "it belongs to another user"
	}
	return ""
}

// errNotCarried is an attribute of the old file that the new one did not take.
var errNotCarried = errors.New("attributes not carried")

// writeTemp writes data to a temp file beside the target and makes it durable. like, when not nil,
// is the open file whose group and attributes are taken over.
func (s *Staged) writeTemp(data []byte, mode fs.FileMode, like *os.File) (err error) {
	perm := fs.FileMode(0o600)
	if mode == 0 {
		perm = 0o666
	}
	name := TempName(os.Getpid())
	file, err := s.folder.root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	s.temp = name
	defer func() {
		if closeErr := file.Close(); err == nil {
			err = closeErr
		}
		if err != nil {
			_ = s.folder.root.Remove(name)
			s.temp = ""
		}
	}()
	if _, err = file.Write(data); err != nil {
		return err
	}
	if like != nil {
		if err = carryAttributes(like, file); err != nil {
			return err
		}
	}
	if mode != 0 {
		if err = file.Chmod(mode & (fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)); err != nil {
			return err
		}
	}
	if err = file.Sync(); err != nil {
		return err
	}
	s.ours, err = file.Stat()
	return err
}

// openSame opens an entry that is a regular file and no link.
func (f *Folder) openSame(name string, flag int) (*os.File, fs.FileInfo, error) {
	info, err := f.root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if err := regular(string(f.path.Join(name)), info, math.MaxInt64); err != nil {
		return nil, nil, err
	}
	file, err := f.root.OpenFile(name, flag|openFlags, 0)
	if err != nil {
		return nil, nil, err
	}
	opened, err := file.Stat()
	if err == nil && !os.SameFile(opened, info) {
		err = fmt.Errorf("%s was replaced: %w", f.path.Join(name), ErrChanged)
	}
	if err != nil {
		file.Close()
		return nil, nil, err
	}
	return file, opened, nil
}
