package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
)

// alive wants the agent to answer one more request.
func (f *fixture) alive(t *testing.T) {
	t.Helper()
	if e := f.Go("no/such/thing", nil).Error(-32601); e.Message == "" {
		t.Error("an error without a message")
	}
}

// complaint waits for the error that answers a line without a usable id.
func (f *fixture) complaint(code, from int) {
	f.UntilMessage(fmt.Sprintf("error %d for id null", code), from, func(m acptest.Message) bool {
		return m.Error != nil && m.Error.Code == code && string(m.ID) == "null"
	})
}

func TestACP_016_TruncatedJSON(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	for _, line := range []string{`{"jsonrpc":"2.0","id":5,"method":`, `{"jsonrpc":"2.0","id":5,"method":"session/new","params":{"cwd":"/`, `hello`, `"text"`, "{\"a\":\xff}"} {
		from := f.Len()
		f.Raw(line + "\n")
		f.UntilMessage("a complaint", from, func(m acptest.Message) bool {
			return m.Error != nil && (m.Error.Code == -32700 || m.Error.Code == -32600) && string(m.ID) == "null"
		})
		f.alive(t)
	}
}

func TestACP_017_Batch(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	from := f.Len()
	f.Raw(fmt.Sprintf(`[{"jsonrpc":"2.0","id":70,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}},{"jsonrpc":"2.0","id":71,"method":"no/such"}]`+"\n", f.cwd))
	f.complaint(-32600, from)
	f.alive(t)
	for _, m := range f.Messages()[from:] {
		if id := string(m.ID); m.Agent && (id == "70" || id == "71") {
			t.Errorf("an entry of the batch was answered: %s", m)
		}
	}
}

func TestACP_018_NeitherIDNorMethod(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	for _, line := range []string{`{"jsonrpc":"2.0"}`, `{}`, `{"jsonrpc":"2.0","params":{}}`, `{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"2.0","method":null,"id":null}`} {
		f.Raw(line + "\n")
		f.alive(t)
	}
}

func TestACP_019_UnknownRequest(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.GoID(json.RawMessage(`"x-1"`), "no/such", map[string]any{"a": 1}).Error(-32601)
	f.Go("session/fork", map[string]any{"sessionId": "s"}).Error(-32601) // known to the protocol, not advertised
}

func TestACP_020_UnknownVendorMethod(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.Go("_vendor/x", map[string]any{}).Error(-32601)
	f.silence(t, func() { f.Notify("_vendor/x", map[string]any{}) })
}

// silence wants no line of the agent between what act does and the answer to a later request.
func (f *fixture) silence(t *testing.T, act func()) {
	t.Helper()
	from := f.Len()
	act()
	f.alive(t)
	for _, m := range f.Messages()[from:] {
		own := acptest.Get[string](m.Params, "update", "sessionUpdate") == "available_commands_update" // comes when it likes
		if m.Agent && m.For != "no/such/thing" && !own {
			t.Errorf("the agent answered: %s", m)
		}
	}
}

func TestACP_021_UnknownNotification(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.silence(t, func() { f.Notify("no/such", nil) })
	f.silence(t, func() { f.Notify("session/whatever", []any{1}) })
}

func TestACP_022_IDsEchoed(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	for _, id := range []string{`"abc"`, `""`, `"7"`, `0`, `9007199254740993`, `18446744073709551615`, `-1`, `2147483648`, `"ü\u0000\""`} {
		got := f.GoID(json.RawMessage(id), "no/such", nil).Wait().ID // by value: the editor would wait for ever
		if quoted := id[0] == '"'; quoted != (got[0] == '"') || !quoted && string(got) != id {
			t.Errorf("id %s came back as %s", id, got)
		}
	}
}

func TestACP_023_AnswerToNothing(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.silence(t, func() {
		f.Raw(`{"jsonrpc":"2.0","id":4711,"result":{}}` + "\n" + `{"jsonrpc":"2.0","id":"x","error":{"code":-1,"message":"m"}}` + "\n" + `{"jsonrpc":"2.0","id":null,"result":null}` + "\n")
	})
}

func TestACP_024_CRLFAndBlankLines(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	call := f.expect(60, "no/such", "\r\n\n   \n \t", "  \r\n")
	call.Error(-32601)
	f.alive(t)
}

// expect writes a request by hand, between bytes of the test's choice, and gives its call.
func (f *fixture) expect(id int, method, before, after string) *acptest.Call {
	call := f.Expect(json.RawMessage(fmt.Sprint(id)), method)
	line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q}`, id, method)
	f.Note(line)
	f.Raw(before + line + after)
	return call
}

func TestACP_025_OneByteAtATime(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	line := `{"jsonrpc":"2.0","id":61,"method":"no/süch","params":{"text":"grüße 😀"}}`
	call := f.Expect(json.RawMessage("61"), "no/süch")
	f.Note(line)
	for i := range len(line) {
		f.Raw(line[i : i+1])
	}
	f.Raw("\n")
	call.Error(-32601)
}

func TestACP_026_ThreeInOneWrite(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	var calls []*acptest.Call
	var all strings.Builder
	for id := 62; id < 65; id++ {
		line := fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"no/such"}`, id)
		calls = append(calls, f.Expect(json.RawMessage(fmt.Sprint(id)), "no/such"))
		f.Note(line)
		all.WriteString(line + "\n")
	}
	f.Raw(all.String())
	for _, call := range calls {
		call.Error(-32601)
	}
}

func TestACP_028_NoParams(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.Call("logout", nil)
	if m := f.Go("session/list", nil).Wait(); m.Error != nil && m.Error.Code != -32601 {
		t.Errorf("session/list without params: %v", m.Error)
	}
}

func TestACP_029_UnknownFields(t *testing.T) {
	f := prepare(t, greeting, "", acptest.EditorOptions{})
	f.Call("initialize", initialize(`"protocolVersion":1,"clientInfo":{"name":"x","version":"1","mood":"good"},"clientCapabilities":{"fs":{"readTextFile":false,"fly":true},"swim":{}},"x":1`))
	id := acptest.Get[string](f.Call("session/new", map[string]any{"cwd": f.cwd, "mcpServers": []any{}, "x": map[string]any{"y": 1}}), "sessionId")
	f.Call("session/prompt", map[string]any{
		"sessionId": id, "x": 1, "prompt": []any{map[string]any{"type": "text", "text": "hi", "x": []any{}}},
	})
}

func TestACP_030_ParamsOfAnotherType(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.open()
	for _, method := range []string{"initialize", "session/new", "session/prompt", "session/set_mode", "session/set_config_option", "session/close", "authenticate"} {
		for _, params := range []any{[]any{1}, "text", 7, []any{}} {
			f.Go(method, params).Error(-32602)
		}
	}
	f.silence(t, func() { f.Notify("session/cancel", "text") })
}
