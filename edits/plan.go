package edits

import (
	"context"
	"crypto/rand"
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
	s.now, s.origin = content{}, nil
	return nil
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

func newID() ID { return ID("edit-" + strings.ToLower(rand.Text()[:12])) }

// proposal freezes the plan.
func (pl *plan) proposal(kind Kind) (*Proposal, error) {
	moved := map[*slot]*slot{} // from -> to
	for _, s := range pl.order {
		if from := s.origin; from != nil && from != s && s.now.exists && !from.now.exists && (!s.old.exists || sameFile(from, s)) {
			moved[from] = s
		}
	}
	taken := map[*slot]bool{}
	for _, to := range moved {
		taken[to] = true
	}
	p := &Proposal{ID: newID(), Kind: kind, State: Pending, Notes: pl.notes}
	for _, s := range pl.order {
		if taken[s] {
			continue
		}
		c, err := pl.change(s, moved[s])
		if err != nil {
			return nil, err
		}
		if c != nil {
			p.Changes = append(p.Changes, *c)
		}
	}
	return p, nil
}

// change is what happens to one place, nil for nothing. to is where its file moves, nil when it
// does not.
func (pl *plan) change(s, to *slot) (*Change, error) {
	c := &Change{
		Path: s.base.Path, Real: s.base.Real, Link: s.base.Link, Inside: s.base.Inside,
		OldText: s.old.text, OldBytes: s.base.Data, Before: s.base.Hash, Mode: s.base.Mode, Unsaved: s.base.Unsaved,
		BufferUnknown: s.base.BufferUnknown, EditorRead: s.base.EditorRead,
		cache: &diffCache{},
	}
	now := s.now
	switch {
	case to != nil:
		c.Op, c.To, c.ToReal, c.Inside = Move, to.base.Path, to.base.Real, s.base.Inside && to.base.Inside
		now = to.now
	case !s.old.exists && !now.exists:
		return nil, nil
	case !now.exists:
		c.Op, c.Format = Delete, s.old.format
		pl.route(c)
		return c, nil
	case !s.base.Exists:
		c.Op, c.Mode = Create, now.mode.Perm()
	default:
		c.Op = Update
	}
	c.NewText, c.Format = now.text, now.format
	if err := pl.encode(c, s, now); err != nil {
		return nil, err
	}
	if c.Op == Update && c.NewText == c.OldText && string(c.NewBytes) == string(c.OldBytes) {
		return nil, nil
	}
	pl.route(c)
	return c, nil
}

// encode makes the bytes that will be written.
func (pl *plan) encode(c *Change, s *slot, now content) error {
	p := c.Target()
	if now.format.Encoding == workspace.Binary {
		c.NewBytes, c.After = now.bytes, workspace.HashBytes(now.bytes)
		return nil
	}
	if strings.IndexByte(now.text, 0) >= 0 {
		return &Refusal{Code: CodeInvalidArguments, Path: p, Message: fmt.Sprintf("The new text of %s has a NUL character, which would make it a binary file. Leave it out.", pl.name(p))}
	}
	c.Format.EOL = workspace.DetectEOL(now.text)
	c.Format.FinalNewline = strings.HasSuffix(now.text, "\n") || strings.HasSuffix(now.text, "\r")
	switch {
	case now.text == s.old.text && s.base.Exists && !s.base.Unsaved && now.format.Encoding == s.old.format.Encoding:
		c.NewBytes = s.base.Data
	default:
		data, err := c.Format.Encode(now.text)
		if err != nil {
			return pl.refuse(p, err)
		}
		c.NewBytes = data
	}
	if int64(len(c.NewBytes)) > pl.files.Limit() {
		return &Refusal{Code: CodeTooLarge, Path: p, Message: fmt.Sprintf("%s would have %d bytes, more than the limit of %d. Write less.", pl.name(p), len(c.NewBytes), pl.files.Limit())}
	}
	c.After = workspace.HashBytes(c.NewBytes)
	return nil
}
