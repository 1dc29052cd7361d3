package acptest

import (
	"encoding/json"
	"slices"
	"strings"
)

// Call is a request of the editor's that waits for its answer.
type Call struct {
	ID     json.RawMessage
	Method string

	e     *Editor
	over  bool    // guarded by the editor's lock, as is reply
	reply Message // the answer
}

// Go sends a request and returns at once. Params nil sends none.
func (e *Editor) Go(method string, params any) *Call {
	return e.GoID(number(e.newID()), method, params)
}

// GoID is Go with an id of the test's choice, in JSON.
func (e *Editor) GoID(id json.RawMessage, method string, params any) *Call {
	e.t.Helper()
	call := e.Expect(id, method)
	m := map[string]any{"id": id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if err := e.send(m); err != nil {
		e.fatalf("send %s: %v", method, err)
	}
	return call
}

// Expect makes a Call for a request that the test writes itself.
func (e *Editor) Expect(id json.RawMessage, method string) *Call {
	call := &Call{ID: id, Method: method, e: e}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.calls[idKey(id)] = call
	return call
}

// Wait waits for the answer, whichever it is.
func (c *Call) Wait() Message {
	c.e.t.Helper()
	c.e.Until("the answer to "+c.Method, func() bool { return c.over })
	return c.reply
}

// Done says whether the answer has come.
func (c *Call) Done() bool {
	c.e.mu.Lock()
	defer c.e.mu.Unlock()
	return c.over
}

// Result waits for a result; an error fails the test.
func (c *Call) Result() json.RawMessage {
	c.e.t.Helper()
	m := c.Wait()
	if m.Error != nil {
		c.e.fatalf("%s: %v", c.Method, m.Error)
	}
	return m.Result
}

// Error waits for an error of one of the codes; anything else fails the test.
func (c *Call) Error(codes ...int) *RPCError {
	c.e.t.Helper()
	m := c.Wait()
	if m.Error == nil {
		c.e.fatalf("%s succeeded with %s; an error of %v was expected", c.Method, m.Result, codes)
	}
	if len(codes) > 0 && !slices.Contains(codes, m.Error.Code) {
		c.e.fatalf("%s failed with %v; a code of %v was expected", c.Method, m.Error, codes)
	}
	return m.Error
}

// StopReason waits for the end of a prompt's turn.
func (c *Call) StopReason() string {
	c.e.t.Helper()
	return get[string](c.Result(), "stopReason")
}

// Call sends a request and waits for its result.
func (e *Editor) Call(method string, params any) json.RawMessage {
	e.t.Helper()
	return e.Go(method, params).Result()
}

// Notify sends a notification.
func (e *Editor) Notify(method string, params any) {
	e.t.Helper()
	m := map[string]any{"method": method}
	if params != nil {
		m["params"] = params
	}
	if err := e.send(m); err != nil {
		e.fatalf("send %s: %v", method, err)
	}
}

// Initialize introduces the editor as its profile does and gives the answer.
func (e *Editor) Initialize() json.RawMessage {
	e.t.Helper()
	return e.Call("initialize", e.Profile.initializeParams())
}

// NewSession opens a session in a folder and gives its id.
func (e *Editor) NewSession(cwd string) string {
	e.t.Helper()
	id := get[string](e.Call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}), "sessionId")
	e.mu.Lock()
	defer e.mu.Unlock()
	e.roots[id] = cwd
	return id
}

// Prompt sends text in a session and returns at once.
func (e *Editor) Prompt(session, text string) *Call {
	e.t.Helper()
	return e.Go("session/prompt", map[string]any{
		"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}},
	})
}

// Cancel sends session/cancel and nothing else: open permission requests are the test's to answer.
func (e *Editor) Cancel(session string) {
	e.t.Helper()
	e.Notify("session/cancel", map[string]any{"sessionId": session})
}

// Updates are the session's updates so far, in order.
func (e *Editor) Updates(session string) []json.RawMessage {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.updates(session)
}

