package edits

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"acp-agent/internal/workspace"
)

// Restore puts one file back to a known state, for repair after a crash and for undo: exists false
// removes it. The path must be real; a symbolic link on the way is refused. mode 0 keeps the mode of
// the present file. It is durable when it returns.
func Restore(real workspace.Path, data []byte, exists bool, mode fs.FileMode) error {
	open := workspace.OpenAnyFolder
	if exists {
		open = workspace.MakeAnyFolder
	}
	folder, err := open(real.Dir())
	if !exists && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", real, err)
	}
	defer folder.Close()
	now, info, err := folder.Read(real.Base(), maxDelete)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		err = restoreAbsent(folder, real.Base(), data, exists, mode)
	case err != nil:
	case !exists:
		err = settle(folder.StageRemove(real.Base(), now))
	case bytes.Equal(now, data) && (mode == 0 || info.Mode().Type() == mode.Type()):
		return nil
	case mode != 0 && (info.Mode().Type() != mode.Type() || mode&fs.ModeSymlink != 0):
		if err = settle(folder.StageRemove(real.Base(), now)); err == nil {
			err = restoreAbsent(folder, real.Base(), data, exists, mode)
		}
	default:
		err = settle(folder.StageReplace(real.Base(), now, data))
	}
	if err == nil {
		err = folder.Sync()
	}
	if err != nil {
		return fmt.Errorf("restore %s: %w", real, err)
	}
	return nil
}

func restoreAbsent(folder *workspace.Folder, name string, data []byte, exists bool, mode fs.FileMode) error {
	switch {
	case !exists:
		return nil
	case mode&fs.ModeSymlink != 0:
		return folder.Symlink(name, string(data))
	}
	return settle(folder.StageCreate(name, data, mode.Perm()))
}
