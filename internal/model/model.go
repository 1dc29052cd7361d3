// Package model is what the turn loop knows of language models: messages, tools and a stream of
// events. One folder below it speaks to one kind of provider. Its main type is [Model]. It must
// never import a provider's types into this package, and never retries after visible text.
package model

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"time"
)

// Role of a message.
type Role string

// Roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	ToolRole  Role = "tool"
)

// Part is a piece of content: exactly one of Text, Image, Audio is used.
type Part struct {
	Text  string `json:"text,omitempty"`
	Image *Media `json:"image,omitempty"`
	Audio *Media `json:"audio,omitempty"`
}

// Media is an image or audio clip.
type Media struct {
	MIME string `json:"mime"`
	Data []byte `json:"data"` // raw bytes (base64 in JSON)
}

// ToolCall is one request of the model to act.
type ToolCall struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Arguments is what the model wrote, which may not be JSON. Providers send it back in the
	// history as it is when valid, else as {"_raw": "…"}.
	Arguments string `json:"arguments"`
	// Signature is opaque provider data that must be echoed (Gemini thoughtSignature).
	Signature string `json:"signature,omitempty"`
}

// Message is one entry of the history that the model sees. Earlier messages are never rewritten.
type Message struct {
	Role    Role       `json:"role"`
	Parts   []Part     `json:"parts,omitempty"`
	Calls   []ToolCall `json:"calls,omitempty"`   // assistant only
	CallID  string     `json:"call_id,omitempty"` // tool only: the call this answers
	Name    string     `json:"name,omitempty"`    // tool only: the tool's name
	IsError bool       `json:"is_error,omitempty"`
	// Thinking is the assistant's reasoning with the provider's signature, echoed where the
	// provider wants it (Anthropic extended thinking).
	Thinking []Thinking `json:"thinking,omitempty"`
}

// Thinking is one block of reasoning.
type Thinking struct {
	Text      string `json:"text"`
	Signature string `json:"signature,omitempty"`
	Redacted  string `json:"redacted,omitempty"`
}

// TextMessage makes a message of one text part.
func TextMessage(role Role, text string) Message {
	return Message{Role: role, Parts: []Part{{Text: text}}}
}

// Text joins the message's text parts.
func (m Message) Text() string {
	var s string
	for _, p := range m.Parts {
		s += p.Text
	}
	return s
}

// Tool is a tool as the model is told of it.
type Tool struct {
	Name        string
	Description string
	Schema      json.RawMessage // JSON schema of the arguments, an object
}

// Request is one question to a model.
type Request struct {
	System   string
	Messages []Message
	Tools    []Tool
	Thought  string // thought level (low, medium, high); "" for the model's default
	// Session names the conversation (scripted models count turns by it; caches may use it).
	Session string
	// Cwd is the session's cwd (scripted models resolve their file with it).
	Cwd string
}

// Usage counts tokens of one request. Input is the whole prompt; Cached is the part of it that the
// provider had already, whichever way the provider counts.
type Usage struct {
	Input, Output, Cached int
}

// Finish says why the model stopped.
type Finish string

// Reasons to stop.
const (
	FinishStop      Finish = "stop"
	FinishToolCalls Finish = "tool_calls"
	FinishLength    Finish = "length"
	FinishRefusal   Finish = "refusal"
)

// Event is one step of an answer; exactly one field is used. Calls come whole (arguments are
// accumulated by the provider), each once, in order; Done comes last and exactly once on success.
type Event struct {
	Text    string
	Thought string
	// CallStart tells early that a call with this name is being written, for display only.
	CallStart string
	Call      *ToolCall
	Thinking  *Thinking // a finished reasoning block to be echoed; its text was already sent as Thought
	Done      *Done
}

// Done ends an answer.
type Done struct {
	Finish Finish
	Usage  Usage // zero when the provider does not tell
}

// Info is what is known of a model; zero values mean unknown.
type Info struct {
	ID            string // provider/model
	Provider      string
	Name          string
	ContextWindow int
	Images        bool
	Audio         bool
	ThoughtLevels []string
}

// Model streams answers. Stream yields events until Done or an error; a cancelled ctx ends it with
// ctx's error. Errors are *[Error] where the provider said something.
type Model interface {
	Info() Info
	Stream(ctx context.Context, req Request) iter.Seq2[Event, error]
}

// Kind groups provider errors by what the caller does about them.
type Kind string

// Kinds of error.
const (
	KindAuth        Kind = "auth"        // no or wrong credentials: -32000
	KindRateLimit   Kind = "rate_limit"  // 429: retry
	KindOverloaded  Kind = "overloaded"  // 503, 529: retry
	KindServer      Kind = "server"      // other 5xx: retry
	KindUnreachable Kind = "unreachable" // no connection, broken stream: retry before visible text
	KindInvalid     Kind = "invalid"     // other 4xx: tell the user
	KindContext     Kind = "context"     // prompt does not fit the window
	KindProtocol    Kind = "protocol"    // an answer that is not the provider's protocol
	KindIdle        Kind = "idle"        // nothing came for the idle timeout
)

// Error is a provider's failure in words for the user.
type Error struct {
	Kind       Kind
	Status     int // HTTP status, 0 when there was none
	Message    string
	RetryAfter time.Duration // what the provider asked for, 0 for nothing
	Err        error
}

// Error says provider message and status.
func (e *Error) Error() string {
	if e.Status != 0 {
		return fmt.Sprintf("model answered HTTP %d: %s", e.Status, e.Message)
	}
	return e.Message
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

// Retryable says whether asking again can help.
func (e *Error) Retryable() bool {
	switch e.Kind {
	case KindRateLimit, KindOverloaded, KindServer, KindUnreachable, KindIdle:
		return true
	}
	return false
}
