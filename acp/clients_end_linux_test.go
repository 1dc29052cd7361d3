package acp_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

// TestAgentLeavesNothing ends the built program in every way while the real gopls runs for it: the
// server and everything around it is gone within two seconds (cases G-L08 and G-S05).
func TestAgentLeavesNothing(t *testing.T) {
	ends := map[string]func(p *acptest.Process){
		"killed":         func(p *acptest.Process) { _ = p.Cmd.Process.Kill() },
		"asked to end":   func(p *acptest.Process) { _ = p.Cmd.Process.Signal(syscall.SIGTERM) },
		"the input ends": func(p *acptest.Process) { p.CloseInput() },
	}
	for way, end := range ends {
		t.Run(way, func(t *testing.T) { leavesNothing(t, end) })
	}
}

func leavesNothing(t *testing.T, end func(p *acptest.Process)) {
	o := newOutside(t, `turns:
  - tool_calls: [{name: edit_file, arguments: {path: main.go, old_string: "\"hello\"", new_string: "\"hello, you\""}}]
  - tool_calls: [{name: terminal, arguments: {command: "sleep 1000 & echo it runs; sleep 1000"}}]
`)
	put(t, o.file("go.mod"), "module hello\n\ngo 1.26\n")
	put(t, o.file("main.go"), "package main\n\nfunc main() { println(\"hello\") }\n")
	if out, err := exec.Command("git", "-C", o.cwd, "init", "-q").CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	p := acptest.StartProcess(t, acptest.EditorOptions{Answer: "allow_once"}, acptest.ProcessOptions{
		Home: o.agentHome, Env: o.environ(partsBin(t)),
	})
	p.Initialize()
	session := p.NewSession(o.cwd)
	p.Prompt(session, "greet me")
	p.UntilUpdate(session, "tool_call_update", func(u json.RawMessage) bool { return strings.Contains(string(u), "it runs\\n") })
	if len(o.running("gopls")) == 0 || !strings.Contains(fmt.Sprint(o.processes()), "sleep 1000") {
		t.Fatalf("gopls or the command does not run: %v", o.processes())
	}
	end(p)
	o.gone(t, 2*time.Second)
	o.holds(t, "main.go", "package main\n\nfunc main() { println(\"hello, you\") }\n")
}

// partsBin is the folder of the Go tools among the test parts.
func partsBin(t *testing.T) string {
	t.Helper()
	acptest.Part(t, "bin", "gopls")
	return acptest.Part(t, "bin") + string(os.PathSeparator)
}
