package acptest

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"

	"acp-agent/internal/model"
)

// Recorder stands between the agent and its models and keeps every request, so that a test sees
// exactly what the model was told.
type Recorder struct {
	inner model.Resolver

	mu       sync.Mutex
	requests []model.Request // guarded by mu
}

// NewRecorder records what goes to the models of inner.
func NewRecorder(inner model.Resolver) *Recorder { return &Recorder{inner: inner} }

// Resolve gives the inner model, recorded.
func (r *Recorder) Resolve(ctx context.Context, name, cwd string) (model.Model, error) {
	m, err := r.inner.Resolve(ctx, name, cwd)
	if err != nil {
		return nil, err
	}
	return recorded{m, r}, nil
}

// Default gives the inner default model, recorded.
func (r *Recorder) Default(ctx context.Context) (model.Model, error) {
	m, err := r.inner.Default(ctx)
	if err != nil {
		return nil, err
	}
	return recorded{m, r}, nil
}

// List is the inner list.
func (r *Recorder) List(ctx context.Context) []model.Info { return r.inner.List(ctx) }

// Requests are all requests so far, oldest first.
func (r *Recorder) Requests() []model.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]model.Request(nil), r.requests...)
}

// Results are the tool results in the latest request's history, oldest first.
func (r *Recorder) Results() []model.Message {
	all := r.Requests()
	if len(all) == 0 {
		return nil
	}
	var results []model.Message
	for _, m := range all[len(all)-1].Messages {
		if m.Role == model.ToolRole {
			results = append(results, m)
		}
	}
	return results
}

// HistoryFault says why a provider would refuse a request's history, "" when it would not: every
// tool call is followed by exactly one result before the next message that is none, arguments are
// sent as they are or are valid JSON, and no assistant message is empty.
func HistoryFault(req model.Request) string {
	waiting := map[string]bool{}
	for i, m := range req.Messages {
		switch m.Role {
		case model.ToolRole:
			if !waiting[m.CallID] {
				return fmt.Sprintf("message %d answers call %q, which does not wait for a result", i, m.CallID)
			}
			delete(waiting, m.CallID)
			continue
		case model.Assistant:
			if len(m.Calls) == 0 && m.Text() == "" {
				return fmt.Sprintf("message %d of the assistant is empty", i)
			}
		}
		if len(waiting) > 0 {
			return fmt.Sprintf("message %d (%s) comes while calls %v have no result", i, m.Role, waiting)
		}
		for _, c := range m.Calls {
			if waiting[c.ID] || c.ID == "" {
				return fmt.Sprintf("message %d has the call id %q twice or empty", i, c.ID)
			}
			waiting[c.ID] = true
		}
	}
	if len(waiting) > 0 {
		return fmt.Sprintf("calls %v have no result", waiting)
	}
	if _, err := json.Marshal(req.Messages); err != nil {
		return err.Error()
	}
	return ""
}

// recorded is one model behind the recorder.
type recorded struct {
	model.Model
	r *Recorder
}

// Stream keeps the request and passes it on.
func (m recorded) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	kept := req
	kept.Messages = append([]model.Message(nil), req.Messages...)
	m.r.mu.Lock()
	m.r.requests = append(m.r.requests, kept)
	m.r.mu.Unlock()
	return m.Model.Stream(ctx, req)
}