func (e *Editor) updates(session string) []json.RawMessage {
	var list []json.RawMessage
	for _, m := range e.log {
		if m.Agent && m.Method == "session/update" && get[string](m.Params, "sessionId") == session {
			list = append(list, get[json.RawMessage](m.Params, "update"))
		}
	}
	return list
}

// UntilUpdate waits until the session has seen an update of a kind that match accepts.
func (e *Editor) UntilUpdate(session, kind string, match func(update json.RawMessage) bool) json.RawMessage {
	e.t.Helper()
	var found json.RawMessage
	e.Until("the update "+kind, func() bool {
		for _, u := range e.updates(session) {
			if get[string](u, "sessionUpdate") == kind && (match == nil || match(u)) {
				found = u
				return true
			}
		}
		return false
	})
	return found
}

// UntilMessage waits for a line of the agent's from position on that match accepts.
func (e *Editor) UntilMessage(what string, from int, match func(m Message) bool) Message {
	e.t.Helper()
	var found Message
	e.Until(what, func() bool {
		for _, m := range e.log[from:] {
			if m.Agent && match(m) {
				found = m
				return true
			}
		}
		return false
	})
	return found
}

// Len is how many lines the conversation has so far.
func (e *Editor) Len() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.log)
}

// Text is what the agent said in a session, joined.
func (e *Editor) Text(session string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.text(session)
}

func (e *Editor) text(session string) string {
	var b strings.Builder
	for _, u := range e.updates(session) {
		if get[string](u, "sessionUpdate") == "agent_message_chunk" {
			b.WriteString(get[string](u, "content", "text"))
		}
	}
	return b.String()
}

// ToolCalls are a session's tool calls in order, each with what its updates changed laid over it.
func (e *Editor) ToolCalls(session string) []ToolCall {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.toolCalls(session)
}

func (e *Editor) toolCalls(session string) []ToolCall {
	var list []ToolCall
	for _, u := range e.updates(session) {
		id := get[string](u, "toolCallId")
		switch get[string](u, "sessionUpdate") {
		case "tool_call":
			list = append(list, ToolCall{ID: id, Fields: get[map[string]json.RawMessage](u)})
		case "tool_call_update":
			for i := range list {
				if list[i].ID == id {
					for key, v := range get[map[string]json.RawMessage](u) {
						list[i].Fields[key] = v
					}
				}
			}
		}
	}
	return list
}

// ToolCall is the present state of one tool call.
type ToolCall struct {
	ID     string
	Fields map[string]json.RawMessage
}

// Status, Title and Kind are what the user sees of it.
func (c ToolCall) Status() string { return get[string](c.Fields["status"]) }

// Title is the tool call's title.
func (c ToolCall) Title() string { return get[string](c.Fields["title"]) }

// Kind is the tool call's kind.
func (c ToolCall) Kind() string { return get[string](c.Fields["kind"]) }

// Diffs are the diff blocks of its content.
func (c ToolCall) Diffs() []Diff { return diffs(c.Fields["content"]) }

// Text is the text of its content blocks, joined by newlines.
func (c ToolCall) Text() string {
	var texts []string
	for _, block := range get[[]json.RawMessage](c.Fields["content"]) {
		if get[string](block, "type") == "content" {
			texts = append(texts, get[string](block, "content", "text"))
		}
	}
	return strings.Join(texts, "\n")
}

// Diff is one diff block. Old is nil for a new file.
type Diff struct {
	Path    string
	Old     *string
	New     string
	Partial bool
}

func diffs(content json.RawMessage) []Diff {
	var list []Diff
	for _, block := range get[[]json.RawMessage](content) {
		if get[string](block, "type") != "diff" {
			continue
		}
		list = append(list, Diff{
			Path: get[string](block, "path"), Old: get[*string](block, "oldText"), New: get[string](block, "newText"),
			Partial: get[bool](block, "_meta", "acpAgent", "edit", "partial"),
		})
	}
	return list
}
