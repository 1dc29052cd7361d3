package acp_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/acp"
	"acp-agent/acp/headless"
	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
	"acp-agent/internal/model/scripted"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

// BenchmarkApproval measures from the answer of a permission request to the end of the tool call, with
// the record durable, and beside it as many bare fsyncs. The aim is 5 ms at the median beyond
// those and beyond what the language server itself takes.
func BenchmarkApproval(b *testing.B) {
	for _, server := range []string{"none", "gopls"} {
		b.Run(server, func(b *testing.B) { benchApproval(b, server) })
	}
}

func benchApproval(b *testing.B, server string) {
	dir, home := b.TempDir(), b.TempDir()
	file := filepath.Join(dir, "a.go")
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	write("go.mod", "module example.com/x\n\ngo 1.24\n")
	write("a.go", body(0))
	var turns strings.Builder
	turns.WriteString("turns:\n")
	for i := range b.N + 1 {
		turns.WriteString(turn(fmt.Sprintf(`edit_file {"path": "a.go", "old_string": "return %d\n", "new_string": "return %d\n"}`, i, i+1)))
		turns.WriteString("- {text: ok}\n")
	}
	script, err := scripted.Parse("bench", []byte(turns.String()))
	if err != nil {
		b.Fatal(err)
	}
	c := config.Default()
	c.LSP.ForeseeBudgetMS, c.LSP.InlineBudgetMS = 10_000, 10_000
	options := acp.Options{Config: c, Home: config.Home{Dir: workspace.Path(home)}, Environ: os.Environ(), Models: oneModel{scripted.New("bench", script)}}
	if server == "gopls" {
		if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
			b.Fatalf("git init: %v %s", err, out)
		}
		m := lsp.NewManager(lsp.Options{Home: workspace.Path(home), UserHome: "/nobody", Environ: os.Environ(), Settings: lsp.Settings{
			Enabled: true, InlineBudget: 10 * time.Second, Severity: "error", WaitMode: "document", WaitTimeout: 30 * time.Second, RequireGit: true,
			IdleTimeout: time.Minute, MaxDiagnosticChars: 4000,
			Servers: map[string]lsp.ServerSettings{"gopls": {Command: []string{acptest.Part(b, "bin", "gopls")}}},
		}})
		defer m.Close(context.Background())
		options.Language = m
	}
	var answered time.Time
	var took []time.Duration
	states := map[string]int{}
	client, err := headless.Start(b.Context(), acp.NewServer(options).Serve, headless.Options{
		Update: func(u headless.Update) {
			if u.Kind == "tool_call_update" && u.Call.Status == "completed" {
				took = append(took, time.Since(answered))
				if d := u.Call.Meta.Agent.Diagnostics; d != nil {
					states[d.State]++
				}
			}
		},
		Permission: func(context.Context, headless.Question) headless.Answer {
			answered = time.Now()
			return headless.Answer{Option: headless.AllowOnce}
		},
	})
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	session, err := client.NewSession(b.Context(), dir)
	if err != nil {
		b.Fatal(err)
	}
	for i := range b.N + 1 { // the first one warms up
		if stop, err := client.Prompt(b.Context(), session.ID, "go"); err != nil || stop != "end_turn" {
			b.Fatalf("turn %d: %s %v", i, stop, err)
		}
		if i == 0 {
			took = took[:0]
			b.ResetTimer()
		}
	}
	b.StopTimer()
	data, err := os.ReadFile(file)
	if err != nil || string(data) != body(b.N+1) {
		b.Fatalf("the file is %q (%v)", data, err)
	}
	if len(took) != b.N {
		b.Fatalf("%d edits measured of %d", len(took), b.N)
	}
	slices.Sort(took)
	ms := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
	b.ReportMetric(ms(took[len(took)/2]), "ms/p50")
	b.ReportMetric(ms(took[len(took)*95/100]), "ms/p95")
	b.ReportMetric(ms(fsync(b, dir)), "ms/fsync")
	if server != "none" {
		b.ReportMetric(float64(states["clean"]), "clean")
	}
}

func body(n int) string { return fmt.Sprintf("package x\n\nfunc A() int {\n\treturn %d\n}\n", n) }

// fsync is the median of a bare write and fsync in a folder.
func fsync(b *testing.B, dir string) time.Duration {
	var took []time.Duration
	for i := range 20 {
		f, err := os.Create(filepath.Join(dir, fmt.Sprintf("sync%d.tmp", i)))
		if err != nil {
			b.Fatal(err)
		}
		start := time.Now()
		if _, err := f.WriteString("x"); err != nil {
			b.Fatal(err)
		}
		if err := f.Sync(); err != nil {
			b.Fatal(err)
		}
		took = append(took, time.Since(start))
		f.Close()
	}
	slices.Sort(took)
	return took[len(took)/2]
}
