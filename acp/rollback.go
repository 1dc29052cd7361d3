package acp

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
	"acp-agent/provenance"
)

// rollBack puts a file's old state back. It is only called for what the edit itself left there.
func (s *Server) rollBack(f provenance.File) error {
	switch edits.Op(f.Op) {
	case edits.Create:
		return edits.Restore(realOf(f.Path), nil, false, 0)
	case edits.Move:
		return s.moveBack(f)
	case edits.Update:
		return s.restore(realOf(f.Path), f)
	}
	return s.restore(entryOf(f.Path), f)
}

// moveBack puts a moved file back. The copy goes last: this may break off as well, and the content must
// be somewhere at every moment.
func (s *Server) moveBack(f provenance.File) error {
	from, to := entryOf(f.Path), realOf(f.To)
	if workspace.SameFile(from, to) { // renamed by case where the file system ignores that
		if err := os.Rename(to.String(), from.String()); err != nil {
			return err
		}
		return s.restore(from, f)
	}
	if _, _, exists := held(from); !exists {
		if err := s.restore(from, f); err != nil {
			return err
		}
	}
	return edits.Restore(to, nil, false, 0)
}

// restore writes the old content back: over what is there, from the backup beside it, which has the
// old file's attributes, or from checkpoints.
func (s *Server) restore(real workspace.Path, f provenance.File) error {
	old, err := s.blobs.Get(f.Before)
	if err != nil {
		return fmt.Errorf("the old content of %s is not kept: %w", real, err)
	}
	mode := parseMode(f.Mode)
	if _, _, exists := held(real); exists || !restoreBackup(real, f.Before, mode) {
		return edits.Restore(real, old, true, mode)
	}
	folder, err := workspace.OpenAnyFolder(real.Dir())
	if err != nil {
		return err
	}
	defer folder.Close()
	return folder.Sync()
}

// restoreBackup renames the old file back that a removal put aside under a temp name.
func restoreBackup(real workspace.Path, before workspace.Hash, mode fs.FileMode) bool {
	name := backupOf(real, before, mode)
	if name == "" {
		return false
	}
	root, err := os.OpenRoot(real.Dir().String())
	if err != nil {
		return false
	}
	defer root.Close()
	return root.Rename(name, real.Base()) == nil
}

// backupOf is the name of the temp file beside real that holds its old content, "" for none.
func backupOf(real workspace.Path, before workspace.Hash, mode fs.FileMode) string {
	names, err := filepath.Glob(real.Dir().Join(".acp-agent-*.tmp").String())
	if err != nil || strings.ContainsAny(real.Dir().String(), "*?[") {
		return ""
	}
	for _, name := range names {
		data, found, exists := held(workspace.Path(name))
		if exists && found.Type() == mode.Type() && workspace.HashBytes(data) == before {
			return filepath.Base(name)
		}
	}
	return ""
}

// realOf follows symlinks as far as the path exists.
func realOf(p workspace.Path) workspace.Path {
	if real, err := filepath.EvalSymlinks(p.String()); err == nil {
		return workspace.Path(real)
	}
	return entryOf(p)
}

// entryOf follows symlinks on the way to an entry, and not the entry itself: that is what a deletion
// and a move act on.
func entryOf(p workspace.Path) workspace.Path {
	if dir, err := filepath.EvalSymlinks(p.Dir().String()); err == nil {
		return workspace.Path(dir).Join(p.Base())
	}
	return p
}

// held is what an entry holds, as records hash it: a file's content, a link's target. Of anything
// else only the mode is known.
func held(entry workspace.Path) (data []byte, mode fs.FileMode, exists bool) {
	st, err := os.Lstat(entry.String())
	if err != nil {
		return nil, 0, false
	}
	switch mode = st.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(entry.String())
		return []byte(target), mode, err == nil
	case mode.IsRegular():
		data, err = os.ReadFile(entry.String())
		return data, mode, err == nil
	}
	return nil, mode, true
}

// readReal is a file's content; exists is false for everything that is no regular file.
func readReal(real workspace.Path) (data []byte, exists bool) {
	data, mode, exists := held(real)
	return data, exists && mode.IsRegular()
}

// Kinds of an entry in a record's mode, which is git's.
const (
	modeKinds = 0o170000
	modeFile  = 0o100000
	modeLink  = 0o120000
)

// recordMode is a mode as the record has it, for an entry that goes away.
func recordMode(m fs.FileMode) string {
	kind := fs.FileMode(modeFile)
	if m&fs.ModeSymlink != 0 {
		kind = modeLink
	}
	return strconv.FormatUint(uint64(kind|m.Perm()), 8)
}

// parseMode reads it back; 0, a file of unknown permission, for none.
func parseMode(s string) fs.FileMode {
	n, err := strconv.ParseUint(s, 8, 32)
	if err != nil {
		return 0
	}
	m := fs.FileMode(n).Perm()
	if n&modeKinds == modeLink {
		m |= fs.ModeSymlink
	}
	return m
}
