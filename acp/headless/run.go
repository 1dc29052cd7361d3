package headless

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"

	"acp-agent/internal/wire"
)

// Exit codes of `run` (contract §1).
const (
	ExitOK        = 0
	ExitError     = 1
	ExitUsage     = 2
	ExitRejected  = 3
	ExitNoModel   = 4
	ExitLimit     = 5 // max_tokens, max_turn_requests, refusal
	ExitCancelled = 130
)

// Runner plays one prompt in a terminal.
type Runner struct {
	Serve   Serve
	Version string
	Cwd     string // absolute
	Prompt  string
	Mode    string // "" for the configured one
	Model   string // "" for the configured one
	Yes     bool   // answers allow_once, but for sensitive and outside targets, which are rejected
	JSON    bool   // prints every message, and nothing else
	// In is where answers are read, a line each; nil without a terminal: what is asked is then rejected.
	In     io.Reader
	Screen *Screen
	// Edit lets the user change a proposed text ("e"); nil takes the choice away.
	Edit   func(ctx context.Context, path, text string) (string, error)
	Logger *slog.Logger

	asking   sync.Mutex // one question after the other
	printing sync.Mutex
	rejected atomic.Bool
	want     chan struct{}        // one for each line that is wanted of In
	lines    chan string          // of In
	cancel   func(session string) // ends the turn; set when connected
}

