package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
)

// turn is a script's turn with tool calls; each is "name {arguments}".
func turn(calls ...string) string {
	var b strings.Builder
	b.WriteString("- tool_calls:\n")
	for i, c := range calls {
		name, args, _ := strings.Cut(c, " ")
		fmt.Fprintf(&b, "  - {id: c%d, name: %s, arguments: %s}\n", i+1, name, args)
	}
	return b.String()
}

func script(turns ...string) string { return "turns:\n" + strings.Join(turns, "") }

const fix = `edit_file {"path": "a.go", "old_string": "teh", "new_string": "the"}`

func TestAnEditFromProposalToRecord(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(fix)), files: map[string]string{"a.go": "package a\n\n// teh\n"}})
	prompt := d.Prompt(d.session, "fix it")
	p := d.AwaitPermission()
	d.holds("a.go", "package a\n\n// teh\n")
	if got := p.Title(); got != "Edit a.go (+1 −1)" {
		t.Errorf("title %q", got)
	}
	var options []string
	for _, o := range p.Options {
		options = append(options, o.ID+":"+o.Kind+":"+o.Name)
	}
	want := "allow_once:allow_once:Allow once|allow_session:allow_always:Allow all edits inside the workspace this session|reject_once:reject_once:Reject"
	if got := strings.Join(options, "|"); got != want {
		t.Errorf("options %s", got)
	}
	if diffs := p.Diffs(); len(diffs) != 1 || diffs[0].Path != d.path("a.go") || *diffs[0].Old != "package a\n\n// teh\n" || diffs[0].New != "package a\n\n// the\n" {
		t.Errorf("diffs %+v", diffs)
	}
	p.Answer("allow_once")
	if got := prompt.StopReason(); got != "end_turn" {
		t.Errorf("stop reason %q", got)
	}
	d.holds("a.go", "package a\n\n// the\n")

	call := d.call(0)
	if call.Status() != "completed" || call.Kind() != "edit" || len(call.Diffs()) != 1 {
		t.Errorf("call: %s %s %v", call.Status(), call.Kind(), call.Diffs())
	}
	if line := acptest.Get[int](call.Fields["locations"], 0, "line"); line != 3 {
		t.Errorf("the location's line is %d", line)
	}
	meta := call.Fields["_meta"]
	for path, want := range map[string]string{
		"state": acptest.Get[string](meta, "acpAgent", "edit", "state"), "by": acptest.Get[string](meta, "acpAgent", "provenance", "decision", "by"),
		"option": acptest.Get[string](meta, "acpAgent", "provenance", "decision", "option"), "kind": acptest.Get[string](meta, "acpAgent", "edit", "kind"),
	} {
		if expected := map[string]string{"state": "applied", "by": "user", "option": "allow_once", "kind": "patch_replace"}[path]; want != expected {
			t.Errorf("meta %s is %q, want %q: %s", path, want, expected, meta)
		}
	}
	result := json.RawMessage(d.result(0))
	if got := acptest.Get[string](result, "path"); got != d.path("a.go") {
		t.Errorf("path %q", got)
	}
	if n, state := acptest.Get[int](result, "bytes_written"), acptest.Get[string](result, "lsp", "state"); n != 18 || state != "off" {
		t.Errorf("%d bytes, lsp %s: %s", n, state, result)
	}
	if got := acptest.Get[string](result, "lint", "status"); got != "ok" {
		t.Errorf("lint %q", got)
	}
	if got := call.Text(); got != "Applied; the text parses." {
		t.Errorf("the editor is shown %q", got) // nothing of what the model reads
	}
	records := d.record()
	if got := kinds(records); got != "intent applied" {
		t.Fatalf("records: %s", got)
	}
	r := records[1]
	if r.Session != d.session || r.Turn != 1 || r.ToolCall != call.ID || r.Model != "scripted/test" || r.Decision.By != "user" || len(r.Files) != 1 {
		t.Errorf("record %+v", r)
	}
	if got := acptest.Get[int64](meta, "acpAgent", "provenance", "seq"); got != r.Seq {
		t.Errorf("seq %d on the wire, %d in the record", got, r.Seq)
	}
}

