package acp_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/acptest"
)

// replace is a script whose first turn changes "a" to "b" in a file, times over, and then talks.
func replace(file string, times int) string {
	return fmt.Sprintf(`turns:
  - {repeat: %d, tool_calls: [{name: edit_file, arguments: {path: %s, old_string: a, new_string: b}}]}
  - {text: "Done."}
`, times, file)
}

func TestACP_069_ToolCallLife(t *testing.T) {
	f := start(t, richTurns, acptest.EditorOptions{Answer: "allow_once"})
	f.write(t, "a.go", "package a\n")
	id := f.open()
	f.Prompt(id, "go").Result()
	want := []string{"completed", "completed", "completed", "completed", "completed", "completed", "failed", "completed", "failed", "failed"}
	var got []string
	for _, c := range f.ToolCalls(id) { // announced first, ended once, ids unique: checked on every line
		got = append(got, c.Status())
	}
	if !slices.Equal(got, want) {
		t.Errorf("the tool calls end %v, want %v", got, want)
	}
}

func TestACP_070_DiffsAreWhatLands(t *testing.T) {
	small := strings.Repeat("a line of text\n", 10) + "a\n"
	large := strings.Repeat("another line of text\n", 30_000) + "a\n" + strings.Repeat("more\n", 10)
	tests := []struct {
		name, old, script string
		exists, partial   bool
	}{
		{"new file", "", `turns: [{tool_calls: [{name: write_file, arguments: {path: f.txt, content: "fresh\n"}}]}]`, false, false},
		{"empty file", "", `turns: [{tool_calls: [{name: write_file, arguments: {path: f.txt, content: "filled\n"}}]}]`, true, false},
		{"small file", small, replace("f.txt", 1), true, false},
		{"large file", large, strings.Replace(replace("f.txt", 1), "old_string: a, new_string: b", `old_string: "\na\n", new_string: "\nb\n"`, 1), true, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			script := tt.script
			if tt.name == "small file" {
				script = strings.Replace(script, "old_string: a, new_string: b", `old_string: "\na\n", new_string: "\nb\n"`, 1)
			}
			f := start(t, script, acptest.EditorOptions{Answer: "allow_once"})
			if tt.exists {
				f.write(t, "f.txt", tt.old)
			}
			id := f.open()
			f.Prompt(id, "go").Result()
			shown := f.ToolCalls(id)[0].Diffs()
			if len(shown) == 0 {
				t.Fatal("no diff is shown")
			}
			landed, err := os.ReadFile(f.file("f.txt"))
			if err != nil {
				t.Fatal(err)
			}
			d := shown[0]
			switch {
			case d.Path != f.file("f.txt"):
				t.Errorf("path %q", d.Path)
			case (d.Old != nil) != tt.exists:
				t.Errorf("oldText %v", d.Old)
			case d.Partial != tt.partial:
				t.Errorf("partial %v", d.Partial)
			case d.Partial:
				if len(d.New) > 10_000 || !strings.Contains(string(landed), d.New) || !strings.Contains(tt.old, *d.Old) {
					t.Errorf("the hunk is no part of the file: %d bytes", len(d.New))
				}
			default:
				if d.New != string(landed) || d.Old != nil && *d.Old != tt.old {
					t.Errorf("newText %q, on disk %q", d.New, landed)
				}
			}
		})
	}
}

func TestACP_071_AskedBeforeAnythingChanges(t *testing.T) {
	f := start(t, `turns: [{tool_calls: [{name: write_file, arguments: {path: deep/er/f.txt, content: x}}]}]`, acptest.EditorOptions{})
	id := f.open()
	turn := f.Prompt(id, "go")
	p := f.AwaitPermission() // one option of each kind, at least one that allows and rejects: checked
	if entries, err := os.ReadDir(f.cwd); err != nil || len(entries) != 0 {
		t.Errorf("before the answer there is %v (%v)", entries, err)
	}
	p.Answer("allow_once")
	turn.Result()
	f.holds(t, "deep/er/f.txt", "x")
}

func TestACP_072_Reject(t *testing.T) {
	f := start(t, replace("f.txt", 1), acptest.EditorOptions{Answer: "reject_once"})
	f.write(t, "f.txt", "a")
	id := f.open()
	if stop := f.Prompt(id, "go").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	f.holds(t, "f.txt", "a")
	if c := f.ToolCalls(id)[0]; c.Status() != "failed" || f.Text(id) != "Done." {
		t.Errorf("the call is %s, said %q", c.Status(), f.Text(id))
	}
}

func TestACP_073_AlwaysIsForThisSession(t *testing.T) {
	f := start(t, replace("f.txt", 2), acptest.EditorOptions{})
	f.write(t, "f.txt", "aa aa")
	first, second := f.open(), f.open()
	f.write(t, "f.txt", "a")
	turn := f.Prompt(first, "go")
	f.AwaitPermission().Answer("allow_session")
	f.UntilUpdate(first, "current_mode_update", nil)
	turn.Result()
	f.write(t, "f.txt", "a")
	f.Auto("reject_once")
	f.Prompt(second, "go").Result()
	bySession := map[string]int{}
	for _, p := range f.Permissions() {
		bySession[p.Session]++
	}
	if bySession[first] != 1 || bySession[second] == 0 {
		t.Errorf("questions: %v", bySession)
	}
}

