//go:build unix

package tool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/workspace"
)

// fifo makes a named pipe in the session's folder.
func fifo(t *testing.T, env *Env, name string) string {
	t.Helper()
	if err := syscall.Mkfifo(env.at(name), 0o600); err != nil {
		t.Fatal(err)
	}
	return env.at(name)
}

// wantClosed waits until every process that writes to r has ended.
func wantClosed(t *testing.T, r *os.File, limit time.Duration) {
	t.Helper()
	defer r.Close()
	if err := r.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, r); err != nil {
		t.Errorf("processes still run after %s: %v", limit, err)
	}
}

func TestTerminal(t *testing.T) {
	env := newEnv(t, "-- sub/x --\n")
	for name, tc := range map[string]struct {
		args, want string
		bad        bool
	}{
		"output":           {`{"command":"echo one; echo two >&2"}`, "one\ntwo\n[exit code 0]", false},
		"no output":        {`{"command":"true"}`, "(no output)\n[exit code 0]", false},
		"failure":          {`{"command":"echo no; exit 3"}`, "no\n[exit code 3]", true},
		"a signal":         {`{"command":"kill -9 $$"}`, "(no output)\n[killed by SIGKILL]", true},
		"no such command":  {`{"command":"no-such-command-here 2>/dev/null"}`, "(no output)\n[exit code 127]", true},
		"a folder":         {`{"command":"basename \"$PWD\"","cwd":"sub"}`, "sub\n[exit code 0]", false},
		"no input":         {`{"command":"cat; read x || echo end"}`, "end\n[exit code 0]", false},
		"colours":          {`{"command":"printf '\\033[31mred\\033[0m 1%%\\r2%%\\n'"}`, "2%\n[exit code 0]", false},
		"a timeout":        {`{"command":"echo before; sleep 100","timeout_seconds":1}`, "before\n[timed out after 1s and was ended; give a larger timeout_seconds, or run it with background]", true},
		"what it left":     {`{"command":"sleep 100 & echo left"}`, "left\n[exit code 0]", false},
		"ended with grace": {`{"command":"trap 'echo bye; exit 0' TERM; echo in; sleep 100 & wait","timeout_seconds":1}`, "in\nbye\n[timed out after 1s and was ended; give a larger timeout_seconds, or run it with background]", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := call(t, env, "terminal", tc.args)
			if r.Text != tc.want || r.IsError != tc.bad {
				t.Errorf("got %q (error %v), want %q (%v)", r.Text, r.IsError, tc.want, tc.bad)
			}
		})
	}
}

func TestTerminalTitles(t *testing.T) {
	env := newEnv(t, "-- src/x --\n")
	for args, want := range map[string]string{
		`{"command":"make test"}`:                                "Run `make test`",
		`{"command":" make test\n","cwd":"src"}`:                 "Run `make test` in src",
		`{"command":"npm run dev","background":true}`:            "Run `npm run dev` in the background",
		"{\"command\":\"echo `date`\"}":                          "Run `` echo `date` ``",
		`{"command":"echo a\nrm -rf \u202e/"}`:                   "Run `echo a ⏎ rm -rf \\u202e/`",
		object("command", "x"+strings.Repeat("y", maxTitle+500)): "Run `x" + strings.Repeat("y", maxTitle-1) + "… (+501 characters)`",
	} {
		a, err := prepare(t, env, "terminal", args)
		if err != nil {
			t.Fatal(err)
		}
		if a.Title != want || a.Kind != KindExecute || a.Command == nil || a.Parallel {
			t.Errorf("title %q, want %q", a.Title, want)
		}
	}
	a, err := prepare(t, env, "terminal", `{"command":"x","cwd":"src"}`)
	if err != nil || *a.Command != (Command{Line: "x", Cwd: workspace.Path(env.at("src"))}) {
		t.Errorf("command %+v, %v", a.Command, err)
	}
}

// TestTerminalShowsOutputLive holds that the editor sees a line before the command ends.
func TestTerminalShowsOutputLive(t *testing.T) {
	env := newEnv(t, "")
	gate := fifo(t, env, "gate")
	a, err := prepare(t, env, "terminal", `{"command":"echo first; cat gate; echo last"}`)
	if err != nil {
		t.Fatal(err)
	}
	shown, done := newShown(), make(chan Result, 1)
	go func() { done <- a.Run(t.Context(), shown) }()
	<-shown.more
	if got := shown.last(); got != "first\n" {
		t.Errorf("shown %q", got)
	}
	if err := os.WriteFile(gate, []byte("through the gate\n"), 0); err != nil {
		t.Fatal(err)
	}
	if r := <-done; r.Text != "first\nthrough the gate\nlast\n[exit code 0]" {
		t.Errorf("result %q", r.Text)
	}
}

