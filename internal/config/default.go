package config

// Default is a Config with nothing configured.
func Default() Config {
	var c Config
	c.Permissions.Mode = "default"
	c.LSP = LSP{
		Enabled:             true,
		InlineBudgetMS:      80,
		ForeseeBudgetMS:     1000,
		Severity:            "error",
		WaitMode:            "document",
		WaitTimeout:         5,
		BrokenRetrySeconds:  30,
		RequireGit:          true,
		InstallStrategy:     "auto",
		PackageManager:      "npm",
		IdleTimeout:         600,
		MaxDiagnosticsChars: 4000,
	}
	c.Limits = Limits{
		ReadLines:          2000,
		ReadBytes:          256 << 10,
		ResourceBytes:      512 << 10,
		ToolOutputBytes:    64 << 10,
		EditBytes:          10 << 20,
		LineOutBytes:       8 << 20,
		LineInBytes:        64 << 20,
		TerminalBytes:      1 << 20,
		ModelIdle:          120,
		ToolRounds:         200,
		DiagnosticsPerFile: 20,
	}
	c.Log.Level = "info"
	c.Display.Skin = "default"
	c.ACP.Versions = []int{1}
	return c
}
