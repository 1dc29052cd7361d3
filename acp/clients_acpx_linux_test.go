package acp_test

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/modelserver"
)

// acpx is the real headless client of this name in an outside world.
type acpx struct {
	*outside
	node, script string
}

func newAcpx(t *testing.T, model string) *acpx {
	t.Helper()
	acptest.Needs(t, "acpx")
	return &acpx{
		outside: newOutside(t, model), node: acptest.Node(t),
		script: acptest.Part(t, "npm", "node_modules", "acpx", "dist", "cli.js"),
	}
}

// args is an acpx command line about our agent.
func (a *acpx) args(args ...string) []string {
	return append([]string{a.script, "--cwd", a.cwd, "--agent", a.agent}, args...)
}

// run plays one acpx command that has to end with a code, and gives what it printed.
func (a *acpx) run(t *testing.T, code int, args ...string) string {
	t.Helper()
	stdout, stderr, got := a.call(t, a.node, a.args(args...)...)
	if got != code {
		t.Errorf("acpx %s: exit code %d, want %d\n%s%s", strings.Join(args, " "), got, code, stdout, stderr)
	}
	return stdout
}

const fixTypo = `turns:
  - text: "I will mend it."
    tool_calls: [{id: c1, name: edit_file, arguments: {path: a.txt, old_string: teh, new_string: the}}]
  - text: "Mended."
`

func TestAcpx_ExecApproved(t *testing.T) {
	a := newAcpx(t, fixTypo)
	put(t, a.file("a.txt"), "teh fox\n")
	out := a.run(t, 0, "--approve-all", "exec", "mend the typo")
	a.holds(t, "a.txt", "the fox\n")
	for _, part := range []string{"I will mend it.", "Edit a.txt (+1 −1) (completed)", "Mended.", "end_turn"} {
		if !strings.Contains(out, part) {
			t.Errorf("acpx does not show %q:\n%s", part, out)
		}
	}
	if left, err := os.ReadDir(a.cwd); err != nil || len(left) != 1 {
		t.Errorf("the workspace holds %v (%v)", left, err)
	}
}

func TestAcpx_ExecWithoutTerminalRejects(t *testing.T) {
	a := newAcpx(t, fixTypo)
	put(t, a.file("a.txt"), "teh fox\n")
	out := a.run(t, 5, "exec", "mend the typo")
	a.holds(t, "a.txt", "teh fox\n")
	for _, part := range []string{"Edit a.txt (+1 −1) (failed)", "Mended.", "end_turn"} {
		if !strings.Contains(out, part) {
			t.Errorf("acpx does not show %q:\n%s", part, out)
		}
	}
}

// TestAcpx_WholeConversation has acpx print every message of a turn with an edit and a command in
// the client's terminal, and checks each line of the agent.
func TestAcpx_WholeConversation(t *testing.T) {
	a := newAcpx(t, `turns:
  - thought: "A typo, and a command."
    text: "I will mend it."
    tool_calls:
      - {id: c1, name: edit_file, arguments: {path: a.txt, old_string: teh, new_string: the}}
      - {id: c2, name: terminal, arguments: {command: "cp a.txt b.txt && cat b.txt"}}
    usage: {input: 10, output: 5}
  - text: "Mended."
`)
	put(t, a.file("a.txt"), "teh fox\n")
	log := acptest.Transcript(t, []byte(a.run(t, 0, "--format", "json", "--approve-all", "exec", "mend the typo")))
	a.holds(t, "a.txt", "the fox\n")
	a.holds(t, "b.txt", "the fox\n")

	var methods []string
	status := map[string]string{}
	stop := ""
	for _, m := range log {
		switch {
		case m.Agent && m.IsRequest():
			methods = append(methods, m.Method)
		case m.For == "session/request_permission":
			if option := acptest.Get[string](m.Result, "outcome", "optionId"); option != "allow_once" {
				t.Errorf("acpx answers %s", m)
			}
		case m.For == "session/prompt":
			stop = acptest.Get[string](m.Result, "stopReason")
		case m.Method == "session/update":
			if s := acptest.Get[string](m.Params, "update", "status"); s != "" {
				status[acptest.Get[string](m.Params, "update", "toolCallId")] = s
			}
		}
	}
	if stop != "end_turn" || status["c1"] != "completed" || status["c2"] != "completed" {
		t.Errorf("the turn ends with %q, the calls are %v", stop, status)
	}
	asked := strings.Join(methods, " ")
	for _, want := range []string{"fs/read_text_file", "session/request_permission", "fs/write_text_file", "terminal/create", "terminal/release"} {
		if !strings.Contains(asked, want) {
			t.Errorf("acpx was never asked for %s: %s", want, asked)
		}
	}
}

