package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
	"acp-agent/permissions"
)

// call is one tool call of the model on its way through the gate. It belongs to one goroutine.
type call struct {
	*turn
	id     string // unique within the session
	name   string // the tool's own name, whatever alias the model used
	args   json.RawMessage
	shown  toolCall // as the editor was told of it; a permission request repeats it whole
	isEdit bool     // has a proposal
	ended  bool
}

// readers are the tools that only read, so that the loop may run them side by side.
var readers = map[string]bool{
	"read_file": true, "list_directory": true, "find_files": true, "search_files": true,
	"lsp_diagnostics": true, "lsp_definition": true, "lsp_references": true, "lsp_hover": true,
	"lsp_symbols": true, "lsp_call_hierarchy": true,
}

// Parallel says whether a call only reads.
func (t *turn) Parallel(mc model.ToolCall) bool {
	_, name := t.tools.Find(mc.Name)
	return readers[name]
}

// Do runs one call to its end: plan it, show it, ask for it, run it, and show how it ended, once. This
// is the only gate to the tools.
func (t *turn) Do(ctx context.Context, mc model.ToolCall) (tool.Result, error) {
	c := t.newCall(mc)
	res, err := c.safely(ctx)
	switch {
	case err == nil:
		// Also after a cancel: it came too late for what was done, and history must not deny that.
		return t.withLate(res), nil
	case ctx.Err() != nil:
		c.end(statusFailed, tool.Failed(edits.CodeCancelled, "cancelled by the user"))
		return tool.Result{}, ctx.Err()
	default:
		c.end(statusFailed, tool.Failed(edits.CodeIO, err.Error()))
		return tool.Result{}, err
	}
}

// safely is run with a panic turned into a failed call.
func (c *call) safely(ctx context.Context) (res tool.Result, err error) {
	defer func() {
		if p := recover(); p != nil {
			c.srv.log.Error("panic in a tool", "tool", c.name, "panic", p, "stack", string(debug.Stack()))
			res, err = c.failed(tool.Failed(edits.CodeIO, c.name+": internal fault of the agent, see its log")), nil
		}
	}()
	found, name := c.tools.Find(c.name)
	if found == nil {
		return c.failed(tool.Failed(edits.CodeNotFound, c.unknownTool())), nil
	}
	c.name = name
	action, err := found.Prepare(ctx, c.env, c.args)
	if err != nil {
		return c.refused(err)
	}
	if action.Proposal != nil {
		return c.edit(ctx, action)
	}
	return c.plain(ctx, action)
}

// plain runs a call that is no edit.
func (c *call) plain(ctx context.Context, a *tool.Action) (tool.Result, error) {
	c.announce(toolCall{Title: a.Title, Kind: string(a.Kind), Locations: locations(a.Locations)})
	d := c.decide(a)
	if refusal, ok := c.permit(ctx, a, d); !ok {
		return c.failed(refusal), ctx.Err()
	}
	if a.Command != nil && d.Verdict == permissions.Allow {
		back := c.commands.lend(*a.Command, d.Env)
		defer back()
	}
	c.update(toolCall{Status: statusInProgress})
	res := a.Run(ctx, c)
	if ctx.Err() != nil && res.IsError && a.Command == nil {
		return tool.Result{}, ctx.Err() // a command tells what it did before it was ended
	}
	for _, p := range a.Reads {
		c.seen.add(p)
	}
	if a.Command != nil {
		res = c.noticeChanges(ctx, res)
	}
	if res.IsError {
		return c.failed(res), nil
	}
	c.end(statusCompleted, res)
	return res, nil
}

// newCall gives a call an id that no other call of the session has: editors tell calls apart by it.
func (t *turn) newCall(mc model.ToolCall) *call {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := mc.ID
	for n := 2; id == "" || t.callIDs[id]; n++ {
		id = fmt.Sprintf("%s-%d.%d", mc.ID, t.number, n)
	}
	t.callIDs[id] = true
	return &call{turn: t, id: id, name: mc.Name, args: json.RawMessage(mc.Arguments)}
}

// unknownTool tells the model which tools there are.
func (c *call) unknownTool() string {
	var names []string
	for _, s := range c.tools.Specs() {
		names = append(names, s.Name)
	}
	return fmt.Sprintf("there is no tool %q; the tools are %s", c.name, strings.Join(names, ", "))
}

