package lsp

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"acp-agent/internal/acptest/lspserver"
	"acp-agent/internal/workspace"
)

// argHost makes the test binary a program that uses the layer and is then killed: arguments are the
// workspace and the server's command.
const argHost = "lsp-test-host"

// playHost is that program. It says "ready" when its server has given a verdict.
func playHost() {
	if len(os.Args) < 4 || os.Args[1] != argHost {
		return
	}
	dir := workspace.Path(os.Args[2])
	settings := defaults()
	settings.Servers = map[string]ServerSettings{"fake": {Command: os.Args[3:], Extensions: []string{".fk"}}}
	m := NewManager(Options{Home: dir.Join("home"), UserHome: "/nobody", Environ: os.Environ(), Settings: settings})
	roots, err := workspace.NewRoots(dir, "")
	if err != nil {
		panic(err)
	}
	s := m.Session("s1", roots)
	items, notice, err := s.Diagnostics(context.Background(), dir.Join("a.fk"), "ERROR(one)\n")
	fmt.Println("ready", len(items), notice, err)
	select {} // the server's goroutines go on
}

func TestL08Case_ServersEndWithTheAgent(t *testing.T) {
	for name, modes := range map[string][]string{
		"good":                 nil,
		"stubborn":             {"stubborn", "grandchild"},
		"stubborn, crashed":    {"stubborn", "grandchild", "crash=2"},
		"writing all the time": {"stubborn", "grandchild", "stderr=8000000", "refresh-storm=500"},
	} {
		t.Run("closed, "+name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, modes, map[string]string{"a.fk": "\n"})
			f.apply("a.fk", given("one"))
			f.ended()
		})
		t.Run("killed, "+name, func(t *testing.T) {
			t.Parallel()
			dir := tempDir(t)
			for _, err := range []error{
				os.Mkdir(string(dir.Join(".git")), 0o755),
				os.WriteFile(string(dir.Join("a.fk")), []byte("ERROR(one)\n"), 0o644),
			} {
				if err != nil {
					t.Fatal(err)
				}
			}
			server := lspserver.New(t, modes...)
			host := exec.Command(os.Args[0], append([]string{argHost, string(dir)}, server.Command...)...)
			host.Stderr = os.Stderr
			out, err := host.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := host.Start(); err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil || line == "" {
				t.Errorf("the host said %q, %v", line, err)
			}
			if err := host.Process.Kill(); err != nil { // SIGKILL: it can do nothing any more
				t.Error(err)
			}
			_ = host.Wait() // "signal: killed"
			server.WantGone(2 * time.Second)
		})
	}
}

// A server that goes down between two edits is started again, and the second edit gets its verdict.
func TestL08Case_KilledServerLeavesNothing(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"stubborn", "grandchild"}, map[string]string{"a.fk": "\n"})
	f.apply("a.fk", given("one"))
	kill9(t, f.server.Pids("server")[0])
	text := given("one")
	f.server.Until("a verdict of the next process", func() bool {
		text += "and so on\n"
		v := f.apply("a.fk", text)
		return v.State == Findings && len(f.server.Pids("server")) == 2
	})
	f.ended()
}
