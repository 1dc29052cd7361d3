package acp

import (
	"context"
	"errors"
	"fmt"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/edits"
	"acp-agent/internal/tool"
	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
	"acp-agent/permissions"
	"acp-agent/provenance"
)

// Ids of the options in a permission request. Only these two of the first mean yes; every other
// answer means no.
const (
	allowOnce    = "allow_once"
	allowSession = "allow_session"
	rejectOnce   = "reject_once"
)

// answer is what came of a question, or of a policy that did not ask.
type answer struct {
	yes     bool
	option  string // the option's id; for a policy's decision its verdict
	by      permissions.By
	rule    string
	waited  time.Duration
	refusal edits.Code // why not, when yes is false
	message string     // for the model, when yes is false
	edited  *string    // the text that the user wants instead of the proposed one; nil for none
}

// record is the answer as the provenance record keeps it.
func (a answer) record() *provenance.Decision {
	return &provenance.Decision{By: string(a.by), Option: a.option, Rule: a.rule, WaitedMS: a.waited.Milliseconds()}
}

// permit decides on a call that is no edit, asking the user where the policy says so.
func (c *call) permit(ctx context.Context, a *tool.Action, d permissions.Decision) (refusal tool.Result, ok bool) {
	switch d.Verdict {
	case permissions.Allow:
		return tool.Result{}, true
	case permissions.Deny:
		return tool.Failed(denial(d)), false
	}
	got := c.ask(ctx, c.shown, commandOptions(a, d), d)
	switch {
	case got.yes && got.option == allowSession && a.Command != nil:
		c.policy.AllowCommand(d.AlwaysPrefix)
	case !got.yes && a.Command != nil && got.refusal == edits.CodeRejected:
		c.policy.DeniedCommand(a.Command.Line)
	}
	if !got.yes {
		return tool.Failed(got.refusal, got.message), false
	}
	return tool.Result{}, true
}

// decide asks the policy in the form that fits the call.
func (c *call) decide(a *tool.Action) permissions.Decision {
	switch {
	case a.Command != nil:
		return c.policy.Command(a.Command.Line, a.Command.Cwd)
	case len(a.Reads) > 0:
		return c.policy.Read(a.Reads)
	}
	return c.policy.Tool(c.name)
}

// denial is the policy's no as the model gets it, with what to do instead.
func denial(d permissions.Decision) (edits.Code, string) {
	if d.By == permissions.ByMode {
		return edits.CodeDeniedByMode, d.Reason + " Say what you would do; it can be done when the user chooses another mode."
	}
	return edits.CodeDenied, d.Reason + " Do not try to reach the same by another way: go on without it, or tell the user which rule stands in the way."
}

// commandOptions are the options for a command, or for anything else that is no edit: least privilege
// first, one of each kind, and "always" only where it would hold.
func commandOptions(a *tool.Action, d permissions.Decision) []sdk.PermissionOption {
	list := []sdk.PermissionOption{option(allowOnce, sdk.PermissionOptionKindAllowOnce, "Allow once")}
	if a.Command != nil && len(d.AlwaysPrefix) > 0 {
		name := fmt.Sprintf("Always allow `%s` in this session", d.AlwaysLabel())
		list = append(list, option(allowSession, sdk.PermissionOptionKindAllowAlways, name))
	}
	return append(list, option(rejectOnce, sdk.PermissionOptionKindRejectOnce, "Reject"))
}

// editOptions are the options for an edit. The session-wide one is left out where it would not hold:
// sensitive and outside targets, and targets of a rule, are asked for in every mode.
func editOptions(d permissions.Decision) []sdk.PermissionOption {
	list := []sdk.PermissionOption{option(allowOnce, sdk.PermissionOptionKindAllowOnce, "Allow once")}
	if !d.Sensitive && !d.Outside && d.By != permissions.ByRule {
		list = append(list, option(allowSession, sdk.PermissionOptionKindAllowAlways, "Allow all edits inside the workspace this session"))
	}
	return append(list, option(rejectOnce, sdk.PermissionOptionKindRejectOnce, "Reject"))
}

func option(id string, kind sdk.PermissionOptionKind, name string) sdk.PermissionOption {
	return sdk.PermissionOption{OptionId: sdk.PermissionOptionId(id), Kind: kind, Name: name}
}

type permissionParams struct {
	SessionID string                 `json:"sessionId"`
	ToolCall  toolCall               `json:"toolCall"`
	Options   []sdk.PermissionOption `json:"options"`
	Meta      any                    `json:"_meta,omitempty"`
}

