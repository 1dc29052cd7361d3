package lsp

// This file is the one table of built-in language servers. A row says which files a server owns, how
// its process is started, where its project begins, and what is peculiar to it; everything else is
// found out from the server itself.

// trustClass says what becomes of a server in a workspace that the operator did not choose (L11).
type trustClass int

const (
	trustedOnly  trustClass = iota // runs or evaluates what the project contains: never in an untrusted one
	asItIs                         // touches nothing of the project but its text
	pinnedToOurs                   // runs there with settings that keep it to our own tools
)

// role keeps one type checker for a file and any number of linters beside it (contract §8).
type role int

const (
	checker role = iota
	linter
)

// spec is one server: a row of the table, or a custom one from the settings.
type spec struct {
	id       string
	alias    string // the command's name, understood wherever an id is
	role     role
	group    string   // checkers of one group are alternatives; choose picks one for a root
	files    []string // suffixes with their dot, or basenames; the longest match owns the file
	command  []string
	roots    []string // markers of a project; the worktree's top when there is none
	notRoot  []string // a folder that holds one of these is never a root
	language string
	byFile   map[string]string // language id of a suffix or basename, where it differs from language
	trust    trustClass
	install  recipe
	options  func(launch) map[string]any // initializationOptions
	settings func(launch) map[string]any // answers of workspace/configuration
	quirks   quirks
	custom   bool
	env      map[string]string
	override map[string]any // initialization_options of the settings, merged over options
	hash     string         // of the above, see configHash
}

// recipe says how a server is installed below our home; empty for what its language's own tools install.
type recipe struct {
	npm    []string // packages, name@version
	goTool string   // package@version
	manual string   // one sentence for what is not installed by us
}

// quirks are the peculiarities that no capability tells.
type quirks struct {
	syncCommand bool // typescript-language-server: tsserver's own synchronous diagnostics request
	forceFull   bool // incremental changes are announced and not borne
	ready       string
	noPull      bool // announces pull diagnostics and does not serve them
	native7     bool // the executable of TypeScript 7, looked for in the project first
	skipCodes   map[string]bool
	multiRoot   bool // takes further roots as workspace folders (L18)
}

// launch is what the options of a server may depend on.
type launch struct {
	root    string
	trusted bool
	command []string // resolved
	environ []string // scrubbed
}

var tsFiles = []string{".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"}

var tsLanguages = map[string]string{
	".tsx": "typescriptreact", ".jsx": "javascriptreact",
	".js": "javascript", ".mjs": "javascript", ".cjs": "javascript",
}

var jsRoots = []string{
	"package-lock.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
	"package.json", "tsconfig.json", "jsconfig.json",
}

// builtin is the table. Ids are contract §4's.
var builtin = []spec{
	{
		id: "gopls", group: "go",
		files: []string{".go"}, language: "go",
		command: []string{"gopls"},
		roots:   []string{"go.work", "go.mod", "go.sum"},
		install: recipe{goTool: "golang.org/x/tools/gopls@v0.23.0"},
		options: goplsOptions,
		quirks:  quirks{ready: "Setting up workspace"},
	},
	{
		id: "typescript", alias: "typescript-language-server", group: "ts",
		files: tsFiles, language: "typescript", byFile: tsLanguages,
		command: []string{"typescript-language-server", "--stdio"},
		roots:   jsRoots,
		trust:   pinnedToOurs,
		install: recipe{npm: []string{"typescript-language-server@5.3.0", "typescript@6"}},
		options: typescriptOptions,
		quirks:  quirks{syncCommand: true},
	},
	{
		id: "typescript-native", alias: "tsc", group: "ts",
		files: tsFiles, language: "typescript", byFile: tsLanguages,
		command: []string{"tsc", "--lsp", "--stdio"},
		roots:   jsRoots,
		install: recipe{npm: []string{"typescript@7"}},
		quirks:  quirks{native7: true},
	},
	{
		id: "pyright", alias: "pyright-langserver", group: "python",
		files: []string{".py", ".pyi"}, language: "python",
		command:  []string{"pyright-langserver", "--stdio"},
		roots:    []string{"pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile", "pyrightconfig.json"},
		notRoot:  []string{"__init__.py"},
		trust:    pinnedToOurs,
		install:  recipe{npm: []string{"pyright@1.1.414"}},
		options:  pyrightSettings,
		settings: pyrightSettings,
		quirks:   quirks{multiRoot: true},
	},
	{
		id: "json", alias: "vscode-json-language-server", group: "json",
		files: []string{".json", ".jsonc"}, language: "json",
		byFile:  map[string]string{".jsonc": "jsonc", "tsconfig.json": "jsonc", "jsconfig.json": "jsonc", "devcontainer.json": "jsonc"},
		command: []string{"vscode-json-language-server", "--stdio"},
		install: recipe{npm: []string{"vscode-langservers-extracted@4.10.0"}},
		options: func(launch) map[string]any {
			// Schemas over the network are left alone: nothing is downloaded behind the user's back.
			return map[string]any{"provideFormatter": false, "handledSchemaProtocols": []string{"file"}}
		},
		settings: func(launch) map[string]any {
			return map[string]any{"json": map[string]any{"validate": map[string]any{"enable": true}}}
		},
		quirks: quirks{skipCodes: map[string]bool{"768": true}}, // "unable to load schema"
	},
}

// goplsOptions make gopls answer document pulls; without them it pushes only.
func goplsOptions(launch) map[string]any {
	return map[string]any{"pullDiagnostics": true}
}

// typescriptOptions keep an untrusted project from choosing the TypeScript that is run.
func typescriptOptions(l launch) map[string]any {
	// A second tsserver that knows syntax only would answer questions while the project is being read,
	// wrongly.
	server := map[string]any{"useSyntaxServer": "never"}
	if !l.trusted {
		if sdk := siblingSDK(l.command); sdk != "" {
			server["path"] = sdk
		}
	}
	return map[string]any{"disableAutomaticTypingAcquisition": true, "hostInfo": "acp-agent", "tsserver": server}
}

// pyrightSettings name the interpreter: the operator's VIRTUAL_ENV, and in a trusted project its own
// virtual environment. Pyright runs that interpreter, so an untrusted project never chooses it.
func pyrightSettings(l launch) map[string]any {
	python := map[string]any{
		"analysis": map[string]any{"diagnosticMode": "openFilesOnly", "autoSearchPaths": true, "useLibraryCodeForTypes": true},
	}
	if exe := pythonFor(l); exe != "" {
		python["pythonPath"] = exe
	}
	return map[string]any{"python": python}
}
