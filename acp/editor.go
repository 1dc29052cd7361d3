package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"acp-agent/internal/workspace"
)

// fileLimit bounds one file request: some editors never answer what they do not know.
const fileLimit = 30 * time.Second

// cancelPatience is how long a write that has begun is still waited for after a cancel. It cannot be
// called back, so its end is worth a moment, and no more than that.
const cancelPatience = 1500 * time.Millisecond

// errEditorSilent is a file request that the editor did not answer.
var errEditorSilent = errors.New("the editor did not answer")

// editorFiles reads and writes through the editor. It is only made for editors that offer one of the two.
type editorFiles struct{ o *session }

// newEditorFiles gives nil for an editor that says nothing about files: the disk is the truth then.
func newEditorFiles(o *session) workspace.Editor {
	if !o.client.readFile && !o.client.writeFile {
		return nil
	}
	return &editorFiles{o}
}

func (f *editorFiles) CanRead() bool       { return f.o.client.readFile }
func (f *editorFiles) CanWrite() bool      { return f.o.client.writeFile }
func (f *editorFiles) ServesBuffers() bool { return !f.o.client.profile.servesDisk }

// ReadText gives the buffer's text, or the file's. A null result is an empty text.
func (f *editorFiles) ReadText(ctx context.Context, p workspace.Path) (string, error) {
	var result struct {
		Content string `json:"content"`
	}
	err := f.call(ctx, methodReadFile, struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
	}{f.o.id, wirePath(p)}, &result)
	return result.Content, err
}

// WriteText replaces the file's text. Its result, null with some editors, says nothing.
func (f *editorFiles) WriteText(ctx context.Context, p workspace.Path, text string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	if t := f.o.current(); t != nil {
		unhook := t.onCancel(func() { time.AfterFunc(cancelPatience, cancel) })
		defer unhook()
	}
	return f.call(ctx, methodWriteFile, struct {
		SessionID string `json:"sessionId"`
		Path      string `json:"path"`
		Content   string `json:"content"`
	}{f.o.id, wirePath(p), text}, nil)
}

func (f *editorFiles) call(ctx context.Context, method string, params, result any) error {
	ctx, cancel := context.WithTimeoutCause(ctx, fileLimit, errEditorSilent)
	defer cancel()
	err := f.o.srv.conn.Call(ctx, method, params, result)
	if err != nil && errors.Is(context.Cause(ctx), errEditorSilent) {
		return fmt.Errorf("%s: %w within %s", method, errEditorSilent, fileLimit)
	}
	return err
}
