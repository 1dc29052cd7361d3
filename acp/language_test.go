package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
)

// module is a small Go module with a function and its user.
func module() map[string]string {
	return map[string]string{
		"go.mod": "module example.com/x\n\ngo 1.24\n",
		"a.go":   "package x\n\nfunc A() int { return 1 }\n",
		"b.go":   "package x\n\nfunc B() int { return A() }\n",
	}
}

// patient waits for servers as long as a busy machine needs.
func patient(c *config.Config) {
	c.LSP.ForeseeBudgetMS, c.LSP.InlineBudgetMS = 60_000, 60_000
}

const breakA = `edit_file {"path": "a.go", "old_string": "return 1", "new_string": "return missing"}`

func TestErrorsAreForeseenThenFoundThenMended(t *testing.T) {
	d := newDesk(t, deskOptions{gopls: true, config: patient, files: module(), script: script(turn(breakA),
		turn(`edit_file {"path": "a.go", "old_string": "missing", "new_string": "2"}`))})
	prompt := d.Prompt(d.session, "go")

	p := d.AwaitPermission()
	if got := p.Title(); got != "Edit a.go (+1 −1, +1 error)" {
		t.Errorf("title %q", got)
	}
	if got := string(p.Call); !strings.Contains(got, "undefined: missing") || !acptest.Get[bool](p.Call, "_meta", "acpAgent", "diagnostics", "foreseen") {
		t.Errorf("the question does not show what is foreseen: %s", got)
	}
	p.Answer("allow_once")
	p = d.AwaitPermission()
	if got := string(p.Call); !strings.Contains(got, "mends 1") {
		t.Errorf("the second question: %s", got)
	}
	p.Answer("allow_once")
	prompt.Result()

	first := json.RawMessage(d.result(0))
	if text := acptest.Get[string](first, "lsp_diagnostics"); !strings.HasPrefix(text, "LSP diagnostics introduced by this edit:\n") || !strings.Contains(text, "undefined: missing") {
		t.Errorf("the first result: %s", first)
	}
	if n := acptest.Get[int](first, "lsp", "introduced"); n != 1 || acptest.Get[string](first, "lsp", "state") != "findings" {
		t.Errorf("the first result: %s", first)
	}
	second := json.RawMessage(d.result(1))
	if acptest.Get[string](second, "lsp", "state") != "clean" || acptest.Get[int](second, "lsp", "mended") != 1 {
		t.Errorf("the second result: %s", second)
	}
	meta := d.call(0).Fields["_meta"]
	if acptest.Get[string](meta, "acpAgent", "diagnostics", "state") != "findings" || !acptest.Get[bool](meta, "acpAgent", "diagnostics", "items", 0, "new") {
		t.Errorf("meta: %s", meta)
	}
	records := d.record()
	if c := records[1].Diagnostics; c == nil || c.Before != 0 || c.After != 1 {
		t.Errorf("recorded counts: %+v", c)
	}
}

func TestLateVerdictsReachTheModelBeforeTheTurnEnds(t *testing.T) {
	d := newDesk(t, deskOptions{gopls: true, files: module(), script: script(turn(breakA), "- {text: done}\n", "- {text: mending}\n"),
		config: func(c *config.Config) { c.Permissions.Mode = "accept_edits" }})
	d.Call("session/set_config_option", map[string]any{"sessionId": d.session, "configId": "diagnostics", "value": "turn_end"})
	d.play("go", "end_turn")
	if state := acptest.Get[string](json.RawMessage(d.result(0)), "lsp", "state"); state != "no_verdict" {
		t.Errorf("the result waited: %s", d.result(0))
	}
	requests := d.models.Requests()
	last := requests[len(requests)-1].Messages
	// A machine that is too busy for five seconds gives no verdict in time; then nothing is told.
	if got := last[len(last)-1].Text(); len(requests) == 3 && (!strings.HasPrefix(got, "[diagnostics]") ||
		!strings.Contains(got, "your earlier edit of a.go") || !strings.Contains(got, "undefined: missing")) {
		t.Errorf("the model got %q", got)
	}
	if len(requests) == 3 {
		if text := d.call(0).Text(); !strings.Contains(text, "undefined: missing") {
			t.Errorf("the editor is shown %q", text)
		}
	}
	for _, u := range d.updatesOf("user_message_chunk") {
		t.Errorf("shown as the user's words: %s", u)
	}
}

func TestDiagnosticsOffAsksNobody(t *testing.T) {
	d := newDesk(t, deskOptions{gopls: true, config: patient, files: module(), answer: "allow_once", script: script(turn(breakA))})
	d.Call("session/set_config_option", map[string]any{"sessionId": d.session, "configId": "diagnostics", "value": "off"})
	d.play("go", "end_turn")
	if got := acptest.Get[string](json.RawMessage(d.result(0)), "lsp", "state"); got != "off" {
		t.Errorf("state %q", got)
	}
	if got := d.Permissions()[0].Title(); got != "Edit a.go (+1 −1)" {
		t.Errorf("title %q", got)
	}
}

func TestTheModelAsksTheLanguageServer(t *testing.T) {
	d := newDesk(t, deskOptions{gopls: true, config: patient, files: module(), script: script(turn(
		`lsp_definition {"path": "b.go", "line": 3, "character": 23}`), turn(`lsp_diagnostics {"path": "a.go"}`), turn(`lsp_hover {"path": "b.go", "line": 3, "character": 23}`))})
	d.play("go", "end_turn")
	if got := d.result(0); !strings.Contains(got, d.path("a.go")) || !strings.Contains(got, `"line":3`) {
		t.Errorf("definition: %s", got)
	}
	if got := d.result(1); got != "no diagnostics for "+d.path("a.go")+"." {
		t.Errorf("diagnostics: %s", got)
	}
	if got := d.result(2); !strings.Contains(got, "func A() int") {
		t.Errorf("hover: %s", got)
	}
}

func TestLateForesightIsShownWhileTheQuestionIsOpen(t *testing.T) {
	d := newDesk(t, deskOptions{gopls: true, profile: "acpx", files: module(), script: script(turn(breakA)),
		config: func(c *config.Config) { c.LSP.ForeseeBudgetMS, c.LSP.InlineBudgetMS = 1, 60_000 }})
	prompt := d.Prompt(d.session, "go")
	p := d.AwaitPermission()
	if got := string(p.Call); strings.Contains(got, "undefined: missing") || !strings.Contains(got, "Not checked") {
		t.Fatalf("the question waited for the server: %s", got)
	}
	late := d.UntilUpdate(d.session, "tool_call_update", func(u json.RawMessage) bool { return strings.Contains(string(u), "undefined: missing") })
	if acptest.Get[string](late, "status") != "" || acptest.Get[string](late, "content", 0, "type") != "diff" {
		t.Errorf("the late update: %s", late)
	}
	p.Answer("allow_once")
	prompt.Result()
	d.holds("a.go", strings.Replace(module()["a.go"], "return 1", "return missing", 1))
	if got := acptest.Get[string](json.RawMessage(d.result(0)), "lsp", "state"); got != "findings" {
		t.Errorf("the result: %s", d.result(0))
	}
}