func TestAnswersThatMeanNo(t *testing.T) {
	for answer, code := range map[string]string{
		"reject_once": "rejected", "cancelled": "cancelled", "bogus": "rejected", "error": "editor_gone", "null": "cancelled",
	} {
		d := newDesk(t, deskOptions{script: script(turn(fix)), answer: answer, files: map[string]string{"a.go": "// teh\n"}})
		d.play("fix it", "end_turn")
		d.holds("a.go", "// teh\n")
		if got := d.call(0).Status(); got != "failed" {
			t.Errorf("%s: the call is %s", answer, got)
		}
		d.code(0, code)
		if got := acptest.Get[string](json.RawMessage(d.result(0)), "path"); got != d.path("a.go") {
			t.Errorf("%s: the result names %q: %s", answer, got, d.result(0))
		}
		if got := kinds(d.record()); got != "decision" {
			t.Errorf("%s: records %q", answer, got)
		}
	}
}

func TestAllowSessionSwitchesTheMode(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(
		turn(`write_file {"path": "a.txt", "content": "1\n"}`), turn(`write_file {"path": "sub/b.txt", "content": "2\n"}`), turn(`write_file {"path": ".env", "content": "x"}`))})
	prompt := d.Prompt(d.session, "go")
	d.AwaitPermission().Answer("allow_session")
	third := d.AwaitPermission()
	if !strings.Contains(third.Title(), ".env") {
		t.Errorf("asked again for %q", third.Title())
	}
	for _, o := range third.Options {
		if o.Kind == "allow_always" {
			t.Errorf("a sensitive target offers %q", o.Name)
		}
	}
	third.Answer("reject_once")
	prompt.Result()
	d.holds("a.txt", "1\n")
	d.holds("sub/b.txt", "2\n")
	d.holds(".env", "-")
	if n := len(d.Permissions()); n != 2 {
		t.Errorf("%d questions", n)
	}
	d.UntilUpdate(d.session, "current_mode_update", func(u json.RawMessage) bool { return acptest.Get[string](u, "currentModeId") == "accept_edits" })
	records := d.record()
	if got := kinds(records); got != "intent applied intent applied decision" {
		t.Fatalf("records %q", got)
	}
	if by := records[3].Decision.By; by != "mode" {
		t.Errorf("the second edit was allowed by %q", by)
	}
}

func TestAFileThatChangesWhileItIsAskedIsStale(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"}})
	prompt := d.Prompt(d.session, "fix it")
	p := d.AwaitPermission()
	d.write("a.go", "// teh\n// user\n")
	p.Answer("allow_once")
	prompt.Result()
	d.holds("a.go", "// teh\n// user\n")
	d.code(0, "stale")
	if got := kinds(d.record()); got != "" {
		t.Errorf("records %q", got)
	}
	if got := acptest.Get[string](d.call(0).Fields["_meta"], "acpAgent", "edit", "state"); got != "stale" {
		t.Errorf("state %q", got)
	}
}

func TestASecondEditOfOneMessageSeesTheFirst(t *testing.T) {
	d := newDesk(t, deskOptions{answer: "allow_once", files: map[string]string{"n.txt": "1\n2\n3\n4\n"}, script: script(turn(
		`edit_file {"path": "n.txt", "old_string": "2\n", "new_string": "TWO\n"}`, `edit_file {"path": "n.txt", "old_string": "4\n", "new_string": "FOUR\n"}`))})
	d.play("go", "end_turn")
	d.holds("n.txt", "1\nTWO\n3\nFOUR\n")
	if old := *d.Permissions()[1].Diffs()[0].Old; !strings.Contains(old, "TWO") {
		t.Errorf("the second proposal starts from %q", old)
	}
}

// A refusal by a rule or by the mode names the file and says what to do next, for edits and for commands.
func TestRefusalsSayWhatToDoNext(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(c *config.Config)
		code   string
		next   string
	}{
		"plan": {func(c *config.Config) { c.Permissions.Mode = "plan" }, "denied_by_mode", "the user chooses another mode"},
		"rule": {func(c *config.Config) { c.Permissions.Deny = []string{"edit(*.go)", "terminal(touch *)"} }, "denied", "by another way"},
	} {
		d := newDesk(t, deskOptions{script: script(turn(fix), turn(`terminal {"command": "touch x"}`)), files: map[string]string{"a.go": "// teh\n"}, config: tc.change})
		d.play("fix it", "end_turn")
		d.holds("a.go", "// teh\n")
		for i := range 2 {
			d.code(i, tc.code)
			if got := d.result(i); !strings.Contains(got, tc.next) {
				t.Errorf("%s: result %d does not say what to do next: %s", name, i, got)
			}
		}
		if got := acptest.Get[string](json.RawMessage(d.result(0)), "path"); got != d.path("a.go") {
			t.Errorf("%s: the result names %q", name, got)
		}
	}
}

