package lsp

import (
	"encoding/json"

	"go.lsp.dev/protocol"
)

// capabilities are what a server said of itself, as far as we act on it.
type capabilities struct {
	name, version string
	enc           encoding
	sync          protocol.TextDocumentSyncKind
	openClose     bool
	save          bool
	saveText      bool
	pull          *pullSource // static registration; nil for none
	commands      map[string]bool
	definition    bool
	references    bool
	hover         bool
	symbols       bool
}

// pullSource is one registration of textDocument/diagnostic. A server may have several, told apart by
// their identifier, and every one of them has findings of its own.
type pullSource struct {
	identifier string
	interFile  bool
	workspace  bool
}

// rawCapabilities are the members that the typed library knows only in part, or that older servers
// spell in their own way.
type rawCapabilities struct {
	Capabilities struct {
		PositionEncoding string          `json:"positionEncoding"`
		Sync             json.RawMessage `json:"textDocumentSync"`
		Diagnostic       *rawPull        `json:"diagnosticProvider"`
		Definition       json.RawMessage `json:"definitionProvider"`
		References       json.RawMessage `json:"referencesProvider"`
		Hover            json.RawMessage `json:"hoverProvider"`
		Symbols          json.RawMessage `json:"documentSymbolProvider"`
		Commands         struct {
			Commands []string `json:"commands"`
		} `json:"executeCommandProvider"`
	} `json:"capabilities"`
	OffsetEncoding string `json:"offsetEncoding"` // clangd before the protocol had the choice
	ServerInfo     struct {
		Name    string `json:"name"`
		Version string `json:"version"`
	} `json:"serverInfo"`
}

type rawPull struct {
	Identifier string `json:"identifier"`
	InterFile  bool   `json:"interFileDependencies"`
	Workspace  bool   `json:"workspaceDiagnostics"`
}

func (r *rawPull) source() *pullSource {
	if r == nil {
		return nil
	}
	return &pullSource{identifier: r.Identifier, interFile: r.InterFile, workspace: r.Workspace}
}

// readCapabilities understands the answer of initialize.
func readCapabilities(result json.RawMessage, q quirks) (capabilities, error) {
	var raw rawCapabilities
	if err := decode(result, &raw); err != nil {
		return capabilities{}, err
	}
	c := raw.Capabilities
	out := capabilities{
		name: raw.ServerInfo.Name, version: shortVersion(raw.ServerInfo.Version),
		enc:        encodingOf(c.PositionEncoding),
		definition: offered(c.Definition), references: offered(c.References), hover: offered(c.Hover), symbols: offered(c.Symbols),
		commands: map[string]bool{},
	}
	if c.PositionEncoding == "" {
		out.enc = encodingOf(raw.OffsetEncoding)
	}
	for _, name := range c.Commands.Commands {
		out.commands[name] = true
	}
	if !q.noPull {
		out.pull = c.Diagnostic.source()
	}
	out.readSync(c.Sync)
	if q.forceFull && out.sync == protocol.TextDocumentSyncKindIncremental {
		out.sync = protocol.TextDocumentSyncKindFull
	}
	return out, nil
}

// shortVersion is what a person wants to read: gopls sends its whole build record.
func shortVersion(v string) string {
	var build struct {
		Main struct{ Version string }
	}
	if decode([]byte(v), &build) == nil && build.Main.Version != "" {
		return build.Main.Version
	}
	return oneLine(v, 80)
}

// readSync reads textDocumentSync in both forms. A server that says nothing gets whole texts: it was
// started because it owns the file.
func (c *capabilities) readSync(raw json.RawMessage) {
	c.sync, c.openClose = protocol.TextDocumentSyncKindFull, true
	var kind float64
	if decode(raw, &kind) == nil {
		c.sync = protocol.TextDocumentSyncKind(kind)
		c.save = true // the short form dates from when every server was told of saves
		return
	}
	var o struct {
		OpenClose *bool           `json:"openClose"`
		Change    *float64        `json:"change"`
		Save      json.RawMessage `json:"save"`
	}
	if decode(raw, &o) != nil {
		return
	}
	if o.Change != nil {
		c.sync = protocol.TextDocumentSyncKind(*o.Change)
	}
	c.save = offered(o.Save)
	var save struct {
		IncludeText bool `json:"includeText"`
	}
	if decode(o.Save, &save) == nil {
		c.saveText = save.IncludeText
	}
}

// offered says whether a provider member is there and not false.
func offered(raw json.RawMessage) bool {
	return len(raw) > 0 && string(raw) != "null" && string(raw) != "false"
}

// clientCapabilities are what we tell every server of ourselves.
func clientCapabilities() map[string]any {
	dynamic := map[string]any{"dynamicRegistration": true}
	return map[string]any{
		"general": map[string]any{"positionEncodings": []string{"utf-8", "utf-16"}},
		"workspace": map[string]any{
			"applyEdit": false, "configuration": true, "workspaceFolders": true,
			"didChangeConfiguration": dynamic,
			"didChangeWatchedFiles":  map[string]any{"dynamicRegistration": true, "relativePatternSupport": true},
			"diagnostics":            map[string]any{"refreshSupport": true},
			"symbol":                 map[string]any{},
			"executeCommand":         map[string]any{},
		},
		"window": map[string]any{"workDoneProgress": true, "showDocument": map[string]any{"support": false}},
		"textDocument": map[string]any{
			"synchronization":    map[string]any{"didSave": true},
			"publishDiagnostics": map[string]any{"versionSupport": true, "relatedInformation": true, "tagSupport": map[string]any{"valueSet": []int{1, 2}}},
			"diagnostic":         map[string]any{"dynamicRegistration": true, "relatedDocumentSupport": true},
			"definition":         map[string]any{"linkSupport": true},
			"references":         map[string]any{},
			"hover":              map[string]any{"contentFormat": []string{"markdown", "plaintext"}},
			"documentSymbol":     map[string]any{"hierarchicalDocumentSymbolSupport": true},
		},
	}
}
