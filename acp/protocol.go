package acp

import (
	"bytes"
	"encoding/json"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/workspace"
)

// Methods of ACP version 1 that we serve or call.
const (
	methodInitialize    = "initialize"
	methodAuthenticate  = "authenticate"
	methodLogout        = "logout"
	methodNewSession    = "session/new"
	methodCloseSession  = "session/close"
	methodPrompt        = "session/prompt"
	methodCancel        = "session/cancel"
	methodSetMode       = "session/set_mode"
	methodSetOption     = "session/set_config_option"
	methodCancelRequest = "$/cancel_request"

	methodUpdate        = "session/update"
	methodPermission    = "session/request_permission"
	methodReadFile      = "fs/read_text_file"
	methodWriteFile     = "fs/write_text_file"
	methodTermCreate    = "terminal/create"
	methodTermOutput    = "terminal/output"
	methodTermWait      = "terminal/wait_for_exit"
	methodTermKill      = "terminal/kill"
	methodTermRelease   = "terminal/release"
	protocolVersion     = 1
	statusPending       = "pending"
	statusInProgress    = "in_progress"
	statusCompleted     = "completed"
	statusFailed        = "failed"
	updateMessage       = "agent_message_chunk"
	updateThought       = "agent_thought_chunk"
	updateToolCall      = "tool_call"
	updateToolCallDelta = "tool_call_update"
)

// notifications are the handled methods that want no answer.
var notifications = map[string]bool{methodCancel: true, methodCancelRequest: true}

// update is the params of session/update. Hot updates are encoded with structs of our own: the
// protocol library marshals each twice, and lacks fields that newer editors know.
type update struct {
	SessionID string `json:"sessionId"`
	Update    any    `json:"update"`
}

// chunk is a piece of a message or of a thought.
type chunk struct {
	Kind      string    `json:"sessionUpdate"`
	MessageID string    `json:"messageId,omitempty"`
	Content   textBlock `json:"content"`
}

// textBlock is a text content block.
type textBlock struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func text(s string) textBlock { return textBlock{Type: "text", Text: s} }

// imageBlock is an image content block; Data is written as base64.
type imageBlock struct {
	Type     string `json:"type"`
	MimeType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// toolCall is a tool_call, a tool_call_update, or the toolCall of a permission request. Absent
// fields mean "as before" in an update; an empty Content that is not nil clears what is shown.
type toolCall struct {
	Update    string                 `json:"sessionUpdate,omitempty"`
	ID        string                 `json:"toolCallId"`
	Title     string                 `json:"title,omitempty"`
	Name      string                 `json:"name,omitempty"`
	Kind      string                 `json:"kind,omitempty"`
	Status    string                 `json:"status,omitempty"`
	Content   []content              `json:"content,omitzero"`
	Locations []sdk.ToolCallLocation `json:"locations,omitzero"`
	RawInput  json.RawMessage        `json:"rawInput,omitempty"`
	RawOutput any                    `json:"rawOutput,omitempty"`
	Meta      any                    `json:"_meta,omitempty"`
}

// content is one item of a tool call's content: a block, a diff or a terminal.
type content struct {
	Type       string  `json:"type"`
	Content    any     `json:"content,omitempty"`
	Path       string  `json:"path,omitempty"`
	OldText    *string `json:"oldText,omitempty"`
	NewText    *string `json:"newText,omitempty"`
	TerminalID string  `json:"terminalId,omitempty"`
	Meta       any     `json:"_meta,omitempty"`
}

func textContent(s string) content { return content{Type: "content", Content: text(s)} }

func terminalContent(id string) content { return content{Type: "terminal", TerminalID: id} }

// planUpdate is the whole plan; Entries is never nil.
type planUpdate struct {
	Kind    string          `json:"sessionUpdate"`
	Entries []sdk.PlanEntry `json:"entries"`
}

// commandsUpdate is the whole list of slash commands; never nil.
type commandsUpdate struct {
	Kind     string                 `json:"sessionUpdate"`
	Commands []sdk.AvailableCommand `json:"availableCommands"`
}

type modeUpdate struct {
	Kind string `json:"sessionUpdate"`
	Mode string `json:"currentModeId"`
}

// optionsUpdate is the whole list of options; never nil.
type optionsUpdate struct {
	Kind    string         `json:"sessionUpdate"`
	Options []configOption `json:"configOptions"`
}

type infoUpdate struct {
	Kind      string `json:"sessionUpdate"`
	Title     string `json:"title,omitempty"`
	UpdatedAt string `json:"updatedAt,omitempty"`
}

type usageUpdate struct {
	Kind string `json:"sessionUpdate"`
	Used int    `json:"used"`
	Size int    `json:"size"`
}

// noticeUpdate is only sent to editors that advertised session.notices.
type noticeUpdate struct {
	Kind     string `json:"sessionUpdate"`
	Severity string `json:"severity"`
	Title    string `json:"title"`
}

// location is a place as the editor is told of it.
func location(p workspace.Path, line int) sdk.ToolCallLocation {
	l := sdk.ToolCallLocation{Path: wirePath(p)}
	if line > 0 {
		l.Line = &line
	}
	return l
}

// isNull says whether raw is absent or the JSON null.
func isNull(raw json.RawMessage) bool {
	t := bytes.TrimSpace(raw)
	return len(t) == 0 || string(t) == "null"
}

// isObject says whether raw begins like a JSON object.
func isObject(raw json.RawMessage) bool {
	t := bytes.TrimSpace(raw)
	return len(t) > 0 && t[0] == '{'
}
