package permissions

import (
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/workspace"
)

// Case G-A09 and the table mode × target: what an edit of each kind of file meets in each mode.
func TestEditByModeAndTarget(t *testing.T) {
	p := newPlace(t)
	tests := []struct{ target, def, accept, dont, plan string }{
		{"src/a.go", "ask", "allow", "allow", "deny"},
		{"new/dir/x.txt", "ask", "allow", "allow", "deny"},
		{"inlink/a.go", "ask", "allow", "allow", "deny"},
		{"@O/f", "ask+O", "ask+O", "ask+O", "deny"},
		{"out/new.txt", "ask+O", "ask+O", "ask+O", "deny"},
		{"outfile", "ask+O", "ask+O", "ask+O", "deny"},
		{"../esc.txt", "ask+O", "ask+O", "ask+O", "deny"},
		{"@H/notes.txt", "ask+O", "ask+O", "ask+O", "deny"},
		{"@H/.bashrc", "ask+S+O", "ask+S+O", "ask+S+O", "deny"},
		{"@H/.anything", "ask+S+O", "ask+S+O", "ask+S+O", "deny"},
		{"@H/.acp-agent/config.yaml", "ask+S+O", "ask+S+O", "ask+S+O", "deny"},
		{"envlink", "ask+S", "ask+S", "ask+S", "deny"},
	}
	for _, name := range []string{
		".git/hooks/pre-commit", ".git/config", "sub/.git/x", ".GIT/config", ".g\u200cit/config", ".ssh/id_ed25519", "sub/.gnupg/x", ".aws/credentials",
		".kube/config", ".env", ".env.local", ".Env", ".envrc", "sub/.env", "id_rsa", "id_ed25519_sk", "id_github", "certs/server.pem",
		"server.KEY", "x.pfx", ".netrc", ".npmrc", ".pypirc", "credentials", "credentials.json", ".git-credentials", ".bashrc",
		".zshenv", ".profile", ".vscode/settings.json", ".vscode/new/x", ".zed/tasks.json", ".idea/workspace.xml", "x.code-workspace",
		".github/workflows/ci.yml", ".gitlab-ci.yml", ".circleci/config.yml", "Jenkinsfile", ".gitattributes", ".gitmodules",
		".husky/pre-commit", "bare.git/hooks/update", "AGENTS.md", "sub/Agents.md", "CLAUDE.md", ".cursor/rules/x", ".lsp.json", ".mcp.json",
	} {
		tests = append(tests, struct{ target, def, accept, dont, plan string }{name, "ask+S", "ask+S", "ask+S", "deny"})
	}
	for _, name := range []string{
		".gitignore", ".github/ISSUE_TEMPLATE.md", ".editorconfig", "environment.go", "git/x", "id_map.go", "id_rsa.pub", "keys.go", "pem.go",
		"README.md", "agents/x.md", "hooks/useX.ts", "my.env.go", "settings.json", "workflows/x.yml", "Makefile", "profile.go",
	} {
		tests = append(tests, struct{ target, def, accept, dont, plan string }{name, "ask", "allow", "allow", "deny"})
	}
	for _, tt := range tests {
		for i, want := range []string{tt.def, tt.accept, tt.dont, tt.plan} {
			s := p.session(Rules{Mode: modes[i], AllowDontAsk: true})
			d := s.Edit([]Target{p.target(tt.target)})
			if got := letter(d); got != want {
				t.Errorf("%s in %s: %s, want %s (%s)", tt.target, modes[i], got, want, d.Reason)
			}
			if modes[i] == ModePlan && d.By != ByMode {
				t.Errorf("%s in plan: by %s", tt.target, d.By)
			}
			// The strictest target decides, wherever it stands (a move has two).
			for _, pair := range [][]Target{{p.target("a.txt"), p.target(tt.target)}, {p.target(tt.target), p.target("a.txt")}} {
				if both := letter(s.Edit(pair)); both != want && want != "allow" {
					t.Errorf("%s beside a.txt in %s: %s, want %s", tt.target, modes[i], both, want)
				}
			}
		}
	}
}

