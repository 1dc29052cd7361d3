package acp_test

import (
	"encoding/json"
	"fmt"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
)

// newSession asks for a session with parameters of the test's choice, given as JSON members.
func (f *fixture) newSession(members string) *acptest.Call {
	return f.Go("session/new", json.RawMessage(`{`+members+`}`))
}

func (f *fixture) cwdMember() string { return fmt.Sprintf(`"cwd":%q`, f.cwd) }

func TestACP_031_SessionIDs(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	seen := map[string]bool{}
	for range 5 {
		id := f.open()
		if id == "" || seen[id] {
			t.Errorf("session id %q is empty or there twice", id)
		}
		seen[id] = true
	}
}

func TestACP_032_RelativeCwd(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	for _, cwd := range []string{`"."`, `"src"`, `"../x"`, `""`, `null`, `7`} {
		f.newSession(`"mcpServers":[],"cwd":` + cwd).Error(-32602)
	}
	f.newSession(`"mcpServers":[]`).Error(-32602)
	f.open()
}

func TestACP_033_MissingCwd(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	missing := filepath.Join(f.cwd, "no", "such", "folder")
	m := f.newSession(fmt.Sprintf(`"mcpServers":[],"cwd":%q`, missing)).Wait()
	if m.Error != nil && !strings.Contains(m.Error.Message, missing) {
		t.Errorf("the error does not name the folder: %v", m.Error)
	}
	f.open()
}

func TestACP_034_MCPServersNullOrAbsent(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.newSession(f.cwdMember() + `,"mcpServers":null`).Result()
	if m := f.newSession(f.cwdMember()).Wait(); m.Error != nil && m.Error.Code != -32602 {
		t.Errorf("absent mcpServers: %v", m.Error)
	}
}

func TestACP_036_StdioServerWithoutEnv(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	result := f.newSession(f.cwdMember() + `,"mcpServers":[{"name":"lonely","command":"/bin/true","args":[]}]`).Result()
	id := acptest.Get[string](result, "sessionId")
	if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	if text := f.Text(id); !strings.Contains(text, "lonely") { // not started yet, and said so by name
		t.Errorf("the server is not named in %q", text)
	}
}

func TestACP_037_HTTPServerNotAdvertised(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	contacted := make(chan struct{})
	go func() {
		defer close(contacted)
		if conn, err := listener.Accept(); err == nil {
			conn.Close()
			t.Error("the server was contacted")
		}
	}()
	f := start(t, greeting, acptest.EditorOptions{})
	for _, kind := range []string{"http", "sse"} {
		f.newSession(fmt.Sprintf(`%s,"mcpServers":[{"type":%q,"name":"web","url":"http://%s/mcp","headers":[]}]`, f.cwdMember(), kind, listener.Addr())).Error(-32602)
	}
	f.alive(t)
	listener.Close()
	<-contacted
}

func TestACP_038_UnknownServerType(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	for _, entry := range []string{
		`{"type":"quic","name":"x","url":"q://","headers":[]}`, `{"type":"quic","name":"x","command":"/bin/true","args":[],"env":[]}`,
		`{"name":"x"}`, `"x"`, `{"type":7,"name":"x","command":"/bin/true"}`,
	} {
		f.newSession(f.cwdMember() + `,"mcpServers":[` + entry + `]`).Error(-32602)
	}
	if stop := f.Prompt(f.open(), "hi").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
}

func TestACP_041_NothingBeforeTheSessionIsKnown(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{Profile: "zed"})
	var calls []*acptest.Call
	for range 50 {
		calls = append(calls, f.newSession(f.cwdMember()+`,"mcpServers":[]`))
	}
	known := map[string]bool{}
	for _, call := range calls {
		known[acptest.Get[string](call.Result(), "sessionId")] = true
	}
	for id := range known { // commands follow; their place behind the answer is checked on every line
		f.UntilUpdate(id, "available_commands_update", nil)
	}
	if len(known) != 50 {
		t.Errorf("%d different sessions", len(known))
	}
}

func TestACP_042_UnknownSession(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	f.open()
	from := f.Len()
	f.Prompt("no-such-session", "hi").Error(-32002)
	f.Go("session/set_mode", map[string]any{"sessionId": "no-such-session", "modeId": "plan"}).Error(-32002)
	f.Go("session/close", map[string]any{"sessionId": "no-such-session"}).Error(-32002)
	for _, m := range f.Messages()[from:] {
		if m.Agent && acptest.Get[string](m.Params, "sessionId") == "no-such-session" {
			t.Errorf("an update for it: %s", m)
		}
	}
}

func TestACP_043_TwoSessionsSideBySide(t *testing.T) {
	f := start(t, `turns: [{text: "aaaaaaaaaaaaaaaaaaaa", chunk: 1, tool_calls: [{name: write_file, arguments: {path: x, content: "x"}}]}, {text: "bbbb"}]`, acptest.EditorOptions{})
	first, second := f.open(), f.open()
	one, two := f.Prompt(first, "1"), f.Prompt(second, "2")
	asked := map[string]*acptest.Permission{}
	for len(asked) < 2 {
		p := f.AwaitPermission()
		asked[p.Session] = p
		p.Answer("reject_once")
	}
	for _, call := range []*acptest.Call{two, one} {
		if stop := call.StopReason(); stop != "end_turn" {
			t.Errorf("stop reason %q", stop)
		}
	}
	for _, id := range []string{first, second} {
		if text := f.Text(id); text != "aaaaaaaaaaaaaaaaaaaabbbb" {
			t.Errorf("session %s said %q", id, text)
		}
		if calls := f.ToolCalls(id); len(calls) != 1 {
			t.Errorf("session %s has %d tool calls", id, len(calls))
		}
	}
}
