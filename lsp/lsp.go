// Package lsp is the language-server layer: it starts servers, keeps them told of the truth, and
// says which errors an edit brought in. Its main types are [Manager], one for the process, and
// [Session], one for each ACP session. A verdict is for this very text or is called "no verdict"
// with the reason; "clean" is never guessed. It must never write a workspace file, and nothing here
// breaks or delays an edit beyond the budget that the caller gives.
package lsp

import (
	"context"
	"time"

	"acp-agent/internal/workspace"
)

// Manager owns the server processes of this process. Constructing one starts nothing.
type Manager struct {
	// TODO(lsp): unexported fields
}

// NewManager makes a manager; servers start on first need.
func NewManager(o Options) *Manager { panic("TODO(lsp)") }

// Close ends all servers (shutdown, exit, then the process group) and returns when they are gone or
// ctx ends, in which case they have been killed.
func (m *Manager) Close(ctx context.Context) { panic("TODO(lsp)") }

// Session opens the layer for one ACP session. cwd of roots was chosen by the operator (L11).
func (m *Manager) Session(id string, roots *workspace.Roots) *Session { panic("TODO(lsp)") }

// Status lists known servers with their processes.
func (m *Manager) Status() []ServerStatus { panic("TODO(lsp)") }

// ServerStatus is one row of `lsp status`.
type ServerStatus struct {
	ID        string         `json:"id"`
	State     string         `json:"state"` // absent, denied, starting, warming, ready, degraded, backoff, retiring, dead
	Reason    string         `json:"reason,omitempty"`
	Command   []string       `json:"command,omitempty"` // resolved, absolute
	Version   string         `json:"version,omitempty"`
	Root      workspace.Path `json:"root,omitempty"`
	PID       int            `json:"pid,omitempty"`
	Trusted   bool           `json:"trusted"`
	P50       float64        `json:"p50_ms,omitempty"`
	P95       float64        `json:"p95_ms,omitempty"`
	Verdicts  int            `json:"verdicts"`
	NoVerdict map[string]int `json:"no_verdict,omitempty"` // by reason
	LastError string         `json:"last_error,omitempty"` // last stderr line
}

// Session is one ACP session's view of the servers. Safe for use from several goroutines.
type Session struct {
	// TODO(lsp): unexported fields
}

// Close ends this session's checks and gives back its leases. It returns when its goroutines ended.
func (s *Session) Close(ctx context.Context) { panic("TODO(lsp)") }

// Foresee gives the verdict on proposed texts without disturbing the truth: an exclusive lease on
// each (server, root), set, ask, put back (architecture, journey step 5). It starts the servers it
// needs and also takes the baseline. It returns at ctx's deadline with no_verdict (reason timeout)
// while the servers go on warming up; everything is put back even then. Deletes and moves are not
// foreseen. A session that the layer does not serve gives Off with the reason.
func (s *Session) Foresee(ctx context.Context, changes []Change) Verdict { panic("TODO(lsp)") }

// Applied tells the servers that changes are on disk now (one didChangeWatchedFiles for all, opens
// and changes, saves) and starts the check, which goes on in the background up to WaitTimeout. edit
// names the edit for late delivery (the tool call id).
func (s *Session) Applied(edit string, changes []Change) *Check { panic("TODO(lsp)") }

// External tells the servers that files changed on disk by something else (commands, the user).
func (s *Session) External(paths []workspace.Path) { panic("TODO(lsp)") }

// Check is the check of one applied edit.
type Check struct {
	// TODO(lsp): unexported fields
}

// Wait waits for the verdict until deadline, less for servers that are known to be slower. ok is
// false when it did not come: it is then delivered by Late or Settle.
func (c *Check) Wait(ctx context.Context, deadline time.Time) (v Verdict, ok bool) {
	panic("TODO(lsp)")
}

// Late is a verdict that came after its Wait gave up (or a second, changed verdict of a server).
type Late struct {
	Edit    string
	Paths   []workspace.Path
	Verdict Verdict
}

// Late takes the verdicts that came since the last call (they ride on the next tool result).
func (s *Session) Late() []Late { panic("TODO(lsp)") }

// OnLate sets a function that is called, from a goroutine of the session, when a late verdict
// arrives, so that the editor can be shown it at once. Late still returns it for the model.
func (s *Session) OnLate(f func(Late)) { panic("TODO(lsp)") }

// Settle waits until no check is running or ctx ends, and takes what Late would (turn-end hold, L9).
func (s *Session) Settle(ctx context.Context) []Late { panic("TODO(lsp)") }

// Diagnostics asks for all findings of a file's present text. The notice is one sentence that
// replaces them when the file cannot be served (T3).
func (s *Session) Diagnostics(ctx context.Context, p workspace.Path, text string) (items []Finding, notice string, err error) {
	panic("TODO(lsp)")
}

// Place is a position in a file, 1-based, code points.
type Place struct {
	Path            workspace.Path
	Line, Character int
}

// Definition, References and Hover ask the file's type checker (T2, T4). Line and char are 1-based.
func (s *Session) Definition(ctx context.Context, p workspace.Path, text string, line, char int) (places []Place, notice string, err error) {
	panic("TODO(lsp)")
}

// References finds the uses of the symbol at a position.
func (s *Session) References(ctx context.Context, p workspace.Path, text string, line, char int) (places []Place, notice string, err error) {
	panic("TODO(lsp)")
}

// Hover gives the hover text at a position.
func (s *Session) Hover(ctx context.Context, p workspace.Path, text string, line, char int) (hover, notice string, err error) {
	panic("TODO(lsp)")
}
