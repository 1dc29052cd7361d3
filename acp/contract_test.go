package acp_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
)

// keys are the names of an object's members, in order.
func keys(raw json.RawMessage, path ...any) string {
	m := acptest.Get[map[string]json.RawMessage](raw, path...)
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

// The names and forms that users' scripts rely on (contract §4 and §5): the result that the model gets of
// an edit, the tool call's _meta and rawOutput, and the session's lineage.
func TestPublicFormsOfAnEdit(t *testing.T) {
	d := newDesk(t, deskOptions{server: []string{"pull"}, config: patient, answer: "allow_once", files: map[string]string{"a.fk": "ERROR(old)\n"},
		script: script(writeFK("ERROR(new)\n"))})
	opened := d.Call("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}})
	if got := keys(opened, "_meta", "acpAgent", "sessionProvenance"); got != "compactionDepth continuation record root session v" {
		t.Errorf("session lineage has %s", got)
	}
	d.session = acptest.Get[string](opened, "sessionId")
	if got := acptest.Get[string](opened, "_meta", "acpAgent", "sessionProvenance", "root"); got != d.session {
		t.Errorf("the root of a new session is %q", got)
	}
	r := d.results(t)[0]
	call := d.call(0)
	meta := call.Fields["_meta"]
	for _, tc := range []struct {
		raw  json.RawMessage
		path []any
		want string
	}{
		{r, nil, "bytes_written dirs_created files lint lsp lsp_diagnostics path"},
		{r, []any{"files", 0}, "bytes_written op path"},
		{r, []any{"lint"}, "output status"},
		{r, []any{"lsp"}, "introduced mended other_files reason servers state"},
		{r, []any{"lsp", "servers", 0}, "file id ms reason state"},
		{call.Fields["rawOutput"], nil, "bytes_written dirs_created files lint lsp lsp_diagnostics path"},
		{meta, []any{"acpAgent"}, "diagnostics edit provenance v"},
		{meta, []any{"acpAgent", "edit"}, "files id kind state"},
		{meta, []any{"acpAgent", "edit", "files", 0}, "after before encoding eol op path"},
		{meta, []any{"acpAgent", "diagnostics"}, "items mended servers state"},
		{meta, []any{"acpAgent", "diagnostics", "servers", 0}, "file id ms reason state"},
		{meta, []any{"acpAgent", "diagnostics", "items", 0}, "code message new path range severity source"},
		{meta, []any{"acpAgent", "provenance"}, "decision hash seq"},
		{meta, []any{"acpAgent", "provenance", "decision"}, "by option rule waited_ms"},
	} {
		if got := keys(tc.raw, tc.path...); got != tc.want {
			t.Errorf("%v has %s\nwant %s", tc.path, got, tc.want)
		}
	}
	if got := acptest.Get[int](meta, "acpAgent", "v"); got != 1 {
		t.Errorf("v is %d", got)
	}
	want := "LSP diagnostics introduced by this edit:\n<diagnostics file=\"" + d.path("a.fk") + "\">\nERROR [1:1] new [ERROR] (fake)\n</diagnostics>"
	if got := acptest.Get[string](r, "lsp_diagnostics"); got != want {
		t.Errorf("lsp_diagnostics %q, want %q", got, want)
	}
	if i, m := acptest.Get[int](r, "lsp", "introduced"), acptest.Get[int](r, "lsp", "mended"); i != 1 || m != 1 {
		t.Errorf("introduced %d, mended %d", i, m)
	}
	asked := d.Permissions()[0]
	if got := asked.Title(); got != "Edit a.fk (+1 −1, +1 error)" {
		t.Errorf("title %q", got)
	}
	var kinds []string // diffs first, then one text with what is foreseen
	for _, c := range acptest.Get[[]json.RawMessage](asked.Call, "content") {
		kinds = append(kinds, acptest.Get[string](c, "type"))
	}
	if got := strings.Join(kinds, " "); got != "diff content" {
		t.Errorf("the question's content: %s", got)
	}
	if got := acptest.Get[string](asked.Call, "toolCallId"); got != call.ID {
		t.Errorf("the question is about call %q, the edit is %q", got, call.ID)
	}
}

// A refused edit answers with error, code and path, and with the hunk, the lines or the nearest text where
// these apply.
func TestPublicFormsOfARefusal(t *testing.T) {
	patch := `apply_patch {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-nowhere\n+x\n*** End Patch"}`
	d := newDesk(t, deskOptions{answer: "allow_once", files: map[string]string{"a.txt": "alpha = 1\nbeta\nbeta\n"}, script: script(
		turn(`edit_file {"path": "a.txt", "old_string": "alpha = 2", "new_string": "x"}`), turn(`edit_file {"path": "a.txt", "old_string": "beta", "new_string": "x"}`),
		turn(patch), turn(`write_file {"path": "a.txt", "content": "alpha = 1\nbeta\nbeta\n"}`))})
	r := d.results(t)
	for i, want := range []struct{ keys, code string }{
		{"code error nearest path", "no_match"}, {"code error lines path", "ambiguous"}, {"code error hunk path", "no_match"},
		{"applied code message path", "already_applied"},
	} {
		if got, code := keys(r[i]), acptest.Get[string](r[i], "code"); got != want.keys || code != want.code {
			t.Errorf("result %d: %s", i, r[i])
		}
	}
	if c := d.call(3); c.Status() != "completed" || d.models.Results()[3].IsError {
		t.Errorf("an edit that is there already: %s", c.Status())
	}
}
