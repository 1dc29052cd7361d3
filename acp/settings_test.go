package acp

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/config"
	"acp-agent/lsp"
)

// Every setting of config.yaml's lsp section reaches the language-server layer: the file is read the way
// that a user writes it, with no value that is a default.
func TestSettingsReachTheLanguageServers(t *testing.T) {
	c, err := config.Parse("config.yaml", []byte(`
lsp:
  enabled: true
  inline_budget_ms: 81
  foresee_budget_ms: 1001
  severity: warning
  wait_mode: full
  wait_timeout: 5.5
  warmup_timeout: 1.5
  broken_retry_seconds: 31
  exclude_roots: ["~/big", "**/vendor"]
  trusted_workspaces: ["/srv/x"]
  require_git: true
  install_strategy: auto
  package_manager: pnpm
  idle_timeout: 601
  max_diagnostics_chars: 4001
  servers:
    gopls: {enabled: true, disabled: true, command: [a, b], env: {K: v}, initialization_options: {deep: {x: true}}}
    json: {args: [--more]}
    panache: {command: [panache], args: [--stdio], extensions: [.pnch], root_markers: [panache.toml], language_id: panache, description: text}
`))
	if err != nil {
		t.Fatal(err)
	}
	yes := true
	want := lsp.Settings{
		Enabled: true, InlineBudget: 81 * time.Millisecond, ForeseeBudget: 1001 * time.Millisecond, Severity: "warning",
		WaitMode: "full", WaitTimeout: 5500 * time.Millisecond, WarmupTimeout: 1500 * time.Millisecond, BrokenRetry: 31 * time.Second,
		ExcludeRoots: []string{"~/big", "**/vendor"}, TrustedWorkspaces: []string{"/srv/x"}, RequireGit: true, InstallAuto: true,
		PackageManager: "pnpm", IdleTimeout: 601 * time.Second, MaxDiagnosticChars: 4001,
		Servers: map[string]lsp.ServerSettings{
			"gopls": {Enabled: &yes, Disabled: true, Command: []string{"a", "b"}, Env: map[string]string{"K": "v"},
				InitializationOptions: map[string]any{"deep": map[string]any{"x": true}}},
			"json": {Args: []string{"--more"}},
			"panache": {Command: []string{"panache", "--stdio"}, Extensions: []string{".pnch"}, RootMarkers: []string{"panache.toml"},
				LanguageID: "panache", Description: "text"},
		},
	}
	got := LanguageSettings(c.LSP)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("settings (-want +got):\n%s", diff)
	}
	// A field that somebody adds to the layer and forgets here shows as its zero value.
	for v, i := reflect.ValueOf(got), 0; i < v.NumField(); i++ {
		if name := v.Type().Field(i).Name; v.Field(i).IsZero() && name != "ExcludeAll" { // config gives "**" for that
			t.Errorf("%s is not filled in", name)
		}
	}
}
