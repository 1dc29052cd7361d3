package permissions

import (
	"slices"

	"acp-agent/internal/workspace"
)

// Target is a file that an edit would write, remove or name.
type Target struct {
	Path workspace.Path // as named
	Real workspace.Path // where it really leads
}

// Edit decides on an edit of all the targets together: the strictest of them wins.
func (s *Session) Edit(targets []Target) Decision {
	e := &evaluation{s: s, state: s.state()}
	if len(targets) == 0 {
		return e.editByMode()
	}
	d := e.edit(targets[0])
	for _, t := range targets[1:] {
		d = d.stricter(e.edit(t))
	}
	return d
}

// edit decides on one target.
func (e *evaluation) edit(t Target) Decision {
	if t.Real == "" {
		t.Real = e.s.roots.Locate(t.Path).Real
	}
	name := t.Path.Rel(e.s.roots.Cwd())
	if r, ok := e.pathRule(e.s.policy.deny, "edit", t, true); ok {
		return Decision{Verdict: Deny, By: ByRule, Rule: r.text, Reason: "Editing " + name + " is denied by the rule " + r.text + "."}
	}
	d := e.editByMode()
	if d.Verdict == Deny {
		return d
	}
	f := finding{sensitive: e.s.sensitive(t.Path, t.Real, true)}
	if !e.inside(t.Real) {
		f.outside = string(t.Path)
		if t.Real != t.Path {
			f.outside += " (really " + string(t.Real) + ")"
		}
	}
	switch {
	case f.sensitive != "" || f.outside != "":
		return e.special("The edit of "+name, f)
	case e.state.denied.covers(t.Path) || e.state.denied.covers(t.Real):
		return Decision{Verdict: Ask, By: ByRule, Rule: "denied in this turn", Reason: "An edit of " + name + " was refused earlier in this turn."}
	}
	if r, ok := e.pathRule(e.s.policy.ask, "edit", t, true); ok {
		return Decision{Verdict: Ask, By: ByRule, Rule: r.text, Reason: "Editing " + name + " asks by the rule " + r.text + "."}
	}
	if r, ok := e.pathRule(e.s.policy.allow, "edit", t, false); ok {
		return Decision{Verdict: Allow, By: ByRule, Rule: r.text, Reason: "Editing " + name + " is allowed by the rule " + r.text + "."}
	}
	return d
}

// inside says whether a real path lies within a root. A real path is not followed again: deleting a
// link acts on the link itself, wherever it leads.
func (e *evaluation) inside(real workspace.Path) bool {
	return slices.ContainsFunc(e.s.roots.Real(), func(root workspace.Path) bool { return root.Contains(real) }) ||
		foldCase && e.s.roots.Locate(real).Inside
}

// editByMode is what the mode says of an edit inside the roots.
func (e *evaluation) editByMode() Decision {
	mode := e.state.mode
	d := Decision{By: ByMode, Rule: string(mode)}
	switch mode {
	case ModePlan:
		d.Verdict, d.Reason = Deny, "Plan mode changes no files."
	case ModeAcceptEdits, ModeDontAsk:
		d.Verdict, d.Reason = Allow, "Edits inside the session's roots are allowed in mode "+string(mode)+"."
	default:
		d.Verdict, d.Reason = Ask, "Mode "+string(mode)+" asks for every edit."
	}
	return d
}

// pathRule finds the first rule that matches a target. A strict rule needs to match the path as named
// or the real one; an allow rule must match both, so that a link does not widen it.
func (e *evaluation) pathRule(rules []rule, kind string, t Target, strict bool) (rule, bool) {
	return find(rules, kind, func(r rule) bool {
		named, real := r.matchesPath(e.s.roots, t.Path, strict), r.matchesPath(e.s.roots, t.Real, strict)
		return named && real || strict && (named || real)
	})
}

// Read decides on giving the model the content of paths (Ask for sensitive and outside ones, else
// Allow). Rules of kind read apply as well.
func (s *Session) Read(paths []workspace.Path) Decision {
	e := &evaluation{s: s, state: s.state()}
	d := Decision{Verdict: Allow, By: ByMode, Rule: string(e.state.mode), Reason: "Reading inside the session's roots is allowed."}
	for i, p := range paths {
		one := e.read(Target{Path: p, Real: s.roots.Locate(p).Real})
		if i == 0 {
			d = one
		} else {
			d = d.stricter(one)
		}
	}
	return d
}

