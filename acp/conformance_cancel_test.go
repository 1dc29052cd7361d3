package acp_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

const talking = `turns: [{text: "Once upon a time", hang: true, repeat: 200}]`

// untilSaid waits until the agent has said something in a session.
func (f *fixture) untilSaid(session string) {
	f.UntilUpdate(session, "agent_message_chunk", nil)
}

// cancelled wants a prompt to end cancelled, within a time after begin.
func cancelled(t *testing.T, call *acptest.Call, begin time.Time, within time.Duration) {
	t.Helper()
	if stop := call.StopReason(); stop != "cancelled" {
		t.Errorf("stop reason %q", stop)
	}
	if took := time.Since(begin); took > within {
		t.Errorf("that took %v", took)
	}
}

func TestACP_082_CancelWhileStreaming(t *testing.T) {
	f := start(t, talking, acptest.EditorOptions{})
	id := f.open()
	turn := f.Prompt(id, "go")
	f.untilSaid(id)
	begin := time.Now()
	f.Cancel(id)
	cancelled(t, turn, begin, time.Second)
}

func TestACP_083_CancelRightBehindThePrompt(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{}) // answers at once, if it is let
	id := f.open()
	for i := range 100 {
		prompt := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"session/prompt","params":{"sessionId":%q,"prompt":[{"type":"text","text":"hi"}]}}`, 1000+i, id)
		call := f.Expect(json.RawMessage(fmt.Sprint(1000+i)), "session/prompt")
		f.Note(prompt)
		f.Raw(prompt + "\n" + fmt.Sprintf(`{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":%q}}`, id) + "\n")
		if stop := call.StopReason(); stop != "cancelled" {
			t.Fatalf("run %d: stop reason %q", i, stop)
		}
	}
}

func TestACP_084_CancelWhileAsking(t *testing.T) {
	for _, profile := range []string{"zed", "plain"} { // the first honours $/cancel_request
		for _, answer := range []string{"cancelled", "never"} {
			t.Run(profile+" "+answer, func(t *testing.T) {
				f := start(t, replace("f.txt", 1), acptest.EditorOptions{Profile: profile})
				f.write(t, "f.txt", "a")
				id := f.open()
				turn := f.Prompt(id, "go")
				p := f.AwaitPermission()
				begin := time.Now()
				f.Cancel(id)
				p.Answer(answer)
				cancelled(t, turn, begin, 5*time.Second)
				f.holds(t, "f.txt", "a")
				if c := f.ToolCalls(id)[0]; c.Status() != "failed" {
					t.Errorf("the call is %s", c.Status())
				}
				if stop := f.Prompt(id, "on").StopReason(); stop != "end_turn" {
					t.Errorf("the next prompt ends %q", stop)
				}
			})
		}
	}
}

func TestACP_086_CancelOfNothing(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	id := f.open()
	f.silence(t, func() {
		f.Cancel(id)
		f.Cancel("no-such-session")
		f.Notify("session/cancel", map[string]any{})
		f.Notify("session/cancel", nil)
	})
	if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" {
		t.Errorf("the next prompt ends %q", stop)
	}
	g := start(t, `turns: [{text: x, hang: true}, {text: y}]`, acptest.EditorOptions{})
	id = g.open()
	turn := g.Prompt(id, "hi")
	g.untilSaid(id)
	g.Cancel(id)
	g.Cancel(id)
	if stop := turn.StopReason(); stop != "cancelled" {
		t.Errorf("stop reason %q", stop)
	}
	g.Cancel(id)
	if stop := g.Prompt(id, "hi").StopReason(); stop != "end_turn" {
		t.Errorf("the next prompt ends %q", stop)
	}
}

func TestACP_087_CancelOfOneSession(t *testing.T) {
	f := start(t, talking, acptest.EditorOptions{})
	one, two := f.open(), f.open()
	first, second := f.Prompt(one, "hi"), f.Prompt(two, "hi")
	f.untilSaid(one)
	f.untilSaid(two)
	f.Cancel(one)
	if stop := first.StopReason(); stop != "cancelled" {
		t.Errorf("stop reason %q", stop)
	}
	f.alive(t)
	if second.Done() {
		t.Error("the other session's turn ended as well")
	}
	f.Cancel(two)
	second.Result()
}

// TestACP_088_UpdatesBeforeTheAnswer cancels a turn with calls done, running and to come; that
// nothing follows the answer and that no call stays open is checked on every line.
func TestACP_088_UpdatesBeforeTheAnswer(t *testing.T) {
	f := start(t, `turns:
  - text: "Now."
    tool_calls:
      - {name: list_directory, arguments: {path: .}}
      - {name: write_file, arguments: {path: a, content: x}}
      - {name: write_file, arguments: {path: b, content: x}}
      - {name: list_directory, arguments: {path: .}}
`, acptest.EditorOptions{})
	id := f.open()
	turn := f.Prompt(id, "go")
	p := f.AwaitPermission()
	f.Cancel(id)
	p.Answer("cancelled")
	if stop := turn.StopReason(); stop != "cancelled" {
		t.Errorf("stop reason %q", stop)
	}
	calls := f.ToolCalls(id)
	if len(calls) == 0 || calls[0].Status() != "completed" {
		t.Errorf("the calls are %v", calls)
	}
}

func TestACP_089_CancelRequest(t *testing.T) {
	f := start(t, talking, acptest.EditorOptions{})
	id := f.open()
	for _, requestID := range []string{`501`, `"p-1"`} {
		from := f.Len()
		turn := f.GoID(json.RawMessage(requestID), "session/prompt", map[string]any{
			"sessionId": id, "prompt": []any{map[string]any{"type": "text", "text": "hi"}},
		})
		f.UntilMessage("text", from, func(m acptest.Message) bool { return m.Method == "session/update" })
		f.Notify("$/cancel_request", map[string]any{"requestId": json.RawMessage(requestID)})
		if m := turn.Wait(); m.Error != nil && m.Error.Code != -32800 || m.Error == nil && acptest.Get[string](m.Result, "stopReason") != "cancelled" {
			t.Errorf("the prompt was answered %s", m)
		}
	}
	f.silence(t, func() {
		for _, params := range []string{`{"requestId":4711}`, `{"requestId":"501"}`, `{"requestId":null}`, `{}`, `[]`} {
			f.Notify("$/cancel_request", json.RawMessage(params))
		}
	})
	call := f.Go("session/new", map[string]any{"cwd": f.cwd, "mcpServers": []any{}})
	f.Notify("$/cancel_request", map[string]any{"requestId": call.ID})
	call.Wait() // an answer still comes, whichever
}
