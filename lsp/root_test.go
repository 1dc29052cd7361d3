package lsp

import (
	"os"
	"path/filepath"
	"testing"

	"acp-agent/internal/workspace"
)

func writeFile(t testing.TB, p workspace.Path, text string) {
	t.Helper()
	if err := os.MkdirAll(string(p.Dir()), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(string(p), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func mkdir(t testing.TB, p workspace.Path) {
	t.Helper()
	if err := os.MkdirAll(string(p), 0o755); err != nil {
		t.Fatal(err)
	}
}

func TestGitGate(t *testing.T) {
	dir := tempDir(t)
	mkdir(t, dir.Join("repo/.git"))
	mkdir(t, dir.Join("repo/deep/er"))
	mkdir(t, dir.Join("repo/nested/.git"))
	mkdir(t, dir.Join("repo/.git/worktrees/wt"))
	mkdir(t, dir.Join("repo/.git/modules/sub"))
	writeFile(t, dir.Join("wt/.git"), "gitdir: "+string(dir.Join("repo/.git/worktrees/wt"))+"\n")
	writeFile(t, dir.Join("repo/sub/.git"), "gitdir: ../.git/modules/sub\n")
	writeFile(t, dir.Join("repo/dead/.git"), "gitdir: /nowhere/at/all\n")
	writeFile(t, dir.Join("repo/rubbish/.git"), "hello\n")
	mkdir(t, dir.Join("plain"))
	tests := []struct {
		file, top string
		ok        bool
	}{
		{"repo/a.go", "repo", true},
		{"repo/deep/er/a.go", "repo", true},
		{"repo/not/there/yet/a.go", "repo", true},
		{"repo/nested/a.go", "repo/nested", true},
		{"repo/sub/a.go", "repo/sub", true},
		{"wt/a.go", "wt", true},
		{"repo/dead/a.go", "repo/dead", false}, // and not the repository above
		{"repo/rubbish/x/a.go", "repo/rubbish", false},
	}
	for _, tt := range tests {
		top, ok := worktreeOf(dir.Join(tt.file))
		if top != dir.Join(tt.top) || ok != tt.ok {
			t.Errorf("%s: %s %v, want %s %v", tt.file, top, ok, tt.top, tt.ok)
		}
	}
	if top, ok := worktreeOf(dir.Join("plain/a.go")); ok && dir.Contains(top) {
		t.Errorf("plain folder: %s", top)
	}
}

func TestProjectRoot(t *testing.T) {
	dir := tempDir(t)
	for _, f := range []string{"go.mod", "svc/go.mod", "py/pyproject.toml", "py/pkg/__init__.py", "py/pkg/setup.py", "glob/x.csproj"} {
		writeFile(t, dir.Join(f), "")
	}
	gopls, pyright := &builtin[0], &builtin[3]
	odd := &spec{roots: []string{"*.csproj"}}
	tests := []struct {
		row        *spec
		file, root string
	}{
		{gopls, "a.go", "."},
		{gopls, "svc/x/y/a.go", "svc"}, // the nearest (T6)
		{gopls, "other/a.go", "."},
		{pyright, "py/pkg/a.py", "py"}, // a package is never a root
		{pyright, "nomarker/a.py", "."},
		{odd, "glob/deep/a.cs", "glob"},
		{&spec{}, "svc/a.json", "."},
	}
	for _, tt := range tests {
		if got := projectRoot(tt.row, dir.Join(tt.file), dir); got != dir.Join(tt.root) {
			t.Errorf("%s: %s, want %s", tt.file, got, tt.root)
		}
	}
	if got := projectRoot(gopls, dir.Join("svc/a.go"), dir.Join("svc")); got != dir.Join("svc") {
		t.Errorf("above the worktree: %s", got)
	}
}

func TestExcludedRoots(t *testing.T) {
	tests := []struct {
		root    string
		pattern string
		want    bool
	}{
		{"/home/u/code/big", "/home/u/code/big", true},
		{"/home/u/code/big/sub", "/home/u/code/big", true},
		{"/home/u/code/bigger", "/home/u/code/big", false},
		{"/home/u/code/big", "~/code/*", true},
		{"/home/u/code/big/sub", "~/code/*", true},
		{"/home/u/code", "~/code/*", false},
		{"/srv/x/node_modules/y", "**/node_modules", true},
		{"/srv/a[b]/c", "/srv/a[b]", true},
		{"/srv/x", "", false},
		{"/home/u", "~", true},
	}
	for _, tt := range tests {
		if got := excluded(workspace.Path(tt.root), []string{tt.pattern}, "/home/u"); got != tt.want {
			t.Errorf("%s by %q: %v", tt.root, tt.pattern, got)
		}
	}
}

func TestTrust(t *testing.T) {
	dir := tempDir(t)
	mkdir(t, dir.Join("home/code/app/.git"))
	mkdir(t, dir.Join("home/code/app/vendor/clone/.git"))
	mkdir(t, dir.Join("home/code/other/.git"))
	mkdir(t, dir.Join("home/listed/x/.git"))
	mkdir(t, dir.Join("home/second/.git"))
	mkdir(t, dir.Join("home/plain"))
	home := dir.Join("home")
	op := newOperator([]workspace.Path{dir.Join("home/code/app/src"), dir.Join("home/second")}, home, []string{"~/listed", "not absolute"})
	mkdir(t, dir.Join("home/code/app/src"))
	tests := []struct {
		tree string
		want bool
	}{
		{"home/code/app", true},
		{"home/code/app/vendor/clone", false}, // a checkout inside
		{"home/code/other", false},            // a tool's cd changes nothing
		{"home/listed/x", true},
		{"home/listed", true},
		{"home/second", true}, // a further root of the session
		{"home", false},
		{".", false},
	}
	for _, tt := range tests {
		if got := op.trusts(dir.Join(tt.tree)); got != tt.want {
			t.Errorf("%s: %v", tt.tree, got)
		}
	}
	mkdir(t, home.Join(".git"))
	if newOperator([]workspace.Path{home.Join("docs")}, home, nil).trusts(home) {
		t.Error("a repository at the home folder is trusted")
	}
	if newOperator([]workspace.Path{dir}, home, []string{string(dir)}).trusts(home) {
		t.Error("the home folder is trusted through a list entry above it")
	}
	if !newOperator([]workspace.Path{"/elsewhere/plain"}, home, nil).trusts("/elsewhere/plain") {
		t.Error("a folder without a repository that the operator opened")
	}
}

func TestAdmission(t *testing.T) {
	custom := &spec{id: "mine", custom: true, trust: asItIs}
	tests := []struct {
		row     *spec
		trusted bool
		ok      bool
	}{
		{&builtin[0], true, true},
		{&builtin[0], false, false}, // gopls
		{&builtin[1], false, true},  // typescript, pinned
		{&builtin[2], false, false}, // typescript-native
		{&builtin[3], false, true},  // pyright
		{&builtin[4], false, false}, // json is not on the list
		{custom, true, true},
		{custom, false, false},
	}
	for _, tt := range tests {
		got := admit(tt.row, "/w", tt.trusted)
		if got.ok != tt.ok {
			t.Errorf("%s, trusted %v: %+v", tt.row.id, tt.trusted, got)
		}
		if !got.ok && got.text != "skipped: untrusted workspace /w; add it to lsp.trusted_workspaces" {
			t.Errorf("text %q", got.text)
		}
	}
}

func TestNothingInsideAnUntrustedWorkspaceIsRun(t *testing.T) {
	dir := tempDir(t)
	exe := func(name string) workspace.Path {
		p := dir.Join(name)
		writeFile(t, p, "#!/bin/sh\n")
		if err := os.Chmod(string(p), 0o755); err != nil {
			t.Fatal(err)
		}
		return p
	}
	inside := exe("repo/bin/tool.exe")
	outside := exe("usr/bin/tool.exe")
	mkdir(t, dir.Join("links"))
	if err := os.Symlink(string(inside), string(dir.Join("links/tool.exe"))); err != nil {
		t.Fatal(err)
	}
	f := finder{home: dir.Join("ours"), path: string(dir.Join("links")) + string(filepath.ListSeparator) + string(inside.Dir()) +
		string(filepath.ListSeparator) + "relative" + string(filepath.ListSeparator) + string(outside.Dir())}
	repo := dir.Join("repo")
	tests := []struct {
		name   string
		barred workspace.Path
		want   workspace.Path
	}{
		{"tool.exe", repo, outside},
		{"tool.exe", "", dir.Join("links/tool.exe")},
		{string(inside), repo, ""},
		{string(inside), "", inside},
		{"./tool.exe", "", ""},
		{"bin/tool.exe", "", ""},
		{"nothing.exe", "", ""},
	}
	for _, tt := range tests {
		if got := f.find(tt.name, tt.barred); got != string(tt.want) {
			t.Errorf("%s, barred %q: %s, want %s", tt.name, tt.barred, got, tt.want)
		}
	}
	ours := exe("ours/lsp/node_modules/.bin/tool.exe")
	if got := f.find("tool.exe", repo); got != string(ours) {
		t.Errorf("our own comes before PATH: %s", got)
	}
}
