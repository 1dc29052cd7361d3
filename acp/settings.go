package acp

import (
	"time"

	"acp-agent/internal/config"
	"acp-agent/lsp"
)

// LanguageSettings turns the lsp section of config.yaml into the language-server layer's settings:
// the file counts in seconds and milliseconds.
func LanguageSettings(c config.LSP) lsp.Settings {
	seconds := func(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }
	servers := make(map[string]lsp.ServerSettings, len(c.Servers))
	for id, s := range c.Servers {
		servers[id] = lsp.ServerSettings{
			Enabled: s.Enabled, Disabled: s.Disabled, Command: s.Command, Args: s.Args,
			Extensions: s.Extensions, RootMarkers: s.RootMarkers, LanguageID: s.LanguageID,
			Description: s.Description, Env: s.Env, InitializationOptions: s.InitializationOptions,
		}
	}
	return lsp.Settings{
		Enabled:           c.Enabled,
		InlineBudget:      time.Duration(c.InlineBudgetMS) * time.Millisecond,
		ForeseeBudget:     time.Duration(c.ForeseeBudgetMS) * time.Millisecond,
		Severity:          c.Severity,
		WaitMode:          c.WaitMode,
		WaitTimeout:       seconds(c.WaitTimeout),
		WarmupTimeout:     seconds(c.WarmupTimeout),
		BrokenRetry:       seconds(c.BrokenRetrySeconds),
		ExcludeRoots:      c.ExcludeRoots,
		TrustedWorkspaces: c.TrustedWorkspaces,
		RequireGit:        c.RequireGit,
		InstallAuto:       c.InstallStrategy == "auto",
		PackageManager:    c.PackageManager,
		IdleTimeout:       seconds(c.IdleTimeout),

		MaxDiagnosticChars: c.MaxDiagnosticsChars,
		Servers:            servers,
	}
}
