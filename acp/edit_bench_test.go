package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/acp"
	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
	"acp-agent/internal/model"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

// editCase is a project with a file of 1,000 lines that is edited again and again.
type editCase struct {
	id      string // of the language server; "off" for none
	file    string
	lang    string
	options map[string]any // initializationOptions that the server needs to answer pulls
	files   map[string]string
	line    func(n int) string // the n-th version of the line that changes; odd ones have a mistake that only the server sees
}

// thousand repeats a piece of text with its number until there are 1,000 lines around middle.
func thousand(head, middle, foot string, piece func(n int) string) string {
	var b strings.Builder
	b.WriteString(head)
	for n, lines := 0, strings.Count(head+middle+foot, "\n"); lines < 1000; n++ {
		if n == 90 {
			b.WriteString(middle)
		}
		b.WriteString(piece(n))
		lines += strings.Count(piece(n), "\n")
	}
	b.WriteString(foot)
	return b.String()
}

// marked is the line that changes, before the first edit.
const marked = "CHANGED LINE\n"

func editCases() []editCase {
	goFile := thousand("package bench\n\nimport (\n\t\"fmt\"\n\t\"strings\"\n)\n\n", "func Changed() int {\n"+marked+"}\n\n", "", func(n int) string {
		return fmt.Sprintf("// F%d is one of many.\nfunc F%d(s string, n int) string {\n\treturn fmt.Sprintf(\"%%s %%d\", strings.TrimSpace(s), n+%d)\n}\n\n", n, n, n)
	})
	goLine := func(n int) string {
		if n%2 == 1 {
			return fmt.Sprintf("\treturn missing%d\n", n)
		}
		return fmt.Sprintf("\treturn %d\n", n)
	}
	tsFile := thousand("import { other } from './other';\n\n", "export function changed(): number {\n"+marked+"}\n\n", "", func(n int) string {
		return fmt.Sprintf("/** One of many. */\nexport function f%d(s: string, n: number): string {\n  return `${s.trim()} ${n + other(%d)}`;\n}\n\n", n, n)
	})
	tsLine := func(n int) string {
		if n%2 == 1 {
			return fmt.Sprintf("  return 'text %d';\n", n)
		}
		return fmt.Sprintf("  return %d;\n", n)
	}
	jsonFile := thousand("{\n", marked, "  \"last\": {}\n}\n", func(n int) string {
		return fmt.Sprintf("  \"key%d\": {\"text\": \"one of many\", \"number\": %d},\n", n, n)
	})
	jsonLine := func(n int) string {
		if n%2 == 1 {
			return fmt.Sprintf("  \"changed\": \"%d\", \"changed\": 1,\n", n) // a duplicate key: parses, and gets a warning
		}
		return fmt.Sprintf("  \"changed\": %d,\n", n)
	}
	return []editCase{
		{id: "off", file: "bench.go", files: map[string]string{"bench.go": goFile}, line: goLine},
		{id: "gopls", file: "bench.go", lang: "go", options: map[string]any{"pullDiagnostics": true}, line: goLine, files: map[string]string{
			"go.mod": "module example.com/bench\n\ngo 1.24\n", "bench.go": goFile, "use.go": "package bench\n\nvar used = Changed()\n"}},
		{id: "typescript-native", file: "bench.ts", lang: "typescript", line: tsLine, files: map[string]string{
			"package.json": `{"name":"bench"}`, "bench.ts": tsFile, "other.ts": "export function other(n: number): number {\n  return n;\n}\n",
			"use.ts":        "import { changed } from './bench';\nexport const used: number = changed();\n",
			"tsconfig.json": `{"compilerOptions":{"strict":true,"module":"esnext","moduleResolution":"bundler","target":"es2022","noEmit":true,"types":[]}}`}},
		{id: "json", file: "bench.json", lang: "json", files: map[string]string{"bench.json": jsonFile}, line: jsonLine,
			options: map[string]any{"provideFormatter": false, "handledSchemaProtocols": []string{"file"}}},
	}
}

// text is the file with the n-th version of its line.
func (c editCase) text(n int) string { return strings.Replace(c.files[c.file], marked, c.line(n), 1) }