func TestTerminalCancel(t *testing.T) {
	env := newEnv(t, "")
	gate := fifo(t, env, "gate")
	a, err := prepare(t, env, "terminal", `{"command":"exec 9>gate; trap '' TERM; (sleep 100 & sleep 100) & echo up >&9; sleep 60; sleep 60"}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan Result, 1)
	go func() { done <- a.Run(ctx, newShown()) }()
	r, err := os.Open(gate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	wantClosed(t, r, 2*time.Second)
	if res := <-done; !res.IsError || !strings.HasSuffix(res.Text, "[cancelled by the user and ended]") {
		t.Errorf("result %+v", res)
	}
}

// TestTerminalMuchOutput holds number 79 of the conformance list: bounded result, bounded memory.
func TestTerminalMuchOutput(t *testing.T) {
	env := newEnv(t, "")
	var before, end runtime.MemStats
	runtime.ReadMemStats(&before)
	r := call(t, env, "terminal", `{"command":"echo first; head -c 52428800 /dev/zero | tr '\\0' x; echo; echo last"}`)
	runtime.ReadMemStats(&end)
	if len(r.Text) > 64<<10+500 || !strings.HasPrefix(r.Text, "first\nxxx") || !strings.Contains(r.Text, "xxx\nlast\n[The command printed more than is kept") {
		t.Errorf("%d bytes: %s … %s", len(r.Text), r.Text[:20], r.Text[len(r.Text)-300:])
	}
	if used := end.TotalAlloc - before.TotalAlloc; used > 64<<20 {
		t.Errorf("%d MiB were allocated", used>>20)
	}
	if raw, ok := r.Raw.(outcome); !ok || !raw.Truncated || raw.ExitCode == nil || *raw.ExitCode != 0 {
		t.Errorf("raw %+v", r.Raw)
	}
}

func TestBackground(t *testing.T) {
	env := newEnv(t, "")
	gate := fifo(t, env, "gate")
	want := func(r Result, text string, bad bool) {
		t.Helper()
		if r.Text != text || r.IsError != bad {
			t.Errorf("got %q (error %v), want %q (%v)", r.Text, r.IsError, text, bad)
		}
	}
	want(call(t, env, "terminal", `{"command":"echo up; cat gate; exit 4","background":true}`), "up\n[running in the background as t1]", false)
	want(call(t, env, "terminal", `{"command":"echo broken; exit 1","background":true}`), "broken\n[exit code 1]", true)

	looked := make(chan Result, 1)
	a, err := prepare(t, env, "terminal_output", `{"id":"t1"}`)
	if err != nil || a.Title != "Look at `echo up; cat gate; exit 4` (t1)" {
		t.Fatalf("%+v, %v", a, err)
	}
	go func() { looked <- a.Run(t.Context(), newShown()) }() // waits for news
	w, err := os.OpenFile(gate, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.WriteString("more\n"); err != nil {
		t.Fatal(err)
	}
	want(<-looked, "more\n[running]", false)
	if _, err := w.WriteString("and more\n"); err != nil {
		t.Fatal(err)
	}
	want(call(t, env, "terminal_output", `{"id":"t1"}`), "and more\n[running]", false)
	w.Close()
	want(call(t, env, "terminal_output", `{"id":"t1"}`), "(no new output)\n[exit code 4]", true)
	want(call(t, env, "terminal_output", `{"id":"t1"}`), "(no new output)\n[exit code 4]", true)

	want(call(t, env, "terminal", `{"command":"echo a; exec sleep 100","background":true}`), "a\n[running in the background as t2]", false)
	want(call(t, env, "terminal_kill", `{"id":"t2"}`), "(no output)\n[ended, killed by SIGTERM]", false)
	if r := call(t, env, "terminal_output", `{"id":"t2"}`); !strings.Contains(r.Text, `there is no background command \"t2\"; there is: t1 (echo up`) {
		t.Errorf("after its end: %s", r.Text)
	}
}

