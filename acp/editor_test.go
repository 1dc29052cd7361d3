package acp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
)

func TestEditorsThatShowOneDiffAreAskedOnceAFile(t *testing.T) {
	patch := `apply_patch {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Add File: n.txt\n+n\n*** Delete File: d.txt\n*** End Patch"}`
	files := map[string]string{"a.txt": "a\n", "d.txt": "d\n"}
	d := newDesk(t, deskOptions{profile: "codecompanion", script: script(turn(patch)), files: files})
	prompt := d.Prompt(d.session, "go")
	for i := range 3 {
		p := d.AwaitPermission()
		if !strings.HasSuffix(p.Title(), fmt.Sprintf("(%d/3)", i+1)) || len(p.Diffs()) != 1 {
			t.Errorf("question %d: %q with %d diffs", i, p.Title(), len(p.Diffs()))
		}
		d.holds("a.txt", "a\n")
		d.holds("n.txt", "-")
		p.Answer("allow_once")
	}
	prompt.Result()
	d.holds("a.txt", "A\n")
	d.holds("n.txt", "n\n")
	d.holds("d.txt", "-")
	if n := len(d.ToolCalls(d.session)); n != 1 {
		t.Errorf("%d tool calls", n)
	}

	d = newDesk(t, deskOptions{profile: "codecompanion", script: script(turn(patch)), files: files})
	prompt = d.Prompt(d.session, "go")
	d.AwaitPermission().Answer("allow_once")
	d.AwaitPermission().Answer("reject_once")
	prompt.Result()
	d.holds("a.txt", "a\n")
	d.code(0, "rejected")
}

// An editor that gives no name may show one diff or all of them: it is asked once a file, with that file's
// diff in front and the others behind, so that the first question alone shows the whole edit.
func TestUnnamedEditorsGetEveryDiffWithTheFirstQuestion(t *testing.T) {
	patch := `apply_patch {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-a\n+A\n*** Add File: n.txt\n+n\n*** Delete File: d.txt\n*** End Patch"}`
	d := newDesk(t, deskOptions{profile: "bare", answer: "allow_once", script: script(turn(patch)), files: map[string]string{"a.txt": "a\n", "d.txt": "d\n"}})
	d.play("go", "end_turn")
	for i, p := range d.Permissions() {
		diffs := p.Diffs()
		if want := d.path([]string{"a.txt", "n.txt", "d.txt"}[i]); len(diffs) != 3 || diffs[0].Path != want || !strings.HasSuffix(p.Title(), fmt.Sprintf("(%d/3)", i+1)) {
			t.Errorf("question %d, %q, shows %+v", i, p.Title(), diffs)
		}
	}
	if n := len(d.Permissions()); n != 3 {
		t.Errorf("%d questions", n)
	}
	d.holds("n.txt", "n\n")
}

func TestFormatOnSaveIsFoundAndTold(t *testing.T) {
	d := newDesk(t, deskOptions{profile: "zed", answer: "allow_once", script: script(turn(`write_file {"path": "a.txt", "content": "a  b\n"}`)),
		format: func(_, text string) string { return strings.ReplaceAll(text, "  ", " ") }, files: map[string]string{"a.txt": "old\n"}})
	d.SetBuffer(d.path("a.txt"), "old\n")
	d.play("go", "end_turn")
	d.holds("a.txt", "a b\n")
	result := json.RawMessage(d.result(0))
	written, found := acptest.Get[string](result, "files", 0, "written"), acptest.Get[string](result, "files", 0, "found")
	if written == "" || found == "" || written == found {
		t.Errorf("written %q, found %q: %s", written, found, result)
	}
	if got := acptest.Get[string](result, "files", 0, "changed_on_save"); !strings.Contains(got, "+a b") {
		t.Errorf("the model is not shown what was found: %s", result)
	}
	records := d.record()
	if f := records[len(records)-1].Files[0]; string(f.Found) != found {
		t.Errorf("recorded found %q", f.Found)
	}
}

func TestAnEditorsWriteErrorFailsTheEdit(t *testing.T) {
	d := newDesk(t, deskOptions{profile: "vscode", answer: "allow_once", script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"}})
	d.Fail("fs/write_text_file", &acptest.RPCError{Code: -32603, Message: "read-only file system"})
	d.play("go", "end_turn")
	d.holds("a.go", "// teh\n")
	d.code(0, "io")
	if got := kinds(d.record()); got != "intent failed" {
		t.Errorf("records %q", got)
	}
}

func TestUnsavedTextIsTheBase(t *testing.T) {
	d := newDesk(t, deskOptions{profile: "zed", script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"}})
	d.SetBuffer(d.path("a.go"), "// teh\n// unsaved\n")
	prompt := d.Prompt(d.session, "go")
	p := d.AwaitPermission()
	if got := p.Diffs()[0].New; got != "// the\n// unsaved\n" {
		t.Errorf("proposed %q", got)
	}
	if !strings.Contains(p.Title(), "unsaved") {
		t.Errorf("title %q", p.Title())
	}
	p.Answer("allow_once")
	prompt.Result()
	if text, _ := d.Buffer(d.path("a.go")); text != "// the\n// unsaved\n" {
		t.Errorf("buffer %q", text)
	}
}

// An editor that cannot read a file leaves the disk as the base: the user is told, and the record keeps why.
func TestAReadErrorFallsBackToDiskAndIsRecorded(t *testing.T) {
	for name, change := range map[string]func(d *desk){
		"error": func(d *desk) {
			d.Fail("fs/read_text_file", &acptest.RPCError{Code: -32603, Message: "no such buffer"})
		},
		"empty text": func(d *desk) { d.SetBuffer(d.path("a.go"), "") },
	} {
		d := newDesk(t, deskOptions{profile: "zed", answer: "allow_once", script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"}})
		change(d)
		d.play("go", "end_turn")
		d.holds("a.go", "// the\n")
		if got := d.Permissions()[0].Title(); !strings.Contains(got, "without the editor's text") {
			t.Errorf("%s: title %q", name, got)
		}
		for _, r := range d.record() {
			if !strings.Contains(r.Note, "a.go: the editor ") {
				t.Errorf("%s: the %s record says %q", name, r.Kind, r.Note)
			}
		}
	}
}
