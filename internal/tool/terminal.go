package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"time"

	"acp-agent/edits"
)

const (
	settleTime = time.Second      // in which a background command may fail at once
	newsTime   = 10 * time.Second // that terminal_output waits for something new
	maxTimeout = 24 * 60 * 60     // seconds
)

func runTerminal() *builtin {
	return &builtin{name: "terminal", group: groupTerminal, prepare: prepareTerminal, params: []param{
		need("command", "string", "Command line for the system's shell."),
		may("cwd", "string", "Folder to run it in; by default the working directory."),
		may("timeout_seconds", "integer", "Seconds after which it is ended; by default 120."),
		may("background", "boolean", "Let it run on (servers, watchers): the answer has an id for terminal_output and terminal_kill."),
	}}
}

func prepareTerminal(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("terminal", raw)
	limits := env.Limits.withDefaults()
	line, cwd, background := a.text("command"), a.folder(env, "cwd"), a.flag("background")
	seconds := min(a.number("timeout_seconds", 0, 0), maxTimeout)
	if seconds == 0 {
		seconds = limits.TerminalSeconds
	}
	if strings.TrimSpace(line) == "" && a.has("command") {
		a.complain("argument \"command\" is empty")
	}
	if cwd != "" {
		if info, err := os.Stat(cwd.String()); err != nil || !info.IsDir() {
			a.complain("argument \"cwd\": %s is no folder", cwd)
		}
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	title := "Run " + code(line)
	if cwd != env.Files.Roots.Cwd() {
		title += " in " + plain(cwd.Rel(env.Files.Roots.Cwd()))
	}
	if background {
		title += " in the background"
	}
	return &Action{Title: title, Kind: KindExecute, Command: &Command{Line: line, Cwd: cwd},
		Run: func(ctx context.Context, out Progress) Result {
			c, err := env.Terminals.start(ctx, line, cwd, limits.TerminalBytes)
			if err != nil {
				return Failed(edits.CodeIO, "The command was not run: "+err.Error()+".")
			}
			if id := c.process.ID(); id != "" {
				out.Terminal(id)
			}
			if background {
				return c.leave(ctx, limits.OutputBytes, out)
			}
			return c.finish(ctx, time.Duration(seconds)*time.Second, limits.OutputBytes, out)
		}}, nil
}

// finish follows a command to its end, whoever brings it, and tells the model.
func (c *command) finish(ctx context.Context, limit time.Duration, size int, out Progress) Result {
	defer c.release(ctx)
	why := c.follow(ctx, limit, out)
	if why != hasExited {
		c.kill(ctx)
	}
	text, cut := c.output(ctx)
	status := c.status()
	switch why {
	case tookTooLong:
		status = fmt.Sprintf("timed out after %s and was ended; give a larger timeout_seconds, or run it with background", limit)
	case wasCancelled:
		status = "cancelled by the user and ended"
	}
	return c.result(text, cut, status, size, why != hasExited || c.bad())
}

// leave lets a command run on under an id, unless it ends at once.
func (c *command) leave(ctx context.Context, size int, out Progress) Result {
	timer := time.NewTimer(settleTime)
	defer timer.Stop()
	select {
	case <-c.exited:
		return c.finish(ctx, settleTime, size, out)
	case <-ctx.Done():
		return c.finish(ctx, settleTime, size, out)
	case <-timer.C:
	}
	id, err := c.owner.name(c)
	if err != nil {
		c.release(ctx)
		return Failed(edits.CodeIO, "The command was ended: "+err.Error()+".")
	}
	c.looking.Lock()
	defer c.looking.Unlock()
	text, cut := c.output(ctx)
	c.seen = text
	return c.result(text, cut, "running in the background as "+id, size, false)
}

// bad says that an ended command did not succeed.
func (c *command) bad() bool { return c.err != nil || c.exit != (Exit{}) }

// status is how an ended command ended.
func (c *command) status() string {
	switch {
	case !c.ended():
		return "still running"
	case c.err != nil:
		return "how it ended is not known: " + c.err.Error()
	}
	return c.exit.String()
}

// outcome is what the editor gets of a command beside its text.
type outcome struct {
	ExitCode  *int   `json:"exit_code"`
	Signal    string `json:"signal,omitempty"`
	Status    string `json:"status"`
	Truncated bool   `json:"truncated"`
}

// result is a command's output for the model, with how it stands in the last line.
func (c *command) result(text string, cut bool, status string, size int, bad bool) Result {
	text = plainOutput(text)
	raw := outcome{Status: status, Truncated: cut || len(text) > size}
	if c.ended() && c.err == nil && c.exit.Signal == "" {
		raw.ExitCode = &c.exit.Code
	}
	if c.ended() {
		raw.Signal = c.exit.Signal
	}
	text = headAndTail(text, size)
	if strings.TrimSpace(text) == "" {
		text = "(no output)"
	}
	var notices []string
	if cut {
		notices = append(notices, "The command printed more than is kept; run it again with its output in a file, or filtered, to see all.")
	}
	return Result{Text: withNotices(text, append(notices, status)...), IsError: bad, Raw: raw, TerminalID: c.process.ID()}
}

func terminalOutput() *builtin {
	return &builtin{name: "terminal_output", group: groupTerminal, params: []param{need("id", "string", "Id of the background command.")},
		prepare: func(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
			c, id, err := backgroundCommand("terminal_output", env, raw)
			if err != nil {
				return nil, err
			}
			return &Action{Title: fmt.Sprintf("Look at %s (%s)", code(c.line), id), Kind: KindRead, Parallel: true,
				Run: func(ctx context.Context, _ Progress) Result {
					c.looking.Lock()
					defer c.looking.Unlock()
					fresh, cut := c.news(ctx, newsTime)
					status, ended := "running", c.ended()
					if ended {
						c.release(ctx)
						status = c.status()
					}
					if fresh == "" {
						fresh = "(no new output)"
					}
					return c.result(fresh, cut, status, env.Limits.withDefaults().OutputBytes, ended && c.bad())
				}}, nil
		}}
}

func terminalKill() *builtin {
	return &builtin{name: "terminal_kill", group: groupTerminal, params: []param{need("id", "string", "Id of the background command.")},
		prepare: func(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
			c, id, err := backgroundCommand("terminal_kill", env, raw)
			if err != nil {
				return nil, err
			}
			return &Action{Title: fmt.Sprintf("End %s (%s)", code(c.line), id), Kind: KindExecute,
				Run: func(ctx context.Context, _ Progress) Result {
					c.kill(ctx)
					c.looking.Lock()
					defer c.looking.Unlock()
					text, cut := c.output(ctx)
					fresh := since(c.seen, text)
					c.release(ctx)
					env.Terminals.forget(id)
					return c.result(fresh, cut, "ended, "+c.status(), env.Limits.withDefaults().OutputBytes, false)
				}}, nil
		}}
}

// backgroundCommand reads the id of a call.
func backgroundCommand(tool string, env *Env, raw json.RawMessage) (*command, string, error) {
	a := parse(tool, raw)
	id := a.text("id")
	if err := a.problem(); err != nil {
		return nil, "", err
	}
	c, err := env.Terminals.find(id)
	if err != nil {
		return nil, "", &ArgumentError{Tool: tool, Message: err.Error()}
	}
	return c, id, nil
}
