package workspace

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
)

// Temp files of atomic writes are named tempPrefix…tempSuffix (contract §2).
const (
	tempPrefix = ".acp-agent-"
	tempSuffix = ".tmp"
)

func tempName() string { return tempPrefix + strings.ToLower(rand.Text()) + tempSuffix }

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
	name := tempName()
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

// Commit does the change if the entry still holds what it was staged for, else it gives
// [ErrChanged] and does nothing. It is not durable before [Folder.Sync], except in place.
func (s *Staged) Commit() error {
	if err := s.unchanged(); err != nil {
		return err
	}
	root := s.folder.root
	switch s.kind {
	case stagedCreate:
		return s.commitCreate()
	case stagedReplace:
		if backup := tempName(); s.KeepOld && root.Link(s.name, backup) == nil {
			s.backup = backup
		}
		if err := root.Rename(s.temp, s.name); err != nil {
			return err
		}
		s.temp = ""
	case stagedRewrite:
		if err := s.rewrite(s.data); err != nil {
			return errors.Join(err, s.rewrite(s.old))
		}
	case stagedRemove:
		backup := tempName()
		if err := root.Rename(s.name, backup); err != nil {
			return err
		}
		s.backup = backup
	}
	return nil
}

// unchanged compares the entry with what it held when the change was made up.
func (s *Staged) unchanged() error {
	p := s.folder.path.Join(s.name)
	if s.kind == stagedCreate {
		_, err := s.folder.root.Lstat(s.name)
		if err == nil {
			return fmt.Errorf("%s exists by now: %w", p, ErrChanged)
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	data, info, err := s.folder.Read(s.name, int64(len(s.old)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s is gone: %w", p, ErrChanged)
	case errors.Is(err, ErrTooLarge), errors.Is(err, ErrUnsupported):
		return fmt.Errorf("%s: %w", p, ErrChanged)
	case err != nil:
		return err
	case info.Mode().Type() != s.mode.Type() || !bytes.Equal(data, s.old):
		return fmt.Errorf("%s holds another content by now: %w", p, ErrChanged)
	}
	return nil
}

// commitCreate never replaces an entry: a hard link fails where a rename would not.
func (s *Staged) commitCreate() error {
	root := s.folder.root
	err := root.Link(s.temp, s.name)
	switch {
	case err == nil:
		err = root.Remove(s.temp)
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s exists by now: %w", s.folder.path.Join(s.name), ErrChanged)
	case isNoLink(err):
		err = root.Rename(s.temp, s.name)
	}
	if err == nil {
		s.temp = ""
	}
	return err
}

// rewrite puts data into the existing file. What lies beyond the old end is written first: when the
// disk is full, the old content is still whole.
func (s *Staged) rewrite(data []byte) error {
	file, info, err := s.folder.openSame(s.name, os.O_RDWR)
	if err != nil {
		return err
	}
	defer file.Close()
	if size := info.Size(); int64(len(data)) > size {
		if _, err := file.WriteAt(data[size:], size); err != nil {
			return errors.Join(err, file.Truncate(size))
		}
		_, err = file.WriteAt(data[:size], 0)
	} else {
		_, err = file.WriteAt(data, 0)
	}
	if err != nil {
		return err
	}
	if err := file.Truncate(int64(len(data))); err != nil {
		return err
	}
	s.ours = info
	return file.Sync()
}

// Undo puts the old state back after Commit. It does not overwrite what somebody else put there
// since; that is an error.
func (s *Staged) Undo() error {
	root := s.folder.root
	now, err := root.Lstat(s.name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	gone := now == nil
	ours := !gone && s.ours != nil && os.SameFile(now, s.ours)
	if ours && s.kind != stagedRemove {
		// A file number is used again soon, so the same number alone proves nothing.
		data, _, err := s.folder.Read(s.name, int64(len(s.data)))
		ours = err == nil && bytes.Equal(data, s.data)
	}
	switch {
	case s.kind == stagedCreate && gone:
		return nil
	case s.kind == stagedRemove && gone, s.kind == stagedReplace && ours:
		return s.putBack()
	case s.kind == stagedCreate && ours:
		return root.Remove(s.name)
	case s.kind == stagedRewrite && ours:
		return s.rewrite(s.old)
	}
	return fmt.Errorf("%s was changed by somebody else and stays as it is: %w", s.folder.path.Join(s.name), ErrChanged)
}

// putBack renames the old file back, or makes it anew where no backup could be kept.
func (s *Staged) putBack() error {
	if s.backup != "" {
		err := s.folder.root.Rename(s.backup, s.name)
		if err == nil {
			s.backup = ""
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if s.mode&fs.ModeSymlink != 0 {
		return s.folder.root.Symlink(string(s.old), s.name)
	}
	if err := s.writeTemp(s.old, s.mode, nil); err != nil {
		return err
	}
	err := s.folder.root.Rename(s.temp, s.name)
	if err == nil {
		s.temp = ""
	}
	return err
}

// Close removes the temp files that are left.
func (s *Staged) Close() {
	for _, name := range []string{s.temp, s.backup} {
		if name != "" {
			_ = s.folder.root.Remove(name)
		}
	}
	s.temp, s.backup = "", ""
}