func (e *evaluation) read(t Target) Decision {
	name := t.Path.Rel(e.s.roots.Cwd())
	if r, ok := e.pathRule(e.s.policy.deny, "read", t, true); ok {
		return Decision{Verdict: Deny, By: ByRule, Rule: r.text, Reason: "Reading " + name + " is denied by the rule " + r.text + "."}
	}
	if f := e.checkPath(t.Path, false); f.sensitive != "" || f.outside != "" {
		return e.special("Reading "+name, f)
	}
	if r, ok := e.pathRule(e.s.policy.ask, "read", t, true); ok {
		return Decision{Verdict: Ask, By: ByRule, Rule: r.text, Reason: "Reading " + name + " asks by the rule " + r.text + "."}
	}
	return Decision{Verdict: Allow, By: ByMode, Rule: string(e.state.mode), Reason: "Reading inside the session's roots is allowed."}
}

// MCP decides on a call of an MCP tool by server and tool name; readOnly is the tool's annotation.
// Nobody here knows what such a tool touches, so one that may change something asks in every mode
// but plan, which refuses it.
func (s *Session) MCP(server, tool string, readOnly bool) Decision {
	e := &evaluation{s: s, state: s.state()}
	name := server + "." + tool
	matches := func(r rule) bool { return wildcard(r.pattern, name) }
	if r, ok := find(s.policy.deny, "mcp", matches); ok {
		return Decision{Verdict: Deny, By: ByRule, Rule: r.text, Reason: "The MCP tool " + name + " is denied by the rule " + r.text + "."}
	}
	if e.state.mode == ModePlan && !readOnly {
		return Decision{Verdict: Deny, By: ByMode, Rule: string(ModePlan), Reason: "Plan mode runs only MCP tools that say they read only; " + name + " does not."}
	}
	if !readOnly && e.state.denied.any() && !e.state.denied.after[mcpKey(server, tool)] {
		return Decision{Verdict: Ask, By: ByRule, Rule: "denied in this turn", Reason: "Something was refused earlier in this turn, and the MCP tool " + name + " might do it by another road."}
	}
	if e.state.granted[mcpKey(server, tool)] {
		return Decision{Verdict: Allow, By: ByRule, Rule: "always allow " + name, Reason: "The MCP tool " + name + " was allowed for this session."}
	}
	if r, ok := find(s.policy.ask, "mcp", matches); ok {
		return Decision{Verdict: Ask, By: ByRule, Rule: r.text, Reason: "The MCP tool " + name + " asks by the rule " + r.text + "."}
	}
	if r, ok := find(s.policy.allow, "mcp", matches); ok {
		return Decision{Verdict: Allow, By: ByRule, Rule: r.text, Reason: "The MCP tool " + name + " is allowed by the rule " + r.text + "."}
	}
	if readOnly {
		return Decision{Verdict: Allow, By: ByMode, Rule: string(e.state.mode), Reason: "The MCP tool " + name + " says that it only reads."}
	}
	return Decision{Verdict: Ask, By: ByMode, Rule: string(e.state.mode), Reason: "What the MCP tool " + name + " changes is not known."}
}

// Tool decides on any other tool that needs no path and no command (Allow unless a rule says otherwise).
func (s *Session) Tool(name string) Decision {
	matches := func(r rule) bool { return wildcard(r.pattern, name) }
	for _, list := range []struct {
		rules   []rule
		verdict Verdict
	}{{s.policy.deny, Deny}, {s.policy.ask, Ask}} {
		if r, ok := find(list.rules, "tool", matches); ok {
			return Decision{Verdict: list.verdict, By: ByRule, Rule: r.text, Reason: "The tool " + name + " falls under the rule " + r.text + "."}
		}
	}
	return Decision{Verdict: Allow, By: ByMode, Rule: string(s.Mode()), Reason: "The tool " + name + " changes nothing."}
}

// EditsInside says whether edits of these targets would pass in mode accept_edits, so that an answer
// "allow all edits inside the workspace this session" can be offered for them.
func (s *Session) EditsInside(targets []Target) bool {
	return !slices.ContainsFunc(targets, func(t Target) bool {
		e := &evaluation{s: s, state: state{mode: ModeAcceptEdits}}
		d := e.edit(t)
		return d.Sensitive || d.Outside || d.Verdict == Deny
	})
}
