package anthropic

import (
	"bytes"
	"encoding/json"
	"fmt"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

type event struct {
	Type    string          `json:"type"`
	Index   int             `json:"index"`
	Message *message        `json:"message"`       // message_start
	Block   *block          `json:"content_block"` // content_block_start
	Delta   delta           `json:"delta"`         // content_block_delta, message_delta
	Usage   *usage          `json:"usage"`         // message_delta
	Error   json.RawMessage `json:"error"`
}

type message struct {
	Type    string          `json:"type"`
	Content []block         `json:"content"`
	Stop    string          `json:"stop_reason"`
	Usage   *usage          `json:"usage"`
	Error   json.RawMessage `json:"error"`
}

// block keeps text as it came, since it may hold half a rune.
type block struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature string          `json:"signature"`
	Data      string          `json:"data"` // redacted_thinking
	ID        string          `json:"id"`
	Name      string          `json:"name"`
	Input     json.RawMessage `json:"input"`
}

type delta struct {
	Type      string          `json:"type"`
	Text      json.RawMessage `json:"text"`
	Thinking  json.RawMessage `json:"thinking"`
	Signature string          `json:"signature"`
	Partial   json.RawMessage `json:"partial_json"`
	Stop      string          `json:"stop_reason"`
}

// usage leaves out what the provider does not repeat: message_delta may come without input counts.
type usage struct {
	Input  *int `json:"input_tokens"`
	Read   *int `json:"cache_read_input_tokens"`
	Write  *int `json:"cache_creation_input_tokens"`
	Output *int `json:"output_tokens"`
}

// decoder turns the events of one answer into ours.
type decoder struct {
	yield   func(model.Event, error) bool
	stopped bool // the reader has had enough

	text, thought stream.Runes
	calls         *stream.Calls
	thinking      *model.Thinking // the open block of thought
	stop          string
	usage         struct{ input, read, write, output int }
}

// event takes one server-sent event and says whether the answer is over.
func (d *decoder) event(name string, data []byte) (over bool, err error) {
	switch data = bytes.TrimSpace(data); {
	case len(data) == 0:
		return false, nil
	case string(data) == "[DONE]": // gateways that also speak the other format
		return true, nil
	case name == "error":
		return true, stream.BodyError(data)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return true, notEvent(data, err)
	}
	if e.Type == "error" || len(e.Error) > 0 && string(e.Error) != "null" {
		return true, stream.BodyError(data)
	}
	switch e.Type {
	case "message_start":
		if e.Message != nil {
			d.count(e.Message.Usage)
		}
	case "content_block_start":
		if e.Block != nil {
			d.open(e.Index, *e.Block)
		}
	case "content_block_delta":
		d.delta(e.Index, e.Delta)
	case "content_block_stop":
		d.close()
	case "message_delta":
		d.count(e.Usage)
		if e.Delta.Stop != "" {
			d.stop = e.Delta.Stop
		}
	case "message_stop":
		return true, nil
	}
	return false, nil
}

// whole takes an answer that did not stream.
func (d *decoder) whole(data []byte) error {
	var m message
	if err := json.Unmarshal(data, &m); err != nil && !stream.Reports(data) {
		return notEvent(data, err)
	}
	if m.Type != "message" {
		if stream.Reports(data) {
			return stream.BodyError(data)
		}
		return &model.Error{Kind: model.KindProtocol, Message: "the answer is JSON but not a message: check the base URL"}
	}
	d.count(m.Usage)
	for i, b := range m.Content {
		d.open(i, b)
		d.close()
	}
	d.stop = m.Stop
	return nil
}

func notEvent(data []byte, err error) error {
	if len(data) > 200 {
		data = data[:200]
	}
	return &model.Error{Kind: model.KindProtocol, Message: fmt.Sprintf("a piece of the answer is not an event of Messages (%v): %q", err, data), Err: err}
}

func (d *decoder) count(u *usage) {
	if u == nil {
		return
	}
	set := func(to *int, from *int) {
		if from != nil {
			*to = *from
		}
	}
	set(&d.usage.input, u.Input)
	set(&d.usage.read, u.Read)
	set(&d.usage.write, u.Write)
	set(&d.usage.output, u.Output)
}

// open begins a block; servers may put all of its content here.
func (d *decoder) open(index int, b block) {
	d.close()
	switch b.Type {
	case "text":
		d.say(b.Text)
	case "thinking":
		d.thinking = &model.Thinking{Signature: b.Signature}
		d.think(b.Thinking)
	case "redacted_thinking":
		d.send(model.Event{Thinking: &model.Thinking{Redacted: b.Data}})
	case "tool_use":
		p := stream.Piece{Index: &index, ID: b.ID, Name: b.Name}
		if len(b.Input) > len("{}") {
			p.Arguments = b.Input
		}
		for _, name := range d.calls.Add([]stream.Piece{p}) {
			d.send(model.Event{CallStart: name})
		}
	}
}

func (d *decoder) delta(index int, x delta) {
	switch x.Type {
	case "text_delta":
		d.say(x.Text)
	case "thinking_delta":
		if d.thinking == nil {
			d.thinking = &model.Thinking{}
		}
		d.think(x.Thinking)
	case "signature_delta":
		if d.thinking != nil {
			d.thinking.Signature += x.Signature
		}
	case "input_json_delta":
		d.calls.Add([]stream.Piece{{Index: &index, Arguments: x.Partial}})
	}
}

// close ends the open block: what was held back, and the thought to be echoed.
func (d *decoder) close() {
	if s := d.text.Flush(); s != "" {
		d.send(model.Event{Text: s})
	}
	if s := d.thought.Flush(); s != "" {
		if d.thinking != nil {
			d.thinking.Text += s
		}
		d.send(model.Event{Thought: s})
	}
	if t := d.thinking; t != nil {
		d.thinking = nil
		d.send(model.Event{Thinking: t})
	}
}

func (d *decoder) say(raw json.RawMessage) {
	if s := d.text.Add(raw); s != "" {
		d.send(model.Event{Text: s})
	}
}

func (d *decoder) think(raw json.RawMessage) {
	if s := d.thought.Add(raw); s != "" {
		d.thinking.Text += s
		d.send(model.Event{Thought: s})
	}
}

func (d *decoder) send(e model.Event) {
	if !d.stopped && !d.yield(e, nil) {
		d.stopped = true
	}
}

// end hands the calls over and closes the answer.
func (d *decoder) end() error {
	d.close()
	calls := d.calls.Finish()
	for i := range calls {
		d.send(model.Event{Call: &calls[i]})
	}
	u := d.usage
	d.send(model.Event{Done: &model.Done{Finish: d.reason(len(calls) > 0),
		Usage: model.Usage{Input: u.input + u.read + u.write, Output: u.output, Cached: u.read}}})
	return nil
}

func (d *decoder) reason(calls bool) model.Finish {
	switch d.stop {
	case "max_tokens", "model_context_window_exceeded":
		return model.FinishLength
	case "refusal":
		return model.FinishRefusal
	}
	if calls {
		return model.FinishToolCalls
	}
	return model.FinishStop
}
