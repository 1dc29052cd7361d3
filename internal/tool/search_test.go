package tool

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"acp-agent/internal/workspace"
)

// tree is a work tree with everything that a search must know how to treat.
const tree = `
-- .git/config --
needle
-- .git/info/exclude --
private
-- .gitignore --
# comment
node_modules/
*.log
!keep.log
/build
-- .env --
KEY=needle
-- private --
needle
-- app.go --
package app

// needle one
func f() {}

var x = "Needle two"
-- build/out.go --
needle
-- keep.log --
needle
-- drop.log --
needle
-- node_modules/lib/a.js --
needle
-- src/build/ok.go --
needle in src
-- src/.ignore --
tmp
-- src/tmp --
needle
-- src/b_test.go --
needle needle
`

func treeEnv(t *testing.T) *Env {
	t.Helper()
	env := newEnv(t, tree)
	write(t, env.at("bin.dat"), "needle\x00", false)
	write(t, env.at("utf16.txt"), "\xff\xfen\x00e\x00e\x00d\x00l\x00e\x00\r\x00\n\x00", false)
	if err := os.Symlink("app.go", env.at("link.go")); err != nil {
		t.Fatal(err)
	}
	env.Sensitive = func(p workspace.Path) bool { return p.Base() == ".env" }
	return env
}

const leftOut = "[5 entries are ignored by git and left out (build/, drop.log, node_modules/, private, src/tmp). To include them, set include_ignored to true or give one of them as path.]"

func TestSearchFiles(t *testing.T) {
	env := treeEnv(t)
	const secret = "\n[1 sensitive entry is left out. To read one, name it with read_file, which asks the user.]"
	const left = leftOut + secret
	for name, tc := range map[string]struct{ args, want string }{
		"a tree": {`{"pattern":"needle"}`, "app.go:3:// needle one\nkeep.log:1:needle\nsrc/b_test.go:1:needle needle\nsrc/build/ok.go:1:needle in src\n" +
			"utf16.txt:1:needle\n[5 matches in 5 files.]\n" + left},
		"no case":        {`{"pattern":"(?i)needle t"}`, "app.go:6:var x = \"Needle two\"\n[1 match in 1 file.]\n" + left},
		"an expression":  {`{"pattern":"^func \\w+\\(\\) \\{\\}$"}`, "app.go:4:func f() {}\n[1 match in 1 file.]\n" + left},
		"nothing":        {`{"pattern":"needless"}`, "[No match.]\n" + left},
		"glob of names":  {`{"pattern":"needle","glob":"*.go"}`, "app.go:3:// needle one\nsrc/b_test.go:1:needle needle\nsrc/build/ok.go:1:needle in src\n[3 matches in 3 files.]\n" + left},
		"glob of paths":  {`{"pattern":"needle","glob":"src/**/*.go"}`, "src/b_test.go:1:needle needle\nsrc/build/ok.go:1:needle in src\n[2 matches in 2 files.]\n" + left},
		"glob of others": {`{"pattern":"needle","glob":"!*.{go,txt}"}`, "keep.log:1:needle\n[1 match in 1 file.]\n" + left},
		"with context": {`{"pattern":"one|two","context":1,"glob":"app.go"}`, "app.go-2-\napp.go:3:// needle one\napp.go-4-func f() {}\napp.go-5-\napp.go:6:var x = \"Needle two\"\n" +
			"[2 matches in 1 file.]\n" + left},
		"a folder below":  {`{"pattern":"needle","path":"src"}`, "src/b_test.go:1:needle needle\nsrc/build/ok.go:1:needle in src\n[2 matches in 2 files.]\n[1 entry is ignored by git and left out (tmp). To include them, set include_ignored to true or give one of them as path.]"},
		"an ignored one":  {`{"pattern":"needle","path":"node_modules"}`, "node_modules/lib/a.js:1:needle\n[1 match in 1 file.]"},
		"below it":        {`{"pattern":"needle","path":"node_modules/lib"}`, "node_modules/lib/a.js:1:needle\n[1 match in 1 file.]"},
		"one file":        {`{"pattern":"needle","path":"drop.log"}`, "drop.log:1:needle\n[1 match in 1 file.]"},
		"one secret file": {`{"pattern":"needle","path":".env"}`, ".env:1:KEY=needle\n[1 match in 1 file.]"},
		"a binary file":   {`{"pattern":"needle","path":"bin.dat"}`, "[No match.]\n[The file is binary and was not searched.]"},
		"all of them": {`{"pattern":"needle","include_ignored":true,"glob":"{drop.log,out.go,a.js,private,tmp}"}`, "build/out.go:1:needle\ndrop.log:1:needle\n" +
			"node_modules/lib/a.js:1:needle\nprivate:1:needle\nsrc/tmp:1:needle\n[5 matches in 5 files.]" + secret},
		"git's own folder": {`{"pattern":"needle","path":".git"}`, ".git/config:1:needle\n[1 match in 1 file.]"},
		"a missing folder": {`{"pattern":"needle","path":"nowhere"}`, `{"error":"W/nowhere does not exist. Use find_files to look for it.","code":"not_found","path":"W/nowhere"}`},
	} {
		t.Run(name, func(t *testing.T) { check(t, env, call(t, env, "search_files", tc.args), tc.want) })
	}
	r := call(t, env, "search_files", `{"pattern":"needle","limit":"2"}`)
	if !strings.HasPrefix(r.Text, "app.go:3:// needle one\nkeep.log:1:needle\n[Only the first 2 matches are shown; there are more. Use a narrower") {
		t.Errorf("with a limit:\n%s", r.Text)
	}
	a, err := prepare(t, env, "search_files", `{"pattern":"a`+"`"+`b","path":"src","glob":"*.go"}`)
	if err != nil || a.Title != "Search `` a`b `` in src (*.go)" || a.Kind != KindSearch || a.Reads[0] != workspace.Path(env.at("src")) {
		t.Errorf("%+v, %v", a, err)
	}
}

