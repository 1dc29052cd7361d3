package openai

import (
	"bytes"
	"encoding/json"
	"fmt"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

type chunk struct {
	Choices []choice        `json:"choices"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
	Object  string          `json:"object"`
}

type choice struct {
	Index        int     `json:"index"`
	Delta        *delta  `json:"delta"`
	Message      *delta  `json:"message"` // a server that does not stream
	FinishReason *string `json:"finish_reason"`
	Usage        *usage  `json:"usage"` // Moonshot
}

// delta keeps text as it came, since it may hold half a rune.
type delta struct {
	Content          json.RawMessage `json:"content"`
	ReasoningContent json.RawMessage `json:"reasoning_content"`
	Reasoning        json.RawMessage `json:"reasoning"`
	Refusal          json.RawMessage `json:"refusal"`
	ToolCalls        []callDelta     `json:"tool_calls"`
}

type callDelta struct {
	Index    *int     `json:"index"`
	ID       loose    `json:"id"`
	Function funcPart `json:"function"`
	Extra    struct {
		Google struct {
			Signature string `json:"thought_signature"`
		} `json:"google"`
	} `json:"extra_content"`
}

type funcPart struct {
	Name      loose           `json:"name"`
	Arguments json.RawMessage `json:"arguments"`
}

// loose is a string that some servers send as a number or null.
type loose string

// UnmarshalJSON takes any scalar.
func (l *loose) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
	case b[0] == '"':
		var s string
		if err := json.Unmarshal(b, &s); err != nil {
			return err
		}
		*l = loose(s)
	default:
		*l = loose(b)
	}
	return nil
}

type usage struct {
	Prompt     int `json:"prompt_tokens"`
	Completion int `json:"completion_tokens"`
	Details    struct {
		Cached int `json:"cached_tokens"`
	} `json:"prompt_tokens_details"`
	CacheHit int `json:"prompt_cache_hit_tokens"` // DeepSeek
	Cached   int `json:"cached_tokens"`           // Moonshot
}

// decoder turns the chunks of one answer into events.
type decoder struct {
	yield   func(model.Event, error) bool
	stopped bool // the reader has had enough

	text, thought stream.Runes
	think         stream.Think
	calls         *stream.Calls
	echo          []byte // reasoning to be sent back with this answer's calls
	reasoning     string // the field that it came in
	refused       bool
	finish        string
	seen          bool // there was a choice
	usage         model.Usage
}

// event takes one server-sent event and says whether the stream is over.
func (d *decoder) event(name string, data []byte) (over bool, err error) {
	data = bytes.TrimSpace(data)
	switch {
	case string(data) == "[DONE]":
		return true, nil
	case len(data) == 0:
		return false, nil
	case name == "error":
		return true, stream.BodyError(data)
	}
	return false, d.chunk(data)
}

// whole takes an answer that did not stream.
func (d *decoder) whole(data []byte) error {
	if err := d.chunk(data); err != nil || d.seen {
		return err
	}
	if stream.Reports(data) { // {"detail": …} and the like
		return stream.BodyError(data)
	}
	return &model.Error{Kind: model.KindProtocol, Message: "the answer is JSON but not a chat completion: check base_url"}
}

func (d *decoder) chunk(data []byte) error {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return d.notChunk(data, err)
	}
	if len(c.Error) > 0 && string(c.Error) != "null" || c.Object == "error" {
		return stream.BodyError(data)
	}
	d.count(c.Usage)
	for _, ch := range c.Choices {
		if ch.Index != 0 {
			continue
		}
		d.seen = true
		d.count(ch.Usage)
		part := ch.Delta
		if part == nil {
			part = ch.Message
		}
		if part != nil && !d.delta(part) {
			return nil
		}
		if ch.FinishReason != nil && *ch.FinishReason != "" {
			d.finish = *ch.FinishReason
		}
	}
	if d.finish == "error" {
		return &model.Error{Kind: model.KindServer, Message: "the server broke the answer off without saying why"}
	}
	return nil
}

// notChunk looks for an error that is not in the format (a list, another shape) before it calls the
// answer broken.
func (d *decoder) notChunk(data []byte, err error) error {
	if json.Valid(data) && data[0] == '[' {
		return stream.BodyError(data)
	}
	if len(data) > 200 {
		data = data[:200]
	}
	return &model.Error{Kind: model.KindProtocol, Message: fmt.Sprintf("a piece of the answer is not a chat completion chunk (%v): %q", err, data), Err: err}
}

func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	d.usage = model.Usage{Input: u.Prompt, Output: u.Completion, Cached: max(u.Details.Cached, u.CacheHit, u.Cached)}
}

// delta passes one delta on; false when the reader has had enough.
func (d *decoder) delta(p *delta) bool {
	raw, field := p.ReasoningContent, "reasoning_content"
	if len(raw) == 0 || raw[0] != '"' || len(raw) == len(`""`) {
		raw, field = p.Reasoning, "reasoning"
	}
	if s := d.thought.Add(raw); s != "" {
		d.reasoning = field
		d.echo = append(d.echo, s...)
		if !d.send(model.Event{Thought: s}) {
			return false
		}
	}
	if !d.content(p.Content) {
		return false
	}
	if s := d.text.Add(p.Refusal); s != "" {
		d.refused = true
		if !d.send(model.Event{Text: s}) {
			return false
		}
	}
	if len(p.ToolCalls) == 0 {
		return true
	}
	pieces := make([]stream.Piece, len(p.ToolCalls))
	for i, c := range p.ToolCalls {
		pieces[i] = stream.Piece{Index: c.Index, ID: string(c.ID), Name: string(c.Function.Name),
			Arguments: c.Function.Arguments, Signature: c.Extra.Google.Signature}
	}
	for _, name := range d.calls.Add(pieces) {
		if !d.send(model.Event{CallStart: name}) {
			return false
		}
	}
	return true
}

// content takes text, or a list of typed parts (Mistral).
func (d *decoder) content(raw json.RawMessage) bool {
	if len(raw) == 0 || raw[0] != '[' {
		s := d.text.Add(raw)
		return s == "" || d.think.Add(s, d.piece)
	}
	var parts []struct {
		Type     string          `json:"type"`
		Text     json.RawMessage `json:"text"`
		Thinking []struct {
			Text json.RawMessage `json:"text"`
		} `json:"thinking"`
	}
	if json.Unmarshal(raw, &parts) != nil {
		return true
	}
	for _, p := range parts {
		for _, t := range p.Thinking {
			if s := d.thought.Add(t.Text); s != "" && !d.send(model.Event{Thought: s}) {
				return false
			}
		}
		if s := d.text.Add(p.Text); s != "" && !d.think.Add(s, d.piece) {
			return false
		}
	}
	return true
}

func (d *decoder) piece(s string, thought bool) bool {
	if thought {
		return d.send(model.Event{Thought: s})
	}
	return d.send(model.Event{Text: s})
}

func (d *decoder) send(e model.Event) bool {
	if !d.stopped && !d.yield(e, nil) {
		d.stopped = true
	}
	return !d.stopped
}

// end closes the answer: what was held back, the reasoning to be echoed, the calls, Done.
func (d *decoder) end() error {
	if s := d.thought.Flush(); s != "" && !d.send(model.Event{Thought: s}) {
		return nil
	}
	if s := d.text.Flush(); s != "" && !d.think.Add(s, d.piece) {
		return nil
	}
	if !d.think.Flush(d.piece) {
		return nil
	}
	if len(d.echo) > 0 && !d.send(model.Event{Thinking: &model.Thinking{Text: string(d.echo)}}) {
		return nil
	}
	calls := d.calls.Finish()
	for i := range calls {
		if !d.send(model.Event{Call: &calls[i]}) {
			return nil
		}
	}
	d.send(model.Event{Done: &model.Done{Finish: d.reason(len(calls) > 0), Usage: d.usage}})
	return nil
}

// reason maps the finish reason. Servers say "stop" although there are calls, and "tool_calls"
// although there are none.
func (d *decoder) reason(calls bool) model.Finish {
	switch d.finish {
	case "length", "max_tokens", "model_length":
		return model.FinishLength
	case "content_filter", "refusal", "safety":
		return model.FinishRefusal
	}
	switch {
	case calls:
		return model.FinishToolCalls
	case d.refused:
		return model.FinishRefusal
	}
	return model.FinishStop
}
