package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// checker holds every line of the agent to the rules that no single test should have to repeat: G1
// to G6 of the conformance list, and the order of things within a session. Line numbers in its
// complaints are positions in the conversation. It belongs to the editor's lock.
type checker struct {
	schema   *Schema
	caps     json.RawMessage // clientCapabilities that were sent; nil until initialize
	ours     map[string]Message
	theirs   map[string]bool // agent's requests that are not answered yet
	sessions map[string]*sessionState
}

// sessionState is what the checker knows of one session.
type sessionState struct {
	prompts int                 // sent and not answered
	calls   map[string]string   // tool call id -> last status
	asking  map[string][]string // tool call id -> ids of open permission requests
}

func newChecker(schema *Schema) *checker {
	return &checker{schema: schema, ours: map[string]Message{}, theirs: map[string]bool{}, sessions: map[string]*sessionState{}}
}

// sent takes note of a line that the editor writes.
func (c *checker) sent(m Message) {
	if m.IsResponse() {
		delete(c.theirs, string(m.ID))
		for _, s := range c.sessions {
			for call, ids := range s.asking {
				s.asking[call] = slices.DeleteFunc(ids, func(id string) bool { return id == string(m.ID) })
			}
		}
		return
	}
	if m.IsRequest() {
		c.ours[idKey(m.ID)] = m
	}
	switch m.Method {
	case "initialize":
		c.caps = get[json.RawMessage](m.Params, "clientCapabilities")
	case "session/load":
		c.session(get[string](m.Params, "sessionId")) // history is replayed before the answer
	case "session/prompt":
		if s := c.sessions[get[string](m.Params, "sessionId")]; s != nil {
			s.prompts++
		}
	}
}

// received checks a line of the agent and gives the message completed, with all complaints.
func (c *checker) received(line []byte, ended bool) (Message, []string) {
	m, bad := parseLine(line)
	if !ended {
		bad = append(bad, "G1: the last line has no newline")
	}
	if m.IsResponse() && m.ID != nil && string(m.ID) != "null" {
		asked, ok := c.ours[idKey(m.ID)]
		if !ok {
			bad = append(bad, fmt.Sprintf("an answer to id %s, which is not waiting for one", m.ID))
		}
		delete(c.ours, idKey(m.ID))
		m.For = asked.Method
		if ok {
			bad = append(bad, c.answered(asked, m)...)
		}
	}
	if len(bad) == 0 || m.Method != "" {
		if complaint := c.schema.Check(m); complaint != "" {
			bad = append(bad, complaint)
		}
	}
	bad = append(bad, paths(m)...)
	bad = append(bad, c.promised(m)...)
	bad = append(bad, c.ordered(m)...)
	return m, bad
}

func (c *checker) session(id string) *sessionState {
	s := c.sessions[id]
	if s == nil {
		s = &sessionState{calls: map[string]string{}, asking: map[string][]string{}}
		c.sessions[id] = s
	}
	return s
}

// answered follows what an answer means for the sessions.
func (c *checker) answered(asked, m Message) []string {
	switch asked.Method {
	case "session/new":
		if m.Error == nil {
			id := get[string](m.Result, "sessionId")
			if id == "" || c.sessions[id] != nil {
				return []string{fmt.Sprintf("session/new answers with the id %q, which is empty or taken", id)}
			}
			c.session(id)
		}
	case "session/prompt":
		s := c.sessions[get[string](asked.Params, "sessionId")]
		if s == nil {
			return nil
		}
		s.prompts--
		var bad []string
		for id, status := range s.calls {
			if status != "completed" && status != "failed" {
				bad = append(bad, fmt.Sprintf("the prompt is answered while tool call %s is %s", id, status))
			}
		}
		for id, asking := range s.asking {
			if len(asking) > 0 && m.Error == nil && get[string](m.Result, "stopReason") != "cancelled" {
				bad = append(bad, fmt.Sprintf("the prompt is answered while permission for %s is asked", id))
			}
		}
		clear(s.asking) // a question that is answered later has no meaning any more
		return bad
	}
	return nil
}

// promised checks that the agent uses only what the editor offered (G6).
func (c *checker) promised(m Message) []string {
	offers := func(path ...any) bool { return get[bool](c.caps, path...) }
	has := func(path ...any) bool {
		v := get[json.RawMessage](c.caps, path...)
		return v != nil && string(v) != "null" && string(v) != "false"
	}
	var bad []string
	need := func(ok bool, what string) {
		if !ok {
			bad = append(bad, "G6: the editor never offered "+what)
		}
	}
	switch {
	case m.Method == "fs/read_text_file":
		need(offers("fs", "readTextFile"), m.Method)
	case m.Method == "fs/write_text_file":
		need(offers("fs", "writeTextFile"), m.Method)
	case strings.HasPrefix(m.Method, "terminal/"):
		need(offers("terminal"), m.Method)
	case m.Method == "elicitation/create":
		need(has("elicitation", get[string](m.Params, "mode")), "this elicitation mode")
	case m.Method == "session/update":
		switch kind := get[string](m.Params, "update", "sessionUpdate"); kind {
		case "notice":
			need(has("session", "notices"), kind)
		case "compaction_update", "compaction_summary_chunk":
			need(has("session", "compaction"), kind)
		}
	}
	boolean := `"type":"boolean"`
	if options := get[json.RawMessage](m.Line, "result", "configOptions"); options != nil && bytes.Contains(options, []byte(boolean)) {
		need(has("session", "configOptions", "boolean"), "boolean options")
	}
	for _, method := range get[[]json.RawMessage](m.Result, "authMethods") {
		if get[string](method, "type") == "terminal" {
			need(has("auth", "terminal") || offers("_meta", "terminal-auth"), "sign-in in a terminal")
		}
	}
	return bad
}

