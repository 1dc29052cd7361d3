// Package permissions decides what a tool call may do: allow, ask or deny. Its main types are
// [Policy], the operator's compiled rules, and [Session], one session's mode, rules granted in it and
// denials of the running turn. It asks nobody, writes nothing and knows no wire: package acp asks the
// user and tells the answer back.
package permissions

import (
	"acp-agent/internal/workspace"
)

// Mode is a session mode (contract §6).
type Mode string

// Modes.
const (
	ModeDefault     Mode = "default"
	ModeAcceptEdits Mode = "accept_edits"
	ModeDontAsk     Mode = "dont_ask"
	ModePlan        Mode = "plan"
)

// Verdict is the answer of the policy.
type Verdict string

// Verdicts. Deny beats Ask beats Allow.
const (
	Allow Verdict = "allow"
	Ask   Verdict = "ask"
	Deny  Verdict = "deny"
)

// By says what made a decision; the values are public in the provenance record.
type By string

// Makers of a decision.
const (
	ByUser By = "user"
	ByRule By = "rule"
	ByMode By = "mode"
)

// Decision is a verdict with its reason.
type Decision struct {
	Verdict Verdict
	By      By     // ByRule or ByMode; ByUser is the caller's, after asking
	Rule    string // the rule as written, or the built-in one's name ("sensitive: .git", "outside the roots")
	Reason  string // one sentence for the user and the model
	// Sensitive and Outside always ask, in every mode, and `run --yes` rejects them.
	Sensitive bool
	Outside   bool
	// AlwaysPrefix is the argv prefix that "allow_session" would grant for a command; nil when that
	// option must not be offered (compound command, redirection, substitution).
	AlwaysPrefix []string
}

// Rules are the permissions section of config.yaml as written.
type Rules struct {
	Mode         Mode
	AllowDontAsk bool
	ReadOnly     []string // nil: the built-in list of contract §6
	Allow        []string
	Ask          []string
	Deny         []string
}

// Policy is compiled rules. It is immutable and shared by all sessions.
type Policy struct {
	// TODO(policy): unexported fields
}

// Compile checks the rules. An error names the rule and what is wrong with it. agentHome is our own
// home (always sensitive for writing).
func Compile(r Rules, agentHome workspace.Path) (*Policy, error) { panic("TODO(policy)") }

// Session is the permission state of one session. Safe for use from several goroutines.
type Session struct {
	// TODO(policy): unexported fields
}

// NewSession starts in the policy's mode.
func (p *Policy) NewSession(roots *workspace.Roots) *Session { panic("TODO(policy)") }

// Modes lists the modes that this policy offers, in display order.
func (p *Policy) Modes() []Mode { panic("TODO(policy)") }

// Mode is the current mode, read at each decision.
func (s *Session) Mode() Mode { panic("TODO(policy)") }

// SetMode changes it. An error says why not (unknown mode; dont_ask without permissions.allow_dont_ask).
func (s *Session) SetMode(m Mode) error { panic("TODO(policy)") }

// BeginTurn forgets the denials of the turn before.
func (s *Session) BeginTurn() { panic("TODO(policy)") }

// Target is a file that an edit would write, remove or name.
type Target struct {
	Path workspace.Path // as named
	Real workspace.Path // where it really leads
}

// Edit decides on an edit of all the targets together: the strictest of them wins.
func (s *Session) Edit(targets []Target) Decision { panic("TODO(policy)") }

// Read decides on giving the model the content of paths (Ask for sensitive and outside ones, else Allow).
func (s *Session) Read(paths []workspace.Path) Decision { panic("TODO(policy)") }

// Command decides on a shell command line run in cwd.
func (s *Session) Command(line string, cwd workspace.Path) Decision { panic("TODO(policy)") }

// MCP decides on a call of an MCP tool by server and tool name; readOnly is the tool's annotation.
func (s *Session) MCP(server, tool string, readOnly bool) Decision { panic("TODO(policy)") }

// Tool decides on any other tool that needs no path and no command (Allow unless a rule says otherwise).
func (s *Session) Tool(name string) Decision { panic("TODO(policy)") }

// AllowCommand grants an argv prefix for simple commands, for this session (the allow_session answer).
func (s *Session) AllowCommand(prefix []string) { panic("TODO(policy)") }

// AllowMCP grants one MCP tool for this session.
func (s *Session) AllowMCP(server, tool string) { panic("TODO(policy)") }

// Denied remembers that the user said no to these targets in this turn: every later way to write
// them asks again, whatever the mode (denial memory, case G-A10).
func (s *Session) Denied(targets []Target) { panic("TODO(policy)") }

// DeniedCommand remembers that the user said no to this command in this turn.
func (s *Session) DeniedCommand(line string) { panic("TODO(policy)") }

// Explanation is what `permissions explain` prints for a command.
type Explanation struct {
	Decision Decision
	Simple   []SimpleCommand // what the line was parsed into
	Parsed   bool            // false: not understood, so it asks
}

// SimpleCommand is one simple command of a line with what decides on it.
type SimpleCommand struct {
	Argv   []string
	Writes []string // redirection targets
	Verdict
	Rule string
	Why  string
}

// Explain is Command with the reasons of each part.
func (s *Session) Explain(line string, cwd workspace.Path) Explanation { panic("TODO(policy)") }
