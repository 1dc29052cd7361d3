package edits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"acp-agent/internal/workspace"
)

// maxDelete bounds a file that is deleted: its bytes are kept for undo.
const maxDelete = 256 << 20

// plan is what the files would be after the operations so far. Later operations see it.
type plan struct {
	files *workspace.Files
	slots map[workspace.Path]*slot // by the real path of the file
	order []*slot                  // as first named
	notes []string
}

// slot is one place on disk, as it is and as it would be.
type slot struct {
	base   workspace.File
	old    content
	now    content
	origin *slot // whose content now is: itself, another's after a move, nil for new content
	noText error // why the file has no text: binary or too large
}

// content is what one place holds.
type content struct {
	exists bool
	text   string
	format workspace.Format
	bytes  []byte // only for content without text
	mode   fs.FileMode
}

func newPlan(files *workspace.Files) *plan {
	return &plan{files: files, slots: map[workspace.Path]*slot{}}
}

// at gives the slot of a path, symlinks followed, reading the file on first use. A file without a
// text form is no error yet: deleting and moving need none.
func (pl *plan) at(ctx context.Context, p workspace.Path) (*slot, error) {
	loc := pl.files.Roots.Locate(p)
	if s := pl.slots[loc.Real]; s != nil {
		return s, nil
	}
	base, err := pl.files.Read(ctx, p)
	s := &slot{base: base}
	switch {
	case errors.Is(err, workspace.ErrBinary), errors.Is(err, workspace.ErrTooLarge):
		s.noText = err
	case err != nil:
		return nil, pl.refuse(p, err)
	}
	s.old = content{exists: base.Exists || base.Unsaved, text: base.Text, format: base.Format, mode: base.Mode}
	if s.noText != nil {
		s.old.format.Encoding, s.old.bytes = workspace.Binary, base.Data
	}
	s.now = s.old
	if s.old.exists {
		s.origin = s
	}
	pl.add(loc.Real, s)
	return s, nil
}

func (pl *plan) add(real workspace.Path, s *slot) {
	pl.slots[real] = s
	pl.order = append(pl.order, s)
}

// text gives the slot of a file that has a text now.
func (pl *plan) text(ctx context.Context, p workspace.Path) (*slot, error) {
	s, err := pl.at(ctx, p)
	if err != nil {
		return nil, err
	}
	if !s.now.exists {
		return nil, pl.notFound(p)
	}
	if s.now.format.Encoding == workspace.Binary {
		return nil, pl.refuse(p, s.origin.noText)
	}
	return s, nil
}

// create puts new content at a place that is free now.
func (s *slot) create(text string, format workspace.Format) {
	s.now = content{exists: true, text: text, format: format, mode: 0}
	if s.old.exists {
		s.now.mode = s.old.mode
	}
	s.origin = nil
}

// delete takes the file away. A symlink is deleted itself; its target stays.
func (pl *plan) delete(ctx context.Context, p workspace.Path) error {
	loc := pl.files.Roots.LocateEntry(p)
	if loc.Link {
		return pl.deleteLink(loc)
	}
	s, err := pl.at(ctx, p)
	if err != nil {
		return err
	}
	if !s.now.exists {
		return pl.notFound(p)
	}
	if !s.base.Exists && s.origin == s {
		return &Refusal{Code: CodeNotFound, Path: p, Message: fmt.Sprintf("%s exists only as unsaved text in the editor; there is no file to delete.", pl.name(p))}
	}
	if err := pl.readLarge(p, s); err != nil {
		return err
	}
	s.callBy(loc)
	s.now, s.origin = content{}, nil
	return nil
}

// callBy names a file that was first named through a link by its own name, which is the one that goes.
func (s *slot) callBy(loc workspace.Location) {
	if s.base.Link && !loc.Link {
		s.base.Path, s.base.Link = loc.Path, false
	}
}