// ordered checks the order of a session's lines.
func (c *checker) ordered(m Message) []string {
	var bad []string
	if m.IsRequest() {
		if c.theirs[string(m.ID)] {
			bad = append(bad, fmt.Sprintf("G4: id %s is still waiting for an answer", m.ID))
		}
		c.theirs[string(m.ID)] = true
	}
	if m.Method == "" || m.Method == "$/cancel_request" {
		return bad
	}
	id := get[string](m.Params, "sessionId")
	s := c.sessions[id]
	if s == nil {
		return append(bad, fmt.Sprintf("%s for session %q, which the editor does not know yet", m.Method, id))
	}
	switch m.Method {
	case "session/update":
		bad = append(bad, s.update(get[json.RawMessage](m.Params, "update"))...)
	case "session/request_permission":
		call := get[string](m.Params, "toolCall", "toolCallId")
		if status, ok := s.calls[call]; !ok || status == "completed" || status == "failed" {
			bad = append(bad, fmt.Sprintf("permission is asked for tool call %s, which is %q", call, status))
		}
		s.asking[call] = append(s.asking[call], string(m.ID))
		bad = append(bad, s.inTurn("a permission request")...)
	case "fs/write_text_file", "terminal/create":
		bad = append(bad, s.inTurn(m.Method)...)
	}
	return bad
}

func (s *sessionState) inTurn(what string) []string {
	if s.prompts > 0 {
		return nil
	}
	return []string{what + " while no prompt is running"}
}

// update follows one session/update.
func (s *sessionState) update(u json.RawMessage) []string {
	kind := get[string](u, "sessionUpdate")
	var bad []string
	switch kind {
	case "agent_message_chunk", "agent_thought_chunk", "user_message_chunk", "plan", "tool_call", "tool_call_update":
		bad = append(bad, s.inTurn(kind)...)
	}
	id, status := get[string](u, "toolCallId"), get[string](u, "status")
	switch kind {
	case "tool_call":
		if _, ok := s.calls[id]; ok || id == "" {
			bad = append(bad, fmt.Sprintf("tool call id %q is empty or used before", id))
		}
		if get[string](u, "title") == "" || get[string](u, "kind") == "" {
			bad = append(bad, fmt.Sprintf("tool call %s is announced without title or kind", id))
		}
		if status == "" {
			status = "pending"
		}
		s.calls[id] = status
	case "tool_call_update":
		was, ok := s.calls[id]
		switch {
		case !ok:
			bad = append(bad, fmt.Sprintf("tool_call_update for %q, which was never announced", id))
		case status == "":
		case was == "completed" || was == "failed":
			bad = append(bad, fmt.Sprintf("tool call %s was %s and becomes %s", id, was, status))
		case len(s.asking[id]) > 0 && status != "failed":
			bad = append(bad, fmt.Sprintf("tool call %s becomes %s while its permission is asked", id, status))
		}
		if status != "" {
			s.calls[id] = status
		}
	}
	return bad
}

// paths checks that every path is absolute and every line 1-based (G5). What the model wrote
// (rawInput) is shown as it is.
func paths(m Message) []string {
	var bad []string
	var walk func(v any, key string)
	walk = func(v any, key string) {
		switch v := v.(type) {
		case map[string]any:
			for k, inner := range v {
				if k != "rawInput" && k != "rawOutput" {
					walk(inner, k)
				}
			}
		case []any:
			for _, inner := range v {
				walk(inner, key)
			}
		case string:
			if (key == "path" || key == "cwd" || key == "additionalDirectories") && !filepath.IsAbs(v) {
				bad = append(bad, fmt.Sprintf("G5: %s %q is not absolute", key, v))
			}
		case float64:
			if key == "line" && v < 1 {
				bad = append(bad, fmt.Sprintf("G5: line %v", v))
			}
		}
	}
	for _, part := range []json.RawMessage{m.Params, m.Result} {
		var v any
		if json.Unmarshal(part, &v) == nil {
			walk(v, "")
		}
	}
	return bad
}

// idKey makes an id comparable: string and number ids differ, white space and the way a string is
// escaped do not matter.
func idKey(id json.RawMessage) string {
	id = bytes.TrimSpace(id)
	if text := get[*string](id); text != nil {
		return string(mustJSON(*text))
	}
	return string(id)
}
