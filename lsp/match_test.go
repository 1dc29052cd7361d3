package lsp

import (
	"bytes"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/workspace"
)

func ids(rows []*spec) string {
	var out []string
	for _, r := range rows {
		out = append(out, r.id)
	}
	return strings.Join(out, " ")
}

func TestWhichServerOwnsAFile(t *testing.T) {
	custom := map[string]ServerSettings{
		"panache":  {Command: []string{"panache-lsp"}, Extensions: []string{".pnch", "Panachefile", "blade.php"}},
		"mygo":     {Command: []string{"mygo"}, Extensions: []string{"go"}},
		"Bad Id":   {Command: []string{"x"}, Extensions: []string{".x"}},
		"nocmd":    {Extensions: []string{".y"}},
		"noext":    {Command: []string{"z"}},
		"off":      {Command: []string{"off"}, Extensions: []string{".off"}, Disabled: true},
		"pyright":  {Disabled: true},
		"tsserver": {Command: []string{"x"}, Extensions: []string{".d.ts"}},
	}
	var log bytes.Buffer
	c := newCatalog(&Settings{Servers: custom}, slog.New(slog.NewTextHandler(&log, nil)))
	plain := newCatalog(&Settings{}, slog.New(slog.DiscardHandler))
	tests := []struct {
		catalog *catalog
		file    string
		want    string
	}{
		{plain, "/w/a.go", "gopls"},
		{plain, "/w/A.GO", "gopls"},
		{plain, "/w/.go", ""}, // a name, not an ending
		{plain, "/w/a.ts", "typescript typescript-native"},
		{plain, "/w/a.d.ts", "typescript typescript-native"},
		{plain, "/w/a.py", "pyright"},
		{plain, "/w/tsconfig.json", "json"},
		{plain, "/w/README.md", ""},
		{plain, "/w/go", ""},
		{c, "/w/a.go", "mygo"},       // custom before built-in
		{c, "/w/a.d.ts", "tsserver"}, // the longest suffix
		{c, "/w/a.ts", "typescript typescript-native"},
		{c, "/w/a.py", ""}, // disabled
		{c, "/w/a.pnch", "panache"},
		{c, "/w/Panachefile", "panache"},
		{c, "/w/x.Panachefile", ""},
		{c, "/w/welcome.blade.php", "panache"},
		{c, "/w/blade.php", "panache"},
		{c, "/w/a.off", ""},
	}
	for _, tt := range tests {
		if got := ids(tt.catalog.candidates(workspace.Path(tt.file))); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.file, got, tt.want)
		}
	}
	for _, id := range []string{"Bad Id", "nocmd", "noext"} {
		if !strings.Contains(log.String(), id) {
			t.Errorf("the bad entry %q is not logged:\n%s", id, log.String())
		}
	}
}

func TestLanguageOfAFile(t *testing.T) {
	c := newCatalog(&Settings{}, slog.New(slog.DiscardHandler))
	for file, want := range map[string]string{
		"/w/a.ts": "typescript", "/w/a.tsx": "typescriptreact", "/w/a.jsx": "javascriptreact", "/w/a.mjs": "javascript",
		"/w/a.cts": "typescript", "/w/a.json": "json", "/w/a.jsonc": "jsonc", "/w/tsconfig.json": "jsonc", "/w/a.pyi": "python",
	} {
		rows := c.candidates(workspace.Path(file))
		if got := rows[0].languageID(workspace.Path(file)); got != want {
			t.Errorf("%s: %s, want %s", file, got, want)
		}
	}
}

func TestSettingsOfABuiltinServer(t *testing.T) {
	c := newCatalog(&Settings{Servers: map[string]ServerSettings{
		"gopls": {Command: []string{"/opt/gopls", "-v"}, RootMarkers: []string{"WORKSPACE"}, Env: map[string]string{"GOFLAGS": "-mod=mod"},
			InitializationOptions: map[string]any{"staticcheck": true}},
		"pyright-langserver": {Disabled: true}, // by its command's name
		"json":               {Args: []string{"--more"}},
	}}, slog.New(slog.DiscardHandler))
	row := c.byID("gopls")
	if !slices.Equal(row.command, []string{"/opt/gopls", "-v"}) || row.roots[0] != "WORKSPACE" || row.env["GOFLAGS"] == "" {
		t.Errorf("%+v", row)
	}
	options := merged(row.options(launch{}), row.override)
	if options["pullDiagnostics"] != true || options["staticcheck"] != true {
		t.Errorf("options are not merged: %v", options)
	}
	if got := c.byID("json").command; !slices.Equal(got, []string{"vscode-json-language-server", "--stdio", "--more"}) {
		t.Errorf("args do not stand behind the server's own: %q", got)
	}
	if c.byID("pyright") != nil || c.byID("vscode-json-language-server").id != "json" {
		t.Error("a command's name is not understood as an id")
	}
	if builtin[0].hash != "" || row.hash == newCatalog(&Settings{}, slog.New(slog.DiscardHandler)).byID("gopls").hash {
		t.Error("other settings must give another hash, and leave the table alone")
	}
}

func TestOneCheckerForARoot(t *testing.T) {
	dir := tempDir(t)
	write := func(name, text string) { writeFile(t, dir.Join(name), text) }
	write("old/node_modules/typescript/package.json", `{"version":"5.9.3"}`)
	write("new/node_modules/typescript/package.json", `{"version":"7.0.2"}`)
	write("mono/node_modules/typescript/package.json", `{"version":"7.1.0"}`)
	write("mono/packages/a/package.json", `{}`)
	c := newCatalog(&Settings{}, slog.New(slog.DiscardHandler))
	none := func(string) bool { return false }
	tests := []struct {
		root    string
		trusted bool
		enabled func(string) bool
		want    string
	}{
		{"none", true, none, "typescript"},
		{"old", true, none, "typescript"},
		{"new", true, none, "typescript-native"},
		{"mono/packages/a", true, none, "typescript-native"},
		{"new", false, none, "typescript"}, // its programs may not run
		{"old", true, func(id string) bool { return id == "typescript-native" }, "typescript-native"},
	}
	for _, tt := range tests {
		rows := c.candidates(dir.Join(tt.root, "a.ts"))
		root := func(*spec) workspace.Path { return dir.Join(tt.root) }
		if got := ids(choose(rows, tt.enabled, root, dir, tt.trusted)); got != tt.want {
			t.Errorf("%s, trusted %v: %s, want %s", tt.root, tt.trusted, got, tt.want)
		}
	}
}
