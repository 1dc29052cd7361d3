package edits

import (
	"crypto/rand"
	"fmt"
	"strings"

	"acp-agent/internal/workspace"
)

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
	if r := pl.conflict(p.Changes); r != nil {
		return nil, r
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
