package headless

import (
	"context"
	"encoding/json"

	"acp-agent/internal/wire"
)

// Question is a permission request.
type Question struct {
	Session string   `json:"sessionId"`
	Call    ToolCall `json:"toolCall"`
	Options []Option `json:"options"`
	Meta    Meta     `json:"_meta"`
}

// Option is one answer that may be given.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Offers says whether an option may be chosen.
func (q Question) Offers(id string) bool {
	for _, o := range q.Options {
		if o.ID == id {
			return true
		}
	}
	return false
}

// Ids of the options that the server knows.
const (
	AllowOnce    = "allow_once"
	AllowSession = "allow_session"
	RejectOnce   = "reject_once"
)

// Answer is the chosen option; "" cancels the question.
type Answer struct {
	Option string
	// Edited is the text that the user wants instead of the proposed one, for a yes to a single file;
	// nil for the text as proposed. It is an extension of ours in _meta.
	Edited *string
}

// ask puts a question to the owner, outside the reader.
func (c *Client) ask(ctx context.Context, req *wire.Request) {
	var q Question
	if err := json.Unmarshal(req.Params, &q); err != nil {
		req.ReplyError(&wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()})
		return
	}
	if c.o.Permission == nil {
		req.Reply(outcome(Answer{Option: RejectOnce}))
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	key := string(req.ID)
	c.mu.Lock()
	c.questions[key] = cancel
	c.mu.Unlock()
	c.asked.Go(func() {
		defer cancel()
		a := c.o.Permission(ctx, q)
		c.mu.Lock()
		delete(c.questions, key)
		c.mu.Unlock()
		req.Reply(outcome(a))
	})
}

// endQuestion ends a question that the agent took back, since its turn was cancelled.
func (c *Client) endQuestion(req *wire.Request) {
	var p struct {
		ID json.RawMessage `json:"requestId"`
	}
	if json.Unmarshal(req.Params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.questions[string(p.ID)]; cancel != nil {
		cancel()
	}
}

// outcome is an answer on the wire.
func outcome(a Answer) any {
	if a.Option == "" {
		return map[string]any{"outcome": map[string]any{"outcome": "cancelled"}}
	}
	result := map[string]any{"outcome": map[string]any{"outcome": "selected", "optionId": a.Option}}
	if a.Edited != nil {
		result["_meta"] = map[string]any{"acpAgent": map[string]any{"v": 1, "edited": *a.Edited}}
	}
	return result
}