func TestSearchIsTheSameEveryTime(t *testing.T) {
	env := newEnv(t, "")
	for i := range 300 {
		write(t, env.at(fmt.Sprintf("d%d/f%d.txt", i%7, i)), strings.Repeat("hit\n", i%5), false)
	}
	first := call(t, env, "search_files", `{"pattern":"h.t","limit":150}`)
	if strings.Count(first.Text, ":hit") != 150 {
		t.Fatalf("%d matches, want 150", strings.Count(first.Text, ":hit"))
	}
	for range 10 {
		if again := call(t, env, "search_files", `{"pattern":"h.t","limit":150}`); again.Text != first.Text {
			t.Fatalf("another answer:\n%s", again.Text)
		}
	}
}

// TestSearchText holds that text is found wherever blocks begin and end.
func TestSearchText(t *testing.T) {
	env := newEnv(t, "")
	for name, tc := range map[string]struct {
		text, args, want string
	}{
		"far down":       {lines(200_000, "some line %d") + "the needle\n", `{"pattern":"needle","path":"f"}`, "f:200001:the needle\n[1 match in 1 file.]"},
		"by expression":  {lines(200_000, "some line %d"), `{"pattern":"^some (l)ine 19999[89]$","path":"f"}`, "f:199998:some line 199998\nf:199999:some line 199999\n[2 matches in 1 file.]"},
		"in a long line": {strings.Repeat("x", 3*searchBlock) + "needle" + strings.Repeat("y", 500) + "\nneedle", `{"pattern":"needle","path":"f"}`, "f:1:" + "needle" + strings.Repeat("y", 394) + "…\nf:2:needle\n[2 matches in 1 file.]"},
		"amid a line":    {strings.Repeat("x", 1000) + "needle" + strings.Repeat("y", 1000), `{"pattern":"needle","path":"f"}`, "f:1:…" + strings.Repeat("x", 100) + "needle" + strings.Repeat("y", 294) + "…\n[1 match in 1 file.]"},
		"CRLF":           {"a needle\r\nb\r\n", `{"pattern":"needle$","path":"f"}`, "f:1:a needle\n[1 match in 1 file.]"},
		"not UTF-8":      {"caf\xe9 needle\n", `{"pattern":"needle","path":"f"}`, "f:1:caf\ufffd needle\n[1 match in 1 file.]"},
		"BOM":            {"\ufeffneedle\n", `{"pattern":"^needle","path":"f"}`, "f:1:needle\n[1 match in 1 file.]"},
		"empty":          {"", `{"pattern":"x*","path":"f"}`, "[No match.]"},
		"no final break": {"a\n\nneedle", `{"pattern":"needle","path":"f","context":1}`, "f-2-\nf:3:needle\n[1 match in 1 file.]"},
		"overlapping context": {"1\nneedle\n3\nneedle\n5\n6\n7\nneedle\n", `{"pattern":"needle","path":"f","context":1}`,
			"f-1-1\nf:2:needle\nf-3-3\nf:4:needle\nf-5-5\n--\nf-7-7\nf:8:needle\n[3 matches in 1 file.]"},
	} {
		t.Run(name, func(t *testing.T) {
			write(t, env.at("f"), tc.text, false)
			check(t, env, call(t, env, "search_files", tc.args), tc.want)
		})
	}
}

