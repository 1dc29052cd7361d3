package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/acp"
	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/lspserver"
	"acp-agent/internal/config"
	"acp-agent/internal/model"
	"acp-agent/internal/model/scripted"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/provenance"
)

// oneModel resolves every name but "none/…" to one model.
type oneModel struct{ m model.Model }

func (o oneModel) Resolve(_ context.Context, name, _ string) (model.Model, error) {
	if strings.HasPrefix(name, "none/") {
		return nil, &model.Error{Kind: model.KindInvalid, Message: "no model " + name}
	}
	return o.m, nil
}
func (o oneModel) Default(context.Context) (model.Model, error) { return o.m, nil }
func (o oneModel) List(context.Context) []model.Info            { return []model.Info{o.m.Info()} }

// blind is a model without eyes.
type blind struct{ model.Model }

func (b blind) Info() model.Info {
	info := b.Model.Info()
	info.Images = false
	return info
}

// desk is an editor on an agent in this process, with one session in an empty folder.
type desk struct {
	*acptest.Editor
	t       *testing.T
	dir     string // the session's cwd
	home    string
	session string
	models  *acptest.Recorder
	server  *lspserver.Server // with deskOptions.server
}

// deskOptions change a desk before it is set up.
type deskOptions struct {
	profile string
	answer  string
	script  string // the model's turns, YAML
	config  func(c *config.Config)
	files   map[string]string
	format  func(path, text string) string
	// gopls makes the folder a git repository that gopls serves.
	gopls bool
	// server makes it one whose files ending in .fk are served by a server that misbehaves in these
	// modes (package lspserver); not nil for none.
	server []string
	// resolver takes the place of the one scripted model that knows every name.
	resolver model.Resolver
	// unchecked is for tests that write lines of the editor themselves.
	unchecked bool
}

func newDesk(t *testing.T, o deskOptions) *desk {
	t.Helper()
	d := &desk{t: t, dir: realDir(t), home: realDir(t)}
	for name, text := range o.files {
		d.write(name, text)
	}
	script, err := scripted.Parse("script", []byte(o.script))
	if err != nil {
		t.Fatal(err)
	}
	if o.resolver == nil {
		o.resolver = oneModel{blind{scripted.New("test", script)}}
	}
	d.models = acptest.NewRecorder(o.resolver)
	c := config.Default()
	if o.config != nil {
		o.config(&c)
	}
	options := acp.Options{
		Version: "1.2.3", Config: c, Home: config.Home{Dir: workspace.Path(d.home)},
		UserHome: workspace.Path(realDir(t)), Environ: os.Environ(), Models: d.models, TerminalSetup: true,
	}
	if o.gopls {
		options.Language = d.language(c, "gopls", lsp.ServerSettings{Command: []string{acptest.Part(d.t, "bin", "gopls")}})
	}
	if o.server != nil {
		d.server = lspserver.New(t, o.server...)
		options.Language = d.language(c, "fake", lsp.ServerSettings{Command: d.server.Command, Extensions: []string{".fk"}})
	}
	server := acp.NewServer(options)
	d.Editor = acptest.InProcess(t, server.Serve, acptest.EditorOptions{Profile: o.profile, Answer: o.answer, Format: o.format, Unchecked: o.unchecked})
	d.Initialize()
	d.session = d.NewSession(d.dir)
	return d
}

// language makes the folder a repository and starts nothing yet.
func (d *desk) language(c config.Config, id string, server lsp.ServerSettings) *lsp.Manager {
	d.t.Helper()
	if out, err := exec.Command("git", "init", "-q", d.dir).CombinedOutput(); err != nil {
		d.t.Fatalf("git init: %v %s", err, out)
	}
	m := lsp.NewManager(lsp.Options{
		Home: workspace.Path(d.home), UserHome: "/nobody", Environ: os.Environ(),
		Settings: lsp.Settings{
			Enabled: true, InlineBudget: time.Duration(c.LSP.InlineBudgetMS) * time.Millisecond, Severity: c.LSP.Severity,
			WaitMode: "document", WaitTimeout: 60 * time.Second, BrokenRetry: time.Second, RequireGit: true,
			IdleTimeout: time.Minute, MaxDiagnosticChars: 4000,
			Servers: map[string]lsp.ServerSettings{id: server},
		},
	})
	d.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		m.Close(ctx)
	})
	return m
}

func realDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func (d *desk) path(name string) string { return filepath.Join(d.dir, name) }

func (d *desk) write(name, text string) {
	d.t.Helper()
	if err := os.MkdirAll(filepath.Dir(d.path(name)), 0o755); err != nil {
		d.t.Fatal(err)
	}
	if err := os.WriteFile(d.path(name), []byte(text), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

// holds checks a file's content; "-" is no file.
func (d *desk) holds(name, want string) {
	d.t.Helper()
	data, err := os.ReadFile(d.path(name))
	got := string(data)
	if os.IsNotExist(err) {
		got = "-"
	}
	if got != want {
		d.t.Errorf("%s is %q, want %q", name, got, want)
	}
}

// play sends a prompt and waits for its stop reason.
func (d *desk) play(text, want string) {
	d.t.Helper()
	if got := d.Prompt(d.session, text).StopReason(); got != want {
		d.t.Errorf("stop reason %q, want %q", got, want)
	}
}

// call is the n-th tool call, from 0, as it ended.
func (d *desk) call(n int) acptest.ToolCall {
	d.t.Helper()
	calls := d.ToolCalls(d.session)
	if n >= len(calls) {
		d.t.Fatalf("there are only %d tool calls", len(calls))
	}
	return calls[n]
}

// result is the n-th tool result that the model got, from 0.
func (d *desk) result(n int) string {
	d.t.Helper()
	results := d.models.Results()
	if n >= len(results) {
		d.t.Fatalf("there are only %d results", len(results))
	}
	return results[n].Text()
}

// code is the code of the n-th result.
func (d *desk) code(n int, want string) {
	d.t.Helper()
	if got := acptest.Get[string](json.RawMessage(d.result(n)), "code"); got != want {
		d.t.Errorf("result %d is %s, want code %q", n, d.result(n), want)
	}
}

// record is the cwd's provenance log.
func (d *desk) record() []provenance.Record {
	d.t.Helper()
	log, err := provenance.Open(filepath.Join(d.home, "provenance"), workspace.Path(d.dir))
	if err != nil {
		d.t.Fatal(err)
	}
	records, err := log.Records()
	if err != nil && !os.IsNotExist(err) {
		d.t.Fatal(err)
	}
	return records
}

// kinds are the kinds of the records, joined.
func kinds(records []provenance.Record) string {
	var list []string
	for _, r := range records {
		list = append(list, string(r.Kind))
	}
	return strings.Join(list, " ")
}

// updatesOf are the session's updates of one kind.
func (d *desk) updatesOf(kind string) []json.RawMessage {
	var list []json.RawMessage
	for _, u := range d.Updates(d.session) {
		if acptest.Get[string](u, "sessionUpdate") == kind {
			list = append(list, u)
		}
	}
	return list
}
