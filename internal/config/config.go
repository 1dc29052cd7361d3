// Package config is the operator's configuration: config.yaml, its home and profiles, and the
// environment. Its main type is [Config]. It is read once at start; sessions get values of it.
package config

// Provider is a named OpenAI-compatible endpoint.
type Provider struct {
	BaseURL   string   `yaml:"base_url"`
	APIKeyEnv string   `yaml:"api_key_env"`
	APIKey    string   `yaml:"api_key"`
	Models    []string `yaml:"models"`
}

// Permissions is the permissions section.
type Permissions struct {
	Mode         string   `yaml:"mode"`
	AllowDontAsk bool     `yaml:"allow_dont_ask"`
	ReadOnly     []string `yaml:"read_only"`
	Allow        []string `yaml:"allow"`
	Ask          []string `yaml:"ask"`
	Deny         []string `yaml:"deny"`
	Timeout      float64  `yaml:"timeout"` // seconds; 0 waits for ever
}

// Tools selects tools by name or group.
type Tools struct {
	Enabled  []string `yaml:"enabled"`
	Disabled []string `yaml:"disabled"`
}

// Server configures one language server: a built-in one by id, or a custom one. After [Parse] Args is
// only filled when Command is empty (it then goes behind a built-in server's own command); otherwise
// it has been appended to Command.
type Server struct {
	Enabled               *bool             `yaml:"enabled"`
	Disabled              bool              `yaml:"disabled"`
	Command               []string          `yaml:"command"`
	Args                  []string          `yaml:"args"`
	Extensions            []string          `yaml:"extensions"`
	RootMarkers           []string          `yaml:"root_markers"`
	LanguageID            string            `yaml:"language_id"`
	Description           string            `yaml:"description"`
	Env                   map[string]string `yaml:"env"`
	InitializationOptions map[string]any    `yaml:"initialization_options"`
}

// LSP is the lsp section. Times without a unit in their name are seconds. An ExcludeRoots that was not
// a list of globs becomes "**", which excludes everything.
type LSP struct {
	Enabled             bool              `yaml:"enabled"`
	InlineBudgetMS      int               `yaml:"inline_budget_ms"`
	ForeseeBudgetMS     int               `yaml:"foresee_budget_ms"`
	Severity            string            `yaml:"severity"`
	WaitMode            string            `yaml:"wait_mode"`
	WaitTimeout         float64           `yaml:"wait_timeout"`
	WarmupTimeout       float64           `yaml:"warmup_timeout"`
	BrokenRetrySeconds  float64           `yaml:"broken_retry_seconds"`
	ExcludeRoots        []string          `yaml:"exclude_roots"`
	TrustedWorkspaces   []string          `yaml:"trusted_workspaces"`
	RequireGit          bool              `yaml:"require_git"`
	InstallStrategy     string            `yaml:"install_strategy"`
	PackageManager      string            `yaml:"package_manager"`
	IdleTimeout         float64           `yaml:"idle_timeout"`
	MaxDiagnosticsChars int               `yaml:"max_diagnostics_chars"`
	Servers             map[string]Server `yaml:"servers"`
}

// Limits is the limits section (contract §7); every field has the contract's default.
type Limits struct {
	ReadLines       int   `yaml:"read_lines"`
	ReadBytes       int   `yaml:"read_bytes"`
	ResourceBytes   int   `yaml:"resource_bytes"`
	ToolOutputBytes int   `yaml:"tool_output_bytes"`
	EditBytes       int64 `yaml:"edit_bytes"`
	LineOutBytes    int   `yaml:"line_out_bytes"`
	LineInBytes     int   `yaml:"line_in_bytes"`
	TerminalBytes   int   `yaml:"terminal_bytes"`
	ModelIdle       int   `yaml:"model_idle_seconds"`
	ToolRounds      int   `yaml:"tool_rounds"`
	// DiagnosticsPerFile is how many findings of one file the model is given.
	DiagnosticsPerFile int `yaml:"diagnostics_per_file"`
}

// Config is config.yaml with defaults filled in.
type Config struct {
	Model       string              `yaml:"model"`
	Providers   map[string]Provider `yaml:"providers"`
	Permissions Permissions         `yaml:"permissions"`
	Tools       Tools               `yaml:"tools"`
	LSP         LSP                 `yaml:"lsp"`
	MCPServers  map[string]any      `yaml:"mcp_servers"`
	Encodings   map[string]string   `yaml:"encodings"`
	Sessions    struct {
		RetentionDays int `yaml:"retention_days"`
	} `yaml:"sessions"`
	Limits Limits `yaml:"limits"`
	Log    struct {
		Level string `yaml:"level"`
	} `yaml:"log"`
	Display struct {
		Skin string `yaml:"skin"`
	} `yaml:"display"`
	ACP struct {
		Versions []int `yaml:"versions"`
	} `yaml:"acp"`
	Sandbox bool `yaml:"sandbox"`

	// Warnings are things that the operator should know though the file is usable; callers show them
	// once (log, doctor, `config check`).
	Warnings []string `yaml:"-"`
}
