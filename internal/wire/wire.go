// Package wire carries JSON-RPC 2.0 for both protocols that we speak: newline-delimited objects for
// ACP and Content-Length frames for LSP, under one engine. Its main type is [Conn]. It knows no
// method of either protocol. It tolerates what peers send, bounds everything, answers what cannot
// be handled, and never waits for a peer that does not read.
package wire

import (
	"encoding/json"
	"errors"
	"fmt"
)

// Codes of JSON-RPC errors that the wire itself answers with.
const (
	CodeParse          = -32700
	CodeInvalidRequest = -32600
	CodeMethodNotFound = -32601
	CodeInvalidParams  = -32602
	CodeInternal       = -32603
)

// ErrTooLong is returned for an outgoing message above Options.MaxOut, which is never sent. Its
// caller may send less instead.
var ErrTooLong = errors.New("message is longer than the limit")

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

// errorFrom makes any error presentable to a peer: an [Error] as it is, the rest -32603 with its text.
func errorFrom(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok && e != nil {
		return e
	}
	if err == nil {
		return &Error{Code: CodeInternal, Message: "internal error"}
	}
	return &Error{Code: CodeInternal, Message: err.Error()}
}