// ask puts the question to the user and waits: for ever, unless permissions.timeout says otherwise,
// and never longer than the turn. The request has the whole call, so that it can be shown alone; no
// update with a status is sent while it is open.
func (c *call) ask(ctx context.Context, shown toolCall, options []sdk.PermissionOption, d permissions.Decision) answer {
	shown.Update = ""
	params := permissionParams{SessionID: c.session.id, ToolCall: shown, Options: options, Meta: askMeta(d)}
	asking, cancel := ctx, context.CancelFunc(func() {})
	if limit := c.srv.o.Config.Permissions.Timeout; limit > 0 {
		asking, cancel = context.WithTimeout(ctx, time.Duration(limit*float64(time.Second)))
	}
	defer cancel()
	var result struct {
		Outcome struct {
			Outcome  string `json:"outcome"`
			OptionID string `json:"optionId"`
		} `json:"outcome"`
		Meta struct {
			Agent struct {
				Edited *string `json:"edited"` // an extension of ours: package headless uses it
			} `json:"acpAgent"`
		} `json:"_meta"`
	}
	start := time.Now()
	err := c.srv.conn.Call(asking, methodPermission, params, &result)
	got := answer{by: permissions.ByUser, rule: d.Rule, waited: time.Since(start)}
	outcome, id := result.Outcome.Outcome, result.Outcome.OptionID
	switch {
	case err == nil && outcome == "selected" && id != rejectOnce && offered(options, id):
		got.yes, got.option, got.edited = true, id, result.Meta.Agent.Edited
	case err == nil && outcome == "selected":
		got.option, got.refusal = rejectOnce, edits.CodeRejected
		got.message = "The user said no. Nothing was changed. Do not try to reach the same by another way; ask the user what they want instead."
	case err == nil || ctx.Err() != nil:
		got.option, got.refusal = "cancelled", edits.CodeCancelled
		got.message = "The question was closed without an answer. Nothing was changed. Ask the user how to go on."
	case errors.Is(err, context.DeadlineExceeded):
		got.option, got.refusal = "timed_out", edits.CodeTimedOut
		got.message = fmt.Sprintf("Nobody answered within %s, so nothing was changed. Go on with something else, or end the turn and ask.", got.waited.Round(time.Second))
	default:
		got.option, got.refusal = "editor_gone", edits.CodeEditorGone
		got.message = "The editor could not ask the user (" + askError(err) + "). Nothing was changed. Go on without it, or end the turn and say so."
	}
	return got
}

func offered(options []sdk.PermissionOption, id string) bool {
	for _, o := range options {
		if string(o.OptionId) == id {
			return true
		}
	}
	return false
}

func askError(err error) string {
	var we *wire.Error
	if errors.As(err, &we) {
		return we.Message
	}
	return "the connection has ended"
}

// askMeta says why it is asked, for clients that decide by themselves (`run --yes` says no to both).
func askMeta(d permissions.Decision) any {
	meta := map[string]any{"v": 1}
	if d.Sensitive {
		meta["sensitive"] = true
	}
	if d.Outside {
		meta["outside"] = true
	}
	if d.Reason != "" {
		meta["reason"] = d.Reason
	}
	return map[string]any{"acpAgent": meta}
}

// mayRead decides on giving the model a file that the user linked to. Inside the roots that goes
// through; a sensitive file, or one outside, is asked for, since links may come from elsewhere.
func (t *turn) mayRead(ctx context.Context, p workspace.Path) bool {
	d := t.policy.Read([]workspace.Path{p})
	if d.Verdict != permissions.Ask {
		return d.Verdict == permissions.Allow
	}
	t.mu.Lock()
	id := fmt.Sprintf("read-%d", t.number)
	for n := 2; t.callIDs[id]; n++ {
		id = fmt.Sprintf("read-%d.%d", t.number, n)
	}
	t.callIDs[id] = true
	t.mu.Unlock()
	c := &call{turn: t, id: id, name: "read_file"}
	c.announce(toolCall{
		Title: "Read " + p.Rel(t.roots.Cwd()), Kind: string(tool.KindRead), Locations: []sdk.ToolCallLocation{location(p, 0)},
	})
	got := c.ask(ctx, c.shown, commandOptions(&tool.Action{}, d), d)
	if !got.yes {
		c.failed(tool.Failed(got.refusal, got.message))
		return false
	}
	c.end(statusCompleted, tool.Result{})
	return true
}
