//go:build unix

package acp_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/lspserver"
)

// program is the built program with an editor, and a folder for its sessions.
type program struct {
	*acptest.Process
	cwd string
}

// launch starts the built program, whose model plays a script, and introduces the editor.
func launch(t *testing.T, script string, o acptest.EditorOptions) *program {
	t.Helper()
	file := filepath.Join(t.TempDir(), "model.yaml")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	return launchWith(t, o, "ACP_AGENT_MODEL=scripted/"+file)
}

// launchWith is launch with an environment in the place of a script.
func launchWith(t *testing.T, o acptest.EditorOptions, env ...string) *program {
	t.Helper()
	p := &program{cwd: t.TempDir()}
	p.Process = acptest.StartProcess(t, o, acptest.ProcessOptions{Env: env})
	p.Initialize()
	return p
}

// within wants the program to end with exit code 0 in two seconds after begin.
func (p *program) within(t *testing.T, begin time.Time) {
	t.Helper()
	code := p.AwaitExit(20 * time.Second)
	if took := time.Since(begin); code != 0 || took > 2*time.Second {
		t.Errorf("exit code %d after %v; stderr: %s", code, took, p.Stderr())
	}
}

const mebibyte = 1 << 20

func TestACP_027_LargeLines(t *testing.T) {
	p := launch(t, greeting, acptest.EditorOptions{})
	id := p.NewSession(p.cwd)
	if stop := p.Prompt(id, strings.Repeat("x", 9*mebibyte)).StopReason(); stop != "end_turn" {
		t.Errorf("9 MiB: stop reason %q", stop)
	}
	p.Go("no/such", map[string]any{"x": strings.Repeat("x", 40*mebibyte)}).Error(-32601)
	from := p.Len()
	p.Raw(`{"jsonrpc":"2.0","id":900,"method":"no/such","params":{"x":"`)
	chunk := strings.Repeat("x", mebibyte)
	for range 70 {
		p.Raw(chunk)
	}
	p.Raw(`"}}` + "\n")
	p.UntilMessage("a complaint", from, func(m acptest.Message) bool { return m.Error != nil })
	if stop := p.Prompt(id, "still there?").StopReason(); stop != "end_turn" {
		t.Errorf("after 70 MiB: stop reason %q", stop)
	}
	if rss := p.RSS(); rss > 400*mebibyte {
		t.Errorf("%d MiB of memory were used", rss/mebibyte)
	}
}

func TestACP_079_MuchOutput(t *testing.T) {
	for name, line := range map[string]string{"one line": `head -c 52428800 /dev/zero | tr '\0' x`, "many lines": `yes a-line-of-output | head -c 52428800`} {
		t.Run(name, func(t *testing.T) {
			p := launch(t, command(line), acptest.EditorOptions{Answer: "allow_once"})
			id := p.NewSession(p.cwd)
			if stop := p.Prompt(id, "go").StopReason(); stop != "end_turn" {
				t.Errorf("stop reason %q", stop)
			}
			longest := 0
			for _, m := range p.Messages() {
				if m.Agent {
					longest = max(longest, len(m.Line))
				}
			}
			if longest >= 8*mebibyte || longest == 0 {
				t.Errorf("a line of %d bytes", longest)
			}
			if c := p.ToolCalls(id)[0]; c.Status() != "completed" {
				t.Errorf("the call is %s: %.200s", c.Status(), c.Text())
			}
			if rss := p.RSS(); rss > 200*mebibyte {
				t.Errorf("%d MiB of memory were used", rss/mebibyte)
			}
		})
	}
}

