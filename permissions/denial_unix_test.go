//go:build !windows

package permissions

import "testing"

// Case G-A10: what the user refused asks again by every road, in every mode, for the rest of the turn.
func TestRefusedEditComesBackByAnotherRoad(t *testing.T) {
	p := newPlace(t)
	for _, m := range []Mode{ModeDefault, ModeAcceptEdits, ModeDontAsk} {
		s := p.session(Rules{Mode: m, AllowDontAsk: true, Allow: []string{"edit(*.txt)", "terminal(sed *)", "terminal(go test *)", "mcp(fs.*)"}})
		s.AllowCommand([]string{"make"})
		s.AllowMCP("x", "write")
		s.Denied([]Target{p.target("a.txt")})
		for _, line := range []string{
			"sed -i s/1/2/ a.txt", "cd src && sed -i s/1/2/ ../a.txt", "sed -i s/1/2/ *.txt", "sed -i s/1/2/ @W/a.txt", "echo 2 > a.txt",
			"echo 2 >> ./src/../a.txt", "cp b.txt a.txt", "cp b.txt .", "mv b.txt a.txt", "tee a.txt", "rm a.txt", "rm -r .", "python3 fix.py",
			"python3 -c 'open(\"a\"+\".txt\")'", "make", "go test ./...", "git checkout a.txt", "git stash", "sh fix.sh", "ln b.txt c.txt",
			"bash -c 'echo 2 > a.txt'", "find . -name 'a*' -delete", "touch a.txt", "perl -pi -e s/1/2/ a.txt", "cat b.txt | tee a.txt", "cp -r src/. .",
			"mv src/x ..//W/a.txt", "echo x > $F", "truncate -s0 a.txt",
		} {
			if d := s.Command(p.fill(line), p.w); d.Verdict != Ask {
				t.Errorf("%s: %q: %s (%s)", m, line, d.Verdict, d.Reason)
			}
		}
		if d := s.Edit([]Target{p.target("a.txt")}); d.Verdict != Ask || d.Rule != "denied in this turn" {
			t.Errorf("%s: the same edit: %+v", m, d)
		}
		if d := s.Edit([]Target{p.target("b.txt"), p.target("a.txt")}); d.Verdict != Ask {
			t.Errorf("%s: an edit of both: %+v", m, d)
		}
		for _, server := range []string{"fs", "x"} {
			if d := s.MCP(server, "write", false); d.Verdict != Ask {
				t.Errorf("%s: MCP tool of %s: %+v", m, server, d)
			}
		}
		// What provably has nothing to do with it goes on as before.
		if d := s.Edit([]Target{p.target("b.txt")}); d.Verdict != Allow {
			t.Errorf("%s: another file: %+v", m, d)
		}
		for line, want := range map[string]string{"cat a.txt": "allow", "ls": "allow", "git diff a.txt": "allow"} {
			if d := s.Command(line, p.w); letter(d) != want {
				t.Errorf("%s: %q: %s, want %s", m, line, letter(d), want)
			}
		}
		if m == ModeDontAsk {
			for _, line := range []string{"mkdir new", "touch src/x.go", "cp b.txt c.txt", "rm -r docs", "echo x > c.txt"} {
				if d := s.Command(line, p.w); d.Verdict != Allow {
					t.Errorf("%q: %s (%s)", line, d.Verdict, d.Reason)
				}
			}
		}
		// An answer after the refusal counts; it still does not cover the refused file itself.
		s.AllowCommand([]string{"make"})
		if d := s.Command("make", p.w); d.Verdict != Allow {
			t.Errorf("%s: allowed for the session after the refusal: %+v", m, d)
		}
		s.BeginTurn()
		for _, line := range []string{"make", "go test ./...", "sed -i s/1/2/ a.txt"} {
			if d := s.Command(line, p.w); d.Verdict != Allow {
				t.Errorf("%s: %q in the next turn: %+v", m, line, d)
			}
		}
		if d := s.Edit([]Target{p.target("a.txt")}); d.Verdict != Allow {
			t.Errorf("%s: the edit in the next turn: %+v", m, d)
		}
	}
}

func TestRefusedThroughALink(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{Mode: ModeDontAsk, AllowDontAsk: true})
	s.Denied([]Target{p.target("inlink/a.go")})
	for _, name := range []string{"inlink/a.go", "src/a.go"} {
		if d := s.Edit([]Target{p.target(name)}); d.Verdict != Ask {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if d := s.Command("rm -r src", p.w); d.Verdict != Ask {
		t.Errorf("%+v", d)
	}
}

func TestRefusedCommand(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{Mode: ModeDontAsk, AllowDontAsk: true, Allow: []string{"edit(**)", "terminal(*)"}})
	s.DeniedCommand("sed -i s/1/2/ a.txt")
	for _, line := range []string{"sed -i s/1/2/ a.txt", " sed -i s/1/2/ a.txt\n", "sed -i 's/1/2/' a.txt", "make", "echo 2 > a.txt", "cp b.txt a.txt"} {
		if d := s.Command(line, p.w); d.Verdict != Ask {
			t.Errorf("%q: %+v", line, d)
		}
	}
	if d := s.Edit([]Target{p.target("a.txt")}); d.Verdict != Ask {
		t.Errorf("an edit of the file that the command named: %+v", d)
	}
	if d := s.Edit([]Target{p.target("b.txt")}); d.Verdict != Allow {
		t.Errorf("an edit of another file: %+v", d)
	}
	read := p.session(Rules{})
	read.DeniedCommand("ls src")
	if d := read.Command("ls src", p.w); d.Verdict != Ask {
		t.Errorf("a refused read-only command: %+v", d)
	}
	if d := read.Command("ls docs", p.w); d.Verdict != Allow {
		t.Errorf("another read-only command: %+v", d)
	}
}

// Denials are of one session.
func TestRefusalsDoNotCross(t *testing.T) {
	p := newPlace(t)
	rules := Rules{Mode: ModeAcceptEdits}
	a, b := p.session(rules), p.session(rules)
	a.Denied([]Target{p.target("a.txt")})
	if d := b.Edit([]Target{p.target("a.txt")}); d.Verdict != Allow {
		t.Errorf("%+v", d)
	}
}
