package config

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/workspace"
)

// example has every section of the documented configuration.
const example = `
model: ollama/qwen3-coder
providers:
  work: {base_url: "http://127.0.0.1:8000/v1", api_key_env: WORK_KEY, models: [coder]}
permissions:
  mode: default
  allow_dont_ask: false
  read_only: ["git status", "ls"]
  allow: ["terminal(go test *)", "edit(docs/**)"]
  ask: ["mcp(github.*)"]
  deny: ["edit(**/generated/**)", "terminal(curl *)"]
  timeout: 0
tools: {enabled: [], disabled: []}
lsp:
  enabled: true
  inline_budget_ms: 80
  foresee_budget_ms: 1000
  severity: error
  wait_mode: document
  wait_timeout: 5.0
  warmup_timeout: 0
  broken_retry_seconds: 30
  exclude_roots: []
  trusted_workspaces: []
  require_git: true
  install_strategy: auto                    # auto | manual
  package_manager: npm
  idle_timeout: 600
  max_diagnostics_chars: 4000
  servers:
    pyright: {disabled: false, command: [], env: {}, initialization_options: {}}
    panache: {command: ["panache-lsp", "--stdio"], extensions: [".pnch"], root_markers: ["panache.toml"], language_id: panache}
mcp_servers: {}
encodings: {"legacy/**": shift_jis}
sessions: {retention_days: 0}
limits: {tool_output_bytes: 65536}
log: {level: info}
display: {skin: default}
acp: {versions: [1]}
sandbox: false
`

func mustParse(t *testing.T, text string) Config {
	t.Helper()
	c, err := Parse("config.yaml", []byte(text))
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return c
}

