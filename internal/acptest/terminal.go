package acptest

import (
	"errors"
	"fmt"
	"os/exec"
	"sync"
	"unicode/utf8"
)

// terminal is one command that the editor runs for the agent.
type terminal struct {
	cmd   *exec.Cmd
	limit int
	done  chan struct{} // closed when the command has ended

	mu        sync.Mutex
	out       []byte // guarded by mu, as is what follows
	truncated bool
	released  bool
}

// Write keeps the last limit bytes of the command's output.
func (t *terminal) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.out = append(t.out, p...)
	if over := len(t.out) - t.limit; t.limit > 0 && over > 0 {
		for over < len(t.out) && !utf8.RuneStart(t.out[over]) {
			over++
		}
		t.out, t.truncated = append([]byte(nil), t.out[over:]...), true
	}
	return len(p), nil
}

// kill ends the command with all its children and waits for it.
func (t *terminal) kill() {
	select {
	case <-t.done: // its pid may belong to somebody else by now
	default:
		killGroup(t.cmd)
		<-t.done
	}
}

// exit is the schema's TerminalExitStatus.
func (t *terminal) exit() map[string]any {
	state := t.cmd.ProcessState
	if signal := signalOf(state); signal != "" {
		return map[string]any{"exitCode": nil, "signal": signal}
	}
	return map[string]any{"exitCode": state.ExitCode(), "signal": nil}
}

// Terminals says how many terminals were made and how many of them the agent has not released.
func (e *Editor) Terminals() (made, open int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, term := range e.terms {
		term.mu.Lock()
		if !term.released {
			open++
		}
		term.mu.Unlock()
	}
	return len(e.terms), open
}

// serveTerminal answers the five terminal methods.
func (e *Editor) serveTerminal(m Message) {
	if m.Method == "terminal/create" {
		id, failure := e.createTerminal(m)
		e.reply(m.ID, map[string]any{"terminalId": id}, failure)
		return
	}
	e.mu.Lock()
	term := e.terms[get[string](m.Params, "terminalId")]
	e.mu.Unlock()
	released := term == nil
	if term != nil {
		term.mu.Lock()
		released = term.released
		term.mu.Unlock()
	}
	if released {
		e.reply(m.ID, nil, &RPCError{Code: codeNotFound, Message: "no such terminal"})
		return
	}
	switch m.Method {
	case "terminal/output":
		e.reply(m.ID, term.output(), nil)
	case "terminal/wait_for_exit":
		e.background(func() {
			<-term.done
			e.reply(m.ID, term.exit(), nil)
		})
	case "terminal/kill":
		e.background(func() {
			term.kill()
			e.reply(m.ID, e.empty(), nil)
		})
	case "terminal/release":
		term.mu.Lock()
		term.released = true
		term.mu.Unlock()
		e.background(func() {
			term.kill()
			e.reply(m.ID, e.empty(), nil)
		})
	default:
		e.reply(m.ID, nil, &RPCError{Code: codeMethodNotFound, Message: "no such method: " + m.Method})
	}
}

// background runs f on a goroutine that [Editor.Close] waits for.
func (e *Editor) background(f func()) {
	e.reader.Add(1)
	go func() {
		defer e.reader.Done()
		f()
	}()
}

func (t *terminal) output() map[string]any {
	result := map[string]any{}
	select {
	case <-t.done:
		result["exitStatus"] = t.exit()
	default:
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	result["output"], result["truncated"] = string(t.out), t.truncated
	return result
}

func (e *Editor) createTerminal(m Message) (string, *RPCError) {
	command, args := get[string](m.Params, "command"), get[[]string](m.Params, "args")
	if len(args) == 0 {
		command, args = "/bin/sh", []string{"-c", command}
	}
	cmd := exec.Command(command, args...)
	cmd.Dir = get[string](m.Params, "cwd")
	cmd.Env = cmd.Environ()
	for _, v := range get[[]struct{ Name, Value string }](m.Params, "env") {
		cmd.Env = append(cmd.Env, v.Name+"="+v.Value)
	}
	ownGroup(cmd)
	term := &terminal{cmd: cmd, limit: get[int](m.Params, "outputByteLimit"), done: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = term, term
	if err := cmd.Start(); err != nil {
		return "", &RPCError{Code: codeInternal, Message: err.Error()}
	}
	e.background(func() {
		defer close(term.done)
		var exit *exec.ExitError
		if err := cmd.Wait(); err != nil && !errors.As(err, &exit) {
			e.t.Errorf("terminal: %v", err)
		}
	})
	e.mu.Lock()
	defer e.mu.Unlock()
	id := fmt.Sprintf("term-%d", len(e.terms)+1)
	e.terms[id] = term
	return id, nil
}
