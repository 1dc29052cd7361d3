package agent

import (
	"context"
	"fmt"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

// Bounds of one turn that are not worth an option.
const (
	maxCuts     = 3 // messages with calls that were cut off, one after another
	maxEmpties  = 2 // further questions after an empty answer
	maxPendings = 2 // messages of Host.Pending
)

// turn is the state of one Run. It belongs to Run's goroutine.
type turn struct {
	host  Host
	t     Turn
	added []model.Message
	usage model.Usage
	ids   ids
	guard guard

	cuts, empties, pendings int
}

func newTurn(host Host, t Turn) *turn {
	t.Options = t.Options.withDefaults()
	r := &turn{host: host, t: t, ids: newIDs(t.History), guard: newGuard()}
	if len(t.Prompt) > 0 {
		r.added = append(r.added, model.Message{Role: model.User, Parts: t.Prompt})
	}
	return r
}

// next is what the loop does after an answer.
type next int

const (
	askAgain next = iota // the answer was empty or cut off
	runCalls             // the model wants to act
	wantsEnd             // the model has nothing more to do
	stopNow              // the turn is over
)

// play goes from the prompt to the stop reason.
func (r *turn) play(ctx context.Context) (StopReason, error) {
	for rounds := 0; rounds < r.t.Options.MaxRounds; {
		a, err := r.ask(ctx)
		if ctx.Err() != nil {
			r.keep(a.text.String(), a.thinking, nil)
			return Cancelled, nil
		}
		do, stop := askAgain, StopReason("")
		if err != nil {
			do, stop, err = r.brokeOff(a, err)
		} else {
			do, stop = r.settle(a)
		}
		switch {
		case err != nil || do == stopNow:
			return stop, err
		case do == runCalls:
			rounds++
			if stop, err := r.act(ctx, a); stop != "" || err != nil {
				return stop, err
			}
		case do == wantsEnd && !r.pending(ctx):
			return EndTurn, nil
		}
	}
	r.host.Notice(fmt.Sprintf("Stopped after %d rounds of tool calls. Send another message to go on.", r.t.Options.MaxRounds))
	return MaxTurnRequests, nil
}

// settle decides about an answer that is complete, as the provider sees it.
func (r *turn) settle(a *answer) (next, StopReason) {
	switch {
	case a.finish == model.FinishRefusal:
		for _, c := range r.ids.clean(a.calls) { // they drop out of the history with all else
			r.host.Skip(c, failed(edits.CodeCancelled, "The model refused to go on; the call was not run."))
		}
		return stopNow, Refusal
	case a.finish == model.FinishLength && len(a.calls) > 0:
		return r.cut(a, "the answer reached the model's output limit")
	case a.finish == model.FinishLength:
		if a.empty() {
			r.host.Notice("The model reached its output limit before it wrote an answer.")
		}
		r.keep(a.text.String(), a.thinking, nil)
		return stopNow, MaxTokens
	}
	r.cuts = 0
	if !a.empty() {
		r.empties = 0
		if len(a.calls) > 0 {
			return runCalls, "" // which keeps the message with its calls
		}
		r.keep(a.text.String(), a.thinking, nil)
		return wantsEnd, ""
	}
	if r.empties++; r.empties > maxEmpties {
		r.host.Notice(fmt.Sprintf("The model gave an empty answer %d times in a row. Send another message to try again.", r.empties))
		return stopNow, EndTurn
	}
	return askAgain, ""
}

// brokeOff decides about an answer that ended with an error. What the user has seen of it stays in
// the history; a model that was about to act may act again, since asking is then no repetition.
func (r *turn) brokeOff(a *answer, err error) (next, StopReason, error) {
	if strings.TrimSpace(a.text.String()) == "" {
		return stopNow, "", err // nothing was seen, its calls neither
	}
	do, stop := r.cut(a, "the connection to the model broke")
	if len(a.calls) == 0 || !retryable(err) {
		return stopNow, "", err
	}
	return do, stop, nil
}

// cut keeps an answer that did not come to its end. Its calls are never run, even when their JSON is
// whole: what came may be half of what was meant (case G-M02).
func (r *turn) cut(a *answer, why string) (next, StopReason) {
	calls := r.ids.clean(a.calls)
	r.keep(a.text.String(), a.thinking, calls)
	r.skip(calls, failed(edits.CodeTruncated, fmt.Sprintf("This call was not run, because %s before the message was "+
		"complete. Make the call again; split long content into several smaller calls.", why)))
	if r.cuts++; r.cuts < maxCuts {
		return askAgain, ""
	}
	r.host.Notice(fmt.Sprintf("Stopped: the model's tool calls were cut off %d times in a row (%s).", r.cuts, why))
	return stopNow, MaxTokens
}

// pending asks the host for what the model should still hear, and says whether there was something.
func (r *turn) pending(ctx context.Context) bool {
	if r.pendings >= maxPendings {
		return false
	}
	msg := r.host.Pending(ctx)
	if strings.TrimSpace(msg) == "" || ctx.Err() != nil {
		return false
	}
	r.pendings++
	r.added = append(r.added, model.TextMessage(model.User, msg))
	return true
}

// keep appends an assistant message unless it would be empty, which providers refuse. Reasoning
// alone is empty.
func (r *turn) keep(text string, thinking []model.Thinking, calls []model.ToolCall) {
	m := model.Message{Role: model.Assistant, Calls: calls}
	if strings.TrimSpace(text) != "" {
		m.Parts = []model.Part{{Text: text}}
	}
	if len(m.Parts) == 0 && len(calls) == 0 {
		return
	}
	m.Thinking = thinking
	r.added = append(r.added, m)
}

// answerCall appends the one result of a call.
func (r *turn) answerCall(call model.ToolCall, res tool.Result) {
	text := res.Text
	if text == "" {
		text = "(no output)"
	}
	m := model.Message{Role: model.ToolRole, CallID: call.ID, Name: call.Name, IsError: res.IsError,
		Parts: []model.Part{{Text: text}}}
	for i := range res.Images {
		m.Parts = append(m.Parts, model.Part{Image: &res.Images[i]})
	}
	r.added = append(r.added, m)
}
