package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

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
		if backup := TempName(os.Getpid()); s.KeepOld && root.Link(s.name, backup) == nil {
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
		backup := TempName(os.Getpid())
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
