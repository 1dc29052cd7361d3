package lsp

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/lspserver"
	"acp-agent/internal/workspace"
)

func TestMain(m *testing.M) {
	lspserver.Main()
	playHost()
	goleak.VerifyTestMain(m)
}

// bench is a workspace on disk with a session of the layer.
type bench struct {
	t   testing.TB
	dir workspace.Path
	m   *Manager
	s   *Session
}

// partsPath is a PATH with the real servers in front.
func partsPath(t testing.TB) string {
	parts := acptest.Parts(t)
	return filepath.Join(parts, "bin") + string(filepath.ListSeparator) +
		filepath.Join(parts, "npm", "node_modules", ".bin") + string(filepath.ListSeparator) + os.Getenv("PATH")
}

// defaults are the settings that config fills in.
func defaults() Settings {
	return Settings{
		Enabled: true, InlineBudget: 80 * time.Millisecond, ForeseeBudget: time.Second, Severity: "error",
		WaitMode: "document", WaitTimeout: 30 * time.Second, BrokenRetry: 30 * time.Second, RequireGit: true,
		IdleTimeout: 10 * time.Minute, MaxDiagnosticChars: 4000,
	}
}

// newBench makes a git workspace with files, and a session in it. The servers' caches are shared by
// all tests of a run, so that only the first one pays for them.
func newBench(t testing.TB, files map[string]string, change ...func(*Settings)) *bench {
	t.Helper()
	dir := tempDir(t)
	if out, err := exec.Command("git", "init", "-q", string(dir)).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v %s", err, out)
	}
	b := &bench{t: t, dir: dir}
	for name, text := range files {
		b.write(name, text)
	}
	settings := defaults()
	for _, f := range change {
		f(&settings)
	}
	var log *slog.Logger
	if testing.Verbose() && os.Getenv("LSP_LOG") != "" {
		log = slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	}
	b.m = NewManager(Options{
		Home:     sharedHome(t),
		UserHome: "/nobody",
		Environ:  append(os.Environ(), "PATH="+partsPath(t)),
		Settings: settings,
		Logger:   log,
	})
	roots, err := workspace.NewRoots(dir, "")
	if err != nil {
		t.Fatal(err)
	}
	b.s = b.m.Session("s1", roots)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		b.s.Close(ctx)
		b.m.Close(ctx)
	})
	return b
}

// sharedHome is one home for the servers' caches of a test run.
func sharedHome(t testing.TB) workspace.Path {
	return workspace.Path(filepath.Join(acptest.Parts(t), "lsp-test-home"))
}

func tempDir(t testing.TB) workspace.Path {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return workspace.Path(dir)
}

func (b *bench) path(name string) workspace.Path { return b.dir.Join(filepath.FromSlash(name)) }

// write replaces a file as edits do, by a rename: nobody ever reads half of it.
func (b *bench) write(name, text string) {
	b.t.Helper()
	p := string(b.path(name))
	if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
		b.t.Fatal(err)
	}
	temp := filepath.Join(filepath.Dir(p), ".acp-agent-"+filepath.Base(p)+".tmp")
	if err := os.WriteFile(temp, []byte(text), 0o644); err != nil {
		b.t.Fatal(err)
	}
	if err := os.Rename(temp, p); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) read(name string) string {
	b.t.Helper()
	data, err := os.ReadFile(string(b.path(name)))
	if err != nil {
		return ""
	}
	return string(data)
}

// change is an update, or a create when there is no such file.
func (b *bench) change(name, text string) Change {
	ch := Change{Op: Update, Path: b.path(name), OldText: b.read(name), NewText: text}
	if _, err := os.Stat(string(ch.Path)); err != nil {
		ch.Op = Create
	}
	return ch
}

func (b *bench) foresee(changes ...Change) Verdict {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	return b.s.Foresee(ctx, changes)
}

// edit writes the changes and checks them.
func (b *bench) edit(id string, changes ...Change) *Check {
	b.t.Helper()
	for _, ch := range changes {
		switch ch.Op {
		case Delete:
			if err := os.Remove(string(ch.Path)); err != nil {
				b.t.Fatal(err)
			}
		case Move:
			if err := os.Remove(string(ch.Path)); err != nil {
				b.t.Fatal(err)
			}
			b.write(ch.To.Rel(b.dir), ch.NewText)
		default:
			b.write(ch.Path.Rel(b.dir), ch.NewText)
		}
	}
	return b.s.Applied(id, changes)
}

// verdict waits for a check's verdict for as long as a test may take.
func (b *bench) verdict(c *Check) Verdict {
	b.t.Helper()
	v, ok := c.Wait(context.Background(), time.Now().Add(60*time.Second))
	if !ok {
		b.t.Fatalf("no verdict: %+v", v)
	}
	return v
}

// apply writes one file's new text and gives the verdict on it.
func (b *bench) apply(name, text string) Verdict {
	b.t.Helper()
	return b.verdict(b.edit("edit", b.change(name, text)))
}
