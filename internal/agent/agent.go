// Package agent is the turn loop: it asks a model, hands the tool calls to its host, and goes on
// until the model has nothing more to do. Its main entry is [Run]. It knows no editor, no protocol
// and no file; everything that it does to the world goes through [Host].
package agent

import (
	"context"
	"time"

	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

// StopReason is how a turn ended, in ACP's words.
type StopReason string

// Stop reasons (ACP StopReason).
const (
	EndTurn         StopReason = "end_turn"
	MaxTokens       StopReason = "max_tokens"
	MaxTurnRequests StopReason = "max_turn_requests"
	Refusal         StopReason = "refusal"
	Cancelled       StopReason = "cancelled"
)

// Host is what the loop needs of the session it runs in. Methods are called from the goroutine of
// Run, but Do, which may be called from several at once for calls that are Parallel.
type Host interface {
	// Say and Think stream the model's text and reasoning to the user. A new message begins when
	// Begin was called since.
	Say(text string)
	Think(text string)
	// Begin starts a new assistant message (each model request is one).
	Begin()
	// Parallel says whether a call only reads, so that it may run beside its neighbours.
	Parallel(call model.ToolCall) bool
	// Do runs one call to its end and gives the result for the model; a tool that does not exist is
	// such a result too. The error means that the turn cannot go on (cancelled, or a fault of ours); a
	// failed tool is a Result. Do is waited for even after a cancel, so it must obey ctx promptly.
	Do(ctx context.Context, call model.ToolCall) (tool.Result, error)
	// Skip shows a call that is not run (bad JSON, cut off, loop guard, cancelled) with the result
	// that the model gets for it.
	Skip(call model.ToolCall, r tool.Result)
	// Usage tells what the last request used.
	Usage(u model.Usage)
	// Pending is called when the model wants to end its turn. It waits for checks that still run
	// (at most its own limit) and gives a message for the model, or "" to let the turn end.
	Pending(ctx context.Context) string
	// Notice tells the user something that the model did not say (retrying, empty answer).
	Notice(text string)
}

// Options bound a turn. Zero fields take the defaults named.
type Options struct {
	MaxRounds   int           // tool rounds a turn: 200
	IdleTimeout time.Duration // silence of the model's stream: 120 s
	MaxRetries  int           // of one request: 4; negative for none
	Backoff     time.Duration // first wait of a retry: 500 ms, doubled, with jitter
}

// Turn is one prompt to its stop reason.
type Turn struct {
	Model   model.Model
	System  string
	Tools   []model.Tool
	Thought string
	Session string
	Cwd     string
	// History is what the model has seen so far; Prompt is added to it as a user message.
	History []model.Message
	Prompt  []model.Part
	Options Options
}

// Outcome is the end of a turn. Added are the messages to append to the history, prompt included,
// valid for every provider: each tool call has exactly one result, whatever happened. On Refusal
// Added is empty (ACP: the prompt and everything after it drop out).
type Outcome struct {
	Stop  StopReason
	Added []model.Message
	Usage model.Usage // of the last request
}

// Run plays one turn. A cancelled ctx is an Outcome (Cancelled), not an error; an error is a model
// that cannot be used ([*model.Error]) or a fault of ours, and Outcome.Added is valid even then.
func Run(ctx context.Context, host Host, t Turn) (Outcome, error) {
	r := newTurn(host, t)
	stop, err := r.play(ctx)
	out := Outcome{Stop: stop, Added: r.added, Usage: r.usage}
	switch {
	case ctx.Err() != nil: // cancel wins over whatever else ended the turn
		out.Stop, err = Cancelled, nil
	case stop == Refusal:
		out.Added = nil
	}
	return out, err
}

func (o Options) withDefaults() Options {
	if o.MaxRounds <= 0 {
		o.MaxRounds = 200
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 120 * time.Second
	}
	if o.MaxRetries == 0 {
		o.MaxRetries = 4
	}
	if o.Backoff <= 0 {
		o.Backoff = 500 * time.Millisecond
	}
	return o
}