func TestReadByTarget(t *testing.T) {
	p := newPlace(t)
	for target, want := range map[string]string{
		"a.txt": "allow", "src/a.go": "allow", "inlink/a.go": "allow", "AGENTS.md": "allow", ".github/workflows/ci.yml": "allow",
		".vscode/settings.json": "allow", ".gitattributes": "allow", ".env": "ask+S", "envlink": "ask+S", ".git/config": "ask+S",
		"certs/server.pem": "ask+S", "@O/f": "ask+O", "outfile": "ask+O", "@H/notes.txt": "ask+O", "@H/.bashrc": "ask+S+O",
		"@H/.acp-agent/sessions.db": "ask+O",
	} {
		for _, m := range modes {
			s := p.session(Rules{Mode: m, AllowDontAsk: true})
			if d := s.Read([]workspace.Path{p.target("b.txt").Path, p.target(target).Path}); letter(d) != want {
				t.Errorf("reading %s in %s: %s, want %s", target, m, letter(d), want)
			}
			if got := s.Sensitive(p.target(target).Path, false); got != strings.Contains(want, "S") {
				t.Errorf("Sensitive(%s) = %v", target, got)
			}
		}
	}
	s := p.session(Rules{})
	if !s.Sensitive(p.w.Join("AGENTS.md"), true) || s.Sensitive(p.w.Join("AGENTS.md"), false) {
		t.Error("AGENTS.md is sensitive for writing only")
	}
}

// A checkout inside a folder that is sensitive for writing is an ordinary checkout.
func TestRootInsideAnEditorFolder(t *testing.T) {
	base := workspace.Path(t.TempDir()).Join(".claude", "worktrees", "x")
	p := newPlace(t)
	if err := mkdir(base); err != nil {
		t.Fatal(err)
	}
	roots, err := workspace.NewRoots(base, p.h)
	if err != nil {
		t.Fatal(err)
	}
	p.roots, p.w = roots, base
	s := p.session(Rules{Mode: ModeAcceptEdits})
	if d := s.Edit([]Target{p.target("main.go")}); d.Verdict != Allow {
		t.Errorf("%+v", d)
	}
	if d := s.Edit([]Target{p.target(".claude/settings.json")}); !d.Sensitive {
		t.Errorf("%+v", d)
	}
}

func TestDeletingALinkActsOnTheLink(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{Mode: ModeAcceptEdits})
	loc := p.roots.LocateEntry(p.w.Join("outfile"))
	if d := s.Edit([]Target{{Path: loc.Path, Real: loc.Real}}); d.Verdict != Allow {
		t.Errorf("%+v", d)
	}
}

func TestModes(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{})
	if s.Mode() != ModeDefault {
		t.Errorf("starts in %s", s.Mode())
	}
	if err := s.SetMode(ModeDontAsk); err == nil || !strings.Contains(err.Error(), "permissions.allow_dont_ask") {
		t.Errorf("dont_ask: %v", err)
	}
	if err := s.SetMode("yolo"); err == nil || !strings.Contains(err.Error(), "default, accept_edits, plan") {
		t.Errorf("yolo: %v", err)
	}
	if s.Mode() != ModeDefault {
		t.Errorf("a refused mode changed it to %s", s.Mode())
	}
	if err := s.SetMode(ModePlan); err != nil || s.Mode() != ModePlan {
		t.Errorf("plan: %v, %s", err, s.Mode())
	}
	policy, err := Compile(Rules{AllowDontAsk: true}, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := policy.Modes(); len(got) != 4 || got[2] != ModeDontAsk {
		t.Errorf("modes %v", got)
	}
}

func TestCompileRefuses(t *testing.T) {
	for _, tt := range []struct {
		rules Rules
		want  string
	}{
		{Rules{Mode: "yolo"}, `permissions.mode: mode "yolo" is unknown`},
		{Rules{Mode: ModeDontAsk}, "permissions.allow_dont_ask: true"},
		{Rules{Allow: []string{"go test"}}, `permissions.allow: rule "go test": not of the form kind(pattern)`},
		{Rules{Deny: []string{"terminal(ls"}}, "not of the form"},
		{Rules{Ask: []string{"shell(ls)"}}, `kind "shell" is not one of`},
		{Rules{Ask: []string{"edit()"}}, "the pattern is empty"},
		{Rules{Deny: []string{"edit(a[)"}}, "not a valid glob"},
		{Rules{ReadOnly: []string{""}}, "permissions.read_only"},
		{Rules{ReadOnly: []string{"ls | rm"}}, "without shell characters"},
	} {
		if _, err := Compile(tt.rules, ""); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%+v: error %v, want %q in it", tt.rules, err, tt.want)
		}
	}
}

