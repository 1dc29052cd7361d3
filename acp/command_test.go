package acp_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
)

func TestACommandAsksAndIsRemembered(t *testing.T) {
	d := newDesk(t, deskOptions{script: script(turn(`terminal {"command": "touch a"}`), turn(`terminal {"command": "touch a"}`),
		turn(`terminal {"command": "touch c && touch d"}`))})
	prompt := d.Prompt(d.session, "go")
	p := d.AwaitPermission()
	if got := p.Title(); got != "Run `touch a`" {
		t.Errorf("title %q", got)
	}
	always := ""
	for _, o := range p.Options {
		if o.ID == "allow_session" {
			always = o.Name
		}
	}
	if always != "Always allow `touch a` in this session" {
		t.Errorf("the option is named %q", always)
	}
	p.Answer("allow_session")
	compound := d.AwaitPermission()
	for _, o := range compound.Options {
		if o.ID == "allow_session" {
			t.Errorf("a compound command offers %q", o.Name)
		}
	}
	compound.Answer("reject_once")
	prompt.Result()
	d.holds("a", "")
	d.holds("c", "-")
	d.code(2, "rejected")
	if got := d.call(0); got.Status() != "completed" || got.Kind() != "execute" {
		t.Errorf("call: %s %s", got.Status(), got.Kind())
	}
}

// The option's name is the command as a shell would read it: two words must not look like one.
func TestAlwaysIsNamedAsTheShellReadsIt(t *testing.T) {
	d := newDesk(t, deskOptions{answer: "reject_once", script: script(turn(`terminal {"command": "touch 'a  b' c"}`))})
	d.play("go", "end_turn")
	p := d.Permissions()[0]
	if len(p.Options) != 3 || p.Options[1].Name != "Always allow `touch 'a  b' c` in this session" {
		t.Errorf("options %+v", p.Options)
	}
}

func TestReadOnlyGitRunsWithoutWhatTheRepositoryConfigures(t *testing.T) {
	d := newDesk(t, deskOptions{gopls: true, script: script(turn(`terminal {"command": "git status --short"}`))})
	d.write(".git/config", "[core]\n\trepositoryformatversion = 0\n\tfsmonitor = \"touch owned #\"\n")
	d.write("a.txt", "a\n")
	d.play("go", "end_turn")
	if n := len(d.Permissions()); n != 0 {
		t.Errorf("%d questions", n)
	}
	if got := d.result(0); !strings.Contains(got, "?? a.txt") {
		t.Errorf("result %q", got)
	}
	d.holds("owned", "-")
}

func TestCommandsRunInTheEditorsTerminalAndAreReleased(t *testing.T) {
	for _, profile := range []string{"zed", "vscode", "acpx"} {
		d := newDesk(t, deskOptions{profile: profile, answer: "allow_once", script: script(turn(`terminal {"command": "echo 'a  b' >f; cat f"}`))})
		d.play("go", "end_turn")
		if got := d.result(0); !strings.Contains(got, "a  b") {
			t.Errorf("%s: result %q", profile, got)
		}
		d.holds("f", "a  b\n")
		if made, open := d.Terminals(); made != 1 || open != 0 {
			t.Errorf("%s: %d terminals made, %d open", profile, made, open)
		}
		if got := string(d.call(0).Fields["content"]); !strings.Contains(got, `"terminalId"`) {
			t.Errorf("%s: content %s", profile, got)
		}
	}
}

func TestACancelledCommandIsGoneAndReleased(t *testing.T) {
	for _, profile := range []string{"plain", "zed"} {
		d := newDesk(t, deskOptions{profile: profile, answer: "allow_once", script: script(turn(`terminal {"command": "touch began; sleep 60"}`))})
		prompt := d.Prompt(d.session, "go")
		d.UntilUpdate(d.session, "tool_call_update", func(u json.RawMessage) bool { return acptest.Get[string](u, "status") == "in_progress" })
		start := time.Now()
		d.Cancel(d.session)
		if got := prompt.StopReason(); got != "cancelled" {
			t.Errorf("%s: stop reason %q", profile, got)
		}
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%s: the cancel took %v", profile, took)
		}
		if _, open := d.Terminals(); open != 0 {
			t.Errorf("%s: %d terminals open", profile, open)
		}
	}
}

func TestChangesByCommandsAreNoticed(t *testing.T) {
	d := newDesk(t, deskOptions{answer: "allow_once", files: map[string]string{"a.txt": "one\n", "b.txt": "b\n"}, script: script(
		turn(`read_file {"path": "a.txt"}`, `read_file {"path": "b.txt"}`), turn(`terminal {"command": "echo two >>a.txt; rm b.txt; touch new.txt"}`))})
	d.play("go", "end_turn")
	if got := d.result(2); !strings.Contains(got, "changed meanwhile: a.txt, b.txt (gone).") {
		t.Errorf("result %q", got)
	}
	records := d.record()
	if got := kinds(records); got != "external" || len(records[0].Files) != 2 {
		t.Errorf("records %q %+v", got, records)
	}
}

func TestARejectedEditComesBackByNoOtherRoad(t *testing.T) {
	d := newDesk(t, deskOptions{answer: "reject_once", files: map[string]string{"a.txt": "1\n"}, script: script(
		turn(`edit_file {"path": "a.txt", "old_string": "1", "new_string": "2"}`), turn(`terminal {"command": "sed -i s/1/2/ a.txt"}`),
		turn(`apply_patch {"patch": "*** Begin Patch\n*** Update File: a.txt\n@@\n-1\n+2\n*** End Patch"}`)),
		config: func(c *config.Config) { c.Permissions.Allow = []string{"terminal(sed *)"} }})
	prompt := d.Prompt(d.session, "go")
	d.UntilUpdate(d.session, "tool_call_update", func(u json.RawMessage) bool { return acptest.Get[string](u, "status") == "failed" })
	d.Call("session/set_mode", map[string]any{"sessionId": d.session, "modeId": "accept_edits"})
	prompt.Result()
	d.holds("a.txt", "1\n")
	for i := range 3 {
		d.code(i, "rejected")
	}
	if !strings.Contains(d.result(0), "user said no") {
		t.Errorf("the model is not told who said no: %s", d.result(0))
	}
}

func TestEOFEndsATurnThatWaits(t *testing.T) {
	for name, c := range map[string]string{
		"model":      "turns:\n- {hang: true}\n",
		"permission": script(turn(`write_file {"path": "a.txt", "content": "x"}`)),
		"command":    script(turn(`terminal {"command": "echo; sleep 60"}`)),
	} {
		d := newDesk(t, deskOptions{script: c, config: func(c *config.Config) { c.Permissions.Allow = []string{"terminal(*)"} }})
		d.Prompt(d.session, "go")
		switch name {
		case "permission":
			d.AwaitPermission()
		case "command":
			d.UntilUpdate(d.session, "tool_call_update", nil)
		}
		start := time.Now()
		d.Close()
		if took := time.Since(start); took > 3*time.Second || d.Served() != nil {
			t.Errorf("%s: the end took %v and gave %v", name, took, d.Served())
		}
		d.holds("a.txt", "-")
	}
}
