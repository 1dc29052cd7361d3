package edits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"acp-agent/internal/workspace"
)

// Check re-reads every file of the proposal and says with a [*Refusal] (code stale) which one no
// longer is what the proposal was made from.
func (p *Proposal) Check(ctx context.Context, files *workspace.Files) error {
	for i := range p.Changes {
		if err := p.Changes[i].check(ctx, files); err != nil {
			return err
		}
	}
	return nil
}

func (c *Change) check(ctx context.Context, files *workspace.Files) error {
	if err := c.checkPlace(files); err != nil {
		return err
	}
	if c.Op == Delete || c.Op == Move {
		if c.Op == Move {
			if err := c.checkTarget(files); err != nil {
				return err
			}
		}
		return c.checkBytes(files)
	}
	now, err := files.Read(ctx, c.Path)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	switch {
	case err != nil:
		return c.stale(files, fmt.Sprintf("it can no longer be read (%v)", err), "")
	case c.OldBytes == nil && now.Exists:
		return c.stale(files, "it was created by somebody else", now.Text)
	case c.OldBytes == nil:
	case !now.Exists:
		return c.stale(files, "it was deleted", "")
	case now.Hash != c.Before:
		return c.stale(files, "it was changed on disk", now.Text)
	}
	if now.Unsaved != c.Unsaved || now.Unsaved && now.Text != c.OldText {
		return c.stale(files, "its unsaved text in the editor changed", now.Text)
	}
	return nil
}

// checkPlace compares where the path leads now with where it led: a folder may have become a link.
func (c *Change) checkPlace(files *workspace.Files) error {
	loc := files.Roots.Locate(c.Path)
	if c.Op == Delete || c.Op == Move {
		loc = files.Roots.LocateEntry(c.Path)
		loc.Link = false // what stands there is compared by checkBytes
	}
	if loc.Real != c.Real || loc.Link != c.Link {
		return c.stale(files, fmt.Sprintf("it leads to %s by now", loc.Real), "")
	}
	return nil
}

func (c *Change) checkTarget(files *workspace.Files) error {
	loc := files.Roots.Locate(c.To)
	if loc.Real != c.ToReal || loc.Link {
		return c.stale(files, fmt.Sprintf("%s leads to %s by now", displayName(files, c.To), loc.Real), "")
	}
	now, err := files.ReadDisk(c.To)
	if now.Exists && !workspace.SameFile(c.Real, c.ToReal) {
		return c.stale(files, fmt.Sprintf("%s was created by somebody else", displayName(files, c.To)), "")
	}
	if err != nil && !now.Exists {
		return refuse(files, c.To, err)
	}
	return nil
}

// checkBytes compares the bytes of a file or link whose text does not matter.
func (c *Change) checkBytes(files *workspace.Files) error {
	folder, err := files.Roots.OpenFolder(c.Real.Dir())
	if err != nil {
		return c.staleOrIO(files, err)
	}
	defer folder.Close()
	data, info, err := folder.Read(c.Real.Base(), int64(len(c.OldBytes)))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c.stale(files, "it was deleted", "")
	case errors.Is(err, workspace.ErrTooLarge):
		return c.stale(files, "it was changed on disk", "")
	case err != nil:
		return c.staleOrIO(files, err)
	case info.Mode().Type() != c.Mode.Type():
		return c.stale(files, "it is no longer the same kind of file", "")
	case workspace.HashBytes(data) != c.Before:
		return c.stale(files, "it was changed on disk", "")
	}
	return nil
}

// staleOrIO tells a place that changed from one that cannot be read.
func (c *Change) staleOrIO(files *workspace.Files, err error) error {
	if errors.Is(err, workspace.ErrChanged) || errors.Is(err, workspace.ErrUnsupported) || errors.Is(err, fs.ErrNotExist) {
		r := c.stale(files, fmt.Sprintf("its place changed (%v)", err), "")
		r.Err = err
		return r
	}
	return refuse(files, c.Path, err)
}

// What a stale refusal shows of the difference, at most; a larger one is left out.
const (
	staleDiffLines = 20
	staleDiffBytes = 2000
)

// stale says what changed under the proposal. now is the text found, "" when it is not known.
func (c *Change) stale(files *workspace.Files, what, now string) *Refusal {
	msg := fmt.Sprintf("%s is not what this edit was made from: %s since it was read. Nothing was written. Read it again and make the edit anew.",
		displayName(files, c.Path), what)
	if now != "" {
		d := diffTexts(c.OldText, now)
		lines := strings.SplitAfter(d.unified("read", "now", 0), "\n")
		changed := strings.Join(lines[min(2, len(lines)):], "")
		if changed != "" && len(lines) <= staleDiffLines+3 && len(changed) <= staleDiffBytes {
			msg += " What changed:\n" + changed
		}
	}
	return &Refusal{Code: CodeStale, Path: c.Path, Message: strings.TrimRight(msg, "\n"), Err: workspace.ErrChanged}
}
