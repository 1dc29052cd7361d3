package wire

import (
	"encoding/json"
	"fmt"
	"runtime/debug"
	"sync/atomic"
)

// Handler takes incoming requests and notifications on the read loop, in order. It must not wait:
// it hands work that waits to goroutines of its own. A panic in it is answered -32603 and logged.
type Handler func(req *Request)

// Request is one incoming request or notification. ID, Method and Params are as they were sent,
// byte for byte; Params is nil when absent (and "null" when null).
type Request struct {
	ID     json.RawMessage // nil for a notification; "null" for a request whose id is null
	Method string
	Params json.RawMessage // an object, an array, "null" or nil

	conn     *Conn
	answered atomic.Bool
}

// IsNotification says that no answer is wanted.
func (r *Request) IsNotification() bool { return r.ID == nil }

// Reply answers with a result (nil is null). The second answer of a request is dropped and logged.
// It never blocks on the peer.
func (r *Request) Reply(result any) {
	if !r.claim() {
		return
	}
	body, err := r.conn.encodeResult(r.ID, result)
	if err != nil {
		r.conn.log.Error("answer could not be sent", "method", r.Method, "err", err)
		body = r.conn.encodeError(r.ID, &Error{Code: CodeInternal, Message: "the answer of " + r.Method + " could not be sent: " + err.Error()})
	}
	r.conn.answer(r.Method, body)
}

// ReplyError answers with an error; any error that is no *Error becomes -32603 with its text.
func (r *Request) ReplyError(err error) {
	if r.claim() {
		r.conn.answer(r.Method, r.conn.encodeError(r.ID, errorFrom(err)))
	}
}

// claim says whether an answer may be sent now, which is true once for a request and never for a
// notification.
func (r *Request) claim() bool {
	if r.IsNotification() {
		return false
	}
	if r.answered.Swap(true) {
		r.conn.log.Error("second answer of a request dropped", "method", r.Method, "id", string(r.ID))
		return false
	}
	return true
}

// run calls the handler and turns its panic into an answer: one bad request must not end the
// process.
func (r *Request) run(h Handler) {
	defer func() {
		if p := recover(); p != nil {
			r.conn.log.Error("handler panicked", "method", r.Method, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			if !r.IsNotification() && !r.answered.Load() {
				r.ReplyError(&Error{Code: CodeInternal, Message: fmt.Sprintf("internal error in %s; the log has the details", r.Method)})
			}
		}
	}()
	h(r)
}
