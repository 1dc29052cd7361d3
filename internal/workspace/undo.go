package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
