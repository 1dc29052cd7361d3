package acp

import (
	"context"
	"encoding/json"

	"acp-agent/internal/wire"
)

// editorInfo is what the editor said of itself in initialize. It is immutable.
type editorInfo struct {
	name, version string
	readFile      bool // fs/read_text_file
	writeFile     bool // fs/write_text_file
	terminal      bool // terminal/*
	terminalAuth  bool // can run us in a terminal to set up
	notices       bool // session/update notice
	profile       profile
}

type initializeParams struct {
	ProtocolVersion *int64          `json:"protocolVersion"`
	Capabilities    json.RawMessage `json:"clientCapabilities"`
	ClientInfo      json.RawMessage `json:"clientInfo"`
}

// clientCapabilities has the fields that we look at. The protocol library's type has neither
// session nor the older terminal-auth convention.
type clientCapabilities struct {
	FS struct {
		Read  bool `json:"readTextFile"`
		Write bool `json:"writeTextFile"`
	} `json:"fs"`
	Terminal bool `json:"terminal"`
	Auth     struct {
		Terminal bool `json:"terminal"`
	} `json:"auth"`
	Session *struct {
		Notices *struct{} `json:"notices"`
	} `json:"session"`
	Meta map[string]any `json:"_meta"`
}

// The answer to initialize. Capabilities are promises: a field appears when the feature is there.
type (
	initializeResult struct {
		ProtocolVersion int               `json:"protocolVersion"`
		Capabilities    agentCapabilities `json:"agentCapabilities"`
		Info            implementation    `json:"agentInfo"`
		AuthMethods     []authMethod      `json:"authMethods"`
	}
	agentCapabilities struct {
		LoadSession bool                `json:"loadSession"`
		Prompt      promptCapabilities  `json:"promptCapabilities"`
		MCP         mcpCapabilities     `json:"mcpCapabilities"`
		Session     sessionCapabilities `json:"sessionCapabilities"`
		Auth        authCapabilities    `json:"auth"`
	}
	promptCapabilities struct {
		Image           bool `json:"image"`
		Audio           bool `json:"audio"`
		EmbeddedContext bool `json:"embeddedContext"`
	}
	mcpCapabilities struct {
		HTTP bool `json:"http"`
		SSE  bool `json:"sse"`
	}
	sessionCapabilities struct {
		Close                 *struct{} `json:"close,omitempty"`
		AdditionalDirectories *struct{} `json:"additionalDirectories,omitempty"`
	}
	authCapabilities struct {
		Logout *struct{} `json:"logout,omitempty"`
	}
	implementation struct {
		Name    string `json:"name"`
		Title   string `json:"title"`
		Version string `json:"version"`
	}
	authMethod struct {
		ID          string         `json:"id"`
		Name        string         `json:"name"`
		Description string         `json:"description,omitempty"`
		Type        string         `json:"type,omitempty"`
		Args        []string       `json:"args,omitempty"`
		Meta        map[string]any `json:"_meta,omitempty"`
	}
)

// prompts are the kinds of content that prompts may have, besides text and links.
var prompts = promptCapabilities{Image: true, Audio: false, EmbeddedContext: true}

// initialize answers at once: no file, no process and no model is touched on this path. A second
// one gets the answer that fits what it says, and changes nothing for sessions that exist.
func (s *Server) initialize(_ context.Context, req *wire.Request) {
	if req.IsNotification() {
		return
	}
	p, err := decode[initializeParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	if p.ProtocolVersion == nil {
		req.ReplyError(invalidParams("protocolVersion is missing"))
		return
	}
	e := readEditorInfo(p)
	s.mu.Lock()
	s.editor = e
	s.mu.Unlock()
	req.Reply(initializeResult{
		// We speak version 1 only, so it is the answer whatever was asked: the editor decides.
		ProtocolVersion: protocolVersion,
		Capabilities: agentCapabilities{
			Prompt:  prompts,
			Session: sessionCapabilities{Close: &struct{}{}, AdditionalDirectories: &struct{}{}},
			Auth:    authCapabilities{Logout: &struct{}{}},
		},
		Info:        implementation{Name: "acp-agent", Title: "ACP Agent", Version: s.o.Version},
		AuthMethods: s.authMethods(e),
	})
	// The log's first record makes its file and compiles what keeps secrets out of it: that can wait.
	s.log.Info("editor connected", "editor", e.name, "version", e.version, "protocol", *p.ProtocolVersion)
}

// readEditorInfo takes what it understands: a field of a wrong type counts as not said, as the
// schema asks of capabilities.
func readEditorInfo(p initializeParams) *editorInfo {
	var caps clientCapabilities
	if !isNull(p.Capabilities) && json.Unmarshal(p.Capabilities, &caps) != nil {
		caps = lenientCapabilities(p.Capabilities)
	}
	var info struct{ Name, Version string }
	if !isNull(p.ClientInfo) {
		_ = json.Unmarshal(p.ClientInfo, &info) // a broken clientInfo is an unknown editor
	}
	legacy, _ := caps.Meta["terminal-auth"].(bool)
	return &editorInfo{
		name:         info.Name,
		version:      info.Version,
		readFile:     caps.FS.Read,
		writeFile:    caps.FS.Write,
		terminal:     caps.Terminal,
		terminalAuth: caps.Auth.Terminal || legacy,
		notices:      caps.Session != nil && caps.Session.Notices != nil,
		profile:      profileOf(info.Name),
	}
}

// lenientCapabilities decodes field by field and leaves out those that do not decode.
func lenientCapabilities(raw json.RawMessage) clientCapabilities {
	var caps clientCapabilities
	var fields map[string]json.RawMessage
	if json.Unmarshal(raw, &fields) != nil {
		return caps
	}
	for name, into := range map[string]any{
		"fs": &caps.FS, "terminal": &caps.Terminal, "auth": &caps.Auth, "session": &caps.Session, "_meta": &caps.Meta,
	} {
		if value, ok := fields[name]; ok {
			_ = json.Unmarshal(value, into) // what does not decode is not supported
		}
	}
	return caps
}
