package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/acptest"
)

// prompt sends content blocks of the test's choice.
func (f *fixture) prompt(session, blocks string) *acptest.Call {
	return f.Go("session/prompt", json.RawMessage(fmt.Sprintf(`{"sessionId":%q,"prompt":%s}`, session, blocks)))
}

func TestACP_054_Hello(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, greeting, acptest.EditorOptions{})
		id := f.open()
		if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" {
			t.Errorf("stop reason %q", stop)
		}
		if text := f.Text(id); text != "Hello." {
			t.Errorf("said %q", text)
		}
		time.Sleep(500 * time.Millisecond) // the bubble's clock; updates of a turn now would be complained of
		synctest.Wait()
	})
}

func TestACP_057_UnknownBlock(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	id := f.open()
	for _, block := range []string{
		`{"type":"hologram"}`, `{"type":"hologram","text":"x"}`, `{"type":"hologram","data":"aaaa","mimeType":"image/png"}`, `{}`, `{"text":"x"}`,
		`"x"`, `null`, `{"type":"text"}`, `{"type":"resource","resource":{"uri":"file:///x"}}`, `{"type":"resource_link","name":"x"}`,
	} {
		f.prompt(id, `[`+block+`]`).Error(-32602)
		f.prompt(id, `[{"type":"text","text":"hi"},`+block+`]`).Error(-32602)
	}
	if n := len(f.recorder.Requests()); n != 0 {
		t.Errorf("the model was asked %d times", n)
	}
	if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
}

func TestACP_058_EmptyPrompt(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	id := f.open()
	f.prompt(id, `[]`).Error(-32602)
	f.prompt(id, `null`).Error(-32602)
	f.Go("session/prompt", map[string]any{"sessionId": id}).Error(-32602)
}

func TestACP_059_StopReasons(t *testing.T) {
	tests := []struct{ name, script, config, want string }{
		{"length", `turns: [{text: "and so", finish: length}]`, "", "max_tokens"},
		{"refusal", `turns: [{text: "no", finish: refusal}]`, "", "refusal"},
		{"tool rounds", `turns: [{repeat: 9, tool_calls: [{name: list_directory, arguments: {path: .}}]}]`, "limits: {tool_rounds: 3}", "max_turn_requests"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := prepare(t, tt.script, tt.config, acptest.EditorOptions{})
			f.Initialize()
			id := f.open()
			if stop := f.Prompt(id, "hi").StopReason(); stop != tt.want {
				t.Errorf("stop reason %q", stop)
			}
			if stop := f.Prompt(id, "hi").StopReason(); stop == "" {
				t.Error("the session is not usable afterwards")
			}
		})
	}
}

// TestACP_060_ModelFails wants a readable error, after the retries that the kind of error allows,
// and a session that goes on.
func TestACP_060_ModelFails(t *testing.T) {
	for _, status := range []int{500, 503, 429, 400} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { // the waits between retries pass at once
				retries := 5
				if status == 400 {
					retries = 1
				}
				f := start(t, fmt.Sprintf(`turns: [{error: {status: %d, message: "the machine room is on fire"}, repeat: %d}, {text: "Better."}]`, status, retries), acptest.EditorOptions{})
				id := f.open()
				failure := f.Prompt(id, "hi").Error()
				if !strings.Contains(failure.Message, "machine room is on fire") || !strings.Contains(failure.Message, fmt.Sprint(status)) {
					t.Errorf("the message does not say what happened: %q", failure.Message)
				}
				if stop := f.Prompt(id, "again").StopReason(); stop != "end_turn" || !strings.HasSuffix(f.Text(id), "Better.") {
					t.Errorf("stop reason %q, said %q", stop, f.Text(id))
				}
			})
		})
	}
}

func TestACP_061_NotSignedIn(t *testing.T) {
	f := start(t, `turns: [{error: {status: 401, message: "who are you?"}}, {text: "Welcome."}]`, acptest.EditorOptions{})
	id := f.open()
	f.Prompt(id, "hi").Error(-32000)
	f.Call("authenticate", map[string]any{"methodId": "env"})
	if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" || f.Text(id) != "Welcome." {
		t.Errorf("stop reason %q, said %q", stop, f.Text(id))
	}
}

func TestACP_063_ManyTokens(t *testing.T) {
	text := strings.Repeat("tok ü", 1000)
	f := start(t, fmt.Sprintf(`turns: [{text: %q, chunk: 1}]`, text), acptest.EditorOptions{})
	id := f.open()
	if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	if got := f.Text(id); got != text {
		t.Errorf("the text is not whole: %d of %d bytes", len(got), len(text))
	}
	if n := len(f.Updates(id)); n >= 2000 {
		t.Errorf("%d updates for 5000 tokens", n)
	}
}

func TestACP_065_SecondPromptIsQueued(t *testing.T) {
	f := start(t, `turns: [{text: "one "}, {text: "two "}, {text: "three "}, {text: "four "}]`, acptest.EditorOptions{})
	id := f.open()
	var calls []*acptest.Call
	for i := range 4 {
		calls = append(calls, f.Prompt(id, fmt.Sprint(i)))
	}
	for _, call := range calls {
		if stop := call.StopReason(); stop != "end_turn" {
			t.Errorf("stop reason %q", stop)
		}
	}
	if got := f.Text(id); got != "one two three four " {
		t.Errorf("said %q", got)
	}
	requests := f.recorder.Requests()
	for i, req := range requests {
		if fault := acptest.HistoryFault(req); fault != "" || len(req.Messages) != 2*i+1 {
			t.Errorf("request %d has %d messages; %s", i, len(req.Messages), fault)
		}
	}
}

func TestACP_066_Usage(t *testing.T) {
	f := start(t, `turns: [{text: "x", usage: {input: 1000, output: 50, cached: 400}}]`, acptest.EditorOptions{})
	id := f.open()
	f.Prompt(id, "hi").Result()
	u := f.UntilUpdate(id, "usage_update", nil) // that both are integers is the schema's to say
	used, size := acptest.Get[int](u, "used"), acptest.Get[int](u, "size")
	if used <= 0 || used > size {
		t.Errorf("used %d of %d", used, size)
	}
}
