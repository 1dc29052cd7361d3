//go:build unix

package acp_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

// client is a real ACP client that drives the built program in a folder of its own.
type client struct {
	t    *testing.T
	cwd  string
	home string
	env  []string
	argv []string // the client's program and its fixed arguments
}

// newClient prepares a folder with a.txt and an agent whose model plays a script.
func newClient(t *testing.T, script string, argv ...string) *client {
	t.Helper()
	c := &client{t: t, cwd: t.TempDir(), home: t.TempDir(), argv: argv}
	file := filepath.Join(t.TempDir(), "model.yaml")
	for path, text := range map[string]string{file: script, filepath.Join(c.cwd, "a.txt"): "teh\n"} {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	c.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "TERM=dumb", "ACP_AGENT_HOME=" + filepath.Join(c.home, "agent"),
		"ACP_AGENT_MODEL=scripted/" + file,
	}
	return c
}

// command is one call of the client, killed when it takes more than two minutes.
func (c *client) command(args ...string) *exec.Cmd {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	c.t.Cleanup(cancel)
	cmd := exec.CommandContext(ctx, c.argv[0], append(c.argv[1:len(c.argv):len(c.argv)], args...)...)
	cmd.Dir, cmd.Env = c.cwd, c.env
	return cmd
}

// run calls the client and gives what it printed and its exit code.
func (c *client) run(args ...string) (stdout string, code int) {
	c.t.Helper()
	cmd := c.command(args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%v: %v", args, err)
	}
	if c.t.Failed() || cmd.ProcessState.ExitCode() != 0 {
		c.t.Logf("%v: %v\n%s\n%s", args, err, out, stderr.String())
	}
	return string(out), cmd.ProcessState.ExitCode()
}

// holds checks a.txt.
func (c *client) holds(want string) {
	c.t.Helper()
	if got, err := os.ReadFile(filepath.Join(c.cwd, "a.txt")); err != nil || string(got) != want {
		c.t.Errorf("a.txt holds %q (%v), want %q", got, err, want)
	}
}

const fixTypo = `turns:
  - {text: "Fixing.", tool_calls: [{name: edit_file, arguments: {path: a.txt, old_string: teh, new_string: the}}]}
  - {text: "Over."}
`

// acpx prepares the headless client acpx.
func acpx(t *testing.T, script string) *client {
	t.Helper()
	acptest.Needs(t, "acpx")
	c := newClient(t, script, acptest.Node(t), acptest.Part(t, "npm", "node_modules", "acpx", "dist", "cli.js"))
	c.argv = append(c.argv, "--cwd", c.cwd, "--agent", acptest.Binary(t), "--format", "json", "--ttl", "20")
	return c
}

func TestAcpxApprovesAnEdit(t *testing.T) {
	c := acpx(t, fixTypo)
	out, code := c.run("--approve-all", "exec", "fix the typo")
	if code != 0 {
		t.Errorf("exit code %d", code)
	}
	c.holds("the\n")
	schema, kinds := acptest.LoadSchema(t), map[string]int{}
	for line := range strings.Lines(out) { // every message both ways
		m := acptest.Message{Line: []byte(line), Method: acptest.Get[string]([]byte(line), "method"), ID: acptest.Get[json.RawMessage]([]byte(line), "id"), Params: acptest.Get[json.RawMessage]([]byte(line), "params")}
		switch m.Method {
		case "session/update", "session/request_permission", "fs/read_text_file", "fs/write_text_file":
			kinds[m.Method]++
			if complaint := schema.Check(m); complaint != "" {
				t.Errorf("%s\n%s", complaint, line)
			}
		}
	}
	if kinds["session/request_permission"] != 1 || kinds["fs/write_text_file"] != 1 || !strings.Contains(out, `"stopReason":"end_turn"`) {
		t.Errorf("seen %v in\n%s", kinds, out)
	}
}