func TestPlanModeRefusesEdits(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"},
		config: func(c *config.Config) { c.Permissions.Mode = "plan" }})
	d.play("fix it", "end_turn")
	d.holds("a.go", "// teh\n")
	d.code(0, "denied_by_mode")
	if n := len(d.Permissions()); n != 0 {
		t.Errorf("%d questions", n)
	}
}

func TestCancelWhileAsking(t *testing.T) {
	for _, answer := range []string{"cancelled", ""} {
		d := newDesk(t, deskOptions{script: script(turn(fix, `write_file {"path": "b.txt", "content": "x"}`)), files: map[string]string{"a.go": "// teh\n"}})
		prompt := d.Prompt(d.session, "fix it")
		p := d.AwaitPermission()
		d.Cancel(d.session)
		if answer != "" {
			p.Answer(answer)
		}
		if got := prompt.StopReason(); got != "cancelled" {
			t.Errorf("%s: stop reason %q", answer, got)
		}
		p.Answer("allow_once") // too late
		d.holds("a.go", "// teh\n")
		for _, c := range d.ToolCalls(d.session) {
			if c.Status() != "failed" {
				t.Errorf("%s: call %s is %s", answer, c.ID, c.Status())
			}
		}
		d.play("again", "end_turn")
		if fault := acptest.HistoryFault(d.models.Requests()[1]); fault != "" {
			t.Errorf("%s: history: %s", answer, fault)
		}
	}
}

// A further folder of the session is a root like its cwd: no question for reading, edits in accept_edits
// go through, and its changes are in a record of its own.
func TestAdditionalDirectoriesAreRoots(t *testing.T) {
	more := realDir(t)
	if err := os.WriteFile(more+"/lib.txt", []byte("one\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	d := newDesk(t, deskOptions{script: script(turn(fmt.Sprintf(`read_file {"path": %q}`, more+"/lib.txt")),
		turn(fmt.Sprintf(`edit_file {"path": %q, "old_string": "one", "new_string": "two"}`, more+"/lib.txt"))),
		config: func(c *config.Config) { c.Permissions.Mode = "accept_edits" }})
	d.session = acptest.Get[string](d.Call("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}, "additionalDirectories": []any{more}}), "sessionId")
	d.play("go", "end_turn")
	if n := len(d.Permissions()); n != 0 {
		t.Errorf("%d questions", n)
	}
	if data, err := os.ReadFile(more + "/lib.txt"); err != nil || string(data) != "two\n" {
		t.Errorf("%q %v", data, err)
	}
	if got := d.models.Requests()[0].System; !strings.Contains(got, "further folder of the workspace: "+more) {
		t.Errorf("the model is not told of it: %s", got)
	}
	if got := kinds(d.record()); got != "" {
		t.Errorf("the cwd's record has %q", got)
	}
	d.dir = more
	if got := kinds(d.record()); got != "intent applied" {
		t.Errorf("the folder's record has %q", got)
	}
}

func TestSyntaxErrorsAreForeseen(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(`edit_file {"path": "a.go", "old_string": "func f() {}", "new_string": "func f() {"}`)),
		files: map[string]string{"a.go": "package a\n\nfunc f() {}\n"}})
	prompt := d.Prompt(d.session, "go")
	p := d.AwaitPermission()
	if got := p.Title(); got != "Edit a.go (+1 −1, +1 error)" {
		t.Errorf("title %q", got)
	}
	p.Answer("allow_once")
	prompt.Result()
	if got := acptest.Get[string](json.RawMessage(d.result(0)), "lint", "status"); got != "error" {
		t.Errorf("lint %q", got)
	}
	if text := d.call(0).Text(); !strings.Contains(text, "does not parse") {
		t.Errorf("the user is shown %q", text)
	}
}

