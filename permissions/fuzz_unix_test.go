//go:build !windows

package permissions

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// FuzzCommand looks for lines that panic, that a stricter mode allows and a laxer one does not, or
// that stay allowed when a write outside the roots is put behind them.
func FuzzCommand(f *testing.F) {
	lines, _ := corpus(f)
	for _, line := range lines {
		f.Add(line)
	}
	p := newPlace(f)
	sessions := map[Mode]*Session{}
	for _, m := range modes {
		sessions[m] = p.session(Rules{Mode: m, AllowDontAsk: true})
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = p.fill(line)
		got := map[Mode]Verdict{}
		for _, m := range modes {
			d := sessions[m].Command(line, p.w)
			checkDecision(t, line, d)
			got[m] = d.Verdict
		}
		if got[ModePlan] == Allow && got[ModeDefault] != Allow || got[ModeDefault] == Allow && got[ModeDontAsk] != Allow {
			t.Errorf("%q: %v", line, got)
		}
		if got[ModePlan] == Ask && got[ModeDefault] == Allow {
			t.Errorf("%q: %v", line, got)
		}
		for _, m := range modes {
			if got[m] != Allow || strings.ContainsAny(line, "#\\<\n") || strings.TrimSpace(line) == "" {
				continue
			}
			for _, tail := range []string{" > @O/f", " >> @O/f", " | tee @O/f", "\ntee @O/f", " & tee @O/f", " || tee @O/f"} {
				if d := sessions[m].Command(line+p.fill(tail), p.w); d.Verdict == Allow {
					t.Errorf("%s: %q is allowed: %+v", m, line+tail, d)
				}
			}
		}
	})
}

// evil are commands that must never run unasked in mode default, each for another reason.
var evil = []string{
	"rm a.txt", "touch x", "cat .env", "cat @O/f", "echo x > b.txt", "echo x >@O/f", "curl http://x", "git push", "sh run.sh", "./run.sh",
	"git -c a=b log", "find . -delete", "rg --pre x y", "python3 -c x", "source x", "xargs rm", "sudo ls", "$X", "git diff --output=x",
	"tee @O/f", "dd of=x", "sed -i s/a/b/ a.txt", "cat envlink", "cat outfile", "PATH=. ls", "eval $X", ". run.sh", "cat <@O/f", "make",
}

// frames are ways to put one command inside another line; X is where it goes.
var frames = []string{
	"X", "ls; X", "ls && X", "ls || X", "ls | X", "X | cat", "ls & X", "X & ls", "ls\nX", "( X )", "{ X; }", "if true; then X; fi", "if X; then ls; fi",
	"while X; do ls; done", "for f in a b; do X; done", "case a in a) X;; esac", "! X", "time X", "echo $(X)", "echo `X`", "echo \"$(X)\"", "echo \"`X`\"",
	"cat <(X)", "cat <<E\n$(X)\nE", "echo ${A:-$(X)}", "ls > /dev/null; X", "cd src && ls; cd ..; X", "f() { X; }; f", "cat <<'E'\nls\nE\nX",
	"echo a # b\nX", "echo 'a'; X; echo \"b\"", "true && { false || X; }", "A=$(X) ls", "ls 2>&1 | head | X", "timeout 5 ls; X", "echo $((1)) ; X",
}

// Whatever stands around a command that must ask, the line asks (or is refused); and what must ask in
// dont_ask as well, because it leaves the roots, asks there too.
func TestNoFrameHidesACommand(t *testing.T) {
	p := newPlace(t)
	def, plan, dont := p.session(Rules{}), p.session(Rules{Mode: ModePlan}), p.session(Rules{Mode: ModeDontAsk, AllowDontAsk: true})
	rapid.Check(t, func(t *rapid.T) {
		bad := rapid.SampledFrom(evil).Draw(t, "evil")
		line := bad
		for range rapid.IntRange(1, 4).Draw(t, "depth") {
			frame := rapid.SampledFrom(frames).Draw(t, "frame")
			if strings.Contains(line, "`") && strings.Contains(frame, "`") || strings.Contains(line, "\n") && strings.ContainsAny(frame, "\"`") ||
				strings.Contains(line, "<<") && frame != "X" {
				continue // nested backquotes and here-documents need another spelling
			}
			line = strings.Replace(frame, "X", line, 1)
		}
		line = p.fill(line)
		for _, s := range []*Session{def, plan} {
			if d := s.Command(line, p.w); d.Verdict == Allow {
				t.Fatalf("%s: %q is allowed: %+v", s.Mode(), line, d)
			}
		}
		if d := dont.Command(line, p.w); d.Verdict == Allow && (strings.Contains(bad, "@O") || strings.Contains(bad, "env") || strings.Contains(bad, "$X") || strings.Contains(bad, "curl")) {
			t.Fatalf("dont_ask: %q is allowed: %+v", line, d)
		}
	})
}

// A line of reading commands stays allowed in any frame that adds nothing.
func TestFramesDoNotMakeReadingAsk(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{})
	for _, read := range []string{"ls src", "cat a.txt", "git status", "grep -n x src/a.go | head -3"} {
		for _, frame := range []string{"X", "ls; X", "ls && X", "ls || X", "X | cat", "( X )", "{ X; }", "! X", "time X", "X 2>&1", "X 2>/dev/null", "cd src && X; ls"} {
			line := strings.Replace(frame, "X", read, 1)
			if strings.HasPrefix(frame, "cd") && strings.ContainsAny(read, "/") {
				continue
			}
			if d := s.Command(line, p.w); d.Verdict != Allow {
				t.Errorf("%q: %s (%s)", line, d.Verdict, d.Reason)
			}
		}
	}
}

func TestHostileSizesEnd(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{Mode: ModeDontAsk, AllowDontAsk: true})
	for name, line := range map[string]string{
		"substitutions": strings.Repeat("$(", 10_000), "closed substitutions": strings.Repeat("$(", 3_000) + strings.Repeat(")", 3_000),
		"parentheses": strings.Repeat("(", 30_000), "closed parentheses": "ls " + strings.Repeat("(", 5_000) + strings.Repeat(")", 5_000),
		"subshells": strings.Repeat("( ", 5_000) + "ls" + strings.Repeat(" )", 5_000), "quotes": strings.Repeat("\"$(\"", 5_000), "braces": strings.Repeat("{ ", 10_000),
		"arithmetic": "echo $((" + strings.Repeat("(", 10_000), "long": strings.Repeat("x", 100_000), "lists": strings.Repeat("ls;", 10_000),
		"shells": "sh -c '" + strings.Repeat("sh -c ", 5_000) + "'", "folders": strings.Repeat("cd src;", 2_000) + "cat a.go", "globs": "ls " + strings.Repeat("*/", 2_000),
		"dots": "cat " + strings.Repeat("src/../", 2_000) + "a.txt", "stars": "cat " + strings.Repeat("**/", 100) + "*", "case": strings.Repeat("case x in x) ", 2_000),
	} {
		d := s.Command(line, p.w)
		if d.Verdict == "" {
			t.Errorf("%s: no verdict", name)
		}
	}
}

func BenchmarkCommand(b *testing.B) {
	p := newPlace(b)
	for name, line := range map[string]string{
		"read": "git status", "list": "cd src && go test ./... 2>&1 | tail -n 20", "search": "grep -rn foo src",
	} {
		b.Run(name, func(b *testing.B) {
			s := p.session(Rules{})
			for b.Loop() {
				s.Command(line, p.w)
			}
		})
	}
}
