package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
)

// writeFK is a call that gives a.fk a text; the fake server finds ERROR(…), WARN(…) in it.
func writeFK(text string) string {
	args, _ := json.Marshal(map[string]string{"path": "a.fk", "content": text}) // strings always encode
	return turn("write_file " + string(args))
}

// results plays one prompt and gives the results of its calls.
func (d *desk) results(t *testing.T) []json.RawMessage {
	t.Helper()
	d.play("go", "end_turn")
	var list []json.RawMessage
	for _, m := range d.models.Results() {
		list = append(list, json.RawMessage(m.Text()))
	}
	return list
}

// limits.diagnostics_per_file and lsp.max_diagnostics_chars bound what one edit tells the model.
func TestFindingsAreBoundedByConfiguration(t *testing.T) {
	var text strings.Builder
	for i := range 9 {
		fmt.Fprintf(&text, "ERROR(fault %d)\n", i)
	}
	for limit, want := range map[int]int{3: 3, 20: 9} {
		d := newDesk(t, deskOptions{server: []string{"pull"}, answer: "allow_once", files: map[string]string{"a.fk": "\n"}, script: script(writeFK(text.String())),
			config: func(c *config.Config) { patient(c); c.Limits.DiagnosticsPerFile = limit }})
		r := d.results(t)[0]
		got := acptest.Get[string](r, "lsp_diagnostics")
		if n := strings.Count(got, "ERROR ["); n != want || strings.Contains(got, "… 6 more") != (limit == 3) || acptest.Get[int](r, "lsp", "introduced") != 9 {
			t.Errorf("limit %d: %d findings: %s", limit, n, r)
		}
	}
}

// lsp.severity: warning tells warnings as well, to the model and to the user, and calls the file's
// state findings; a title counts errors only.
func TestWarningsAreToldWhereTheyAreAskedFor(t *testing.T) {
	for severity, want := range map[string]string{"error": "clean", "warning": "findings"} {
		d := newDesk(t, deskOptions{server: []string{"pull"}, answer: "allow_once", files: map[string]string{"a.fk": "\n"}, script: script(writeFK("WARN(odd)\n")),
			config: func(c *config.Config) { patient(c); c.LSP.Severity = severity }})
		r := d.results(t)[0]
		if got := acptest.Get[string](r, "lsp", "state"); got != want {
			t.Errorf("%s: state %q: %s", severity, got, r)
		}
		for what, text := range map[string]string{
			"the model": acptest.Get[string](r, "lsp_diagnostics"), "the editor": d.call(0).Text(), "the question": acptest.ToolCall{
				Fields: acptest.Get[map[string]json.RawMessage](d.Permissions()[0].Call)}.Text(),
		} {
			if strings.Contains(text, "odd") != (want == "findings") {
				t.Errorf("%s: %s is told %q", severity, what, text)
			}
		}
		if got := d.Permissions()[0].Title(); got != "Edit a.fk (+1 −1)" {
			t.Errorf("%s: title %q", severity, got)
		}
	}
}

// Errors that were there before are counted, not repeated: the user still learns that the file is not
// clean.
func TestOlderErrorsAreCounted(t *testing.T) {
	d := newDesk(t, deskOptions{server: []string{"pull"}, config: patient, answer: "allow_once", files: map[string]string{"a.fk": "ERROR(old)\n"},
		script: script(writeFK("ERROR(old)\nmore\n"))})
	r := d.results(t)[0]
	if state, text := acptest.Get[string](r, "lsp", "state"), acptest.Get[string](r, "lsp_diagnostics"); state != "findings" || text != "" {
		t.Errorf("result %s", r)
	}
	if got := d.call(0).Text(); !strings.Contains(got, "no new errors, 1 older") {
		t.Errorf("the editor is told %q", got)
	}
	if got := string(d.Permissions()[0].Call); !strings.Contains(got, "brings in no errors; 1 was there before") {
		t.Errorf("the question: %s", got)
	}
}