func TestACP_074_AnswersThatAreNoYes(t *testing.T) {
	for _, answer := range []string{"cancelled", "bogus", "error", "null"} {
		t.Run(answer, func(t *testing.T) {
			f := start(t, replace("f.txt", 1), acptest.EditorOptions{Answer: answer})
			f.write(t, "f.txt", "a")
			id := f.open()
			f.Prompt(id, "go").Result()
			f.holds(t, "f.txt", "a")
			if c := f.ToolCalls(id)[0]; c.Status() != "failed" {
				t.Errorf("the call is %s", c.Status())
			}
		})
	}
}

func TestACP_075_PermissionWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := start(t, replace("f.txt", 1), acptest.EditorOptions{Patience: time.Hour})
		f.write(t, "f.txt", "a")
		waiting, other := f.open(), f.open()
		turn := f.Prompt(waiting, "go")
		p := f.AwaitPermission()
		time.Sleep(60 * time.Second) // of the bubble's clock
		if turn.Done() {
			t.Fatal("the turn ended without an answer")
		}
		f.Call("session/set_mode", map[string]any{"sessionId": other, "modeId": "plan"})
		f.Prompt(other, "go").Result()
		p.Answer("allow_once")
		if stop := turn.StopReason(); stop != "end_turn" {
			t.Errorf("stop reason %q", stop)
		}
		f.holds(t, "f.txt", "b")
	})
}

func TestACP_076_UnsavedTextWins(t *testing.T) {
	script := `turns: [{tool_calls: [{name: read_file, arguments: {path: f.txt}}]}]`
	for profile, want := range map[string]string{"zed": "unsaved text", "plain": "text on disk"} {
		t.Run(profile, func(t *testing.T) {
			f := start(t, script, acptest.EditorOptions{Profile: profile})
			f.SetBuffer(f.write(t, "f.txt", "text on disk\n"), "unsaved text\n")
			f.Prompt(f.open(), "go").Result()
			results := f.recorder.Results()
			if len(results) != 1 || !strings.Contains(results[0].Text(), want) {
				t.Errorf("the model was told %v", results)
			}
			if n := f.count("fs/read_text_file"); (n > 0) != (profile == "zed") {
				t.Errorf("%d reads through the editor", n)
			}
		})
	}
}

// count says how often the agent called a method.
func (f *fixture) count(method string) int {
	n := 0
	for _, m := range f.Messages() {
		if m.Agent && m.Method == method {
			n++
		}
	}
	return n
}

func TestACP_077_EditorCannotWrite(t *testing.T) {
	f := start(t, replace("f.txt", 1), acptest.EditorOptions{Profile: "vscode", Answer: "allow_once"})
	f.write(t, "f.txt", "a")
	f.Fail("fs/write_text_file", &acptest.RPCError{Code: -32603, Message: "the file is locked by a debugger"})
	id := f.open()
	f.Prompt(id, "go").Result()
	if f.count("fs/write_text_file") == 0 {
		t.Error("the editor was not asked to write")
	}
	f.holds(t, "f.txt", "a")
	if c := f.ToolCalls(id)[0]; c.Status() != "failed" {
		t.Errorf("the call is %s", c.Status())
	}
	if results := f.recorder.Results(); !results[0].IsError || !strings.Contains(results[0].Text(), "locked by a debugger") {
		t.Errorf("the model was told %q", results[0].Text())
	}
}

func TestACP_080_PathsThatLeave(t *testing.T) {
	outside := t.TempDir()
	script := fmt.Sprintf(`turns:
  - tool_calls: [{name: write_file, arguments: {path: ../escape.txt, content: x}}]
  - tool_calls: [{name: write_file, arguments: {path: link/escape.txt, content: x}}]
  - tool_calls: [{name: write_file, arguments: {path: sub/../../escape.txt, content: x}}]
  - tool_calls: [{name: write_file, arguments: {path: %q, content: x}}]
`, outside+"/escape.txt")
	f := start(t, script, acptest.EditorOptions{Answer: "reject_once"})
	if err := os.Symlink(outside, f.file("link")); err != nil {
		t.Fatal(err)
	}
	id := f.open()
	f.Call("session/set_mode", map[string]any{"sessionId": id, "modeId": "accept_edits"})
	f.Prompt(id, "go").Result()
	for _, c := range f.ToolCalls(id) {
		if c.Status() != "failed" {
			t.Errorf("%q is %s", c.Title(), c.Status())
		}
	}
	for _, path := range []string{outside + "/escape.txt", f.file("../escape.txt")} {
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s was written", path)
		}
	}
}

func TestACP_081_CwdOfTheSession(t *testing.T) {
	f := start(t, `turns: [{tool_calls: [{name: write_file, arguments: {path: sub/f.txt, content: x}}]}]`, acptest.EditorOptions{Answer: "allow_once"})
	f.Prompt(f.open(), "go").Result()
	f.holds(t, "sub/f.txt", "x")
	if _, err := os.Stat("sub"); err == nil {
		t.Error("the process's own folder was written to")
	}
}
