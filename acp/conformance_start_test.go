package acp_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

const greeting = `turns: [{text: "Hello.", repeat: 200}]`

// initialize is the first request with fields of the test's choice.
func initialize(fields string) json.RawMessage { return json.RawMessage(`{` + fields + `}`) }

func TestACP_007_InitializeFirstLine(t *testing.T) {
	f := prepare(t, greeting, "", acptest.EditorOptions{Patience: 5 * time.Second})
	call := f.GoID(json.RawMessage(`"first"`), "initialize", initialize(`"protocolVersion":1`))
	if v := acptest.Get[int](call.Result(), "protocolVersion"); v != 1 {
		t.Errorf("protocolVersion %d", v)
	}
	if first := f.Messages()[1]; !first.Agent || string(first.ID) != `"first"` {
		t.Errorf("the first line is %s", first)
	}
}

func TestACP_008_OtherVersions(t *testing.T) {
	for _, version := range []int{0, 2, 99} {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			f := prepare(t, greeting, "", acptest.EditorOptions{})
			result := f.Call("initialize", initialize(fmt.Sprintf(`"protocolVersion":%d`, version)))
			if v := acptest.Get[int](result, "protocolVersion"); v != 1 {
				t.Errorf("protocolVersion %d", v)
			}
		})
	}
}

func TestACP_009_VersionMissingOrString(t *testing.T) {
	for _, fields := range []string{``, `"protocolVersion":"1"`, `"protocolVersion":null`, `"protocolVersion":1.5`} {
		t.Run(fields, func(t *testing.T) {
			f := prepare(t, greeting, "", acptest.EditorOptions{})
			f.Go("initialize", initialize(fields)).Error(-32602)
			f.Initialize()
		})
	}
}

func TestACP_010_NoCapabilities(t *testing.T) {
	f := start(t, richTurns, acptest.EditorOptions{Profile: "bare", Answer: "allow_once"})
	f.write(t, "a.go", "package a\n")
	if stop := f.Prompt(f.open(), "go").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	for _, m := range f.Messages() { // that nothing else was used is G6, checked on every line
		if m.Agent && m.IsRequest() && m.Method != "session/request_permission" {
			t.Errorf("the agent called %s", m.Method)
		}
	}
}

func TestACP_011_AgentInfo(t *testing.T) {
	f := prepare(t, greeting, "", acptest.EditorOptions{})
	info := f.Initialize()
	name, version := acptest.Get[string](info, "agentInfo", "name"), acptest.Get[string](info, "agentInfo", "version")
	if name == "" || version != "0.0.0-test" {
		t.Errorf("agentInfo %q %q", name, version)
	}
}

func TestACP_012_AuthMethods(t *testing.T) {
	for profile, terminal := range map[string]bool{"bare": false, "plain": false, "jetbrains": false, "zed": true} {
		t.Run(profile, func(t *testing.T) {
			f := prepare(t, greeting, "", acptest.EditorOptions{Profile: profile})
			methods := acptest.Get[[]json.RawMessage](f.Initialize(), "authMethods")
			ids, offered := map[string]bool{}, false
			for i, m := range methods {
				id := acptest.Get[string](m, "id")
				if id == "" || ids[id] {
					t.Errorf("id %q is empty or there twice", id)
				}
				ids[id] = true
				kind := acptest.Get[string](m, "type")
				offered = offered || kind == "terminal"
				if i == 0 && (id != "env" || kind != "" && kind != "agent") {
					t.Errorf("the first method is %s", m)
				}
			}
			if len(methods) == 0 || offered != terminal {
				t.Errorf("methods %s; sign-in in a terminal: %v", methods, terminal)
			}
		})
	}
}

func TestACP_013_Meta(t *testing.T) {
	for _, meta := range []string{
		`{"traceparent":"00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01","tracestate":"a=b"}`, `{"anything":[1,{"x":null}]}`, `{}`, `null`,
	} {
		f := prepare(t, greeting, "", acptest.EditorOptions{})
		f.Call("initialize", initialize(`"protocolVersion":1,"_meta":`+meta+`,"clientCapabilities":{"_meta":`+meta+`}`))
	}
}

func TestACP_014_NewBeforeInitialize(t *testing.T) {
	f := prepare(t, greeting, "", acptest.EditorOptions{})
	f.Go("session/new", map[string]any{"cwd": f.cwd, "mcpServers": []any{}}).Error()
	f.Initialize()
	f.open()
}

func TestACP_015_SecondInitialize(t *testing.T) {
	f := prepare(t, greeting, "", acptest.EditorOptions{})
	first := f.Initialize()
	second := f.Go("initialize", initialize(`"protocolVersion":1`)).Wait()
	if second.Error == nil && string(second.Result) != string(first) {
		t.Errorf("the second answer is %s, the first was %s", second.Result, first)
	}
	if stop := f.Prompt(f.open(), "hi").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
}
