package acp_test

import (
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/config"
)

// offered are the tools that the model was told of in its first request.
func (d *desk) offered() []string {
	d.t.Helper()
	d.play("go", "end_turn")
	var names []string
	for _, s := range d.models.Requests()[0].Tools {
		names = append(names, s.Name)
	}
	return names
}

// tools.enabled, tools.disabled and sandbox decide what a session offers (contract §9, requirement T8): a
// sandboxed session has neither the language-server tools nor their diagnostics.
func TestToolsAreOfferedByConfiguration(t *testing.T) {
	for name, tc := range map[string]struct {
		change        func(*config.Config)
		has, hasNot   []string
		lsp           string // state in an edit's result
		withoutOption bool   // the diagnostics option is not offered
	}{
		"all": {change: func(*config.Config) {}, has: []string{"read_file", "write_file", "terminal", "lsp_hover", "update_plan"}, lsp: "findings"},
		"no terminal, no lsp tools": {change: func(c *config.Config) { c.Tools.Disabled = []string{"group:terminal", "group:lsp"} },
			has: []string{"write_file"}, hasNot: []string{"terminal", "terminal_output", "lsp_hover"}, lsp: "findings"},
		"only editing": {change: func(c *config.Config) { c.Tools.Enabled = []string{"group:edit"} },
			has: []string{"write_file", "edit_file", "apply_patch"}, hasNot: []string{"read_file", "terminal", "lsp_diagnostics"}, lsp: "findings"},
		"sandboxed":     {change: func(c *config.Config) { c.Sandbox = true }, has: []string{"terminal"}, hasNot: []string{"lsp_hover"}, lsp: "off", withoutOption: true},
		"no lsp at all": {change: func(c *config.Config) { c.LSP.Enabled = false }, has: []string{"terminal"}, hasNot: []string{"lsp_hover"}, lsp: "off", withoutOption: true},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t, deskOptions{server: []string{"pull"}, answer: "allow_once", files: map[string]string{"a.fk": "\n"},
				script: script(writeFK("ERROR(one)\n")), config: func(c *config.Config) { patient(c); tc.change(c) }})
			names := d.offered()
			for _, n := range tc.has {
				if !slices.Contains(names, n) {
					t.Errorf("%s is not offered: %q", n, names)
				}
			}
			for _, n := range tc.hasNot {
				if slices.Contains(names, n) {
					t.Errorf("%s is offered", n)
				}
			}
			if got := acptest.Get[string]([]byte(d.result(0)), "lsp", "state"); got != tc.lsp {
				t.Errorf("state %q: %s", got, d.result(0))
			}
			opened := string(d.Call("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}}))
			if strings.Contains(opened, `"id":"diagnostics"`) == tc.withoutOption {
				t.Errorf("options: %s", opened)
			}
			if n := len(d.server.Pids("server")); n > 0 && tc.lsp == "off" {
				t.Errorf("%d language servers run", n)
			}
		})
	}
}

// Servers of config.yaml's mcp_servers are not started yet either; one message names them with those of
// the editor.
func TestConfiguredMCPServersAreNamedToo(t *testing.T) {
	d := newDesk(t, deskOptions{script: hello, config: func(c *config.Config) {
		c.MCPServers = map[string]any{"tickets": map[string]any{"command": "x"}, "docs": nil}
	}})
	d.session = acptest.Get[string](d.Call("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{
		map[string]any{"name": "notes", "command": "/bin/false", "args": []any{}, "env": []any{}},
	}}), "sessionId")
	d.play("x", "end_turn")
	d.play("x", "end_turn")
	if got := d.Text(d.session); strings.Count(got, "notes, docs, tickets") != 1 || strings.Count(got, "tickets") != 1 {
		t.Errorf("said %q", got)
	}
}
