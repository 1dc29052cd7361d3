package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

// build compiles a package into a temporary program.
func build(b testing.TB, pkg string) string {
	b.Helper()
	exe := filepath.Join(b.TempDir(), "program")
	cmd := exec.Command("go", "build", "-o", exe, pkg)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build %s: %v\n%s", pkg, err, out)
	}
	return exe
}

// emptyProgram is the yardstick: it answers one line and ends.
const emptyProgram = `package main

import (
	"bufio"
	"os"
)

func main() {
	bufio.NewReader(os.Stdin).ReadString('\n')
	os.Stdout.WriteString("{}\n")
}
`

// startup spawns exe, sends the lines one by one and gives the time from the spawn to each answer.
func startup(b testing.TB, exe string, lines ...string) []time.Duration {
	b.Helper()
	cmd := exec.Command(exe)
	home := b.TempDir()
	cmd.Env = append(os.Environ(), "ACP_AGENT_HOME="+home, "HOME="+home)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	answers := bufio.NewReader(out)
	var times []time.Duration
	for _, line := range lines {
		if _, err := in.Write([]byte(line + "\n")); err != nil {
			b.Fatal(err)
		}
		for {
			answer, err := answers.ReadString('\n')
			if err != nil {
				b.Fatal(err)
			}
			if !strings.Contains(answer, `"method"`) { // updates may come between answers
				break
			}
		}
		times = append(times, time.Since(start))
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	return times
}

// BenchmarkSpeedStart measures spawn → initialize answer, and session/new beyond it, against an empty Go
// program that answers one line, alternating in the same run.
func BenchmarkSpeedStart(b *testing.B) {
	source := filepath.Join(b.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(emptyProgram), 0o600); err != nil {
		b.Fatal(err)
	}
	agent, empty := build(b, "acp-agent/cmd/acp-agent"), build(b, source)
	initialize := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}`
	newSession := fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"session/new","params":{"cwd":%q,"mcpServers":[]}}`, b.TempDir())
	var agentInit, agentNew, emptyInit acptest.Times
	for b.Loop() {
		times := startup(b, agent, initialize, newSession)
		agentInit = append(agentInit, times[0])
		agentNew = append(agentNew, times[1]-times[0])
		emptyInit = append(emptyInit, startup(b, empty, "{}")[0])
	}
	b.ReportMetric(0, "ns/op") // the rows below say more
	acptest.Row{Name: "start to initialize answer", Value: agentInit.At(50), Unit: "ms", Target: 50}.Report(b)
	acptest.Row{Name: "start to initialize answer, ratio", Value: agentInit.At(50), Unit: "ms",
		Than: "empty Go program", Ref: emptyInit.At(50), Ratio: true, Target: 3}.Report(b)
	acptest.Row{Name: "session/new beyond it", Value: agentNew.At(50), Unit: "ms", Target: 20}.Report(b)
}
