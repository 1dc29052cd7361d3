package edits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"

	"acp-agent/internal/workspace"
)

// rollBackTime bounds the editor's part of a roll-back, as an editor may never answer.
const rollBackTime = 10 * time.Second

// rollBack puts back what was done, last first, and says so in the error.
func (a *application) rollBack(ctx context.Context, cause error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rollBackTime)
	defer cancel()
	for i := len(a.done) - 1; i >= 0; i-- {
		if err := a.done[i](ctx); err != nil {
			a.trouble = append(a.trouble, err)
		}
	}
	a.removeMade()
	for _, f := range a.folders {
		if err := f.Sync(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			a.trouble = append(a.trouble, err)
		}
	}
	if len(a.trouble) == 0 {
		return cause
	}
	left := errors.Join(a.trouble...)
	r := &Refusal{Code: CodeIO, Message: cause.Error(), Err: errors.Join(cause, left)}
	var refusal *Refusal
	if errors.As(cause, &refusal) {
		r.Path = refusal.Path
	}
	r.Message = fmt.Sprintf("The edit failed and could not be taken back whole. Cause: %v Left as it is: %v. Read the files before the next edit; their old contents are in the checkpoints.", cause, left)
	return r
}

// undoEditor puts back a file that went through the editor, or may have gone although the editor
// said no. The editor first, as it may hold the text in a buffer; then the disk is held to the exact
// old bytes. What is neither the old nor our text is somebody else's work and stays.
func (a *application) undoEditor(ctx context.Context, c *Change) error {
	folder, err := a.files.Roots.OpenFolder(c.Real.Dir())
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	defer folder.Close()
	now, err := diskNow(folder, c.Real.Base())
	if err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	if c.OldBytes == nil {
		if now == nil {
			return nil
		}
		if !ours(c, now, c.NewText) {
			return notOurs(c)
		}
		return settle(folder.StageRemove(c.Real.Base(), now))
	}
	if now != nil && workspace.HashBytes(now) == c.Before {
		return a.undoBuffer(ctx, c)
	}
	if now == nil || !ours(c, now, c.NewText) {
		return notOurs(c)
	}
	writeErr := a.files.Editor.WriteText(ctx, c.Path, c.OldText)
	if c.Unsaved {
		return writeErr // the buffer has the user's text again; the disk has it too, saved
	}
	if now, err = diskNow(folder, c.Real.Base()); err != nil {
		return fmt.Errorf("%s: %w", c.Path, err)
	}
	switch {
	case now != nil && workspace.HashBytes(now) == c.Before:
		return nil
	case now == nil, !ours(c, now, c.NewText) && !ours(c, now, c.OldText):
		return notOurs(c)
	}
	return settle(folder.StageReplace(c.Real.Base(), now, c.OldBytes))
}

// undoBuffer is for text that the editor took and did not save.
func (a *application) undoBuffer(ctx context.Context, c *Change) error {
	now, err := a.files.Read(ctx, c.Path)
	if err != nil || !now.Unsaved || !workspace.SameText(now.Text, c.NewText) {
		return err
	}
	return a.files.Editor.WriteText(ctx, c.Path, c.OldText)
}

// diskNow reads an entry, nil when there is none.
func diskNow(folder *workspace.Folder, name string) ([]byte, error) {
	data, _, err := folder.Read(name, maxDelete)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// ours says that data is text, as an editor may have written it.
func ours(c *Change, data []byte, text string) bool {
	got, _, err := workspace.Decode(data, "")
	return err == nil && workspace.SameText(got, text)
}

func notOurs(c *Change) error {
	return fmt.Errorf("%s was changed by somebody else and stays as it is", c.Path)
}

// settle commits a staged change at once.
func settle(s *workspace.Staged, err error) error {
	if err != nil {
		return err
	}
	defer s.Close()
	return s.Commit()
}

// landed reads back what is there now.
func (a *application) landed(ctx context.Context) []Landed {
	out := make([]Landed, len(a.steps))
	for i, s := range a.steps {
		out[i] = Landed{Change: s.c, Written: s.c.After, Bytes: len(s.c.NewBytes), Dirs: s.folder.Made()}
		if s.c.Op == Delete {
			out[i].Dirs = false
			if now, _ := a.files.ReadDisk(s.c.Path); now.Exists {
				out[i].Found, out[i].Text = now.Hash, now.Text
			}
			continue
		}
		if int64(len(s.c.NewBytes)) > a.files.Limit() { // moved without being read as text
			if data, err := diskNow(s.folder, s.c.ToReal.Base()); err == nil && data != nil {
				out[i].Found = workspace.HashBytes(data)
			}
			continue
		}
		now, err := a.files.Read(ctx, s.c.Target())
		out[i].Found, out[i].Text = now.Hash, now.Text
		if now.Unsaved && err == nil {
			// The editor holds the text and has not saved it: that is what was found.
			if data, err := now.Format.Encode(now.Text); err == nil {
				out[i].Found = workspace.HashBytes(data)
			}
		}
	}
	return out
}