func TestLargeFilesShowHunks(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	big := strings.Repeat(line, 3000) + "teh\n" + strings.Repeat(line, 3000)
	d := newDesk(t, deskOptions{answer: "allow_once", script: script(turn(strings.ReplaceAll(fix, "a.go", "big.txt"))), files: map[string]string{"big.txt": big}})
	d.play("go", "end_turn")
	d.holds("big.txt", strings.Replace(big, "teh", "the", 1))
	diff := d.Permissions()[0].Diffs()[0]
	if !diff.Partial || *diff.Old != strings.Repeat(line, 3)+"teh\n"+strings.Repeat(line, 3) {
		t.Errorf("partial %v, old %d bytes", diff.Partial, len(*diff.Old))
	}
	if !acptest.Get[bool](d.call(0).Fields["_meta"], "acpAgent", "edit", "partial") {
		t.Error("the tool call does not say that it is partial")
	}
}

func TestTheUsersOwnTextIsApplied(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"}, unchecked: true})
	prompt := d.Prompt(d.session, "go")
	p := d.AwaitPermission()
	d.Raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"},"_meta":{"acpAgent":{"v":1,"edited":"// THE\n"}}}}`+"\n", p.ID))
	prompt.Result()
	d.holds("a.go", "// THE\n")
	if got := d.result(0); !strings.Contains(got, "The user changed your proposal") || !strings.Contains(got, "+// THE") {
		t.Errorf("the model got %s", got)
	}
	if got := d.call(0).Diffs()[0].New; got != "// THE\n" {
		t.Errorf("the user is shown %q", got)
	}
}

func TestAMissingFileAndABadCallAreToldToTheModel(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(fix), turn(`write_file {"path": "x.txt"}`), turn(`no_such_tool {"a": 1}`))})
	d.play("go", "end_turn")
	d.code(0, "not_found")
	d.code(1, "invalid_arguments")
	d.code(2, "not_found")
	if !strings.Contains(d.result(2), "write_file") {
		t.Errorf("the tools are not named: %s", d.result(2))
	}
	d.holds("x.txt", "-")
	for i, kind := range []string{"edit", "edit", "other"} {
		if c := d.call(i); c.Status() != "failed" || c.Kind() != kind || c.Text() == "" {
			t.Errorf("call %d: %s %s %q", i, c.Status(), c.Kind(), c.Text())
		}
	}
}

func TestModesOfFilesOutsideTheWorkspace(t *testing.T) {
	outside := realDir(t) + "/x.txt"
	d := newDesk(t, deskOptions{script: script(turn(fmt.Sprintf(`write_file {"path": %q, "content": "x"}`, outside))),
		config: func(c *config.Config) { c.Permissions.Mode = "accept_edits" }})
	prompt := d.Prompt(d.session, "go")
	p := d.AwaitPermission()
	if !strings.Contains(p.Title(), "outside the workspace: "+outside) {
		t.Errorf("title %q", p.Title())
	}
	p.Answer("reject_once")
	prompt.Result()
	if _, err := os.Stat(outside); !os.IsNotExist(err) {
		t.Error("written after a no")
	}
}

func TestAQuestionThatNobodyAnswersTimesOut(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(fix)), files: map[string]string{"a.go": "// teh\n"}, answer: "never",
		config: func(c *config.Config) { c.Permissions.Timeout = 0.05 }, unchecked: true})
	d.play("go", "end_turn")
	d.code(0, "timed_out")
	d.holds("a.go", "// teh\n")
}

// Deleting a link removes the link, and the record says that it was one: repair could not put it back
// from its target's name alone.
func TestADeletedLinkIsRecordedAsALink(t *testing.T) {
	d := newDesk(t, deskOptions{answer: "allow_once", files: map[string]string{"real.txt": "r\n", "run.sh": "x\n"}, script: script(
		turn(`apply_patch {"patch": "*** Begin Patch\n*** Delete File: link\n*** Delete File: run.sh\n*** End Patch"}`))})
	for _, err := range []error{os.Symlink("real.txt", d.path("link")), os.Chmod(d.path("run.sh"), 0o750)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d.play("go", "end_turn")
	d.holds("link", "-")
	d.holds("real.txt", "r\n")
	if got := d.call(0).Kind(); got != "edit" { // whatever it does to files (contract §5)
		t.Errorf("kind %q", got)
	}
	records := d.record()
	if got := kinds(records); got != "intent applied" {
		t.Fatalf("records %q", got)
	}
	for _, r := range records {
		if link, file := r.Files[0].Mode, r.Files[1].Mode; link[:3] != "120" || file != "100750" {
			t.Errorf("%s: modes %q and %q", r.Kind, link, file)
		}
	}
}
