package acptest

import (
	"encoding/json"
	"fmt"
	"slices"
)

// Permission is a question of the agent's to the user.
type Permission struct {
	ID      json.RawMessage
	Session string
	Call    json.RawMessage // the toolCall as sent
	Options []Option

	e        *Editor
	answered bool // guarded by the editor's lock
}

// Option is one answer that the agent offers.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Title is what the user decides by where nothing else is shown.
func (p *Permission) Title() string { return get[string](p.Call, "title") }

// Diffs are the diff blocks that the user sees, all or the first one as the profile shows them.
func (p *Permission) Diffs() []Diff {
	if p.e.Profile.FirstDiffOnly {
		first := get[[]json.RawMessage](p.Call, "content")
		return diffs(mustJSON(first[:min(1, len(first))]))
	}
	return diffs(get[json.RawMessage](p.Call, "content"))
}

// question takes a permission request; the lock is held. It gives what to do after unlocking.
func (e *Editor) question(m Message) func() {
	p := &Permission{ID: m.ID, e: e, Session: get[string](m.Params, "sessionId"), Call: get[json.RawMessage](m.Params, "toolCall")}
	p.Options = get[[]Option](m.Params, "options")
	if e.Profile.OneOptionPerKind {
		p.Options = lastPerKind(p.Options)
	}
	if complaint := optionsComplaint(p.Options); complaint != "" && !e.o.Unchecked {
		e.t.Errorf("line %d: %s\n%s", m.Seq, complaint, m)
	}
	e.perms = append(e.perms, p)
	if e.answer == "" {
		return nil
	}
	how := e.answer
	return func() { p.Answer(how) }
}

// optionsComplaint says what is wrong with a question's options (number 71 of the conformance list).
func optionsComplaint(options []Option) string {
	ids, kinds := map[string]bool{}, map[string]bool{}
	for _, o := range options {
		if ids[o.ID] {
			return fmt.Sprintf("option id %q twice", o.ID)
		}
		if kinds[o.Kind] {
			return fmt.Sprintf("two options of kind %q: some editors show one of them", o.Kind)
		}
		ids[o.ID], kinds[o.Kind] = true, true
	}
	if !kinds["allow_once"] && !kinds["allow_always"] {
		return "no option allows"
	}
	if !kinds["reject_once"] && !kinds["reject_always"] {
		return "no option rejects"
	}
	return ""
}

func lastPerKind(options []Option) []Option {
	var kept []Option
	for i, o := range options {
		if !slices.ContainsFunc(options[i+1:], func(later Option) bool { return later.Kind == o.Kind }) {
			kept = append(kept, o)
		}
	}
	return kept
}

// Answer replies: the id of an offered option, or cancelled, bogus (an id that was not offered),
// error (a JSON-RPC error), null (a result that is no outcome), never (nothing at all).
func (p *Permission) Answer(how string) {
	e := p.e
	e.t.Helper()
	e.mu.Lock()
	answered := p.answered
	p.answered = true
	e.mu.Unlock()
	if answered {
		return
	}
	reply := map[string]any{"id": p.ID}
	switch how {
	case "never":
		return
	case "cancelled":
		reply["result"] = map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	case "bogus":
		reply["result"] = map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": "no such option"}}
	case "null":
		reply["result"] = nil
	case "error":
		reply["error"] = map[string]any{"code": -32603, "message": "the dialog could not be shown"}
	default:
		if !slices.ContainsFunc(p.Options, func(o Option) bool { return o.ID == how }) {
			e.t.Errorf("answer %q was not offered for %q; there are %v", how, p.Title(), p.Options)
			how = "cancelled"
		}
		reply["result"] = map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": how}}
	}
	if err := e.send(reply); err != nil {
		e.t.Errorf("answer a permission request: %v", err)
	}
}

// Auto has every later permission request answered at once; "" leaves them to the test again.
func (e *Editor) Auto(answer string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.answer = answer
}

// Permissions are all questions so far.
func (e *Editor) Permissions() []*Permission {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]*Permission(nil), e.perms...)
}

// AwaitPermission waits for a question that nobody has answered yet.
func (e *Editor) AwaitPermission() *Permission {
	e.t.Helper()
	var open *Permission
	e.Until("a permission request", func() bool {
		for _, p := range e.perms {
			if !p.answered {
				open = p
				return true
			}
		}
		return false
	})
	return open
}

// withdrawn is called for a request that the agent gave up ($/cancel_request). The lock is held.
func (e *Editor) withdrawn(id json.RawMessage) func() {
	if !e.Profile.HonoursCancel {
		return nil
	}
	for _, p := range e.perms {
		if idKey(p.ID) == idKey(id) && !p.answered {
			p.answered = true
			return func() { e.reply(id, nil, &RPCError{Code: -32800, Message: "cancelled"}) }
		}
	}
	return nil
}
