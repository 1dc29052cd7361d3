//go:build unix

package acp_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/modelserver"
)

// online starts the built program with a model that speaks Chat Completions on loopback.
func online(t *testing.T, o acptest.EditorOptions, replies ...modelserver.Reply) (*program, *modelserver.Server) {
	t.Helper()
	server := modelserver.New(t, replies...)
	p := launchWith(t, o, "ACP_AGENT_MODEL=openai/test-model", "OPENAI_BASE_URL="+server.URL+"/v1", "OPENAI_API_KEY=sk-test-0123456789abcdef")
	return p, server
}

// TestACP_062_BytesAtATime streams text byte by byte on the socket, and unit by unit in the JSON, so
// that no delta and no read is a whole character.
func TestACP_062_BytesAtATime(t *testing.T) {
	const text = "grüße, 世界! 😀 – naïve café 👩‍💻"
	for name, reply := range map[string]modelserver.Reply{
		"writes":     {Text: text, Write: 1, Chunk: 1},
		"surrogates": {Text: text, Surrogates: true},
		"deltas":     {Text: text, Bytes: true},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := online(t, acptest.EditorOptions{}, reply)
			id := p.NewSession(p.cwd)
			if stop := p.Prompt(id, "hi").StopReason(); stop != "end_turn" {
				t.Errorf("stop reason %q", stop)
			}
			if got := p.Text(id); got != text {
				t.Errorf("said %q", got)
			}
		})
	}
}

// TestACP_060_OverHTTP is number 60 with a real server: an answer that cannot be mended by asking
// again, and one that breaks off behind visible text.
func TestACP_060_OverHTTP(t *testing.T) {
	for name, reply := range map[string]modelserver.Reply{
		"bad request":  {Status: http.StatusBadRequest, Body: `{"error":{"message":"the model is asleep"}}`},
		"broken":       {Text: strings.Repeat("half a sentence ", 20), Fault: modelserver.Reset, After: 8},
		"cut off":      {Text: strings.Repeat("half a sentence ", 20), Fault: modelserver.CutOff, After: 8},
		"garbage":      {Text: strings.Repeat("half a sentence ", 20), Fault: modelserver.Garbage, After: 8},
		"error inside": {Text: strings.Repeat("half a sentence ", 20), Fault: modelserver.ErrorData, After: 8, Body: `{"error":{"message":"the model is asleep"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := online(t, acptest.EditorOptions{}, reply, modelserver.Reply{Text: "Better."})
			id := p.NewSession(p.cwd)
			if failure := p.Prompt(id, "hi").Error(); len(failure.Message) < 10 || strings.Contains(failure.Message, "goroutine") {
				t.Errorf("the message is not readable: %q", failure.Message)
			}
			if stop := p.Prompt(id, "again").StopReason(); stop != "end_turn" || !strings.HasSuffix(p.Text(id), "Better.") {
				t.Errorf("stop reason %q, said %q", stop, p.Text(id))
			}
		})
	}
}

func TestACP_061_OverHTTP(t *testing.T) {
	p, _ := online(t, acptest.EditorOptions{}, modelserver.Reply{Status: http.StatusUnauthorized, Body: `{"error":{"message":"wrong key"}}`}, modelserver.Reply{Text: "Welcome."})
	id := p.NewSession(p.cwd)
	if failure := p.Prompt(id, "hi").Error(-32000); strings.Contains(failure.Message, "sk-test") {
		t.Errorf("the message has the key in it: %q", failure.Message)
	}
	p.Call("authenticate", map[string]any{"methodId": "env"})
	if stop := p.Prompt(id, "hi").StopReason(); stop != "end_turn" || p.Text(id) != "Welcome." {
		t.Errorf("stop reason %q, said %q", stop, p.Text(id))
	}
}

// TestCaseGM01_HistoryOnTheWire has the model write half a call: the next request carries a result
// for it, and arguments that are JSON, or a strict provider would refuse everything from then on.
// (case G-M01)
func TestCaseGM01_HistoryOnTheWire(t *testing.T) {
	broken := modelserver.Call{ID: "c1", Name: "edit_file", Arguments: `{"path":"a.txt","old_string":"x`}
	whole := modelserver.Call{ID: "c2", Name: "list_directory", Arguments: `{"path":"."}`}
	p, server := online(t, acptest.EditorOptions{}, modelserver.Reply{Calls: []modelserver.Call{broken}}, modelserver.Reply{Calls: []modelserver.Call{whole}}, modelserver.Reply{Text: "Over."})
	id := p.NewSession(p.cwd)
	if stop := p.Prompt(id, "go").StopReason(); stop != "end_turn" || p.Text(id) != "Over." {
		t.Errorf("stop reason %q, said %q", stop, p.Text(id))
	}
	chats := 0
	for _, r := range server.Requests() {
		if !strings.HasSuffix(r.Path, "/chat/completions") {
			continue
		}
		chats++
		waiting := map[string]bool{}
		for _, m := range acptest.Get[[]json.RawMessage](r.Body, "messages") {
			for _, call := range acptest.Get[[]json.RawMessage](m, "tool_calls") {
				waiting[acptest.Get[string](call, "id")] = true
				if args := acptest.Get[string](call, "function", "arguments"); !json.Valid([]byte(args)) {
					t.Errorf("request %d sends the arguments %q", chats, args)
				}
			}
			if answers := acptest.Get[string](m, "tool_call_id"); answers != "" {
				if !waiting[answers] {
					t.Errorf("request %d has a result for %q, which does not wait for one", chats, answers)
				}
				delete(waiting, answers)
			}
		}
		if len(waiting) > 0 {
			t.Errorf("request %d lacks results for %v", chats, waiting)
		}
	}
	if chats != 3 {
		t.Errorf("%d requests", chats)
	}
}
