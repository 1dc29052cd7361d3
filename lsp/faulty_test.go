package lsp

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/acptest/lspserver"
	"acp-agent/internal/workspace"
)

// faulty is a bench whose files end in .fk and belong to a server that misbehaves on demand.
type faulty struct {
	*bench
	server *lspserver.Server
	log    *lockedText
}

// newFaulty makes a git workspace with files and a fake server in modes. A check has 1.5 s.
func newFaulty(t testing.TB, modes []string, files map[string]string, change ...func(*Settings)) *faulty {
	t.Helper()
	f := &faulty{bench: &bench{t: t, dir: tempDir(t)}, server: lspserver.New(t, modes...), log: &lockedText{}}
	if err := os.Mkdir(string(f.path(".git")), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		f.write(name, text)
	}
	settings := defaults()
	settings.WaitTimeout = 1500 * time.Millisecond
	settings.Servers = map[string]ServerSettings{"fake": {Command: f.server.Command, Extensions: []string{".fk"}}}
	for _, c := range change {
		c(&settings)
	}
	f.m = NewManager(Options{
		Home: tempDir(t), UserHome: "/nobody", Environ: os.Environ(), Settings: settings,
		Logger: slog.New(slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelInfo})),
	})
	f.s = f.session("s1")
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		f.m.Close(ctx)
		if t.Failed() {
			t.Logf("the log:\n%s", f.log)
		}
	})
	return f
}

// session opens one more session in the workspace. The manager's end ends it.
func (f *faulty) session(id string) *Session {
	f.t.Helper()
	roots, err := workspace.NewRoots(f.dir, "")
	if err != nil {
		f.t.Fatal(err)
	}
	s := f.m.Session(id, roots)
	f.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		s.Close(ctx)
	})
	return s
}

// lockedText collects a log that is written while it is read.
type lockedText struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *lockedText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// story applies an edit and gives every word on it: what the inline wait brought, and what came late.
// It holds that nothing is waited for beyond its deadline and that every word is about this very text.
func (f *faulty) story(id, name, text string) []Verdict {
	f.t.Helper()
	const inline = 80 * time.Millisecond
	check := f.edit(id, f.change(name, text))
	began := time.Now()
	v, ok := check.Wait(context.Background(), began.Add(inline))
	if took := time.Since(began); took > inline+slack {
		f.t.Errorf("edit %s: the inline wait took %v", id, took)
	}
	var words []Verdict
	if ok {
		words = append(words, v)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	began = time.Now()
	late := f.s.Settle(ctx)
	if took := time.Since(began); took > f.m.settings.WaitTimeout+elsewhereTime+slack {
		f.t.Errorf("edit %s: its check took %v", id, took)
	}
	for _, l := range late {
		if l.Edit != id {
			f.t.Errorf("a word on edit %s came behind edit %s: %+v", l.Edit, id, l)
			continue
		}
		words = append(words, l.Verdict)
	}
	for _, w := range words {
		if wrong := dishonest(w, text); wrong != "" {
			f.t.Errorf("edit %s: %s\nverdict %+v", id, wrong, w)
		}
	}
	return words
}

// slack is what a busy machine may add to a time.
const slack = 700 * time.Millisecond

// dishonest says what is untrue in a verdict on a text that uses nothing of other files.
func dishonest(v Verdict, text string) string {
	truth := lspserver.Errors(text, nil)
	var said []string
	for _, i := range v.Items {
		if i.Severity == SevError {
			said = append(said, strings.TrimSuffix(i.Message, " · 漢字 😀"))
		}
		if i.Line < 1 || i.Column < 1 {
			return fmt.Sprintf("a finding at %d:%d", i.Line, i.Column)
		}
	}
	for _, i := range v.Introduced {
		if m := strings.TrimSuffix(i.Message, " · 漢字 😀"); !slices.Contains(truth, m) {
			return fmt.Sprintf("%q is said to have been brought in, but the text has %q", m, truth)
		}
	}
	switch v.State {
	case Clean:
		if len(truth) > 0 {
			return fmt.Sprintf("called clean, but the text has %q", truth)
		}
	case NoVerdict:
		if v.Reason == "" {
			return "no verdict without a reason"
		}
	case Findings:
		if !slices.Equal(said, truth) {
			return fmt.Sprintf("the errors are said to be %q, but the text has %q", said, truth)
		}
	default:
		return "state " + string(v.State)
	}
	return ""
}

// last is the last word on an edit.
func last(words []Verdict) Verdict {
	if len(words) == 0 {
		return Verdict{}
	}
	return words[len(words)-1]
}

// messages are the findings' texts.
func messages(items []Finding) []string {
	var out []string
	for _, i := range items {
		out = append(out, i.Message)
	}
	return out
}

// ended closes the layer and holds that no process is left.
func (f *faulty) ended() {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	began := time.Now()
	f.s.Close(ctx)
	f.m.Close(ctx)
	if took := time.Since(began); took > 5*time.Second+slack {
		f.t.Errorf("Close took %v", took)
	}
	f.server.WantGone(2 * time.Second)
}

func paths(list ...workspace.Path) []workspace.Path { return list }