// leave plays one end of the program in each state that it can be in (case G-S05).
func leave(t *testing.T, end func(p *program)) {
	t.Run("idle", func(t *testing.T) {
		p := launch(t, talking, acptest.EditorOptions{})
		p.NewSession(p.cwd)
		begin := time.Now()
		end(p)
		p.within(t, begin)
	})
	t.Run("before initialize", func(t *testing.T) {
		p := &program{Process: acptest.StartProcess(t, acptest.EditorOptions{}, acptest.ProcessOptions{})}
		p.Go("no/such", nil).Error()
		begin := time.Now()
		end(p)
		p.within(t, begin)
	})
	t.Run("while the model talks", func(t *testing.T) {
		p := launch(t, talking, acptest.EditorOptions{})
		id := p.NewSession(p.cwd)
		p.Prompt(id, "go")
		p.UntilUpdate(id, "agent_message_chunk", nil)
		begin := time.Now()
		end(p)
		p.within(t, begin)
	})
	t.Run("while a permission is asked", func(t *testing.T) {
		p := launch(t, `turns: [{tool_calls: [{name: write_file, arguments: {path: f.txt, content: x}}]}]`, acptest.EditorOptions{})
		p.Prompt(p.NewSession(p.cwd), "go")
		p.AwaitPermission()
		begin := time.Now()
		end(p)
		p.within(t, begin)
		if left, err := os.ReadDir(p.cwd); err != nil || len(left) > 0 {
			t.Errorf("in the workspace there is %v (%v)", left, err)
		}
	})
	t.Run("while a command runs", func(t *testing.T) {
		line := newLifeline(t)
		p := launch(t, command(line.sleeper()), acptest.EditorOptions{Answer: "allow_once"})
		p.Prompt(p.NewSession(p.cwd), "go")
		line.awaitStart(t)
		begin := time.Now()
		end(p)
		line.awaitEnd(t, 2*time.Second)
		p.within(t, begin)
	})
}

func TestACP_094_StdinClosed(t *testing.T) { leave(t, func(p *program) { p.CloseInput() }) }

func TestACP_095_SIGTERM(t *testing.T) {
	leave(t, func(p *program) {
		if err := p.Cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
	})
}

// TestACP_097_EditorKilled ends both streams at once, as the kernel does for a process that died.
func TestACP_097_EditorKilled(t *testing.T) {
	leave(t, func(p *program) {
		p.CloseOutput()
		p.CloseInput()
	})
}

// TestACP_097_StdoutClosed ends the reading side in the middle of a turn: the next write meets a
// broken pipe, which must end the program in order and with its children.
func TestACP_097_StdoutClosed(t *testing.T) {
	line := newLifeline(t)
	script := fmt.Sprintf(`turns:
  - tool_calls: [{name: terminal, arguments: {command: %q, background: true}}]
  - {text: %q, delay_ms: 5, chunk: 1}
`, line.sleeper(), strings.Repeat("word ", 20_000))
	p := launch(t, script, acptest.EditorOptions{Answer: "allow_once"})
	id := p.NewSession(p.cwd)
	p.Prompt(id, "go")
	line.awaitStart(t)
	p.UntilUpdate(id, "agent_message_chunk", nil)
	p.CloseOutput()
	line.awaitEnd(t, 10*time.Second)
	if code := p.AwaitExit(10 * time.Second); code < 0 {
		t.Errorf("the program was killed by %v", p.Cmd.ProcessState)
	}
}

// TestACP_098_ChildrenKeepOffStdout runs commands that print to every descriptor they can find; that
// all lines are the agent's is checked on every line.
func TestACP_098_ChildrenKeepOffStdout(t *testing.T) {
	p := launch(t, command(`echo JUNK; echo JUNK >&2; for fd in 3 4 5 6 7 8 9; do eval "echo JUNK >&$fd" 2>/dev/null; done; echo JUNK > /dev/stdout`), acptest.EditorOptions{Answer: "allow_once"})
	id := p.NewSession(p.cwd)
	if stop := p.Prompt(id, "go").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	p.CloseInput()
	p.AwaitExit(10 * time.Second)
	for _, m := range p.Messages() {
		if m.Agent && acptest.Get[string](m.Line, "jsonrpc") != "2.0" {
			t.Errorf("on stdout: %s", m)
		}
	}
	if text := p.ToolCalls(id)[0].Text(); !strings.Contains(text, "JUNK") {
		t.Errorf("the command's output is not shown: %q", text)
	}
}