func TestExampleIsDefaultsPlusItsOwn(t *testing.T) {
	got := mustParse(t, example)
	want := Default()
	want.Model = "ollama/qwen3-coder"
	want.Providers = map[string]Provider{"work": {BaseURL: "http://127.0.0.1:8000/v1", APIKeyEnv: "WORK_KEY", Models: []string{"coder"}}}
	want.Permissions.ReadOnly = []string{"git status", "ls"}
	want.Permissions.Allow = []string{"terminal(go test *)", "edit(docs/**)"}
	want.Permissions.Ask = []string{"mcp(github.*)"}
	want.Permissions.Deny = []string{"edit(**/generated/**)", "terminal(curl *)"}
	want.Tools = Tools{Enabled: []string{}, Disabled: []string{}}
	want.LSP.ExcludeRoots = []string{}
	want.LSP.TrustedWorkspaces = []string{}
	want.LSP.Servers = map[string]Server{
		"pyright": {Command: []string{}, Env: map[string]string{}, InitializationOptions: map[string]any{}},
		"panache": {Command: []string{"panache-lsp", "--stdio"}, Extensions: []string{".pnch"}, RootMarkers: []string{"panache.toml"}, LanguageID: "panache"},
	}
	want.MCPServers = map[string]any{}
	want.Encodings = map[string]string{"legacy/**": "shift_jis"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNothingConfigured(t *testing.T) {
	for _, text := range []string{"", "# only a comment\n", "---\n", "lsp:\nlimits:\n", "lsp: {severity: }\n", "\ufeff", "{}"} {
		if diff := cmp.Diff(Default(), mustParse(t, text)); diff != "" {
			t.Errorf("%q (-default +got)\n%s", text, diff)
		}
	}
}

func TestPartsKeepTheOtherDefaults(t *testing.T) {
	c := mustParse(t, "lsp: {inline_budget_ms: 0}\nlimits: {tool_rounds: 3}\npermissions: {read_only: []}\n")
	want := Default()
	want.LSP.InlineBudgetMS, want.Limits.ToolRounds, want.Permissions.ReadOnly = 0, 3, []string{}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestJSONStyleKeys(t *testing.T) {
	c := mustParse(t, `{"lsp": {"diagnosticsTimeoutMs": 2500, "maxDiagnosticsChars": 900, "servers": {
		"a": {"command": "a-lsp", "args": ["--stdio"], "rootMarkers": ["a.toml"], "languageId": "a", "initializationOptions": {"deepKey": {"innerKey": 1}}},
		"gopls": {"args": ["-v"]}}}}`)
	want := Default()
	want.LSP.WaitTimeout, want.LSP.MaxDiagnosticsChars = 2.5, 900
	want.LSP.Servers = map[string]Server{
		"a": {Command: []string{"a-lsp", "--stdio"}, RootMarkers: []string{"a.toml"}, LanguageID: "a",
			InitializationOptions: map[string]any{"deepKey": map[string]any{"innerKey": uint64(1)}}},
		"gopls": {Args: []string{"-v"}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExcludeRootsFailsClosed(t *testing.T) {
	for _, value := range []string{"~/big", "", "{a: b}", "[1]", "[a, [b]]", "true", "5"} {
		c := mustParse(t, "lsp:\n  exclude_roots: "+value+"\n")
		if diff := cmp.Diff([]string{"**"}, c.LSP.ExcludeRoots); diff != "" {
			t.Errorf("%q: (-want +got)\n%s", value, diff)
		}
		if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "config.yaml:2:") {
			t.Errorf("%q: warnings %q", value, c.Warnings)
		}
	}
	c := mustParse(t, "lsp: {exclude_roots: [~/big, \"/srv/**\"]}")
	if diff := cmp.Diff([]string{"~/big", "/srv/**"}, c.LSP.ExcludeRoots); diff != "" || c.Warnings != nil {
		t.Errorf("%s %q", diff, c.Warnings)
	}
}

func TestFaults(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown top key", "modle: x/y", `config.yaml:1:1: unknown key "modle"; did you mean "model"?`},
		{"unknown nested key", "lsp:\n  sevrity: error", `config.yaml:2:3: unknown key "sevrity" in lsp; did you mean "severity"?`},
		{"camel case misspelt", "lsp:\n  inlineBudgetMs: 3\n  waitTimout: 3", `config.yaml:3:3: unknown key "waitTimout" in lsp; did you mean "wait_timeout"?`},
		{"camel case only in lsp", "permissions: {readOnly: [ls]}", `unknown key "readOnly" in permissions; did you mean "read_only"?`},
		{"key of another section", "severity: error", `did you mean "lsp.severity"?`},
		{"nothing alike", "lsp: {colour: red}", `allowed are broken_retry_seconds, enabled`},
		{"unknown server key", "lsp: {servers: {a: {comand: [x]}}}", `unknown key "comand" in lsp.servers.a; did you mean "command"?`},
		{"unknown provider key", "providers: {w: {base-url: x}}", `unknown key "base-url" in providers.w; did you mean "base_url"?`},
		{"several at once", "lsp:\n  sevrity: error\nmodle: a/b", "config.yaml:2:3: unknown key \"sevrity\" in lsp; did you mean \"severity\"?\nconfig.yaml:3:1:"},
		{"given twice", "log: {level: info}\nlog: {level: warn}", `config.yaml:2:1: mapping key "log" already defined at [1:1]`},
		{"given twice by alias", "lsp: {max_diagnostics_chars: 1, maxDiagnosticsChars: 2}", `"max_diagnostics_chars" is given twice in lsp`},
		{"given twice by the timeout", "lsp: {wait_timeout: 1, diagnosticsTimeoutMs: 2}", `are the same setting`},
		{"given twice by the timeout, other order", "lsp: {diagnosticsTimeoutMs: 2, wait_timeout: 1}", `"wait_timeout" is given twice`},
		{"broken yaml", "lsp: [", "config.yaml:1:6: "},
		{"not a mapping", "- a", "config.yaml:1:1: the file must be a mapping"},
		{"two documents", "model: a/b\n---\nmodel: c/d", "a second document"},
		{"fraction", "lsp: {inline_budget_ms: 5.5}", "lsp.inline_budget_ms wants a whole number, found 5.5"},
		{"quoted number", "limits:\n  tool_rounds: \"5\"", `config.yaml:2:16: limits.tool_rounds wants a whole number, found the text "5"`},
		{"yes", "sandbox: yes", `sandbox wants true or false, found the text "yes"`},
		{"list for text", "model: [a/b]", "model wants text, found a list"},
		{"text for list", "permissions: {allow: ls}", `permissions.allow wants a list, found the text "ls"`},
		{"list in list", "permissions: {allow: [[ls]]}", "permissions.allow wants a list of text, found a list in it"},
		{"text for section", "lsp: off", "lsp is a section"},
		{"text for table", "providers: x", "providers is a mapping of names"},
		{"too big", "limits: {tool_rounds: 99999999999999999999}", "config.yaml:1:"},
		{"behind an alias", "display: &d {skin: mono}\nlog: *d", `unknown field "skin"`},
		{"mode", "permissions:\n  mode: yolo", `config.yaml:2:9: permissions.mode: "yolo" is not one of default, accept_edits, dont_ask, plan`},
		{"dont_ask", "permissions: {mode: dont_ask}", "needs permissions.allow_dont_ask: true"},
		{"model form", "model: gpt", `model: "gpt" is not of the form provider/model`},
		{"model provider", "model: opnai/gpt", `provider "opnai" is unknown`},
		{"negative time", "lsp: {wait_timeout: -1}", "lsp.wait_timeout: -1 is not a time"},
		{"no number", "lsp: {wait_timeout: .nan}", "lsp.wait_timeout"},
		{"infinite", "permissions: {timeout: .inf}", "permissions.timeout"},
		{"zero limit", "limits: {edit_bytes: 0}", "limits.edit_bytes: 0 is too small; at least 1"},
		{"level", "log: {level: loud}", `"loud" is not one of debug, info, warn, error`},
		{"severity", "lsp: {severity: err}", "lsp.severity"},
		{"package manager", "lsp: {package_manager: bun}", "npm, pnpm, yarn"},
		{"glob", "lsp: {exclude_roots: [\"a[\"]}", `"a[" is not a valid glob`},
		{"encoding", "encodings:\n  \"old/**\": klingon", `config.yaml:2:13: encodings.old/**: encoding "klingon" is unknown`},
		{"acp version", "acp: {versions: [1, 7]}", "version 7"},
		{"no acp version", "acp: {versions: []}", "empty"},
		{"base url", "providers: {w: {base_url: \"localhost:1\"}}", "is not an http or https address"},
		{"no base url", "providers: {w: {api_key: k}}", "base_url is missing"},
		{"key as env name", "providers: {w: {base_url: \"http://h\", api_key_env: sk-123}}", "api_key_env: not the name"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("config.yaml", []byte(tt.text))
			if err == nil {
				t.Fatal("no error")
			}
			if !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error\n%v\nlacks\n%s", err, tt.want)
			}
			if strings.Contains(err.Error(), "sk-123") {
				t.Errorf("error shows a key: %v", err)
			}
		})
	}
}

func TestAccepted(t *testing.T) {
	for _, text := range []string{
		"model: work/a/b:c\nproviders: {work: {base_url: \"https://h/v1\"}}",
		"model: scripted//tmp/script.yaml",
		"providers: {openai: {api_key_env: MY_KEY}}",
		"permissions: {mode: dont_ask, allow_dont_ask: true}",
		"mcp_servers: {x.y: {command: z, args: [1], nested: {a: [true]}}}",
		"encodings: {\"*\": utf-8-bom, \"a/*\": latin1, \"b/**\": gb18030}",
		"lsp: {servers: {a: , b: {enabled: false}, c: {env: {N: 1}}}}",
		"lsp: &l {enabled: false}",
	} {
		mustParse(t, text)
	}
	for text, want := range map[string]float64{ // requirement L12: a whole workspace takes longer than a file
		"{wait_mode: full}": 10, "{wait_mode: document}": 5, "{wait_mode: full, wait_timeout: 3}": 3, "{waitMode: full, diagnosticsTimeoutMs: 500}": 0.5,
	} {
		if c := mustParse(t, "lsp: "+text); c.LSP.WaitTimeout != want {
			t.Errorf("%s: wait_timeout %v, want %v", text, c.LSP.WaitTimeout, want)
		}
	}
	if c := mustParse(t, "lsp: {idle_timeout: 0}"); c.LSP.IdleTimeout != 0 {
		t.Errorf("idle_timeout %v: 0 is never", c.LSP.IdleTimeout)
	}
	if c := mustParse(t, "lsp: {idle_timeout: 5}"); c.LSP.IdleTimeout != 30 {
		t.Errorf("idle_timeout %v, want 30", c.LSP.IdleTimeout)
	}
}

func TestFindHome(t *testing.T) {
	abs := func(p string) string {
		if runtime.GOOS == "windows" && strings.HasPrefix(p, "/") {
			p = "C:" + p
		}
		return filepath.FromSlash(p)
	}
	tests := []struct {
		name, home, profileEnv, userHome, profile, want, fault string
	}{
		{name: "default", userHome: "/h", want: "/h/.acp-agent"},
		{name: "environment", home: "/x/../y", userHome: "/h", want: "/y"},
		{name: "tilde", home: "~/z", userHome: "/h", want: "/h/z"},
		{name: "relative", home: "z", userHome: "/h", fault: "absolute"},
		{name: "unknown", fault: "set ACP_AGENT_HOME"},
		{name: "profile", userHome: "/h", profile: "work", want: "/h/.acp-agent/profiles/work"},
		{name: "profile by environment", userHome: "/h", profileEnv: "work", want: "/h/.acp-agent/profiles/work"},
		{name: "flag wins", userHome: "/h", profileEnv: "work", profile: "play", want: "/h/.acp-agent/profiles/play"},
		{name: "profile that climbs", userHome: "/h", profile: "../x", fault: "profile"},
		{name: "profile that hides", userHome: "/h", profile: ".x", fault: "profile"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			env := map[string]string{"ACP_AGENT_HOME": abs(tt.home), "ACP_AGENT_PROFILE": tt.profileEnv}
			h, err := FindHome(func(k string) string { return env[k] }, abs(tt.userHome), tt.profile)
			if tt.fault != "" {
				if err == nil || !strings.Contains(err.Error(), tt.fault) {
					t.Fatalf("error %v, want %q in it", err, tt.fault)
				}
				return
			}
			if err != nil || string(h.Dir) != abs(tt.want) {
				t.Fatalf("got %q, %v; want %q", h.Dir, err, tt.want)
			}
		})
	}
}

func TestHomeIsMadeOnFirstWriteOnly(t *testing.T) {
	h := Home{Dir: workspace.Path(filepath.Join(t.TempDir(), "home"))}
	if _, err := Load(h); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(h.Dir)); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("reading made the home: %v", err)
	}
	if err := h.WriteFile("config.yaml", []byte("model: ollama/a\n")); err != nil {
		t.Fatal(err)
	}
	if err := h.WriteFile("config.yaml", []byte("model: ollama/b\n")); err != nil {
		t.Fatal(err)
	}
	if _, err := h.MakeDir("lsp", "bin"); err != nil {
		t.Fatal(err)
	}
	c, err := Load(h)
	if err != nil || c.Model != "ollama/b" || c.Warnings != nil {
		t.Fatalf("%q %v %v", c.Model, c.Warnings, err)
	}
	for path, want := range map[string]os.FileMode{"": 0o700, "config.yaml": 0o600, "lsp": 0o700, "lsp/bin": 0o700} {
		info, err := os.Stat(string(h.Dir.Join(path)))
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%q: mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
		}
	}
	if entries, _ := os.ReadDir(string(h.Dir)); len(entries) != 2 {
		t.Errorf("left over: %v", entries)
	}
	for _, rel := range []string{"", ".", "../x", "a/../../x"} {
		if err := h.WriteFile(rel, nil); err == nil {
			t.Errorf("wrote %q", rel)
		}
	}
}

func TestLoadWarnsOfAnExposedKey(t *testing.T) {
	h := Home{Dir: workspace.Path(t.TempDir())}
	name := string(h.ConfigFile())
	if err := os.WriteFile(name, []byte("providers: {w: {base_url: \"http://h\", api_key: sk-1}}"), 0o644); err != nil {
		t.Fatal(err)
	}
	c, err := Load(h)
	if err != nil || len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "chmod 600") || strings.Contains(c.Warnings[0], "sk-1") {
		t.Fatalf("%q %v", c.Warnings, err)
	}
	if err := os.WriteFile(name, []byte("lsp: {x: 1}"), 0o600); err != nil {
		t.Fatal(err)
	}
	var p *Problem
	if _, err := Load(h); !errors.As(err, &p) || p.File != name || p.Line != 1 {
		t.Fatalf("error %v has no place", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(example))
	f.Add([]byte("lsp: &a {servers: {x: *a}}"))
	f.Add([]byte("<<: {model: a/b}\n? [a]\n: b\n!!str 1: 2"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := Parse("f", data)
		if err == nil && (c.Limits.ToolRounds < 1 || c.LSP.WaitTimeout < 0) {
			t.Fatalf("accepted %q", data)
		}
	})
}
