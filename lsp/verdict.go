package lsp

import "acp-agent/internal/workspace"

// Op is what happened or would happen to a file.
type Op string

// Operations; the values are those of edits.Op.
const (
	Create Op = "create"
	Update Op = "update"
	Delete Op = "delete"
	Move   Op = "move"
)

// Change is one file of an edit: text before and after, without BOM.
type Change struct {
	Op      Op
	Path    workspace.Path
	To      workspace.Path // Move
	OldText string
	NewText string
}

// State of a verdict (contract §4).
type State string

// States. Overall: findings if any server has findings, else no_verdict if an owning server gave
// none, else clean; off when the layer does not serve the file.
const (
	Clean     State = "clean"
	Findings  State = "findings"
	NoVerdict State = "no_verdict"
	Off       State = "off"
)

// Severity as LSP numbers it.
type Severity int

// Severities.
const (
	SevError   Severity = 1
	SevWarning Severity = 2
	SevInfo    Severity = 3
	SevHint    Severity = 4
)

// String is the word that findings are listed with.
func (s Severity) String() string {
	switch s {
	case SevWarning:
		return "warning"
	case SevInfo:
		return "info"
	case SevHint:
		return "hint"
	}
	return "error"
}

// Finding is one diagnostic. Lines and columns are 1-based; columns count code points of that very text.
type Finding struct {
	Path            workspace.Path
	Line, Column    int
	EndLine, EndCol int
	Severity        Severity
	Code            string
	Source          string
	Message         string
	Server          string
	New             bool // this edit brought it in (difference with the shifted baseline)
}

// Reasons of a verdict that was not given.
const (
	ReasonStarting     = "starting"      // the server is still coming up
	ReasonWarming      = "warming"       // it runs, and is still reading the project
	ReasonTimeout      = "timeout"       // it was asked and did not answer in time
	ReasonCrashed      = "crashed"       // its process ended
	ReasonBusy         = "busy"          // another question held it
	ReasonDenied       = "denied"        // not allowed in an untrusted workspace
	ReasonNotInstalled = "not_installed" // its command was not found
	ReasonSilent       = "silent"        // it publishes, but said nothing of this text
	ReasonTooSlow      = "too_slow"      // not waited for: its answers are known to take longer
	ReasonClosed       = "closed"        // the session or the program is ending
	ReasonBackoff      = "backoff"       // it failed lately and is left alone for a while
	ReasonChanged      = "changed"       // the file changed again while it was being looked at
	ReasonFailed       = "failed"        // it answered with an error
	ReasonDisabled     = "disabled"      // lsp.enabled is false, or diagnostics are off
	ReasonNoGit        = "no_git"        // not inside a git workspace
	ReasonNoServer     = "no_server"     // no server owns this kind of file
	ReasonExcluded     = "excluded"      // lsp.exclude_roots
	ReasonCancelled    = "cancelled"     // nobody wanted to know any more
	ReasonDeleted      = "deleted"       // there is no file left to look at
	ReasonNotForeseen  = "not_foreseen"  // deletes and moves are not foreseen
)

// ServerVerdict is one server's word on one file.
type ServerVerdict struct {
	ID     string
	File   workspace.Path
	State  State
	Reason string // why no_verdict: one of the Reason constants
	MS     int64  // from asking to the verdict
}

// Verdict is what is known of an edit's text.
type Verdict struct {
	State         State
	Reason        string
	Servers       []ServerVerdict
	Introduced    []Finding // errors that the edit brought in, in its own files, errors first
	Other         []Finding // errors that the edit brought into other files
	Items         []Finding // all findings of the edit's files (for the editor), New marked
	Mended        int       // errors that the edit removed
	Before, After int       // errors in the edit's files
	BaselineKnown bool      // false: Introduced may include older problems, and the text says so
	Foreseen      bool      // given before the edit was applied
	PerFile       int       // findings of one file that ForModel tells; 0 for 20
}

// overall folds the servers' words into one state and, for no_verdict and off, its first reason.
func overall(servers []ServerVerdict) (State, string) {
	state, reason := Off, ""
	rank := map[State]int{Off: 0, Clean: 1, NoVerdict: 2, Findings: 3}
	for _, s := range servers {
		if rank[s.State] > rank[state] || (s.State == Off && reason == "") {
			state, reason = s.State, s.Reason
		}
	}
	return state, reason
}