// TestCaseGS04_StdoutIsProtocolOnly starts for the first time in an empty home, logs everything, meets
// a model that fails and commands that print; each line of stdout is checked. (case G-S04)
func TestCaseGS04_StdoutIsProtocolOnly(t *testing.T) {
	script := filepath.Join(t.TempDir(), "model.yaml")
	if err := os.WriteFile(script, []byte(richTurns+"  - {error: {status: 400, message: no}}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	p := launchWith(t, acptest.EditorOptions{Answer: "allow_once"}, "ACP_AGENT_MODEL=scripted/"+script, "ACP_AGENT_LOG=debug")
	if err := os.WriteFile(filepath.Join(p.cwd, "a.go"), []byte("package a\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	id := p.NewSession(p.cwd)
	if stop := p.Prompt(id, "go").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	p.Prompt(id, "again").Error()
	p.CloseInput()
	if code := p.AwaitExit(10 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if left, err := os.ReadDir(p.Cmd.Dir); err != nil || len(left) > 0 { // case G-S10: the process's own folder is nobody's
		t.Errorf("in the process's folder there is %v (%v)", left, err)
	}
	log, err := os.ReadFile(filepath.Join(p.Home, "logs", "agent.log"))
	if err != nil || len(log) == 0 && p.Stderr() == "" {
		t.Errorf("nothing was logged at level debug (%v)", err)
	}
}

// TestCaseGS04_NoisyLanguageServer has a language server that prints between its messages and floods its
// standard error, which is its own and not ours. (case G-S04)
func TestCaseGS04_NoisyLanguageServer(t *testing.T) {
	server := lspserver.New(t, "stray", "stderr=300000")
	command, err := json.Marshal(server.Command)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	home, script := filepath.Join(dir, "home"), filepath.Join(dir, "model.yaml")
	for name, text := range map[string]string{
		filepath.Join(home, "config.yaml"): fmt.Sprintf("lsp: {foresee_budget_ms: 20000, servers: {fake: {command: %s, extensions: [.fk]}}}\n", command),
		script:                             `turns: [{tool_calls: [{name: write_file, arguments: {path: a.fk, content: "ERROR(one)\n"}}]}, {text: Done.}]`,
	} {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	p := &program{cwd: t.TempDir(), Process: acptest.StartProcess(t, acptest.EditorOptions{Answer: "allow_once"}, acptest.ProcessOptions{
		Home: home, Env: []string{"ACP_AGENT_MODEL=scripted/" + script, "ACP_AGENT_LOG=debug"}})}
	if err := os.Mkdir(filepath.Join(p.cwd, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	p.Initialize()
	id := p.NewSession(p.cwd)
	if stop := p.Prompt(id, "go").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
	if got := p.Permissions()[0].Title(); !strings.Contains(got, "+1 error") {
		t.Errorf("the server was not asked, or not heard: %q", got)
	}
	p.CloseInput()
	if code := p.AwaitExit(10 * time.Second); code != 0 {
		t.Errorf("exit code %d", code)
	}
	if got := p.Stderr(); strings.Contains(got, "noise") {
		t.Errorf("the server's words are on our standard error: %.200s", got)
	}
	log, err := os.ReadFile(filepath.Join(home, "logs", "agent.log"))
	if err != nil || !strings.Contains(string(log), "lsp.client") {
		t.Errorf("the server's words are not in the log (%v)", err)
	}
}

// TestSignInIsOfferedOnlyWhenItIsThere starts the program as the editor would for each method that runs in
// a terminal: it must know the arguments.
func TestSignInIsOfferedOnlyWhenItIsThere(t *testing.T) {
	p := &program{Process: acptest.StartProcess(t, acptest.EditorOptions{Profile: "zed"}, acptest.ProcessOptions{})}
	for _, m := range acptest.Get[[]json.RawMessage](p.Initialize(), "authMethods") {
		if acptest.Get[string](m, "type") != "terminal" {
			continue
		}
		args := append(acptest.Get[[]string](m, "args"), "--help")
		if out, err := acptest.Output(t, args...); err != nil {
			t.Errorf("%s is offered, and %q is not understood: %v %s", m, args, err, out)
		}
	}
}

// TestACP_011_VersionIsTheBinarys compares agentInfo with --version.
func TestACP_011_VersionIsTheBinarys(t *testing.T) {
	p := &program{Process: acptest.StartProcess(t, acptest.EditorOptions{}, acptest.ProcessOptions{})}
	version := acptest.Get[string](p.Initialize(), "agentInfo", "version")
	out, err := acptest.Output(t, "--version")
	if err != nil || version == "" || !strings.Contains(out, version) {
		t.Errorf("agentInfo says %q, --version says %q (%v)", version, out, err)
	}
}