// refused shows a call that could not be planned. An error that is neither of the tool's two kinds is a
// fault of the surroundings (a folder without permission, say), which the model may work around.
func (c *call) refused(err error) (tool.Result, error) {
	if isCancel(err) {
		return tool.Result{}, err
	}
	res, ok := tool.Refused(err)
	if !ok {
		res = tool.Failed(edits.CodeIO, c.name+": "+err.Error())
	}
	var refusal *edits.Refusal
	if errors.As(err, &refusal) && refusal.Code == edits.CodeAlreadyApplied {
		res = alreadyApplied(refusal)
		c.end(statusCompleted, res)
		return res, nil
	}
	return c.failed(res), nil
}

// Skip shows a call that is not run with the result that the model gets for it.
func (t *turn) Skip(mc model.ToolCall, r tool.Result) {
	c := t.newCall(mc)
	if _, name := t.tools.Find(c.name); name != "" {
		c.name = name
	}
	c.failed(r)
}

// announce tells the editor of the call: pending, with everything that is needed to decide on it.
func (c *call) announce(u toolCall) {
	u.Update, u.ID, u.Status, u.Name = updateToolCall, c.id, statusPending, c.name
	u.RawInput = rawInput(c.args)
	c.shown = u
	c.out.send(u)
}

// update sends what changed. Arrays replace what was shown before.
func (c *call) update(u toolCall) {
	u.Update, u.ID = updateToolCallDelta, c.id
	c.out.send(u)
}

// failed ends the call as failed and gives the result back.
func (c *call) failed(r tool.Result) tool.Result {
	r.IsError = true
	c.end(statusFailed, r)
	return r
}

// end shows the call's result; the second end of a call is none.
func (c *call) end(status string, r tool.Result) {
	if c.ended {
		return
	}
	c.ended = true
	if c.shown.ID == "" {
		c.announce(toolCall{Title: c.bareTitle(), Kind: kindOf(c.name)})
	}
	u := toolCall{Status: status, RawOutput: r.Raw}
	if c.isEdit {
		// Content replaces what is shown: without the diffs they would be gone.
		u.Title, u.Meta, u.Content = c.shown.Title, c.shown.Meta, append(u.Content, c.shown.Content...)
	}
	if r.TerminalID != "" {
		u.Content = append(u.Content, terminalContent(r.TerminalID))
	} else if s := displayed(r); s != "" {
		u.Content = append(u.Content, textContent(shorten(s, shownBytes)))
	}
	for _, img := range r.Images {
		u.Content = append(u.Content, content{Type: "content", Content: imageBlock{Type: "image", MimeType: img.MIME, Data: img.Data}})
	}
	c.update(u)
}

// displayed is a result's text for the editor.
func displayed(r tool.Result) string {
	if r.Display != "" {
		return r.Display
	}
	if s := failureText(r); s != "" {
		return s
	}
	return r.Text
}

// Output shows a running call's output.
func (c *call) Output(s string) {
	u := toolCall{Update: updateToolCallDelta, ID: c.id, Content: []content{textContent(shorten(s, shownBytes))}}
	c.out.latest(c.id, u)
}

// Terminal embeds the editor's terminal in the call.
func (c *call) Terminal(id string) {
	c.update(toolCall{Content: []content{terminalContent(id)}})
}

// bareTitle is the title of a call that could not be planned.
func (c *call) bareTitle() string {
	var named struct {
		Path, Command, Pattern string
		FilePath               string `json:"file_path"`
	}
	if json.Unmarshal(c.args, &named) == nil {
		for _, s := range []string{named.Path, named.FilePath, named.Command, named.Pattern} {
			if s = strings.Join(strings.Fields(s), " "); s != "" {
				return c.name + " " + shorten(s, 100)
			}
		}
	}
	if c.name == "" {
		return "tool call without a name"
	}
	return c.name
}

// editTools are the tools whose calls are shown as edits even when they could not be planned.
var editTools = map[string]bool{"write_file": true, "edit_file": true, "apply_patch": true, "lsp_rename": true, "lsp_code_action": true}

// kindOf is the kind of a call that could not be planned.
func kindOf(name string) string {
	switch {
	case editTools[name]:
		return string(tool.KindEdit)
	case readers[name]:
		return string(tool.KindRead)
	case name == "terminal":
		return string(tool.KindExecute)
	}
	return string(tool.KindOther)
}

func locations(list []tool.Location) []sdk.ToolCallLocation {
	var out []sdk.ToolCallLocation
	for _, l := range list {
		out = append(out, location(l.Path, l.Line))
	}
	return out
}

// writeLimit bounds the section in which an edit is written and recorded, which a cancel does not end.
const writeLimit = 60 * time.Second

// real is where a path really leads.
func (o *session) real(p workspace.Path) workspace.Path { return o.roots.Locate(p).Real }
