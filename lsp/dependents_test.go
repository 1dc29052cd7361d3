package lsp

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestRealDependentBroken(t *testing.T) {
	for _, mode := range []string{"foreseen", "at once", "deleted", "moved"} {
		each(t, func(t *testing.T, r realServer, b *bench) {
			if r.other == "" {
				return
			}
			warm := b.foresee(b.change(r.main, r.good))
			if warm.State != Clean {
				t.Fatalf("%+v", warm)
			}
			if mode == "foreseen" {
				b.foresee(b.change(r.main, r.breaking))
			}
			change := b.change(r.main, r.breaking)
			switch mode {
			case "deleted":
				change = Change{Op: Delete, Path: b.path(r.main), OldText: b.read(r.main)}
			case "moved": // what uses it cannot find it any more
				if r.id == "gopls" {
					return // a package has no names of files
				}
				change = Change{Op: Move, Path: b.path(r.main), To: b.path("sub/moved" + filepath.Ext(r.main)), OldText: b.read(r.main), NewText: b.read(r.main)}
			}
			if mode == "deleted" || mode == "moved" {
				b.foresee(change)
				b.explored()
			}
			v := b.verdict(b.edit("e1", change))
			if v.State == NoVerdict || (mode == "deleted" && (v.State != Off || v.ForModel("h", 0) != "")) {
				t.Fatalf("%+v", v)
			}
			other := v.Other
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			for len(other) == 0 && ctx.Err() == nil {
				for _, l := range b.s.Settle(ctx) {
					other = append(other, l.Verdict.Other...)
				}
				if len(other) == 0 {
					b.awaitLate(ctx)
				}
			}
			if len(other) == 0 || other[0].Path != b.path(r.other) {
				t.Fatalf("other files: %+v", other)
			}
			text := Verdict{Other: other, BaselineKnown: true}.ForModel("LSP diagnostics introduced by this edit", 0)
			if !strings.HasPrefix(text, "LSP diagnostics introduced by this edit in other files:\n<diagnostics file=") {
				t.Errorf("text %q", text)
			}
		})
	}
}

// explored waits until what depends on a proposal has been looked for.
func (b *bench) explored() {
	for {
		b.s.mu.Lock()
		n := len(b.s.errands)
		b.s.mu.Unlock()
		if n == 0 {
			return
		}
		<-time.After(time.Millisecond)
	}
}

// awaitLate waits for the next late verdict of the session.
func (b *bench) awaitLate(ctx context.Context) {
	came := make(chan struct{}, 1)
	b.s.OnLate(func(Late) {
		select {
		case came <- struct{}{}:
		default:
		}
	})
	b.s.mu.Lock()
	have := len(b.s.extra) > 0
	b.s.mu.Unlock()
	if have {
		return
	}
	select {
	case <-came:
	case <-ctx.Done():
	}
}

func TestRealTools(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		ctx := context.Background()
		if r.other == "" {
			places, notice, err := b.s.Definition(ctx, b.path(r.main), b.read(r.main), 1, 1)
			if notice == "" || err != nil || len(places) != 0 {
				t.Errorf("definition: %v %q %v", places, notice, err)
			}
			return
		}
		b.foresee(b.change(r.other, b.read(r.other)+"\n")) // has read the project
		text := b.read(r.other)
		line, char := 0, 0
		for i, l := range strings.Split(text, "\n") {
			if n := strings.LastIndex(strings.ToLower(l), "a()"); n >= 0 {
				line, char = i+1, n+1
			}
		}
		// Another line above it exists only in the editor's buffer.
		comment := map[string]string{".go": "// ü", ".ts": "// ü", ".py": "# ü"}[filepath.Ext(r.other)]
		text = comment + "\n" + text
		line++
		places, notice, err := b.s.Definition(ctx, b.path(r.other), text, line, char)
		if err != nil || notice != "" || len(places) != 1 || places[0].Path != b.path(r.main) {
			t.Fatalf("definition: %v %q %v", places, notice, err)
		}
		places, notice, err = b.s.References(ctx, b.path(r.main), b.read(r.main), places[0].Line, places[0].Character)
		if err != nil || notice != "" || len(places) < 2 {
			t.Errorf("references: %v %q %v", places, notice, err)
		}
		hover, notice, err := b.s.Hover(ctx, b.path(r.other), text, line, char)
		if err != nil || notice != "" || !strings.Contains(strings.ToLower(hover), "a()") {
			t.Errorf("hover: %q %q %v", hover, notice, err)
		}
		if _, _, err := b.s.Hover(ctx, b.path(r.other), text, 0, 1); err == nil {
			t.Error("line 0 is taken")
		}
	})
}
