package acp_test

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
)

// A cancel that comes while an approved edit is written is too late for that edit: the editor, the
// record and the model must all say that it was done.
func TestACancelDuringTheWriteDoesNotUnsayTheEdit(t *testing.T) {
	d := newDesk(t, deskOptions{profile: "zed", answer: "allow_once", files: map[string]string{"a.go": "// teh\n"},
		script: script(turn(fix, `write_file {"path": "b.txt", "content": "b"}`))})
	d.Hold("fs/write_text_file")
	prompt := d.Prompt(d.session, "fix it")
	d.UntilMessage("the write", 0, func(m acptest.Message) bool { return m.Agent && m.Method == "fs/write_text_file" })
	d.Cancel(d.session)
	d.Resume("fs/write_text_file")
	if got := prompt.StopReason(); got != "cancelled" {
		t.Errorf("stop reason %q", got)
	}
	d.holds("a.go", "// the\n")
	d.holds("b.txt", "-")
	if got := d.call(0).Status(); got != "completed" {
		t.Errorf("the applied edit is shown as %s", got)
	}
	if got := d.call(1).Status(); got != "failed" {
		t.Errorf("the call that never ran is shown as %s", got)
	}
	if got := kinds(d.record()); got != "intent applied" {
		t.Errorf("records %q", got)
	}
	d.play("again", "end_turn")
	if got := d.result(0); !strings.Contains(got, `"bytes_written":7`) || d.models.Results()[0].IsError {
		t.Errorf("the model is told %s of an edit that was applied", got)
	}
	d.code(1, "cancelled")
}

// What a command printed and changed before it was ended belongs into the history as well.
func TestACancelledCommandTellsWhatItDid(t *testing.T) {
	d := newDesk(t, deskOptions{answer: "allow_once", files: map[string]string{"a.txt": "one\n"}, script: script(
		turn(`read_file {"path": "a.txt"}`), turn(`terminal {"command": "echo two >a.txt; echo halfway; sleep 60"}`))})
	prompt := d.Prompt(d.session, "go")
	d.UntilUpdate(d.session, "tool_call_update", func(u json.RawMessage) bool { return strings.Contains(string(u), "halfway") })
	d.Cancel(d.session)
	if got := prompt.StopReason(); got != "cancelled" {
		t.Errorf("stop reason %q", got)
	}
	if got := d.call(1).Status(); got != "failed" {
		t.Errorf("the ended command is shown as %s", got)
	}
	d.play("again", "end_turn")
	for _, want := range []string{"halfway", "cancelled by the user", "changed meanwhile: a.txt"} {
		if got := d.result(1); !strings.Contains(got, want) {
			t.Errorf("the model is not told %q: %s", want, got)
		}
	}
}
