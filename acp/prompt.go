package acp

import (
	"bytes"
	"context"
	"encoding/json"
	"runtime/debug"
	"time"

	"acp-agent/internal/agent"
	"acp-agent/internal/wire"
)

// cancelLimit is how long session/close waits for a cancelled turn before it closes all the same.
const cancelLimit = 10 * time.Second

// turn is one prompt from its request to its stop reason. It runs in a goroutine of its own that
// starts with the request and waits for the turns before it in its session.
type turn struct {
	*session
	number int
	req    *wire.Request
	prompt json.RawMessage
	stop   context.CancelFunc // ends the turn; safe to call again
	done   chan struct{}      // closed when the turn has answered
	// onCancel has f called when the turn is cancelled; the returned function takes that back.
	onCancel func(f func()) (unhook func() bool)
	out      *outbox

	modelID  string // provider/model, for the record
	window   int    // the model's context window, 0 when unknown
	messages int    // messages of the model in this turn; used by the goroutine of agent.Run
	holds    int    // how often the end of the turn was held; likewise
}

type promptParams struct {
	SessionID string          `json:"sessionId"`
	Prompt    json.RawMessage `json:"prompt"`
}

// promptResult is the answer of a turn.
type promptResult struct {
	StopReason agent.StopReason `json:"stopReason"`
}

// prompt registers the turn before the next message is read, so that a cancel right behind the
// prompt finds it. The content is looked at in the turn's goroutine.
func (s *Server) prompt(ctx context.Context, req *wire.Request) {
	p, err := decode[promptParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	one, err := s.session(p.SessionID)
	if err != nil {
		req.ReplyError(err)
		return
	}
	ctx, stop := context.WithCancel(ctx)
	t := &turn{session: one, req: req, prompt: p.Prompt, stop: stop, done: make(chan struct{})}
	t.onCancel = func(f func()) func() bool { return context.AfterFunc(ctx, f) }
	before := one.register(t)
	if !s.spawn(ctx, func(ctx context.Context) { t.run(ctx, before) }) {
		one.forget(t)
		close(t.done)
		stop()
		req.ReplyError(invalidRequest("%v", errClosing))
	}
}

// register puts a turn at the end of its session's queue and gives the one before it, nil for none.
func (o *session) register(t *turn) (before *turn) {
	key := requestKey(t.req)
	o.srv.mu.Lock()
	o.srv.requests[key] = t
	o.srv.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	before, o.last = o.last, t
	o.waiting[t] = true
	o.turns++
	t.number = o.turns
	return before
}

// forget takes an answered turn out of the books.
func (o *session) forget(t *turn) {
	o.srv.mu.Lock()
	key := requestKey(t.req)
	if o.srv.requests[key] == t {
		delete(o.srv.requests, key)
	}
	o.srv.mu.Unlock()
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.waiting, t)
	if o.last == t {
		o.last = nil
	}
	if o.running == t {
		o.running = nil
	}
}

// requestKey is the id of a request as it was sent, so that 1 and "1" differ.
func requestKey(req *wire.Request) string { return string(bytes.TrimSpace(req.ID)) }

// run plays the turn when its time comes and answers exactly once, whatever happens.
func (t *turn) run(ctx context.Context, before *turn) {
	defer t.stop()
	if before != nil {
		<-before.done // ends by itself: a turn always answers
	}
	t.srv.in.handled(ctx)
	// The done channel closes last, so that the next turn, and session/close, come behind the answer.
	defer close(t.done)
	defer t.forget(t)
	t.out = newOutbox(ctx, t.srv, t.id)
	t.mu.Lock()
	t.running = t
	t.mu.Unlock()

	stop, err := t.playSafely(ctx)
	t.out.close()
	switch {
	case ctx.Err() != nil:
		// Cancellation wins over whatever else happened on the way out.
		t.req.Reply(promptResult{StopReason: agent.Cancelled})
	case err != nil:
		t.req.ReplyError(err)
	default:
		t.req.Reply(promptResult{StopReason: stop})
	}
}

// playSafely is play with panics turned into an answer.
func (t *turn) playSafely(ctx context.Context) (stop agent.StopReason, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.srv.log.Error("panic in a turn", "session", t.id, "panic", p, "stack", string(debug.Stack()))
			err = internalError("internal fault in this turn, see the log; the session is still usable")
		}
	}()
	if ctx.Err() != nil {
		return agent.Cancelled, nil
	}
	return t.play(ctx)
}
