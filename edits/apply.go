package edits

import (
	"context"
	"errors"
	"fmt"

	"acp-agent/internal/workspace"
)

// Apply writes an approved proposal: every base is re-read and must match (else a stale Refusal
// and nothing is written), then each file goes its Route; a failure part of the way puts back what
// was done, and the error says so. ctx must not be cancelled by the user's cancel: the caller
// decides before, never within. State ends Applied, Stale or Failed. The proposal must be Approved.
func (p *Proposal) Apply(ctx context.Context, files *workspace.Files, j Journal) ([]Landed, error) {
	if p.State != Approved {
		return nil, fmt.Errorf("apply proposal %s: it is %s, not approved", p.ID, p.State)
	}
	a := &application{p: p, files: files, changed: map[*workspace.Folder]bool{}}
	defer a.close()
	err := a.run(ctx, j)
	var refusal *Refusal
	switch {
	case err == nil:
		p.State = Applied
		return a.landed(ctx), nil
	case errors.As(err, &refusal) && refusal.Code == CodeStale:
		p.State = Stale
	default:
		p.State = Failed
	}
	return nil, err
}

// application is one run of Apply.
type application struct {
	p       *Proposal
	files   *workspace.Files
	steps   []*step // one for each change
	folders []*workspace.Folder
	changed map[*workspace.Folder]bool        // folders whose entries we change ourselves
	done    []func(ctx context.Context) error // how to put back what was done, in the order it was done
	trouble []error                           // what could not be put back
}

// step is one change on its way to disk or editor.
type step struct {
	c      *Change
	staged []*workspace.Staged // in the order of their commits; none for the editor
	folder *workspace.Folder   // that holds the target
}

func (a *application) run(ctx context.Context, j Journal) error {
	if err := a.p.Check(ctx, a.files); err != nil {
		return err
	}
	if err := a.stage(); err != nil {
		a.removeMade()
		return err
	}
	if err := a.journal(j); err != nil {
		a.removeMade()
		return err
	}
	if err := a.commit(ctx); err != nil {
		return a.rollBack(ctx, err)
	}
	return nil
}

// stage writes the new contents beside their targets, where nothing can be seen of them yet: a full
// disk or a missing permission shows here, before anything is changed.
func (a *application) stage() error {
	for i := range a.p.Changes {
		c := &a.p.Changes[i]
		s := &step{c: c}
		a.steps = append(a.steps, s)
		if err := a.stageChange(s); err != nil {
			return c.staleOrIO(a.files, err)
		}
	}
	return nil
}

func (a *application) stageChange(s *step) (err error) {
	c := s.c
	if c.Op == Delete {
		if s.folder, err = a.open(c.Real.Dir(), a.files.Roots.OpenFolder); err != nil {
			return err
		}
		a.changed[s.folder] = true
		return s.add(s.folder.StageRemove(c.Real.Base(), c.OldBytes))
	}
	target := c.Real
	if c.Op == Move {
		target = c.ToReal
	}
	if s.folder, err = a.open(target.Dir(), a.files.Roots.MakeFolder); err != nil {
		return err
	}
	if c.Route == ViaEditor {
		return nil
	}
	a.changed[s.folder] = true
	switch c.Op {
	case Create:
		return s.add(s.folder.StageCreate(target.Base(), c.NewBytes, c.Mode))
	case Update:
		return s.add(s.folder.StageReplace(target.Base(), c.OldBytes, c.NewBytes))
	}
	return a.stageMove(s, target)
}

func (a *application) stageMove(s *step, target workspace.Path) error {
	from, err := a.open(s.c.Real.Dir(), a.files.Roots.OpenFolder)
	if err != nil {
		return err
	}
	a.changed[from] = true
	// A name that differs by case only is the same entry on some file systems: it must go first.
	sameEntry := workspace.SameFile(s.c.Real, target)
	if err := s.add(s.folder.StageMoved(target.Base(), s.c.NewBytes, from, s.c.Real.Base())); err != nil {
		return err
	}
	if err := s.add(from.StageRemove(s.c.Real.Base(), s.c.OldBytes)); err != nil {
		return err
	}
	if sameEntry {
		s.staged[0], s.staged[1] = s.staged[1], s.staged[0]
	}
	return nil
}