func TestCloseEndsAll(t *testing.T) {
	env := newEnv(t, "")
	gate := fifo(t, env, "gate")
	back, err := prepare(t, env, "terminal", `{"command":"exec 9>gate; echo a >&9; (sleep 100 & sleep 100)","background":true}`)
	if err != nil {
		t.Fatal(err)
	}
	front, err := prepare(t, env, "terminal", `{"command":"exec 9>gate; echo b >&9; sleep 100"}`)
	if err != nil {
		t.Fatal(err)
	}
	results := make(chan Result, 2)
	for _, a := range []*Action{back, front} {
		go func() { results <- a.Run(t.Context(), newShown()) }()
	}
	r, err := os.Open(gate)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(r, make([]byte, 4)); err != nil {
		t.Fatal(err)
	}
	env.Terminals.Close(t.Context())
	wantClosed(t, r, 2*time.Second)
	<-results
	<-results
	if r := call(t, env, "terminal", `{"command":"true"}`); codeOf(r) != "io" || !strings.Contains(r.Text, "the session is closed") {
		t.Errorf("after Close: %+v", r)
	}
}

// editorProcess is a command in an editor's terminal as package acp gives it: no news, only an end.
type editorProcess struct {
	mu       sync.Mutex
	calls    []string
	end      chan Exit
	deaf     bool // does not end when it is killed
	spawnErr error
}

func (p *editorProcess) Spawn(context.Context, string, workspace.Path, int) (Process, error) {
	return p, p.spawnErr
}

func (p *editorProcess) note(s string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.calls = append(p.calls, s)
}

func (p *editorProcess) ID() string { return "term-1" }
func (p *editorProcess) Output(context.Context) (string, bool, error) {
	return "shown by the editor\n", true, nil
}
func (p *editorProcess) Changed() <-chan struct{} { return nil }
func (p *editorProcess) Wait(ctx context.Context) (Exit, error) {
	select {
	case e := <-p.end:
		return e, nil
	case <-ctx.Done():
		return Exit{}, ctx.Err()
	}
}
func (p *editorProcess) Kill(context.Context) error {
	p.note("kill")
	if !p.deaf {
		p.end <- Exit{Signal: "SIGKILL"}
	}
	return nil
}
func (p *editorProcess) Release(context.Context) error { p.note("release"); return nil }

// TestEditorTerminals holds number 78 of the conformance list: each is released once, however it ends.
func TestEditorTerminals(t *testing.T) {
	for name, tc := range map[string]struct {
		args   string
		do     func(p *editorProcess, cancel context.CancelFunc)
		status string
		calls  string
	}{
		"its end": {`{"command":"x"}`, func(p *editorProcess, _ context.CancelFunc) { p.end <- Exit{Code: 2} }, "exit code 2", "[release]"},
		"timeout": {`{"command":"x","timeout_seconds":1}`, func(*editorProcess, context.CancelFunc) {}, "timed out after 1s", "[kill release]"},
		"cancel":  {`{"command":"x"}`, func(_ *editorProcess, cancel context.CancelFunc) { cancel() }, "cancelled by the user", "[kill release]"},
		"deaf":    {`{"command":"x"}`, func(p *editorProcess, cancel context.CancelFunc) { p.deaf = true; cancel() }, "cancelled by the user", "[kill release]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			env := newEnv(t, "")
			p := &editorProcess{end: make(chan Exit, 1)}
			env.Terminals = NewTerminals(p)
			a, err := prepare(t, env, "terminal", tc.args)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			tc.do(p, cancel)
			shown := newShown()
			r := a.Run(ctx, shown)
			if r.TerminalID != "term-1" || shown.terminal != "term-1" || len(shown.texts) > 0 {
				t.Errorf("terminal %q, shown %q, texts %q", r.TerminalID, shown.terminal, shown.texts)
			}
			if !strings.HasPrefix(r.Text, "shown by the editor\n") || !strings.Contains(r.Text, "["+tc.status) || !r.IsError {
				t.Errorf("text %q", r.Text)
			}
			env.Terminals.Close(t.Context())
			if got := fmt.Sprint(p.calls); got != tc.calls {
				t.Errorf("calls %s, want %s", got, tc.calls)
			}
		})
	}
	env := newEnv(t, "")
	env.Terminals = NewTerminals(&editorProcess{spawnErr: errors.New("no terminals today")})
	if r := call(t, env, "terminal", `{"command":"x"}`); !strings.Contains(r.Text, "The command was not run: no terminals today.") {
		t.Errorf("%+v", r)
	}
}
