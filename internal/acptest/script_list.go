package acptest

import (
	"encoding/json"
	"fmt"
	"strings"
)

// quiet are updates that a list leaves out: they come when they like and say nothing of the story.
var quiet = map[string]bool{"usage_update": true, "available_commands_update": true, "session_info_update": true}

// updatesCmd lists what the session's user saw, one line a thing, text chunks joined:
//
//	agent_message_chunk   "Leaving it."
//	tool_call             edit pending    main.go    Edit main.go (+1 −1)
//	tool_call_update      failed          main.go changed since it was proposed
//	permission            Edit main.go (+1 −1)       allow_once allow_session reject_once
func updatesCmd(w *world, _ bool, args []string) {
	w.need(args, 0, "updates")
	shown := strings.NewReplacer(w.ts.MkAbs(".")+"/", "", w.ts.Getenv("OUT"), "$OUT")
	_, err := fmt.Fprint(w.ts.Stdout(), shown.Replace(w.editor.list(w.session())))
	w.ts.Check(err)
}

// list renders the session's story.
func (e *Editor) list(session string) string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var b strings.Builder
	chunk, text := "", ""
	flush := func() {
		if chunk != "" {
			fmt.Fprintf(&b, "%-21s %q\n", chunk, text)
		}
		chunk, text = "", ""
	}
	for _, m := range e.log {
		if !m.Agent || get[string](m.Params, "sessionId") != session {
			continue
		}
		u := get[json.RawMessage](m.Params, "update")
		kind := get[string](u, "sessionUpdate")
		if strings.HasSuffix(kind, "_chunk") {
			if kind != chunk {
				flush()
			}
			chunk, text = kind, text+get[string](u, "content", "text")
			continue
		}
		if quiet[kind] {
			continue
		}
		flush()
		switch {
		case m.Method == "session/request_permission":
			var ids []string
			for _, o := range get[[]Option](m.Params, "options") {
				ids = append(ids, o.ID)
			}
			fmt.Fprintf(&b, "%-21s %s: %s\n", "permission", get[string](m.Params, "toolCall", "title"), strings.Join(ids, " "))
		case kind == "tool_call" || kind == "tool_call_update":
			fmt.Fprintf(&b, "%-21s %s\n", kind, callLine(u))
		case kind == "current_mode_update":
			fmt.Fprintf(&b, "%-21s %s\n", kind, get[string](u, "currentModeId"))
		case kind != "":
			fmt.Fprintf(&b, "%-21s\n", kind)
		default:
			fmt.Fprintf(&b, "%-21s\n", m.Method)
		}
	}
	flush()
	return b.String()
}

// callLine is one tool call or update: kind, status, title, the files of its diffs, its text.
func callLine(u json.RawMessage) string {
	var parts []string
	for _, key := range []string{"kind", "status", "title"} {
		if v := get[string](u, key); v != "" {
			parts = append(parts, v)
		}
	}
	content := get[json.RawMessage](u, "content")
	for _, d := range diffs(content) {
		parts = append(parts, "diff of "+d.Path)
	}
	if text := (ToolCall{Fields: map[string]json.RawMessage{"content": content}}).Text(); text != "" {
		if len(text) > 100 {
			text = text[:100] + "…"
		}
		parts = append(parts, fmt.Sprintf("%q", text))
	}
	return strings.Join(parts, "  ")
}
