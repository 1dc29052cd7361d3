package acptest

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Codes of errors that the editor answers with.
const (
	codeNotFound       = -32002
	codeMethodNotFound = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
)

// asked takes a request of the agent's; the lock is held. It gives what to do after unlocking.
func (e *Editor) asked(m Message) func() {
	if m.Method == "session/request_permission" {
		return e.question(m)
	}
	if _, ok := e.held[m.Method]; ok {
		e.held[m.Method] = append(e.held[m.Method], func() { e.serve(m) })
		return nil
	}
	return func() { e.serve(m) }
}

// Hold leaves every later request of a method unanswered until [Editor.Resume].
func (e *Editor) Hold(method string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.held[method] = []func(){}
}

// Resume answers what was held and goes on as before.
func (e *Editor) Resume(method string) {
	e.mu.Lock()
	waiting := e.held[method]
	delete(e.held, method)
	e.mu.Unlock()
	for _, answer := range waiting {
		answer()
	}
}

// Fail has every later request of a method answered with an error; a nil error ends that.
func (e *Editor) Fail(method string, err *RPCError) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fail[method] = err
}

// SetBuffer opens a file in the editor with text that need not be on disk.
func (e *Editor) SetBuffer(path, text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.buffers[path] = text
}

// Buffer gives the text of an open file.
func (e *Editor) Buffer(path string) (string, bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	text, ok := e.buffers[path]
	return text, ok
}

// serve answers one request that is no permission request.
func (e *Editor) serve(m Message) {
	e.mu.Lock()
	failure := e.fail[m.Method]
	e.mu.Unlock()
	if failure != nil {
		e.reply(m.ID, nil, failure)
		return
	}
	switch {
	case m.Method == "fs/read_text_file" && e.offers("fs", "readTextFile"):
		text, err := e.readFile(m)
		e.reply(m.ID, map[string]any{"content": text}, err)
	case m.Method == "fs/write_text_file" && e.offers("fs", "writeTextFile"):
		err := e.writeFile(get[string](m.Params, "sessionId"), get[string](m.Params, "path"), get[string](m.Params, "content"))
		e.reply(m.ID, e.empty(), err)
	case strings.HasPrefix(m.Method, "terminal/") && e.offers("terminal"):
		e.serveTerminal(m)
	case e.Profile.Silent:
	default:
		e.reply(m.ID, nil, &RPCError{Code: codeMethodNotFound, Message: "no such method: " + m.Method})
	}
}

func (e *Editor) offers(path ...any) bool {
	return get[bool](mustJSON(e.Profile.Capabilities), path...)
}

// empty is the result of a call that has nothing to say.
func (e *Editor) empty() any {
	if e.Profile.NullResults {
		return nil
	}
	return map[string]any{}
}

// reply answers a request of the agent's, unless the editor is closing.
func (e *Editor) reply(id json.RawMessage, result any, failure *RPCError) {
	m := map[string]any{"id": id}
	if failure != nil {
		m["error"] = map[string]any{"code": failure.Code, "message": failure.Message}
	} else {
		m["result"] = result
	}
	if err := e.send(m); err != nil && !errors.Is(err, os.ErrClosed) && !isBrokenPipe(err) {
		e.t.Errorf("answer the agent: %v", err)
	}
}

func (e *Editor) readFile(m Message) (string, *RPCError) {
	path := get[string](m.Params, "path")
	if failure := e.inside(get[string](m.Params, "sessionId"), path); failure != nil {
		return "", failure
	}
	text, open := e.Buffer(path)
	if !open || !e.Profile.ServesBuffers {
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist) && e.Profile.MissingIsEmpty:
			return "", nil
		case errors.Is(err, fs.ErrNotExist):
			return "", &RPCError{Code: codeNotFound, Message: "Resource not found: " + path}
		case err != nil:
			return "", &RPCError{Code: codeInternal, Message: err.Error()}
		}
		text = strings.TrimPrefix(strings.ToValidUTF8(string(data), "\uFFFD"), "\uFEFF")
	}
	if e.Profile.ReadsLF {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	return lines(text, get[*int](m.Params, "line"), get[*int](m.Params, "limit"))
}

// lines cuts limit lines from a 1-based line on.
func lines(text string, line, limit *int) (string, *RPCError) {
	all := strings.SplitAfter(text, "\n")
	from := 0
	if line != nil {
		from = *line - 1
	}
	if from < 0 || from > len(all) {
		return "", &RPCError{Code: codeInvalidParams, Message: "line is out of range"}
	}
	to := len(all)
	if limit != nil {
		to = min(to, from+*limit)
	}
	return strings.Join(all[from:to], ""), nil
}

// inside refuses paths outside the session's cwd where the editor does.
func (e *Editor) inside(session, path string) *RPCError {
	if !e.Profile.OnlyInside {
		return nil
	}
	e.mu.Lock()
	root := e.roots[session]
	e.mu.Unlock()
	if rel, err := filepath.Rel(root, path); err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return &RPCError{Code: codeNotFound, Message: "Resource not found: " + path}
	}
	return nil
}

func (e *Editor) writeFile(session, path, text string) *RPCError {
	if failure := e.inside(session, path); failure != nil {
		return failure
	}
	old, _ := os.ReadFile(path)
	_, open := e.Buffer(path)
	if e.Profile.KeepsEOL {
		text = strings.ReplaceAll(text, "\r\n", "\n")
	}
	if open && e.Profile.ExtraNewline && strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	if e.o.Format != nil {
		text = e.o.Format(path, text)
	}
	if open && e.Profile.WritesBuffers {
		e.SetBuffer(path, text)
	}
	if e.Profile.KeepsEOL && strings.Contains(string(old), "\r\n") {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	err := os.MkdirAll(filepath.Dir(path), 0o777)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o666)
	}
	if err != nil {
		return &RPCError{Code: codeInternal, Message: err.Error()}
	}
	return nil
}
