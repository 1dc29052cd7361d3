package config

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"
	"golang.org/x/text/encoding/htmlindex"
)

// builtinProviders need no entry under providers.
var builtinProviders = []string{"openai", "anthropic", "gemini", "ollama", "openrouter", "lmstudio", "llamacpp", "vllm", "scripted"}

var (
	providerName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`) })
	envName      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`) })
)

// validator checks values once the file is decoded; the walker knows where each key stands.
type validator struct{ *walker }

// fault reports a wrong value of the key at path.
func (v *validator) fault(path, format string, args ...any) {
	msg := path + ": " + fmt.Sprintf(format, args...)
	if mv := v.at[path]; mv != nil {
		v.fail(mv.Value, "%s", msg)
		return
	}
	v.problems = append(v.problems, &Problem{File: v.file, Message: msg})
}

func (v *validator) oneOf(path, value string, allowed ...string) {
	if !slices.Contains(allowed, value) {
		v.fault(path, "%q is not one of %s", value, strings.Join(allowed, ", "))
	}
}

func (v *validator) seconds(path string, value float64) {
	if math.IsNaN(value) || math.IsInf(value, 0) || value < 0 {
		v.fault(path, "%v is not a time in seconds (0 or more)", value)
	}
}

func (v *validator) atLeast(path string, value, least int64) {
	if value < least {
		v.fault(path, "%d is too small; at least %d", value, least)
	}
}

func (v *validator) globs(path string, patterns []string) {
	for _, p := range patterns {
		if p == "" || !doublestar.ValidatePattern(p) {
			v.fault(path, "%q is not a valid glob", p)
		}
	}
}

// check reports whether the whole configuration is usable.
func (v *validator) check(c *Config) bool {
	v.models(c)
	v.permissions(c)
	v.lsp(c)
	v.limits(&c.Limits)
	v.encodings(c.Encodings)
	v.atLeast("sessions.retention_days", int64(c.Sessions.RetentionDays), 0)
	v.oneOf("log.level", c.Log.Level, "debug", "info", "warn", "error")
	if !profileName().MatchString(c.Display.Skin) {
		v.fault("display.skin", "%q is not a skin's name", c.Display.Skin)
	}
	if len(c.ACP.Versions) == 0 {
		v.fault("acp.versions", "empty; version 1 is the one to offer")
	}
	for _, n := range c.ACP.Versions {
		if n != 1 {
			v.fault("acp.versions", "version %d is not spoken here; version 1 is", n)
		}
	}
	return len(v.problems) == 0
}

func (v *validator) models(c *Config) {
	for _, id := range slices.Sorted(maps.Keys(c.Providers)) {
		p, path := c.Providers[id], join("providers", id)
		builtin := slices.Contains(builtinProviders, id)
		u, err := url.Parse(p.BaseURL)
		switch {
		case !providerName().MatchString(id):
			v.fault(path, "a provider's name is lower-case letters, digits, dash and underscore")
		case p.BaseURL == "" && builtin:
		case p.BaseURL == "":
			v.fault(path, "base_url is missing, for example \"http://127.0.0.1:8000/v1\"")
		case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
			v.fault(join(path, "base_url"), "%q is not an http or https address", p.BaseURL)
		}
		if p.APIKeyEnv != "" && !envName().MatchString(p.APIKeyEnv) {
			v.fault(join(path, "api_key_env"), "not the name of an environment variable (the key itself goes into api_key)")
		}
	}
	if c.Model == "" {
		return
	}
	provider, model, ok := strings.Cut(c.Model, "/")
	if !ok || provider == "" || model == "" {
		v.fault("model", "%q is not of the form provider/model", c.Model)
		return
	}
	if _, named := c.Providers[provider]; !named && !slices.Contains(builtinProviders, provider) {
		v.fault("model", "provider %q is unknown; known are %s, and those under providers", provider, strings.Join(builtinProviders, ", "))
	}
}

func (v *validator) permissions(c *Config) {
	v.oneOf("permissions.mode", c.Permissions.Mode, "default", "accept_edits", "dont_ask", "plan")
	if c.Permissions.Mode == "dont_ask" && !c.Permissions.AllowDontAsk {
		v.fault("permissions.mode", "dont_ask needs permissions.allow_dont_ask: true")
	}
	v.seconds("permissions.timeout", c.Permissions.Timeout)
}

func (v *validator) lsp(c *Config) {
	l := &c.LSP
	v.atLeast("lsp.inline_budget_ms", int64(l.InlineBudgetMS), 0)
	v.atLeast("lsp.foresee_budget_ms", int64(l.ForeseeBudgetMS), 0)
	v.atLeast("lsp.max_diagnostics_chars", int64(l.MaxDiagnosticsChars), 1)
	v.oneOf("lsp.severity", l.Severity, "error", "warning", "information", "hint")
	v.oneOf("lsp.wait_mode", l.WaitMode, "document", "full")
	v.oneOf("lsp.install_strategy", l.InstallStrategy, "auto", "manual")
	v.oneOf("lsp.package_manager", l.PackageManager, "npm", "pnpm", "yarn")
	v.seconds("lsp.wait_timeout", l.WaitTimeout)
	v.seconds("lsp.warmup_timeout", l.WarmupTimeout)
	v.seconds("lsp.broken_retry_seconds", l.BrokenRetrySeconds)
	v.seconds("lsp.idle_timeout", l.IdleTimeout)
	if l.IdleTimeout > 0 && l.IdleTimeout < 30 {
		l.IdleTimeout = 30 // shorter would stop and start servers between two edits (requirement L16)
	}
	if _, given := v.at["lsp.wait_timeout"]; !given && l.WaitMode == "full" {
		l.WaitTimeout = 10 // a look at the whole workspace takes longer than one at a document (requirement L12)
	}
	v.globs("lsp.exclude_roots", l.ExcludeRoots)
}

func (v *validator) limits(l *Limits) {
	for _, limit := range []struct {
		name  string
		value int64
	}{
		{"read_lines", int64(l.ReadLines)}, {"read_bytes", int64(l.ReadBytes)},
		{"resource_bytes", int64(l.ResourceBytes)}, {"tool_output_bytes", int64(l.ToolOutputBytes)},
		{"edit_bytes", l.EditBytes}, {"line_out_bytes", int64(l.LineOutBytes)},
		{"line_in_bytes", int64(l.LineInBytes)}, {"terminal_bytes", int64(l.TerminalBytes)},
		{"model_idle_seconds", int64(l.ModelIdle)}, {"tool_rounds", int64(l.ToolRounds)},
		{"diagnostics_per_file", int64(l.DiagnosticsPerFile)},
	} {
		v.atLeast(join("limits", limit.name), limit.value, 1)
	}
}

func (v *validator) encodings(encodings map[string]string) {
	for _, glob := range slices.Sorted(maps.Keys(encodings)) {
		path := join("encodings", glob)
		if glob == "" || !doublestar.ValidatePattern(glob) {
			v.fault(path, "%q is not a valid glob", glob)
		}
		if _, err := htmlindex.Get(encodings[glob]); err != nil && encodings[glob] != "utf-8-bom" {
			v.fault(path, "encoding %q is unknown; names are those of the WHATWG encoding standard, such as shift_jis or windows-1252", encodings[glob])
		}
	}
}
