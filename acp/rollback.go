package acp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
	"acp-agent/provenance"
)

// rollBack puts a file's old state back. It is only called for what the edit itself left there.
func (s *Server) rollBack(f provenance.File) error {
	switch edits.Op(f.Op) {
	case edits.Create:
		return removeMade(realOf(f.Path))
	case edits.Move:
		if err := removeMade(realOf(f.To)); err != nil {
			return err
		}
		if _, exists := readReal(realOf(f.Path)); exists {
			return nil
		}
	}
	return s.restore(realOf(f.Path), f.Before)
}

// removeMade removes a file that the edit made.
func removeMade(real workspace.Path) error {
	folder, err := workspace.OpenAnyFolder(real.Dir())
	if err != nil {
		return err
	}
	defer folder.Close()
	data, _ := readReal(real)
	staged, err := folder.StageRemove(real.Base(), data)
	if err != nil {
		return fmt.Errorf("%s not removed: %w", real, err)
	}
	defer staged.Close()
	return errors.Join(staged.Commit(), folder.Sync())
}

// restore writes the old content back: over what is there, from the backup beside it, which has the old
// mode, or from checkpoints.
func (s *Server) restore(real workspace.Path, before workspace.Hash) error {
	old, err := s.blobs.Get(before)
	if err != nil {
		return fmt.Errorf("the old content of %s is not kept: %w", real, err)
	}
	folder, err := workspace.MakeAnyFolder(real.Dir())
	if err != nil {
		return err
	}
	defer folder.Close()
	var staged *workspace.Staged
	if now, exists := readReal(real); exists {
		staged, err = folder.StageReplace(real.Base(), now, old)
	} else if restoreBackup(real, before) {
		return folder.Sync()
	} else {
		staged, err = folder.StageCreate(real.Base(), old, 0)
	}
	if err != nil {
		return fmt.Errorf("%s not restored: %w", real, err)
	}
	defer staged.Close()
	return errors.Join(staged.Commit(), folder.Sync())
}

// restoreBackup renames the old file back that a removal put aside under a temp name.
func restoreBackup(real workspace.Path, before workspace.Hash) bool {
	root, err := os.OpenRoot(real.Dir().String())
	if err != nil {
		return false
	}
	defer root.Close()
	names, err := filepath.Glob(real.Dir().Join(".acp-agent-*.tmp").String())
	if err != nil || strings.ContainsAny(real.Dir().String(), "*?[") {
		return false
	}
	for _, name := range names {
		if data, exists := readReal(workspace.Path(name)); exists && workspace.HashBytes(data) == before {
			return root.Rename(filepath.Base(name), real.Base()) == nil
		}
	}
	return false
}

// realOf follows symlinks as far as the path exists.
func realOf(p workspace.Path) workspace.Path {
	if real, err := filepath.EvalSymlinks(p.String()); err == nil {
		return workspace.Path(real)
	}
	if dir, err := filepath.EvalSymlinks(p.Dir().String()); err == nil {
		return workspace.Path(dir).Join(p.Base())
	}
	return p
}

// readReal is a file's content; exists is false for everything that is no regular file.
func readReal(real workspace.Path) (data []byte, exists bool) {
	st, err := os.Lstat(real.String())
	if err != nil || !st.Mode().IsRegular() {
		return nil, false
	}
	data, err = os.ReadFile(real.String())
	return data, err == nil
}