func TestEditRules(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{
		Allow: []string{"edit(docs/**)", "edit(src/*.go)", "edit(.env)", "edit(@O/**)"},
		Ask:   []string{"edit(docs/secret/**)"},
		Deny:  []string{"edit(**/generated/**)", "edit(src/locked.go)"},
	})
	for target, want := range map[string]string{
		"docs/x.md": "allow", "docs/a/b.md": "allow", "src/a.go": "allow", "inlink/a.go": "ask", // both names must be allowed
		"src/deep/b.go": "ask", "docs/secret/x": "ask", "docs/generated/x": "deny", "src/locked.go": "deny", "inlink/locked.go": "deny",
		"a.txt": "ask", ".env": "ask+S", "@O/generated/x": "deny", "@O/f": "ask+O", "out/generated/x": "deny",
	} {
		if d := s.Edit([]Target{p.target(target)}); letter(d) != want {
			t.Errorf("%s: %s, want %s (%s)", target, letter(d), want, d.Reason)
		} else if want == "deny" && d.By != ByRule {
			t.Errorf("%s: denied by %s", target, d.By)
		}
	}
	if err := s.SetMode(ModeAcceptEdits); err != nil {
		t.Fatal(err)
	}
	if d := s.Edit([]Target{p.target("docs/secret/x")}); d.Verdict != Ask || d.Rule != "edit(docs/secret/**)" {
		t.Errorf("an ask rule must ask in accept_edits too: %+v", d)
	}
}

func TestMCPAndTools(t *testing.T) {
	p := newPlace(t)
	rules := Rules{AllowDontAsk: true, Allow: []string{"mcp(fs.read*)", "mcp(docs.*)"}, Ask: []string{"mcp(github.*)", "tool(delegate)"}, Deny: []string{"mcp(*.delete*)", "tool(lsp_rename)"}}
	for _, tt := range []struct {
		server, tool string
		readOnly     bool
		want         [4]string // by mode
	}{
		{"fs", "write", false, [4]string{"ask", "ask", "ask", "deny"}},
		{"fs", "stat", true, [4]string{"allow", "allow", "allow", "allow"}},
		{"fs", "read_file", false, [4]string{"allow", "allow", "allow", "deny"}},
		{"docs", "x", false, [4]string{"allow", "allow", "allow", "deny"}},
		{"github", "list", true, [4]string{"ask", "ask", "ask", "ask"}},
		{"docs", "delete_all", true, [4]string{"deny", "deny", "deny", "deny"}},
	} {
		for i, m := range modes {
			rules.Mode = m
			if d := p.session(rules).MCP(tt.server, tt.tool, tt.readOnly); letter(d) != tt.want[i] {
				t.Errorf("%s.%s in %s: %s, want %s", tt.server, tt.tool, m, letter(d), tt.want[i])
			}
		}
	}
	rules.Mode = ModeDefault
	s := p.session(rules)
	for tool, want := range map[string]string{"update_plan": "allow", "delegate": "ask", "lsp_rename": "deny"} {
		if d := s.Tool(tool); letter(d) != want {
			t.Errorf("tool %s: %s, want %s", tool, letter(d), want)
		}
	}
	s.AllowMCP("fs", "write")
	if d := s.MCP("fs", "write", false); d.Verdict != Allow {
		t.Errorf("after AllowMCP: %+v", d)
	}
	if d := s.MCP("fs", "write2", false); d.Verdict != Ask {
		t.Errorf("another tool after AllowMCP: %+v", d)
	}
	if d := p.session(rules).MCP("fs", "write", false); d.Verdict != Ask {
		t.Errorf("another session after AllowMCP: %+v", d)
	}
}

func TestEditsInside(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{Deny: []string{"edit(src/**)"}})
	for target, want := range map[string]bool{"a.txt": true, ".env": false, "@O/f": false, "src/a.go": false} {
		if got := s.EditsInside([]Target{p.target("b.txt"), p.target(target)}); got != want {
			t.Errorf("EditsInside(%s) = %v", target, got)
		}
	}
}

func TestSessionsSideBySide(t *testing.T) {
	p := newPlace(t)
	s := p.session(Rules{AllowDontAsk: true})
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for range 20 {
				s.Command("git push", p.w)
				s.Edit([]Target{p.target("a.txt")})
				switch i {
				case 0:
					s.AllowCommand([]string{"git", "push"})
				case 1:
					s.Denied([]Target{p.target("a.txt")})
				case 2:
					s.BeginTurn()
				case 3:
					if err := s.SetMode(modes[i]); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
}
