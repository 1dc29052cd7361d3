package acp

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
)

// terminalLimit bounds the requests that end a terminal.
const terminalLimit = 5 * time.Second

// createPatience is how long a cancelled command waits for a terminal that is being made.
const createPatience = 500 * time.Millisecond

// spawner starts the session's commands: in the editor's terminal where it offers one, else in a process
// group of ours.
type spawner struct {
	o *session

	mu  sync.Mutex
	env map[tool.Command][]string // guarded by mu; what allowed commands are run with
}

// lend has a command run with variables that the policy demands, until the returned function is called.
// The tools know of no policy, so the variables wait here for the command.
func (s *spawner) lend(c tool.Command, env []string) (back func()) {
	if len(env) == 0 {
		return func() {}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.env[c] = env
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.env, c)
	}
}

// Spawn starts line in cwd.
func (s *spawner) Spawn(ctx context.Context, line string, cwd workspace.Path, limit int) (tool.Process, error) {
	s.mu.Lock()
	env := s.env[tool.Command{Line: line, Cwd: cwd}]
	s.mu.Unlock()
	if s.o.client.terminal {
		return s.inEditor(ctx, line, cwd, limit, env)
	}
	environ := s.o.srv.o.Environ
	local := tool.LocalSpawner{Env: append(environ[:len(environ):len(environ)], env...)}
	return local.Spawn(ctx, line, cwd, limit)
}

// inEditor creates a terminal. A cancel does not wait for the editor; a terminal that it creates after all
// is released at once.
func (s *spawner) inEditor(ctx context.Context, line string, cwd workspace.Path, limit int, env []string) (tool.Process, error) {
	dir := wirePath(cwd)
	params := sdk.CreateTerminalRequest{SessionId: sdk.SessionId(s.o.id), Cwd: &dir}
	params.Command, params.Args = shellCommand(s.o.client.profile, runtime.GOOS, line)
	if limit > 0 {
		params.OutputByteLimit = &limit
	}
	for _, e := range env {
		name, value, _ := strings.Cut(e, "=")
		params.Env = append(params.Env, sdk.EnvVariable{Name: name, Value: value})
	}
	type created struct {
		id  string
		err error
	}
	result := make(chan created)
	ended := make(chan struct{})
	started := s.o.srv.spawn(ctx, func(ctx context.Context) {
		defer close(ended)
		creating, cancel := context.WithTimeout(context.WithoutCancel(ctx), fileLimit)
		defer cancel()
		var answer struct {
			ID string `json:"terminalId"`
		}
		err := s.o.srv.conn.Call(creating, methodTermCreate, params, &answer)
		if err == nil && answer.ID == "" {
			err = errors.New("the editor gave no terminal id")
		}
		select {
		case result <- created{answer.ID, err}:
		case <-ctx.Done():
			if err == nil {
				p := &editorTerminal{o: s.o, id: answer.ID}
				_ = p.Release(ctx) // nobody is left to tell
			}
		}
	})
	if !started {
		return nil, errClosing
	}
	select {
	case r := <-result:
		if r.err != nil {
			return nil, r.err
		}
		return &editorTerminal{o: s.o, id: r.id}, nil
	case <-ctx.Done():
	}
	// The goroutine releases what the editor still creates; an editor that answers has it released before
	// the turn's answer.
	waitDone(ended, createPatience)
	return nil, ctx.Err()
}

// shellCommand is the command and the arguments of terminal/create. Editors that hand the command to a
// shell without quoting get the whole line as the command; the others get a shell.
func shellCommand(p profile, goos, line string) (command string, args []string) {
	switch {
	case p.commandLine:
		return line, nil
	case goos == "windows":
		return "cmd.exe", []string{"/d", "/s", "/c", line}
	}
	return "/bin/sh", []string{"-c", line}
}

// editorTerminal is a command in a terminal of the editor.
type editorTerminal struct {
	o  *session
	id string
}

type terminalParams struct {
	SessionID  string `json:"sessionId"`
	TerminalID string `json:"terminalId"`
}

func (t *editorTerminal) params() terminalParams { return terminalParams{t.o.id, t.id} }

// ID is the terminal's id at the editor.
func (t *editorTerminal) ID() string { return t.id }

// Output asks for what the editor has kept.
func (t *editorTerminal) Output(ctx context.Context) (string, bool, error) {
	ctx, cancel := context.WithTimeout(ctx, fileLimit)
	defer cancel()
	var out struct {
		Output    string `json:"output"`
		Truncated bool   `json:"truncated"`
	}
	err := t.o.srv.conn.Call(ctx, methodTermOutput, t.params(), &out)
	return out.Output, out.Truncated, err
}

// Changed is nil: the editor shows the output itself and tells nobody of it.
func (t *editorTerminal) Changed() <-chan struct{} { return nil }

// Wait waits until the command ends or ctx does.
func (t *editorTerminal) Wait(ctx context.Context) (tool.Exit, error) {
	var end struct {
		Code   *int    `json:"exitCode"`
		Signal *string `json:"signal"`
	}
	if err := t.o.srv.conn.Call(ctx, methodTermWait, t.params(), &end); err != nil {
		return tool.Exit{}, err
	}
	var exit tool.Exit
	if end.Code != nil {
		exit.Code = *end.Code
	}
	if end.Signal != nil {
		exit.Signal = *end.Signal
	}
	return exit, nil
}

// Kill ends the command; the terminal and its output stay.
func (t *editorTerminal) Kill(ctx context.Context) error { return t.end(ctx, methodTermKill) }

// Release frees the terminal, ending the command when it still runs.
func (t *editorTerminal) Release(ctx context.Context) error { return t.end(ctx, methodTermRelease) }

// end tells the editor even when the turn was cancelled: a terminal that is not released stays.
func (t *editorTerminal) end(ctx context.Context, method string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), terminalLimit)
	defer cancel()
	return t.o.srv.conn.Call(ctx, method, t.params(), nil)
}