func (s *step) add(st *workspace.Staged, err error) error {
	if err == nil {
		s.staged = append(s.staged, st)
	}
	return err
}

func (a *application) open(dir workspace.Path, how func(workspace.Path) (*workspace.Folder, error)) (*workspace.Folder, error) {
	f, err := how(dir)
	if err == nil {
		a.folders = append(a.folders, f)
	}
	return f, err
}

// journal makes the old contents and the intent durable before the first change.
func (a *application) journal(j Journal) error {
	for i := range a.p.Changes {
		c := &a.p.Changes[i]
		if c.OldBytes != nil {
			if err := j.Keep(c.Before, c.OldBytes); err != nil {
				return a.ioError(c, "its old content could not be kept for undo", err)
			}
		}
		if c.Unsaved {
			if data, err := c.Format.Encode(c.OldText); err == nil {
				if err := j.Keep(workspace.HashBytes(data), data); err != nil {
					return a.ioError(c, "its unsaved text could not be kept for undo", err)
				}
			}
		}
	}
	if err := j.Intent(a.p); err != nil {
		return a.ioError(&a.p.Changes[0], "the intent to write could not be recorded", err)
	}
	return nil
}

// commit does the changes: those on disk first, as they can be put back exactly.
func (a *application) commit(ctx context.Context) error {
	for _, s := range a.steps {
		for _, st := range s.staged {
			st.KeepOld = len(a.steps) > 1
			if err := st.Commit(); err != nil {
				return s.c.staleOrIO(a.files, err)
			}
			a.done = append(a.done, func(context.Context) error { return st.Undo() })
		}
	}
	if err := a.sync(); err != nil {
		return a.ioError(&a.p.Changes[0], "its folder could not be made durable", err)
	}
	for _, s := range a.steps {
		if s.c.Route == ViaEditor {
			if err := a.writeEditor(ctx, s.c); err != nil {
				return err
			}
		}
	}
	return nil
}

// sync makes the folders durable in which something was done, each once.
func (a *application) sync() error {
	synced := map[workspace.Path]bool{}
	for _, f := range a.folders {
		if f.Made() || a.changed[f] && !synced[f.Path()] {
			synced[f.Path()] = true
			if err := f.Sync(); err != nil {
				return err
			}
		}
	}
	return nil
}

// writeEditor reads once more, so that the editor answers from what it has now and typing that came
// in meanwhile is not overwritten, and writes.
func (a *application) writeEditor(ctx context.Context, c *Change) error {
	if a.files.Editor == nil || !a.files.Editor.CanWrite() {
		return a.ioError(c, "the editor no longer takes writes", errors.New("no editor"))
	}
	if err := c.check(ctx, a.files); err != nil {
		return err
	}
	a.done = append(a.done, func(ctx context.Context) error { return a.undoEditor(ctx, c) })
	if err := a.files.Editor.WriteText(ctx, c.Path, c.NewText); err != nil {
		return a.ioError(c, "the editor could not write it", err)
	}
	return nil
}

func (a *application) ioError(c *Change, what string, err error) *Refusal {
	return &Refusal{Code: CodeIO, Path: c.Path, Err: err, Message: fmt.Sprintf(
		"%s was not written: %s (%v). Nothing was changed. Tell the user when it happens again.", displayName(a.files, c.Path), what, err)}
}

// removeMade takes away the folders that were made, once the temp files in them are gone.
func (a *application) removeMade() {
	a.closeStaged()
	for i := len(a.folders) - 1; i >= 0; i-- {
		a.folders[i].RemoveMade()
	}
}

func (a *application) closeStaged() {
	for _, s := range a.steps {
		for _, st := range s.staged {
			st.Close()
		}
	}
}

func (a *application) close() {
	a.closeStaged()
	for _, f := range a.folders {
		f.Close()
	}
}
