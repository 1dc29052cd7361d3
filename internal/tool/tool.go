// Package tool is the contract between the model's tool calls and the agent, and the built-in
// tools. A [Tool] turns arguments into an [Action]: what it would do, what it needs permission for,
// and how to do it. Tools propose, the adapter disposes: no tool here writes to the workspace or
// asks anybody; an editing tool's Action carries an EditProposal and nothing to run.
package tool

import (
	"context"
	"encoding/json"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/workspace"
)

// Kind is the ACP tool kind, which editors choose icons by.
type Kind string

// Kinds (ACP ToolKind).
const (
	KindRead    Kind = "read"
	KindEdit    Kind = "edit"
	KindSearch  Kind = "search"
	KindExecute Kind = "execute"
	KindThink   Kind = "think"
	KindOther   Kind = "other"
)

// Location is a place in a file; Line is 1-based, 0 for none.
type Location struct {
	Path workspace.Path
	Line int
}

// Result is what the model gets for one call. Every call gets exactly one.
type Result struct {
	Text    string
	Images  []model.Media
	IsError bool
	Raw     any // rawOutput for the editor, a JSON value; nil for none
	// Display is text for the editor when it should differ from Text ("" for Text).
	Display string
	// TerminalID is the editor's terminal that shows the output, "" for none.
	TerminalID string
}

// Command is a shell command that needs permission.
type Command struct {
	Line string
	Cwd  workspace.Path
}

// Action is one prepared tool call. Exactly one of Proposal and Run is set.
type Action struct {
	Title     string // alone enough to decide by
	Kind      Kind
	Locations []Location
	// Reads are paths whose content the call would give the model; the policy may ask for them.
	Reads []workspace.Path
	// Command is a shell command; the policy asks for it.
	Command *Command
	// Proposal is an edit; the adapter's one edit path takes it from here.
	Proposal *edits.Proposal
	// Parallel says that the call only reads and may run beside others.
	Parallel bool
	// Run does the work after permission. It returns when everything it started has ended, or is
	// owned by the session (background terminals).
	Run func(ctx context.Context, out Progress) Result
}

// Progress shows a running call to the editor. Calls are cheap, may be coalesced and dropped.
type Progress interface {
	// Output replaces the shown text of the call.
	Output(text string)
	// Terminal embeds the editor's terminal in the call.
	Terminal(id string)
}

// Entry is one step of the plan shown to the user.
type Entry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium, low
	Status   string `json:"status"`   // pending, in_progress, completed
}

// Env is what one session gives its tools. It holds no per-call state.
type Env struct {
	Files     *workspace.Files
	Limits    Limits
	Terminals *Terminals // this session's commands
	Language  Language   // nil: no language-server tools
	Plan      func(entries []Entry)
	Ask       func(ctx context.Context, question string, options []string) (string, error) // nil: ask_user is not offered
	// Sensitive says which files search_files must not give content of when it meets them below the
	// folder that it was asked to search (contract §6); nil for none. A path that a call names is the
	// policy's business, by Action.Reads.
	Sensitive func(p workspace.Path) bool
}

// Limits bound what tools give back (contract §7). Zero fields take the contract's defaults.
type Limits struct {
	ReadLines       int // 2000
	ReadBytes       int // 256 KiB
	OutputBytes     int // 64 KiB to the model
	TerminalBytes   int // 1 MiB kept of a command
	TerminalSeconds int // default timeout of a command: 120
}

func (l Limits) withDefaults() Limits {
	for _, f := range []struct {
		field *int
		def   int
	}{{&l.ReadLines, 2000}, {&l.ReadBytes, 256 << 10}, {&l.OutputBytes, 64 << 10}, {&l.TerminalBytes, 1 << 20}, {&l.TerminalSeconds, 120}} {
		if *f.field <= 0 {
			*f.field = f.def
		}
	}
	return l
}

// Language is the session's language-server layer as the lsp_ tools need it; package acp joins it
// to package lsp. Lines and characters are 1-based; characters count code points.
type Language interface {
	// Diagnostics gives all findings of a file as text in the contract's form (§4); with an empty path
	// those of every file that this session has edited or asked about.
	Diagnostics(ctx context.Context, p workspace.Path) (string, error)
	Definition(ctx context.Context, p workspace.Path, line, char int) ([]Place, string, error)
	References(ctx context.Context, p workspace.Path, line, char int) ([]Place, string, error)
	Hover(ctx context.Context, p workspace.Path, line, char int) (string, error)
}

// Place is one answer of definition or references. The string beside a list of places is a notice
// ("gopls is not installed…") that replaces the list when it is not empty.
type Place struct {
	Path      workspace.Path `json:"path"`
	Line      int            `json:"line"`
	Character int            `json:"character"`
}

// Tool is one tool of the model.
type Tool interface {
	Spec() model.Tool
	// Prepare checks arguments and plans the call without side effects (reading is allowed). A
	// *edits.Refusal is an edit that cannot be made; an *ArgumentError is bad arguments; both become
	// results the model can act on. Other errors are faults of ours.
	Prepare(ctx context.Context, env *Env, args json.RawMessage) (*Action, error)
}

// ArgumentError is a tool call whose arguments do not fit, told so that the model can mend it.
type ArgumentError struct {
	Tool    string
	Message string
}

// Error names the tool and what to mend.
func (e *ArgumentError) Error() string { return e.Tool + ": " + e.Message }

// Set is the tools of one session, by name and alias.
type Set struct {
	order     []Tool            // those that the model is told of
	by        map[string]Tool   // by name and alias
	canonical map[string]string // name or alias to name
}

// Selection filters tools: names or groups (group:fs, group:edit, group:lsp, group:terminal).
// An empty Enabled means all.
type Selection struct {
	Enabled, Disabled []string
}
