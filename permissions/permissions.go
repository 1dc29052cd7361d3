// Package permissions decides what a tool call may do: allow, ask or deny. Its main types are
// [Policy], the operator's compiled rules, and [Session], one session's mode, rules granted in it and
// denials of the running turn. It asks nobody, writes nothing and knows no wire: package acp asks the
// user and tells the answer back.
//
// A command line is judged as sh or bash would read it, so it must be run by one of these with -c,
// never by the user's own interactive shell.
package permissions

import (
	"fmt"
	"slices"
	"strings"
	"sync"

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

// rank orders verdicts by strictness.
func (v Verdict) rank() int { return slices.Index([]Verdict{Allow, Ask, Deny}, v) }

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
	// Env is what an allowed command must be run with beyond its usual environment, as NAME=value: a
	// read-only git command is read-only only with hooks and the file-system monitor off.
	Env []string
}

// stricter gives the stricter of two decisions with the marks of both. A draw goes to d, but an
// allowance by the mode says more about a line than one by a rule: without it the line would ask.
func (d Decision) stricter(e Decision) Decision {
	win := d
	if e.Verdict.rank() > d.Verdict.rank() || e.Verdict == Allow && d.Verdict == Allow && e.By == ByMode {
		win = e
	}
	win.Sensitive, win.Outside = d.Sensitive || e.Sensitive, d.Outside || e.Outside
	win.Env = slices.Compact(slices.Sorted(slices.Values(append(slices.Clone(d.Env), e.Env...))))
	return win
}

// Rules are the permissions section of config.yaml as written.
type Rules struct {
	Mode         Mode // "" is ModeDefault
	AllowDontAsk bool
	ReadOnly     []string // nil: the built-in list of contract §6
	Allow        []string
	Ask          []string
	Deny         []string
}

// Policy is compiled rules. It is immutable and shared by all sessions.
type Policy struct {
	mode             Mode
	allowDontAsk     bool
	readOnly         []readOnlyEntry
	allow, ask, deny []rule
	agentHome        workspace.Path
}

// Compile checks the rules. An error names the rule and what is wrong with it. agentHome is our own
// home (always sensitive for writing).
func Compile(r Rules, agentHome workspace.Path) (*Policy, error) {
	p := &Policy{mode: r.Mode, allowDontAsk: r.AllowDontAsk, agentHome: agentHome}
	if p.mode == "" {
		p.mode = ModeDefault
	}
	if err := p.offers(p.mode); err != nil {
		return nil, fmt.Errorf("permissions.mode: %w", err)
	}
	for _, list := range []struct {
		name string
		from []string
		to   *[]rule
	}{{"allow", r.Allow, &p.allow}, {"ask", r.Ask, &p.ask}, {"deny", r.Deny, &p.deny}} {
		for _, text := range list.from {
			rule, err := parseRule(text)
			if err != nil {
				return nil, fmt.Errorf("permissions.%s: rule %q: %w", list.name, text, err)
			}
			*list.to = append(*list.to, rule)
		}
	}
	entries := r.ReadOnly
	if entries == nil {
		entries = builtinReadOnly
	}
	for _, text := range entries {
		entry, err := parseReadOnly(text)
		if err != nil {
			return nil, fmt.Errorf("permissions.read_only: entry %q: %w", text, err)
		}
		p.readOnly = append(p.readOnly, entry)
	}
	return p, nil
}

// offers says why a mode cannot be had; nil when it can.
func (p *Policy) offers(m Mode) error {
	switch m {
	case ModeDefault, ModeAcceptEdits, ModePlan:
		return nil
	case ModeDontAsk:
		if p.allowDontAsk {
			return nil
		}
		return fmt.Errorf("mode %s needs permissions.allow_dont_ask: true in config.yaml", m)
	}
	var names []string
	for _, known := range p.Modes() {
		names = append(names, string(known))
	}
	return fmt.Errorf("mode %q is unknown; modes are %s", m, strings.Join(names, ", "))
}

// Modes lists the modes that this policy offers, in display order.
func (p *Policy) Modes() []Mode {
	if p.allowDontAsk {
		return []Mode{ModeDefault, ModeAcceptEdits, ModeDontAsk, ModePlan}
	}
	return []Mode{ModeDefault, ModeAcceptEdits, ModePlan}
}

// Session is the permission state of one session. Safe for use from several goroutines.
type Session struct {
	policy *Policy
	roots  *workspace.Roots

	home, realHome workspace.Path // the user's; empty when unknown

	mu      sync.Mutex
	mode    Mode            // guarded by mu
	granted map[string]bool // guarded by mu: keys of grantKey and mcpKey
	denied  denials         // guarded by mu: of the running turn
}

// NewSession starts in the policy's mode.
func (p *Policy) NewSession(roots *workspace.Roots) *Session {
	s := &Session{policy: p, roots: roots, mode: p.mode, granted: map[string]bool{}, home: roots.Home()}
	if s.home != "" {
		s.realHome = roots.Locate(s.home).Real
	}
	return s
}

// Mode is the current mode, read at each decision.
func (s *Session) Mode() Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mode
}

// SetMode changes it. An error says why not (unknown mode; dont_ask without permissions.allow_dont_ask).
func (s *Session) SetMode(m Mode) error {
	if err := s.policy.offers(m); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mode = m
	return nil
}

// BeginTurn forgets the denials of the turn before.
func (s *Session) BeginTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.denied = denials{}
}

// AllowCommand grants an argv prefix for simple commands, for this session (the allow_session answer).
// The prefix is a [Decision.AlwaysPrefix]: it covers the commands that have the same one.
func (s *Session) AllowCommand(prefix []string) { s.grant(grantKey(prefix)) }

// AllowMCP grants one MCP tool for this session.
func (s *Session) AllowMCP(server, tool string) { s.grant(mcpKey(server, tool)) }

func (s *Session) grant(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.granted[key] = true
	if s.denied.any() {
		if s.denied.after == nil {
			s.denied.after = map[string]bool{}
		}
		s.denied.after[key] = true
	}
}

func grantKey(prefix []string) string { return "command\x00" + strings.Join(prefix, "\x00") }

func mcpKey(server, tool string) string { return "mcp\x00" + server + "\x00" + tool }

// state is what one decision looks at, taken once so that the decision is of one moment.
type state struct {
	mode    Mode
	granted map[string]bool
	denied  denials
}

func (s *Session) state() state {
	s.mu.Lock()
	defer s.mu.Unlock()
	granted := make(map[string]bool, len(s.granted))
	for k := range s.granted {
		granted[k] = true
	}
	return state{mode: s.mode, granted: granted, denied: s.denied.clone()}
}