// TestAcpxRejectsWithoutATerminal has nobody to ask: acpx picks the rejecting option and says so by
// its exit code.
func TestAcpxRejectsWithoutATerminal(t *testing.T) {
	c := acpx(t, fixTypo)
	out, code := c.run("exec", "fix the typo")
	if code != 5 {
		t.Errorf("exit code %d", code)
	}
	c.holds("teh\n")
	if !strings.Contains(out, `"optionId":"reject_once"`) || !strings.Contains(out, `"stopReason":"end_turn"`) {
		t.Errorf("acpx printed\n%s", out)
	}
}

func TestAcpxCancels(t *testing.T) {
	c := acpx(t, `turns: [{text: "Once upon a time", hang: true}]`)
	if _, code := c.run("sessions", "new"); code != 0 {
		t.Fatalf("sessions new: exit code %d", code)
	}
	defer func() {
		if _, code := c.run("sessions", "close"); code != 0 { // ends acpx's process that holds the agent
			t.Errorf("sessions close: exit code %d", code)
		}
	}()
	prompt := c.command("prompt", "tell me a tale")
	stdout, err := prompt.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := prompt.Start(); err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 16<<20)
	for asked := false; lines.Scan(); {
		all.WriteString(lines.Text() + "\n")
		if !asked && strings.Contains(lines.Text(), "Once upon") {
			asked = true
			if out, code := c.run("cancel"); code != 0 || !strings.Contains(out, `"cancelled":true`) {
				t.Errorf("cancel: exit code %d, %s", code, out)
			}
		}
	}
	if err := prompt.Wait(); err != nil || !strings.Contains(all.String(), `"stopReason":"cancelled"`) {
		t.Errorf("prompt: %v\n%s", err, all.String())
	}
}

// TestSDKDriver has the official TypeScript SDK approve, reject and cancel; it is stricter than any
// editor about what comes in.
func TestSDKDriver(t *testing.T) {
	acptest.Needs(t, "sdk")
	driver, err := filepath.Abs(filepath.Join("..", "testing", "npm", "sdk-driver.mjs"))
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(t, `turns:
  - {tool_calls: [{name: edit_file, arguments: {path: a.txt, old_string: teh, new_string: the}}]}
  - {thought: "Good.", text: "Over.", usage: {input: 10, output: 5}}
  - {tool_calls: [{name: edit_file, arguments: {path: a.txt, old_string: the, new_string: teh}}]}
  - {text: "Pity."}
  - {text: "Once upon a time", hang: true}
`, acptest.Node(t), driver, acptest.Parts(t))
	out, code := c.run(c.cwd, acptest.Binary(t), "acp")
	if code != 0 {
		t.Fatalf("exit code %d", code)
	}
	c.holds("the\n")
	var seen struct {
		Complaints  []string
		Permissions []struct {
			Title   string
			Options []string
			Diffs   int
		}
		Updates       map[string]int
		Calls         map[string]string
		Stops         []string
		Reads, Writes int
		Agent         struct{ Name string }
		Exit          struct{ Code int }
	}
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if len(seen.Complaints) > 0 {
		t.Errorf("the SDK complains: %q", seen.Complaints)
	}
	if got := strings.Join(seen.Stops, " "); got != "end_turn end_turn cancelled" {
		t.Errorf("stop reasons %s", got)
	}
	if len(seen.Permissions) != 2 || seen.Permissions[0].Diffs != 1 || strings.Join(seen.Permissions[0].Options, " ") != "allow_once allow_always reject_once" {
		t.Errorf("questions %+v", seen.Permissions)
	}
	if len(seen.Calls) != 2 || seen.Writes != 1 || seen.Reads == 0 || seen.Updates["agent_thought_chunk"] == 0 || seen.Updates["usage_update"] == 0 {
		t.Errorf("calls %v, %d writes, %d reads, updates %v", seen.Calls, seen.Writes, seen.Reads, seen.Updates)
	}
	if seen.Agent.Name != "acp-agent" || seen.Exit.Code != 0 {
		t.Errorf("agent %q, exit code %d", seen.Agent.Name, seen.Exit.Code)
	}
}