// readLarge reads the bytes of a file that is too large to edit, for deleting or moving it.
func (pl *plan) readLarge(p workspace.Path, s *slot) error {
	if s.origin != s || !errors.Is(s.noText, workspace.ErrTooLarge) || s.old.bytes != nil {
		return nil
	}
	large := *pl.files
	large.MaxSize = maxDelete
	base, err := large.ReadDisk(p)
	if err != nil && !errors.Is(err, workspace.ErrBinary) {
		return pl.refuse(p, err)
	}
	s.base = base
	s.old.bytes, s.now.bytes = base.Data, base.Data
	return nil
}

func (pl *plan) deleteLink(loc workspace.Location) error {
	if s := pl.slots[loc.Real]; s != nil {
		if !s.now.exists {
			return pl.notFound(loc.Path)
		}
		s.now, s.origin = content{}, nil
		return nil
	}
	folder, err := pl.files.Roots.OpenFolder(loc.Real.Dir())
	if err != nil {
		return pl.refuse(loc.Path, err)
	}
	defer folder.Close()
	target, info, err := folder.Read(loc.Real.Base(), 0)
	if err != nil {
		return pl.refuse(loc.Path, err)
	}
	if info.Mode()&fs.ModeSymlink == 0 {
		return pl.refuse(loc.Path, workspace.ErrChanged)
	}
	loc.Link = false // Change.Link means a link that stays
	base := workspace.File{Location: loc, Exists: true, Data: target, Text: string(target), Mode: info.Mode(),
		Hash: workspace.HashBytes(target), Format: workspace.Format{Encoding: workspace.UTF8, EOL: workspace.EOLNone}}
	s := &slot{base: base}
	s.old = content{exists: true, text: base.Text, format: base.Format, mode: base.Mode}
	pl.add(loc.Real, s)
	pl.notes = append(pl.notes, fmt.Sprintf("%s is a symbolic link to %s; only the link is deleted", pl.name(loc.Path), target))
	return nil
}

// move takes the content of one place to another that is free.
func (pl *plan) move(ctx context.Context, p, to workspace.Path) error {
	from, err := pl.at(ctx, p)
	if err != nil {
		return err
	}
	if !from.now.exists {
		return pl.notFound(p)
	}
	from.callBy(pl.files.Roots.LocateEntry(p))
	if from.base.Link {
		return &Refusal{Code: CodeUnsupportedFile, Path: p, Message: fmt.Sprintf(
			"%s is a symbolic link to %s; move that file instead, or move the link with a command.", pl.name(p), from.base.Real)}
	}
	dest, err := pl.at(ctx, to)
	if err != nil {
		return err
	}
	if dest == from {
		return nil // onto itself
	}
	if dest.now.exists && !sameFile(from, dest) || dest.base.Link {
		return pl.exists(to, "Move to")
	}
	if from.base.Unsaved && !from.base.Exists {
		return &Refusal{Code: CodeNotFound, Path: p, Message: fmt.Sprintf("%s exists only as unsaved text in the editor; save it before moving it.", pl.name(p))}
	}
	if err := pl.readLarge(p, from); err != nil {
		return err
	}
	if err := pl.parentIsFolder(to, dest); err != nil {
		return err
	}
	dest.now, dest.origin = from.now, from.origin
	from.now, from.origin = content{}, nil
	return nil
}

// sameFile: a name that differs by case only is the same file where the file system ignores case.
func sameFile(a, b *slot) bool {
	return strings.EqualFold(string(a.base.Real), string(b.base.Real)) && a.base.Exists && b.base.Exists &&
		a.base.Hash == b.base.Hash && workspace.SameFile(a.base.Real, b.base.Real)
}

// parentIsFolder refuses a new file below something that is no folder.
func (pl *plan) parentIsFolder(p workspace.Path, s *slot) error {
	if err := workspace.CheckParent(s.base.Real); err != nil {
		return pl.refuse(p, err)
	}
	return nil
}