func TestSearchOutputIsBounded(t *testing.T) {
	env := newEnv(t, "")
	write(t, env.at("f"), lines(5000, strings.Repeat("x", 300)+"%d"), false)
	r := call(t, env, "search_files", `{"pattern":"xx","limit":2000}`)
	if len(r.Text) > 64<<10+500 || !strings.Contains(r.Text, "the output would be too long") {
		t.Errorf("%d bytes … %s", len(r.Text), r.Text[len(r.Text)-200:])
	}
}

// TestSearchMemory holds that memory does not grow with the files: 64 MiB in one line.
func TestSearchMemory(t *testing.T) {
	env := newEnv(t, "")
	f, err := os.Create(env.at("f"))
	if err != nil {
		t.Fatal(err)
	}
	chunk := []byte(strings.Repeat("x", 1<<20))
	for range 64 {
		if _, err := f.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	f.Close()
	var before, end runtime.MemStats
	runtime.ReadMemStats(&before)
	check(t, env, call(t, env, "search_files", `{"pattern":"needle"}`), "[No match.]")
	runtime.ReadMemStats(&end)
	if used := end.TotalAlloc - before.TotalAlloc; used > 4<<20 {
		t.Errorf("%d bytes were allocated", used)
	}
}

func TestSearchCancelled(t *testing.T) {
	env := treeEnv(t)
	a, err := prepare(t, env, "search_files", `{"pattern":"needle"}`)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if r := a.Run(ctx, newShown()); codeOf(r) != "cancelled" {
		t.Errorf("%+v", r)
	}
}

// codeOf is the code of a failed result.
func codeOf(r Result) string {
	if f, ok := r.Raw.(failure); ok {
		return string(f.Code)
	}
	return ""
}

func TestFindFiles(t *testing.T) {
	env := treeEnv(t)
	for name, tc := range map[string]struct{ args, want string }{
		"by name":          {`{"pattern":"*.go"}`, "app.go\nlink.go -> app.go\nsrc/b_test.go\nsrc/build/ok.go\n" + leftOut},
		"by path":          {`{"pattern":"src/**/*.go"}`, "src/b_test.go\nsrc/build/ok.go\n[1 entry is ignored by git and left out (tmp). To include them, set include_ignored to true or give one of them as path.]"},
		"secret names":     {`{"pattern":".env*"}`, ".env\n" + leftOut},
		"folders":          {`{"pattern":"bu*/"}`, "src/build/\n" + leftOut},
		"none":             {`{"pattern":"*.rs"}`, "[No file matches.]\n" + leftOut},
		"ignored by path":  {`{"pattern":"node_modules/**/*.js"}`, "node_modules/lib/a.js\n"},
		"ignored by wish":  {`{"pattern":"*.{js,log}","include_ignored":"true"}`, "drop.log\nkeep.log\nnode_modules/lib/a.js\n"},
		"absolute":         {object("pattern", env.at("src")+"/*.go"), "src/b_test.go\n[1 entry is ignored by git and left out (tmp). To include them, set include_ignored to true or give one of them as path.]"},
		"from below":       {`{"pattern":"../*.go","path":"src"}`, "app.go\nlink.go -> app.go\n" + leftOut},
		"a missing folder": {`{"pattern":"*","path":"nowhere"}`, `{"error":"W/nowhere does not exist. Use find_files to look for it.","code":"not_found","path":"W/nowhere"}`},
		"a file":           {`{"pattern":"*","path":"app.go"}`, `{"error":"W/app.go is a file, not a folder.","code":"unsupported_file","path":"W/app.go"}`},
	} {
		t.Run(name, func(t *testing.T) { check(t, env, call(t, env, "find_files", tc.args), tc.want) })
	}
}

func TestListDirectory(t *testing.T) {
	env := treeEnv(t)
	for name, tc := range map[string]struct{ args, want string }{
		"itself": {`{}`, ".env\n.gitignore\napp.go\nbin.dat\nbuild/\ndrop.log\nkeep.log\nlink.go -> app.go\nnode_modules/\nprivate\nsrc/\nutf16.txt\n"},
		"deeper": {`{"path":".","depth":2}`, ".env\n.gitignore\napp.go\nbin.dat\nbuild/ (ignored by git, not listed)\ndrop.log\nkeep.log\nlink.go -> app.go\n" +
			"node_modules/ (ignored by git, not listed)\nprivate\nsrc/\nsrc/.ignore\nsrc/b_test.go\nsrc/build/\nsrc/tmp\nutf16.txt\n"},
		"an ignored one": {`{"path":"node_modules","depth":5}`, "lib/\nlib/a.js\n"},
		"a file":         {`{"path":"app.go"}`, `{"error":"W/app.go is a file, not a folder.","code":"unsupported_file","path":"W/app.go"}`},
	} {
		t.Run(name, func(t *testing.T) { check(t, env, call(t, env, "list_directory", tc.args), tc.want) })
	}
	if err := os.Mkdir(env.at("void"), 0o755); err != nil {
		t.Fatal(err)
	}
	check(t, env, call(t, env, "list_directory", `{"path":"void"}`), "[The folder is empty.]")
	for i := range maxEntries + 5 {
		write(t, env.at(fmt.Sprintf("void/%04d", i)), "", false)
	}
	r := call(t, env, "list_directory", `{"path":"void"}`)
	if strings.Count(r.Text, "\n") != maxEntries || !strings.Contains(r.Text, "[Only the first 1000 entries are shown.") {
		t.Errorf("%d lines … %s", strings.Count(r.Text, "\n"), r.Text[len(r.Text)-100:])
	}
}

// TestIgnoreRules holds single lines of ignore files against git's own answers (git check-ignore).
// Long names fill the model's window as contents do: lists stop at the same bound.
func TestListsOfNamesAreBounded(t *testing.T) {
	env := newEnv(t, "")
	env.Limits.OutputBytes = 4000
	for i := range 100 {
		write(t, env.at(fmt.Sprintf("%03d-%s", i, strings.Repeat("x", 150))), "", false)
	}
	for tool, args := range map[string]string{"list_directory": `{}`, "find_files": `{"pattern":"*"}`} {
		r := call(t, env, tool, args)
		if len(r.Text) > 4000+300 || len(r.Text) < 3000 || !strings.Contains(r.Text, "Only the first 26 ") {
			t.Errorf("%s: %d bytes, … %s", tool, len(r.Text), r.Text[max(0, len(r.Text)-200):])
		}
	}
}

func TestIgnoreRules(t *testing.T) {
	for line, paths := range map[string]map[string]bool{
		"foo":         {"foo": true, "a/foo": true, "foobar": false, "foo/x": true},
		"/foo":        {"foo": true, "a/foo": false},
		"foo/":        {"foo": false, "foo/x": true, "a/foo/x": true},
		"a/b":         {"a/b": true, "c/a/b": false},
		"**/b":        {"b": true, "a/c/b": true},
		"a/**":        {"a/x": true, "a/b/x": true, "b/a/x": false},
		"a/**/z":      {"a/z": true, "a/b/c/z": true},
		"*.[oa]":      {"x.o": true, "d/x.a": true, "x.c": false},
		"[!a].txt":    {"b.txt": true, "a.txt": false},
		"a**b":        {"axxb": true, "a/b": false},
		"{a,b}":       {"a": false, "{a,b}": true},
		`\#x`:         {"#x": true},
		"#x":          {"#x": false},
		`b\ `:         {"b ": true, "b": false},
		"trail  ":     {"trail": true},
		"*\n!keep":    {"keep": false, "drop": true},
		"d/\n!d/keep": {"d/keep": true},
		"[":           {"[": false, "x": false},
	} {
		env := newEnv(t, "")
		write(t, env.at(".gitignore"), line+"\n", false)
		for p, want := range paths {
			write(t, env.at(p), "", false)
			if got := gitIgnores(env.Files.Roots, workspace.Path(env.at(p))); got != want {
				t.Errorf("%q ignores %q: %v, want %v", line, p, got, want)
			}
			if err := os.RemoveAll(env.at(strings.Split(p, "/")[0])); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// TestWalkOfAnUnreadableFolder holds that what cannot be seen is told.
func TestWalkOfAnUnreadableFolder(t *testing.T) {
	env := newEnv(t, "-- a.txt --\nneedle\n")
	w := newWalk(env, env.Files.Roots.Cwd(), false)
	w.unread = 2
	if got := w.notices(); len(got) != 1 || got[0] != "2 folders could not be read." {
		t.Errorf("notices %q", got)
	}
	if err := newWalk(env, workspace.Path(filepath.Join(env.at("nowhere"))), false).run(t.Context(), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("error %v", err)
	}
}

func BenchmarkSearch(b *testing.B) {
	dir := b.TempDir()
	for i := range 500 {
		name := filepath.Join(dir, fmt.Sprintf("f%d.go", i))
		if err := os.WriteFile(name, []byte(lines(500, "func name%d() { return }")), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	roots, err := workspace.NewRoots(workspace.Path(dir), "")
	if err != nil {
		b.Fatal(err)
	}
	env := &Env{Files: &workspace.Files{Roots: roots}}
	for name, args := range map[string]string{"literal": `{"pattern":"name499\\("}`, "expression": `{"pattern":"(?i)NAME499"}`} {
		b.Run(name, func(b *testing.B) {
			a, err := prepareSearch(b.Context(), env, []byte(args))
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				a.Run(b.Context(), nil)
			}
		})
	}
}
