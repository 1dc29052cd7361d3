package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

type request struct {
	Model     string         `json:"model"`
	MaxTokens int            `json:"max_tokens"`
	System    []content      `json:"system,omitempty"`
	Messages  []turn         `json:"messages"`
	Tools     []tool         `json:"tools,omitempty"`
	Stream    bool           `json:"stream"`
	Thinking  *thinking      `json:"thinking,omitempty"`
	Output    *outputControl `json:"output_config,omitempty"`
}

type thinking struct {
	Type    string `json:"type"`
	Budget  int    `json:"budget_tokens,omitempty"`
	Display string `json:"display,omitempty"`
}

type outputControl struct {
	Effort string `json:"effort"`
}

type tool struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	Cache       *cacheControl   `json:"cache_control,omitempty"`
}

type turn struct {
	Role    string    `json:"role"`
	Content []content `json:"content"`
}

// content is any block of content; the type says which fields it has.
type content struct {
	Type      string          `json:"type"`
	Text      string          `json:"text,omitempty"`
	Source    *source         `json:"source,omitempty"`      // image
	ID        string          `json:"id,omitempty"`          // tool_use
	Name      string          `json:"name,omitempty"`        // tool_use
	Input     json.RawMessage `json:"input,omitempty"`       // tool_use
	ToolUseID string          `json:"tool_use_id,omitempty"` // tool_result
	Content   []content       `json:"content,omitempty"`     // tool_result
	IsError   bool            `json:"is_error,omitempty"`    // tool_result
	Thinking  *string         `json:"thinking,omitempty"`    // thinking: may be empty when its display is omitted
	Signature string          `json:"signature,omitempty"`   // thinking
	Data      string          `json:"data,omitempty"`        // redacted_thinking
	Cache     *cacheControl   `json:"cache_control,omitempty"`
}

type source struct {
	Type      string `json:"type"`
	MediaType string `json:"media_type"`
	Data      []byte `json:"data"` // base64 in JSON
}

type cacheControl struct {
	Type string `json:"type"`
}

var ephemeral = &cacheControl{Type: "ephemeral"}

// maxID is the longest id of a tool call that we send; the API wants letters, digits, _ and -.
const maxID = 64

func (m *Model) encode(req model.Request) ([]byte, error) {
	r := request{Model: m.cfg.Model, MaxTokens: m.cfg.MaxOutput, Stream: true, Messages: history(req.Messages)}
	if req.System != "" {
		r.System = []content{{Type: "text", Text: req.System}}
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		r.Tools = append(r.Tools, tool{Name: t.Name, Description: t.Description, InputSchema: schema})
	}
	m.think(&r, req.Thought)
	r.mark()
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, &model.Error{Kind: model.KindInvalid, Message: fmt.Sprintf("%s: the request cannot be written as JSON: %v", m.cfg.Info.Provider, err), Err: err}
	}
	return b.Bytes(), nil
}

// budgets are tokens of thought by level, for models that are told a number.
var budgets = map[string]int{"low": 4_000, "medium": 10_000, "high": 24_000}

// think sets the thought level; "" leaves the model's default.
func (m *Model) think(r *request, level string) {
	if level == "" {
		return
	}
	switch m.cfg.Thinking {
	case Adaptive:
		r.Thinking = &thinking{Type: "adaptive", Display: "summarized"}
		r.Output = &outputControl{Effort: level}
	case Budget:
		n := budgets[level]
		if n == 0 {
			n = budgets["high"]
		}
		r.Thinking = &thinking{Type: "enabled", Budget: max(1024, min(n, r.MaxTokens/2))}
	}
}

// mark sets the breakpoints of prompt caching, of which there may be four: the tools, the system
// prompt, and the last two user turns, so that each request finds the prefix that the one before
// it wrote.
func (r *request) mark() {
	if n := len(r.Tools); n > 0 {
		r.Tools[n-1].Cache = ephemeral
	}
	if n := len(r.System); n > 0 {
		r.System[n-1].Cache = ephemeral
	}
	left := 2
	for i := len(r.Messages) - 1; i >= 0 && left > 0; i-- {
		if c := r.Messages[i].Content; r.Messages[i].Role == "user" && len(c) > 0 {
			c[len(c)-1].Cache = ephemeral
			left--
		}
	}
}

// history translates the conversation. Neighbours of one role become one message, since the results
// of all calls have to come in the message after them, and empty messages and texts are left out,
// since the API refuses them.
func history(messages []model.Message) []turn {
	var out []turn
	for _, msg := range messages {
		role, blocks := "user", []content(nil)
		switch msg.Role {
		case model.Assistant:
			role, blocks = "assistant", assistant(msg)
		case model.ToolRole:
			result := content{Type: "tool_result", ToolUseID: stream.ID(msg.CallID, maxID), IsError: msg.IsError, Content: parts(msg.Parts)}
			if msg.IsError && len(result.Content) == 0 { // the API wants an error to say something
				result.Content = []content{{Type: "text", Text: "(no message)"}}
			}
			blocks = []content{result}
		default:
			blocks = parts(msg.Parts)
		}
		switch {
		case len(blocks) == 0:
		case len(out) > 0 && out[len(out)-1].Role == role:
			out[len(out)-1].Content = append(out[len(out)-1].Content, blocks...)
		default:
			out = append(out, turn{Role: role, Content: blocks})
		}
	}
	return out
}

// assistant gives the blocks of an answer: thought first. Thought of other providers, which has no
// signature, is left out: the API would refuse it.
func assistant(msg model.Message) []content {
	var out []content
	for _, t := range msg.Thinking {
		switch {
		case t.Redacted != "":
			out = append(out, content{Type: "redacted_thinking", Data: t.Redacted})
		case t.Signature != "":
			out = append(out, content{Type: "thinking", Thinking: &t.Text, Signature: t.Signature})
		}
	}
	thoughts := len(out)
	out = append(out, parts(msg.Parts)...)
	for _, c := range msg.Calls {
		out = append(out, content{Type: "tool_use", ID: stream.ID(c.ID, maxID), Name: stream.Name(c.Name), Input: stream.Arguments(c.Arguments)})
	}
	if len(out) == thoughts {
		return nil // a message of nothing but thought is refused
	}
	return out
}

func parts(in []model.Part) []content {
	var out []content
	for _, p := range in {
		if strings.TrimSpace(p.Text) != "" {
			out = append(out, content{Type: "text", Text: p.Text})
		}
		if p.Image != nil {
			out = append(out, content{Type: "image", Source: &source{Type: "base64", MediaType: p.Image.MIME, Data: p.Image.Data}})
		}
		if p.Audio != nil {
			out = append(out, content{Type: "text", Text: "[a sound clip of type " + p.Audio.MIME + " that this model cannot hear]"})
		}
	}
	return out
}