// Run plays the prompt and gives the exit code; the error says what a code alone does not.
func (r *Runner) Run(ctx context.Context) (code int, err error) {
	o := Options{Version: r.Version, Logger: r.Logger, Permission: r.answer}
	if r.JSON {
		o.Tap = r.print
	} else {
		o.Update = r.Screen.Update
	}
	if r.In != nil && !r.Yes {
		r.want, r.lines = make(chan struct{}, 1), make(chan string, 1)
		reading, stop := context.WithCancel(ctx)
		defer stop()
		go r.read(reading)
	}
	c, err := Start(ctx, r.Serve, o)
	if err != nil {
		return exitOf("", err, ctx), err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	r.cancel = c.Cancel
	stop, err := r.play(ctx, c)
	r.Screen.EndTurn()
	code = exitOf(stop, err, ctx)
	if code == ExitOK && r.rejected.Load() {
		code = ExitRejected
	}
	return code, err
}

// play opens the session as it was asked for and plays the turn.
func (r *Runner) play(ctx context.Context, c *Client) (stop string, err error) {
	s, err := c.NewSession(ctx, r.Cwd)
	if err != nil {
		return "", err
	}
	if r.Mode != "" {
		if err := c.SetMode(ctx, s.ID, r.Mode); err != nil {
			return "", err
		}
	}
	if r.Model != "" {
		if err := c.SetOption(ctx, s.ID, "model", r.Model); err != nil {
			return "", err
		}
	}
	return c.Prompt(ctx, s.ID, r.Prompt)
}

// exitOf is the exit code of a turn's end.
func exitOf(stop string, err error, ctx context.Context) int {
	switch {
	case stop == "cancelled" || ctx.Err() != nil:
		return ExitCancelled
	case err != nil:
		return exitOfError(err)
	case stop == "end_turn":
		return ExitOK
	}
	return ExitLimit
}

// exitOfError tells "no model" from other errors: by the code for a missing sign-in, and by the kind
// that the agent adds to the error's data.
func exitOfError(err error) int {
	var we *wire.Error
	if !errors.As(err, &we) {
		return ExitError
	}
	const authRequired = -32000
	var data struct {
		Kind string `json:"kind"`
	}
	if we.Data != nil {
		_ = json.Unmarshal(we.Data, &data) // other data has no kind
	}
	if we.Code == authRequired || data.Kind == "unreachable" {
		return ExitNoModel
	}
	return ExitError
}

// print writes one message of either direction, a line each.
func (r *Runner) print(_ bool, msg []byte) {
	r.printing.Lock()
	defer r.printing.Unlock()
	fmt.Fprintf(r.Screen.Out, "%s\n", strings.TrimRight(string(msg), "\n"))
}

// read hands over lines of In, each only when it is wanted: in between the user's editor has the
// terminal. It ends with In or ctx; a terminal's read cannot be called back.
func (r *Runner) read(ctx context.Context) {
	defer close(r.lines)
	lines := bufio.NewScanner(r.In)
	for {
		select {
		case <-ctx.Done():
			return
		case <-r.want:
		}
		if !lines.Scan() {
			return
		}
		r.lines <- lines.Text()
	}
}

// line waits for a line of the user's. A read that an earlier, cancelled question left is taken over.
func (r *Runner) line(ctx context.Context) (line string, open bool) {
	select {
	case r.want <- struct{}{}:
	default:
	}
	select {
	case <-ctx.Done():
		return "", true
	case line, open = <-r.lines:
		return line, open
	}
}

// answer decides on a permission request.
func (r *Runner) answer(ctx context.Context, q Question) Answer {
	r.asking.Lock()
	defer r.asking.Unlock()
	if !r.JSON {
		r.Screen.Proposal(q)
	}
	a := r.choose(ctx, q)
	if a.Option == RejectOnce {
		r.rejected.Store(true)
	}
	return a
}

func (r *Runner) choose(ctx context.Context, q Question) Answer {
	switch {
	case r.Yes && (q.Meta.Agent.Sensitive || q.Meta.Agent.Outside):
		r.tell("rejected: --yes does not cover sensitive files and files outside the workspace")
		return Answer{Option: RejectOnce}
	case r.Yes:
		return Answer{Option: AllowOnce}
	case r.lines == nil:
		r.tell("rejected: there is no terminal to ask at (--yes allows)")
		return Answer{Option: RejectOnce}
	}
	return r.ask(ctx, q)
}

// ask repeats the question until a line answers it. The end of the input is a no.
func (r *Runner) ask(ctx context.Context, q Question) Answer {
	path, text, editable := r.editable(q)
	for {
		r.question(q, editable)
		line, open := r.line(ctx)
		if ctx.Err() != nil {
			return Answer{}
		}
		if !open {
			return Answer{Option: RejectOnce}
		}
		switch key := strings.ToLower(strings.TrimSpace(line)); {
		case key == "y":
			return Answer{Option: AllowOnce}
		case key == "n":
			return Answer{Option: RejectOnce}
		case key == "a" && q.Offers(AllowSession):
			return Answer{Option: AllowSession}
		case key == "q":
			return r.quit(q)
		case key == "e" && editable:
			edited, err := r.Edit(ctx, path, text)
			if err != nil {
				r.tell(err.Error())
				continue
			}
			return Answer{Option: AllowOnce, Edited: &edited}
		}
	}
}

// quit cancels the turn.
func (r *Runner) quit(q Question) Answer {
	r.cancel(q.Session)
	return Answer{}
}

// editable is the one text that a question is about, when it is about one.
func (r *Runner) editable(q Question) (path, text string, ok bool) {
	if r.Edit == nil || q.Call.Meta.Agent.Edit == nil || q.Call.Meta.Agent.Edit.Partial || len(q.Call.Meta.Agent.Edit.Files) != 1 {
		return "", "", false
	}
	op := q.Call.Meta.Agent.Edit.Files[0].Op
	for _, item := range q.Call.Content {
		if item.Type == "diff" && (op == "update" || op == "create") {
			return item.Path, item.NewText, true
		}
	}
	return "", "", false
}

// question writes the line with the keys.
func (r *Runner) question(q Question, editable bool) {
	keys := "y (once) / n"
	if q.Offers(AllowSession) {
		keys += " / a (this session)"
	}
	if editable {
		keys += " / e (edit it)"
	}
	r.Screen.mu.Lock()
	defer r.Screen.mu.Unlock()
	r.Screen.endLine()
	fmt.Fprintf(r.Screen.Side, "Allow? %s / q (cancel): ", keys)
}

func (r *Runner) tell(s string) {
	r.Screen.mu.Lock()
	defer r.Screen.mu.Unlock()
	r.Screen.side(r.Screen.Color.dim(s))
}