// project writes the case's project, whose file is in its version 0.
func (c editCase) project(b *testing.B) string {
	b.Helper()
	dir := realDir(b)
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		b.Fatalf("git init: %v %s", err, out)
	}
	for name, text := range c.files {
		if name == c.file {
			text = c.text(0)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	if c.id == "typescript-native" {
		modules := filepath.Join(dir, "node_modules")
		if err := os.Mkdir(modules, 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.Symlink(acptest.Part(b, "npm", "node_modules", "typescript-native"), filepath.Join(modules, "typescript")); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// benchEnviron is the environment with the real servers in front of PATH.
func benchEnviron(b *testing.B) []string {
	parts := acptest.Parts(b)
	path := []string{filepath.Join(parts, "bin"), filepath.Join(parts, "npm", "node_modules", ".bin"), os.Getenv("PATH")}
	return append(os.Environ(), "PATH="+strings.Join(path, string(filepath.ListSeparator)))
}

// editor is the model of the benchmark: a user's message is answered with the next edit, anything
// else with a word.
type editingModel struct {
	arguments string           // of the next call
	called    time.Time        // when the call was handed over
	results   chan modelResult // when a result came, and which
	calls     int
}

type modelResult struct {
	at   time.Time
	text string
}

func (m *editingModel) Info() model.Info {
	return model.Info{ID: "bench/edits", ContextWindow: 1 << 20}
}

func (m *editingModel) Stream(_ context.Context, req model.Request) iter.Seq2[model.Event, error] {
	at := time.Now()
	last := req.Messages[len(req.Messages)-1]
	if last.Role == model.ToolRole {
		m.results <- modelResult{at, last.Text()}
	}
	return func(yield func(model.Event, error) bool) {
		if last.Role == model.ToolRole || strings.HasPrefix(last.Text(), "[diagnostics]") {
			_ = yield(model.Event{Text: "ok"}, nil) && yield(model.Event{Done: &model.Done{Finish: model.FinishStop}}, nil)
			return
		}
		m.calls++
		call := model.ToolCall{ID: fmt.Sprintf("c%d", m.calls), Name: "edit_file", Arguments: m.arguments}
		m.called = time.Now()
		_ = yield(model.Event{Call: &call}, nil) && yield(model.Event{Done: &model.Done{Finish: model.FinishToolCalls}}, nil)
	}
}

// editBench is an agent in this process with one session on a case's project.
type editBench struct {
	*acptest.Meter
	b       *testing.B
	c       editCase
	dir     string
	session string
	model   *editingModel
	servers *lsp.Manager
}

func newEditBench(b *testing.B, c editCase) *editBench {
	b.Helper()
	e := &editBench{b: b, c: c, dir: c.project(b), model: &editingModel{results: make(chan modelResult, 1)}}
	home := workspace.Path(filepath.Join(realDir(b), "home"))
	for i := range 256 { // as after some days of use: making these folders costs an fsync each, once
		if err := os.MkdirAll(filepath.Join(home.String(), "checkpoints", fmt.Sprintf("%02x", i)), 0o700); err != nil {
			b.Fatal(err)
		}
	}
	cfg := config.Default()
	if c.id != "off" {
		e.servers = lsp.NewManager(lsp.Options{Home: home, UserHome: "/nobody", Environ: benchEnviron(b), Settings: lsp.Settings{
			Enabled: true, InlineBudget: 80 * time.Millisecond, ForeseeBudget: time.Second, Severity: "error", WaitMode: "document",
			WaitTimeout: 5 * time.Second, RequireGit: true, IdleTimeout: 10 * time.Minute, MaxDiagnosticChars: 4000,
		}})
	}
	server := acp.NewServer(acp.Options{Version: "bench", Config: cfg, Home: config.Home{Dir: home}, UserHome: workspace.Path(realDir(b)),
		Environ: os.Environ(), Models: oneModel{e.model}, Language: e.servers})
	m, stop := acptest.MeterInProcess(b, server.Serve)
	e.Meter = m
	b.Cleanup(func() {
		stop()
		if e.servers != nil {
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
			defer cancel()
			e.servers.Close(ctx)
		}
	})
	e.Initialize()
	e.session = e.NewSession(e.dir)
	return e
}

// round is what one edit took.
type round struct {
	proposed time.Duration // from the model's call to the question
	foreseen time.Duration // the share of it that the language server's check took
	applied  time.Duration // from the answer to the model's next request
	state    string        // of the verdict that came with the result
}

// round makes one edit, from version n to the next.
func (e *editBench) round(n int) round {
	arguments, err := json.Marshal(map[string]string{"path": e.c.file, "old_string": e.c.line(n), "new_string": e.c.line(n + 1)})
	if err != nil {
		e.b.Fatal(err)
	}
	e.model.arguments = string(arguments)
	end := e.Prompt(e.session, "next")
	ask := <-e.Asks
	answered := e.Allow(ask)
	result := <-e.model.results
	end()
	check := acptest.Get[int64](json.RawMessage(ask.Line), "params", "toolCall", "_meta", "acpAgent", "diagnostics", "servers", 0, "ms")
	return round{
		proposed: ask.At.Sub(e.model.called), foreseen: time.Duration(check) * time.Millisecond, applied: result.at.Sub(answered),
		state: acptest.Get[string](json.RawMessage(result.text), "lsp", "state"),
	}
}

// BenchmarkSpeedEdit measures the two waits of an edit of a 1,000-line file: the proposal until it is
// shown, and the approval until the model has the result. In the same run, alternating, a second
// process of the same language server is driven directly through the same kind of change, and as many
// bare fsyncs are made.
func BenchmarkSpeedEdit(b *testing.B) {
	for _, c := range editCases() {
		b.Run(c.id, func(b *testing.B) { c.measure(b) })
	}
}

func (c editCase) measure(b *testing.B) {
	e := newEditBench(b, c)
	const warm = 6
	for n := range warm {
		e.round(n)
	}
	var server *direct
	if e.servers != nil {
		for _, s := range e.servers.Status() {
			if s.ID == c.id && len(s.Command) > 0 && s.PID != 0 {
				server = newDirect(b, s.Command, c.options, c.project(b), c.file, c.lang)
			}
		}
		if server == nil {
			b.Fatalf("%s does not run", c.id)
		}
		defer server.close()
	}
	disk := newSyncer(b)
	var t editTimes
	states := map[string]int{}
	yardsticks := func(n int) {
		t.synced = append(t.synced, disk.syncs(c.text(n+1)))
		if server != nil {
			t.foreseenDirect = append(t.foreseenDirect, server.foresee(c.text(n), c.text(n+1)))
			t.appliedDirect = append(t.appliedDirect, server.apply(c.text(n+1)))
		}
	}
	n := warm
	for b.Loop() {
		if n%4 < 2 {
			yardsticks(n)
		}
		r := e.round(n)
		t.proposed, t.foreseen, t.applied = append(t.proposed, r.proposed), append(t.foreseen, r.foreseen), append(t.applied, r.applied)
		states[r.state]++
		if n%4 >= 2 {
			yardsticks(n)
		}
		n++
	}
	c.report(b, &t)
	b.Logf("%s: %d rounds, verdicts %v", c.id, n-warm, states)
}

// editTimes are the agent's times and the yardsticks', round by round.
type editTimes struct {
	proposed, foreseen, applied           acptest.Times
	foreseenDirect, appliedDirect, synced acptest.Times
}

func (c editCase) report(b *testing.B, t *editTimes) {
	b.ReportMetric(0, "ns/op") // the rows below say more
	row := func(what string, p int, of acptest.Times, than string, ref acptest.Times, target float64) {
		r := acptest.Row{Name: fmt.Sprintf("%s, p%d", what, p), Value: of.At(p), Unit: "ms", Than: than, Target: target}
		if than != "" {
			r.Ref = ref.At(p)
		}
		r.Report(b)
	}
	if c.id == "off" {
		row("proposal shown, no language layer", 50, t.proposed, "", nil, 5)
		row("approval to result, no language layer", 50, t.applied, "6 fsyncs", t.synced, 5)
		row("approval to result, no language layer", 95, t.applied, "6 fsyncs", t.synced, 15)
		return
	}
	row("proposal shown, "+c.id, 50, t.proposed, "the foreseen check", t.foreseen, 5)
	row("foreseen check, "+c.id, 50, t.foreseen, "driven directly", t.foreseenDirect, 0)
	direct := t.appliedDirect.And(t.synced)
	row("approval to result, "+c.id, 50, t.applied, "server + 6 fsyncs", direct, 5)
	row("approval to result, "+c.id, 95, t.applied, "server + 6 fsyncs", direct, 15)
}
