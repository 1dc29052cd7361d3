package openai

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

type request struct {
	Model         string         `json:"model"`
	Messages      []message      `json:"messages"`
	Tools         []tool         `json:"tools,omitempty"`
	Stream        bool           `json:"stream"`
	StreamOptions *streamOptions `json:"stream_options,omitempty"`
	Effort        string         `json:"reasoning_effort,omitempty"`
	Reasoning     *reasoning     `json:"reasoning,omitempty"` // OpenRouter's own form of effort
	CacheKey      string         `json:"prompt_cache_key,omitempty"`
}

type streamOptions struct {
	IncludeUsage bool `json:"include_usage"`
}

type reasoning struct {
	Effort string `json:"effort"`
}

type tool struct {
	Type     string   `json:"type"`
	Function function `json:"function"`
}

type function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Parameters  json.RawMessage `json:"parameters"`
}

type message struct {
	Role       string     `json:"role"`
	Content    any        `json:"content"` // string, []part, or nil for an assistant that only calls
	ToolCalls  []toolCall `json:"tool_calls,omitempty"`
	ToolCallID string     `json:"tool_call_id,omitempty"`
	// Reasoning goes back in the field that it came in.
	ReasoningContent string `json:"reasoning_content,omitempty"`
	Reasoning        string `json:"reasoning,omitempty"`
}

type part struct {
	Type  string      `json:"type"`
	Text  string      `json:"text,omitempty"`
	Image *imageURL   `json:"image_url,omitempty"`
	Audio *inputAudio `json:"input_audio,omitempty"`
}

type imageURL struct {
	URL string `json:"url"`
}

type inputAudio struct {
	Data   string `json:"data"`
	Format string `json:"format"`
}

type toolCall struct {
	ID       string        `json:"id"`
	Type     string        `json:"type"`
	Function calledFunc    `json:"function"`
	Extra    *extraContent `json:"extra_content,omitempty"`
}

type calledFunc struct {
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// extraContent is where Gemini's compatible endpoint keeps a call's thought signature.
type extraContent struct {
	Google struct {
		Signature string `json:"thought_signature"`
	} `json:"google"`
}

// maxID is the longest tool call id that OpenAI takes.
const maxID = 40

// noSignature stands where Gemini demands a signature for a call that another model made (Gemini
// API, thought signatures).
const noSignature = "skip_thought_signature_validator"

func (m *Model) encode(req model.Request) ([]byte, error) {
	r := request{Model: m.cfg.Model, Stream: true}
	if !m.noUsage.Load() {
		r.StreamOptions = &streamOptions{IncludeUsage: true}
	}
	switch {
	case m.noEffort.Load() && len(req.Tools) > 0:
		r.Effort = "none"
	case m.cfg.Dialect == OpenRouter && req.Thought != "":
		r.Reasoning = &reasoning{Effort: req.Thought}
	default:
		r.Effort = req.Thought
	}
	if m.cfg.Dialect == Official {
		r.CacheKey = req.Session
	}
	for _, t := range req.Tools {
		schema := t.Schema
		if len(schema) == 0 {
			schema = json.RawMessage(`{"type":"object","properties":{}}`)
		}
		r.Tools = append(r.Tools, tool{Type: "function", Function: function{Name: t.Name, Description: t.Description, Parameters: schema}})
	}
	if req.System != "" {
		r.Messages = append(r.Messages, message{Role: "system", Content: req.System})
	}
	r.Messages = append(r.Messages, m.history(req.Messages)...)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return nil, &model.Error{Kind: model.KindInvalid, Message: fmt.Sprintf("%s: the request cannot be written as JSON: %v", m.cfg.Info.Provider, err), Err: err}
	}
	return b.Bytes(), nil
}

// history translates the conversation. Tool messages carry text only, so images of tool results
// follow the last result of their run as a user message.
func (m *Model) history(messages []model.Message) []message {
	turn := 0 // where the current turn begins: reasoning is echoed from there on
	for i, msg := range messages {
		if msg.Role == model.User {
			turn = i
		}
	}
	var out []message
	var late []part
	flush := func() {
		if len(late) > 0 {
			out = append(out, message{Role: "user", Content: late})
			late = nil
		}
	}
	for i, msg := range messages {
		switch msg.Role {
		case model.ToolRole:
			out = append(out, message{Role: "tool", ToolCallID: stream.ID(msg.CallID, maxID), Content: msg.Text()})
			if media := mediaParts(msg.Parts); len(media) > 0 {
				late = append(late, part{Type: "text", Text: "From the result of " + stream.Name(msg.Name) + ":"})
				late = append(late, media...)
			}
		case model.Assistant:
			flush()
			if a, ok := m.assistant(msg, i > turn); ok {
				out = append(out, a)
			}
		default:
			flush()
			out = append(out, message{Role: "user", Content: content(msg.Parts)})
		}
	}
	flush()
	return out
}

func (m *Model) assistant(msg model.Message, current bool) (message, bool) {
	a := message{Role: "assistant"}
	if text := msg.Text(); text != "" {
		a.Content = text
	}
	for i, c := range msg.Calls {
		k := toolCall{ID: stream.ID(c.ID, maxID), Type: "function", Function: calledFunc{
			Name: stream.Name(c.Name), Arguments: string(stream.Arguments(c.Arguments)),
		}}
		if m.cfg.Dialect == Gemini {
			sig := c.Signature
			if sig == "" && i == 0 && current {
				sig = noSignature
			}
			if sig != "" {
				k.Extra = &extraContent{}
				k.Extra.Google.Signature = sig
			}
		}
		a.ToolCalls = append(a.ToolCalls, k)
	}
	if a.Content == nil && len(a.ToolCalls) == 0 {
		return a, false // an empty message is refused by some servers
	}
	if field := m.reasoning.Load(); field != nil && current && len(msg.Calls) > 0 {
		var text strings.Builder
		for _, t := range msg.Thinking {
			text.WriteString(t.Text)
		}
		if *field == "reasoning" {
			a.Reasoning = text.String()
		} else {
			a.ReasoningContent = text.String()
		}
	}
	return a, true
}

// content is a plain string where it can be: servers without vision know no other form.
func content(parts []model.Part) any {
	media := mediaParts(parts)
	text := model.Message{Parts: parts}.Text()
	if len(media) == 0 {
		return text
	}
	var out []part
	for _, p := range parts {
		if p.Text != "" {
			out = append(out, part{Type: "text", Text: p.Text})
		}
		out = append(out, mediaParts([]model.Part{p})...)
	}
	return out
}

func mediaParts(parts []model.Part) []part {
	var out []part
	for _, p := range parts {
		if p.Image != nil {
			out = append(out, part{Type: "image_url", Image: &imageURL{
				URL: "data:" + p.Image.MIME + ";base64," + base64.StdEncoding.EncodeToString(p.Image.Data)}})
		}
		if p.Audio != nil {
			_, format, _ := strings.Cut(p.Audio.MIME, "/")
			switch format {
			case "mpeg":
				format = "mp3"
			case "x-wav", "wave", "vnd.wave":
				format = "wav"
			}
			out = append(out, part{Type: "input_audio", Audio: &inputAudio{Data: base64.StdEncoding.EncodeToString(p.Audio.Data), Format: format}})
		}
	}
	return out
}
