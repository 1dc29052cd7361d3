package acp_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/acp"
	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
	"acp-agent/internal/model"
	"acp-agent/internal/model/scripted"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

// scripts resolves scripted models only, one of them by default. A model is made once: it keeps the
// places of its sessions in the script.
type scripts struct {
	byDefault string
	mu        sync.Mutex
	made      map[string]model.Model // guarded by mu
}

// Resolve gives scripted/FILE.
func (s *scripts) Resolve(_ context.Context, name, _ string) (model.Model, error) {
	file, ok := strings.CutPrefix(name, scripted.Provider+"/")
	if !ok {
		return nil, &model.Error{Kind: model.KindInvalid, Message: fmt.Sprintf("no model %q", name)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.made[file] == nil {
		s.made[file] = scripted.File(file)
	}
	return s.made[file], nil
}

// Default gives the scenario's script.
func (s *scripts) Default(ctx context.Context) (model.Model, error) {
	if s.byDefault == "" {
		return nil, &model.Error{Kind: model.KindAuth, Message: "no model is configured; looked at: the test"}
	}
	return s.Resolve(ctx, s.byDefault, "")
}

// List has the scenario's script.
func (s *scripts) List(context.Context) []model.Info {
	if s.byDefault == "" {
		return nil
	}
	return []model.Info{{ID: s.byDefault, Provider: scripted.Provider, Name: strings.TrimPrefix(s.byDefault, scripted.Provider+"/")}}
}

// newAgent makes a server whose model is scripted and recorded. Language servers are those of the
// configuration, and of the built-in ones those that are on the PATH, if any.
func newAgent(t testing.TB, s acptest.Setup) (acptest.Serve, *acptest.Recorder) {
	t.Helper()
	cfg, err := config.Parse("config.yaml", []byte(s.Config))
	if err != nil {
		t.Fatalf("%v", err)
	}
	recorder := acptest.NewRecorder(&scripts{byDefault: s.Model, made: map[string]model.Model{}})
	language := lsp.NewManager(lsp.Options{
		Home: workspace.Path(s.Home), UserHome: workspace.Path(s.UserHome), Environ: s.Environ, Settings: acp.LanguageSettings(cfg.LSP),
	})
	server := acp.NewServer(acp.Options{
		Version: "0.0.0-test", Config: cfg, Home: config.Home{Dir: workspace.Path(s.Home)},
		UserHome: workspace.Path(s.UserHome), Environ: s.Environ, Models: recorder, TerminalSetup: true, Language: language,
	})
	serve := func(ctx context.Context, r io.Reader, w io.Writer) error {
		err := server.Serve(ctx, r, w)
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
		defer cancel()
		language.Close(ctx) // as the program does
		return err
	}
	return serve, recorder
}

// fixture is an agent in this process with an editor, for tests that need no built program.
type fixture struct {
	*acptest.Editor
	recorder *acptest.Recorder
	cwd      string
	setup    acptest.Setup
}

// start starts an agent whose model plays script (YAML), and introduces the editor.
func start(t testing.TB, script string, o acptest.EditorOptions) *fixture {
	t.Helper()
	f := prepare(t, script, "", o)
	f.Initialize()
	return f
}

// prepare is start without the introduction, with a configuration.
func prepare(t testing.TB, script, configYAML string, o acptest.EditorOptions) *fixture {
	t.Helper()
	side := t.TempDir()
	cwd, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(side, "model.yaml")
	if err := os.WriteFile(file, []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	f := &fixture{cwd: cwd, setup: acptest.Setup{
		Home: filepath.Join(side, "home"), UserHome: side, Config: configYAML, Model: "scripted/" + file,
		Environ: []string{"PATH=" + os.Getenv("PATH"), "HOME=" + side, "TERM=dumb", "LANG=C.UTF-8"},
	}}
	serve, recorder := newAgent(t, f.setup)
	f.recorder = recorder
	f.Editor = acptest.InProcess(t, serve, o)
	return f
}

// open opens a session in the fixture's folder.
func (f *fixture) open() string { return f.NewSession(f.cwd) }

// file is a path in the fixture's folder.
func (f *fixture) file(name string) string { return filepath.Join(f.cwd, filepath.FromSlash(name)) }

// write puts a file into the fixture's folder.
func (f *fixture) write(t testing.TB, name, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(f.file(name)), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(f.file(name), []byte(content), 0o666); err != nil {
		t.Fatal(err)
	}
	return f.file(name)
}

// holds checks a file of the fixture's folder.
func (f *fixture) holds(t testing.TB, name, want string) {
	t.Helper()
	got, err := os.ReadFile(f.file(name))
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}