// TestAcpx_Session keeps one agent process over several commands, as a person at a shell does.
func TestAcpx_Session(t *testing.T) {
	a := newAcpx(t, `turns:
  - tool_calls: [{name: edit_file, arguments: {path: a.txt, old_string: teh, new_string: the}}]
  - text: "Mended."
  - tool_calls: [{name: edit_file, arguments: {path: a.txt, old_string: fox, new_string: dog}}]
  - text: "In plan mode I may not."
  - tool_calls: [{name: edit_file, arguments: {path: a.txt, old_string: fox, new_string: dog}}]
  - text: "Now I may without asking."
`)
	other := modelserver.FromScript(t, `turns: [{text: "Here speaks the other model."}]`)
	if err := os.Mkdir(a.agentHome, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(a.agentHome, "config.yaml"), "providers: {work: {base_url: "+other.URL+"/v1, api_key: none, models: [coder]}}\n")
	put(t, a.file("a.txt"), "teh fox\n")

	id := strings.TrimSpace(a.run(t, 0, "sessions", "new"))
	a.run(t, 0, "--approve-all", "prompt", "mend the typo")
	a.holds(t, "a.txt", "the fox\n")
	if list := a.run(t, 0, "sessions", "list"); id == "" || !strings.Contains(list, id) || !strings.Contains(list, a.cwd) {
		t.Errorf("session %q is not in the list:\n%s", id, list)
	}
	agents := a.running(filepath.Base(a.agent))
	if len(agents) != 1 {
		t.Errorf("the session is served by processes %v", agents)
	}

	a.run(t, 0, "set-mode", "plan")
	if out := a.run(t, 0, "--approve-all", "prompt", "fox or dog?"); !strings.Contains(out, "In plan mode I may not.") {
		t.Errorf("acpx shows:\n%s", out)
	}
	a.holds(t, "a.txt", "the fox\n")
	a.run(t, 1, "set-mode", "nonsense")
	a.run(t, 0, "set", "mode", "accept_edits")
	if out := a.run(t, 0, "--approve-all", "--format", "json", "prompt", "a dog, then"); strings.Contains(out, "session/request_permission") {
		t.Errorf("in mode accept_edits the agent asks:\n%s", out)
	}
	a.holds(t, "a.txt", "the dog\n")

	a.run(t, 0, "set", "model", "work/coder")
	if out := a.run(t, 0, "prompt", "who speaks?"); !strings.Contains(out, "Here speaks the other model.") {
		t.Errorf("acpx shows:\n%s", out)
	}
	var status struct{ Model, Mode string }
	if err := json.Unmarshal([]byte(a.run(t, 0, "--format", "json", "status")), &status); err != nil || status.Model != "work/coder" || status.Mode != "accept_edits" {
		t.Errorf("status %+v (%v)", status, err)
	}
	if now := a.running(filepath.Base(a.agent)); len(now) != 1 || now[0] != agents[0] {
		t.Errorf("the session was served by processes %v and then %v", agents, now)
	}
	a.run(t, 0, "sessions", "close")
}

// TestAcpx_Cancel ends a turn from a second acpx while a first one waits for it.
func TestAcpx_Cancel(t *testing.T) {
	a := newAcpx(t, `turns:
  - text: "Ready."
  - {text: "`+strings.Repeat("On and on. ", 500)+`", chunk: 5, delay_ms: 50}
  - text: "Back again."
`)
	a.run(t, 0, "sessions", "new")
	if out := a.run(t, 0, "cancel"); !strings.Contains(out, "nothing to cancel") {
		t.Errorf("before any turn, acpx cancel says %q", out)
	}
	a.run(t, 0, "prompt", "are you there?")

	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	long := exec.CommandContext(ctx, a.node, a.args("--format", "json", "prompt", "tell a story")...)
	var stderr strings.Builder
	long.Dir, long.Env, long.Stderr = a.cwd, a.environ(), &stderr
	stdout, err := long.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := long.Start(); err != nil {
		t.Fatal(err)
	}
	lines, last, cancelled := bufio.NewScanner(stdout), "", false
	for lines.Scan() {
		last = lines.Text()
		if strings.Contains(last, "agent_message_chunk") && !cancelled {
			cancelled = true
			if out := a.run(t, 0, "cancel"); !strings.Contains(out, "cancel requested") {
				t.Errorf("acpx cancel says %q", out)
			}
		}
	}
	if err := long.Wait(); err != nil || !cancelled {
		t.Errorf("the cancelled prompt ends with %v (anything said before: %v)\n%s", err, cancelled, stderr.String())
	}
	if !strings.Contains(last, `"stopReason":"cancelled"`) {
		t.Errorf("acpx prints at last %s", last)
	}
	if out := a.run(t, 0, "prompt", "and now?"); !strings.Contains(out, "Back again.") {
		t.Errorf("after the cancelled turn acpx shows:\n%s", out)
	}
	a.run(t, 0, "sessions", "close")
}
