// Package wire carries JSON-RPC 2.0 for both protocols that we speak: newline-delimited objects for
// ACP and Content-Length frames for LSP, over one engine (github.com/sourcegraph/jsonrpc2). Its main
// type is [Conn]. It knows no method of either protocol. It tolerates what peers send, bounds
// everything, and answers what the engine would drop.
package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"time"
)

// Codes of JSON-RPC errors that the wire itself answers with.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// Error is a JSON-RPC error, sent or received. errors.As finds it through wrapping.
type Error struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data,omitempty"`
}

// Error gives code and message.
func (e *Error) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// Is compares codes, so that errors.Is works with a bare code.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && t.Code == e.Code
}

// Handler takes incoming requests and notifications on the read loop, in order. It must not wait:
// it hands work that waits to goroutines of its own. A panic in it is answered -32603 and logged.
type Handler func(req *Request)

// Request is one incoming request or notification. ID, Method and Params are as they were sent,
// byte for byte; Params is nil when absent (and "null" when null).
type Request struct {
	ID     json.RawMessage // nil for a notification
	Method string
	Params json.RawMessage
	// unexported: the connection, and whether it was answered
	reply func(result json.RawMessage, err *Error)
}

// IsNotification says that no answer is wanted.
func (r *Request) IsNotification() bool { return r.ID == nil }

// Reply answers with a result (nil is null). The second answer of a request is dropped and logged.
// It never blocks on the peer.
func (r *Request) Reply(result any) { panic("TODO(wire)") }

// ReplyError answers with an error; any error that is no *Error becomes -32603 with its text.
func (r *Request) ReplyError(err error) { panic("TODO(wire)") }

// Framing tells how objects lie in the stream.
type Framing int

// Framings.
const (
	Lines         Framing = iota // one object a line (ACP)
	ContentLength                // header block and body (LSP)
)

// Options of a connection. Zero fields take the defaults named.
type Options struct {
	Framing   Framing
	MaxIn     int64  // bytes of one incoming message: 64 MiB; a larger one is an error, in bounded memory
	MaxOut    int64  // bytes of one outgoing message: 64 MiB (ACP sets 8 MiB)
	MaxQueue  int64  // bytes of updates queued before [Conn.Send] waits: 1 MiB
	HardQueue int64  // bytes queued in all before the connection is given up: 256 MiB
	Cancel    string // notification sent when a Call's ctx ends: "$/cancel_request" or "$/cancelRequest"
	CancelKey string // its parameter: "requestId" or "id"
	Logger    *slog.Logger
	// Flush is how long Close waits for queued messages to be written: 1 s.
	Flush time.Duration
	// Tap sees every message as it goes by (tests, `run --json`); may be nil.
	Tap func(out bool, msg []byte)
	// Drain is called at the end of input, before the connection closes; answers given until it
	// returns are still sent. May be nil.
	Drain func()
}

// Conn is one JSON-RPC connection. Its goroutines (reader, writer) belong to it; Close or the end
// of input ends them and Wait returns when they have ended.
type Conn struct {
	// TODO(wire): unexported fields
}

// NewConn prepares a connection; [Conn.Run] starts it. w gets whole messages, one Write each.
func NewConn(r io.Reader, w io.Writer, h Handler, o Options) *Conn { panic("TODO(wire)") }

// Run reads until the input ends, Close is called or ctx ends, and returns when all of the
// connection's goroutines have ended. The error is nil at the end of input.
func (c *Conn) Run(ctx context.Context) error { panic("TODO(wire)") }

// Done is closed when no more messages can be exchanged.
func (c *Conn) Done() <-chan struct{} { panic("TODO(wire)") }

// Close stops reading, flushes for at most Options.Flush, and lets Run return. Safe to call twice.
func (c *Conn) Close() { panic("TODO(wire)") }

// Call asks the peer and decodes its result into result (a pointer, or nil). When ctx ends first, the cancel
// notification is sent, the pending entry is dropped and ctx's error is returned; a late answer is
// ignored. A peer's error is *[Error]. A closed connection is io.ErrClosedPipe.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	panic("TODO(wire)")
}

// Notify sends a notification without waiting for room in the queue.
func (c *Conn) Notify(method string, params any) error { panic("TODO(wire)") }

// Send queues a notification behind everything queued before it, waiting for room when more than
// MaxQueue is queued; ctx bounds the wait. Not for the read loop.
func (c *Conn) Send(ctx context.Context, method string, params any) error { panic("TODO(wire)") }

// Merge queues a notification that may be joined with the last queued one of the same key as long
// as nothing else was queued since. build makes the params from the joined text at write time, so
// that text grows by appending and is encoded once. It waits for room like Send.
func (c *Conn) Merge(ctx context.Context, key, method, text string, build func(text string) any) error {
	panic("TODO(wire)")
}

// Latest queues a notification that replaces a queued one of the same key that is not yet written
// (usage, session info: the first to be dropped). It never waits.
func (c *Conn) Latest(key, method string, params any) error { panic("TODO(wire)") }
