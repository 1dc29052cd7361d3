package acptest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Profile is how one real editor behaves on the wire, as it was observed or read in its source. A
// profile never answers a question by itself: the test does.
type Profile struct {
	Name         string
	ClientInfo   map[string]any // nil: the editor sends none
	Capabilities map[string]any
	// Reads serve the text of open buffers; else the disk's.
	ServesBuffers bool
	// ReadsLF gives text with LF whatever the file has.
	ReadsLF bool
	// MissingIsEmpty answers a read of a file that is not there with "".
	MissingIsEmpty bool
	// OnlyInside refuses files outside the session's cwd.
	OnlyInside bool
	// Writes go to the buffer of an open file, which is saved whole; else to the disk alone.
	WritesBuffers bool
	// KeepsEOL saves a file with the line ending that it had.
	KeepsEOL bool
	// ExtraNewline adds a newline to a text that ends in one, when the file is open.
	ExtraNewline bool
	// NullResults answers with null where the schema has {}.
	NullResults bool
	// Silent lets calls that were not offered wait for ever; else they are answered -32601.
	Silent bool
	// FirstDiffOnly shows the user only the first content block of a permission request.
	FirstDiffOnly bool
	// OneOptionPerKind keeps the last of several options of one kind.
	OneOptionPerKind bool
	// HonoursCancel answers a request that the agent gave up with -32800.
	HonoursCancel bool
}

func files(read, write bool) map[string]any {
	return map[string]any{"readTextFile": read, "writeTextFile": write}
}

// profiles by name; see docs of each editor's behaviour in the comments of Profile's fields.
var profiles = map[string]Profile{
	// No optional capability at all: what an agent must be able to live with.
	"bare": {},
	// The conformance list's default: the disk is the truth, everything else is there.
	"plain": {
		ClientInfo:   map[string]any{"name": "plain", "version": "1.0.0"},
		Capabilities: map[string]any{"fs": files(false, false)},
	},
	"zed": {
		ClientInfo: map[string]any{"name": "zed", "title": "Zed Preview", "version": "1.20.0"},
		Capabilities: map[string]any{
			"fs": files(true, true), "terminal": true,
			"auth":        map[string]any{"terminal": true},
			"session":     map[string]any{"configOptions": map[string]any{"boolean": map[string]any{}}},
			"elicitation": map[string]any{"form": map[string]any{}, "url": map[string]any{}},
			"_meta":       map[string]any{"terminal_output": true, "terminal-auth": true},
		},
		ServesBuffers: true, ReadsLF: true, OnlyInside: true, WritesBuffers: true, KeepsEOL: true, HonoursCancel: true,
	},
	"vscode": {
		ClientInfo:    map[string]any{"name": "vscode-acp-client", "version": "0.2.0"},
		Capabilities:  map[string]any{"fs": files(true, true), "terminal": true},
		ServesBuffers: true,
	},
	"jetbrains": {
		ClientInfo:    map[string]any{"name": "JetBrains.IntelliJ IDEA", "title": "IntelliJ IDEA", "version": "2026.3"},
		Capabilities:  map[string]any{"fs": files(true, true), "terminal": false},
		ServesBuffers: true, WritesBuffers: true,
	},
	"codecompanion": {
		ClientInfo:   map[string]any{"name": "CodeCompanion.nvim", "version": "19.0.0"},
		Capabilities: map[string]any{"fs": files(true, true)},
		ReadsLF:      true, MissingIsEmpty: true, WritesBuffers: true, ExtraNewline: true, NullResults: true,
		Silent: true, FirstDiffOnly: true, OneOptionPerKind: true,
	},
	"acpx": {
		ClientInfo:   map[string]any{"name": "acpx", "version": "0.19.1"},
		Capabilities: map[string]any{"fs": files(true, true), "terminal": true},
		OnlyInside:   true,
	},
	"acpel": {
		Capabilities:  map[string]any{"fs": files(true, true)},
		FirstDiffOnly: true,
	},
}

// ProfileByName gives a copy of a known profile.
func ProfileByName(name string) (Profile, error) {
	p, ok := profiles[name]
	if !ok {
		return Profile{}, fmt.Errorf("no editor profile %q; there are %s", name, strings.Join(ProfileNames(), ", "))
	}
	p.Name = name
	p.Capabilities = maps.Clone(p.Capabilities)
	return p, nil
}

// ProfileNames lists the profiles in order.
func ProfileNames() []string { return slices.Sorted(maps.Keys(profiles)) }

// initializeParams is what the editor sends first.
func (p Profile) initializeParams() json.RawMessage {
	m := map[string]any{"protocolVersion": 1}
	if p.Capabilities != nil {
		m["clientCapabilities"] = p.Capabilities
	}
	if p.ClientInfo != nil {
		m["clientInfo"] = p.ClientInfo
	}
	return mustJSON(m)
}

// mustJSON encodes a value that is known to have a JSON form.
func mustJSON(v any) json.RawMessage {
	if raw, ok := v.(json.RawMessage); ok {
		return raw
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}
