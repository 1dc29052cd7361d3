package lsp

import (
	"log/slog"
	"time"

	"acp-agent/internal/workspace"
)

// Settings are the lsp section of config.yaml with defaults filled in (requirements L12–L20).
type Settings struct {
	Enabled            bool
	InlineBudget       time.Duration // 80 ms, from the start of writing
	ForeseeBudget      time.Duration // 1 s
	Severity           string        // "error"
	WaitMode           string        // document or full
	WaitTimeout        time.Duration // 5 s: one deadline for the check of an edit
	WarmupTimeout      time.Duration // first request of a cold (server, root); 0 for none
	BrokenRetry        time.Duration // 30 s, exponential; 0 means until restart
	ExcludeRoots       []string      // globs against the resolved root
	ExcludeAll         bool          // exclude_roots was not a list: fail closed (L14)
	TrustedWorkspaces  []string
	RequireGit         bool
	InstallAuto        bool
	PackageManager     string
	IdleTimeout        time.Duration // 600 s; 0 never
	MaxDiagnosticChars int           // 4000
	Servers            map[string]ServerSettings
}

// ServerSettings configure one server: a built-in one by id, or a custom one (L19, L20).
type ServerSettings struct {
	Enabled               *bool
	Disabled              bool
	Command               []string
	Args                  []string // behind the command, a built-in server's own included
	Extensions            []string
	RootMarkers           []string
	LanguageID            string
	Description           string
	Env                   map[string]string
	InitializationOptions map[string]any
}

// Options of a manager.
type Options struct {
	Home     workspace.Path // our home; servers live below <home>/lsp, caches below <home>/cache
	UserHome workspace.Path
	Environ  []string // the process's environment, scrubbed here before a server gets any of it (L23)
	Settings Settings
	Logger   *slog.Logger
}

// waitTimeout is the one deadline of an edit's check.
func (s *Settings) waitTimeout() time.Duration {
	if s.WaitTimeout > 0 {
		return s.WaitTimeout
	}
	if s.WaitMode == "full" {
		return 10 * time.Second
	}
	return 5 * time.Second
}

// threshold is the least severe finding that the model is told of.
func (s *Settings) threshold() Severity {
	switch s.Severity {
	case "warning":
		return SevWarning
	case "info", "information":
		return SevInfo
	case "hint":
		return SevHint
	}
	return SevError
}

// idleTimeout applies the floor of requirement L16: 0 is never, anything positive is at least 30 s.
func (s *Settings) idleTimeout() time.Duration {
	const floor = 30 * time.Second
	if s.IdleTimeout <= 0 {
		return 0
	}
	return max(s.IdleTimeout, floor)
}
