package agent

import (
	"context"
	"fmt"
	"runtime/debug"
	"sync"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

// maxParallel is how many reading calls run side by side.
const maxParallel = 8

// PanicError is a tool that panicked. Stack is for the log.
type PanicError struct {
	Tool  string
	Value any
	Stack []byte
}

// Error names the tool and what it panicked with.
func (e *PanicError) Error() string {
	return fmt.Sprintf("internal fault in tool %s: %v", e.Tool, e.Value)
}

// act runs the calls of one answer in order, neighbours that only read side by side, and appends one
// result for each, whatever happens. A stop reason or an error ends the turn.
func (r *turn) act(ctx context.Context, a *answer) (StopReason, error) {
	calls := r.ids.clean(a.calls)
	r.keep(a.text.String(), a.thinking, calls)
	r.guard.round++
	for i := 0; i < len(calls); {
		if ctx.Err() != nil {
			r.skip(calls[i:], cancelledResult())
			return Cancelled, nil
		}
		if res, no := r.refuse(calls[i]); no {
			r.skip(calls[i:i+1], res)
			i++
			if r.guard.exhausted(calls[i-1]) {
				r.skip(calls[i:], failed(edits.CodeLoop, "Not run, because the turn was ended: the model repeated itself."))
				r.host.Notice("Stopped: the model repeats the same tool call without getting anywhere. Send a message to steer it.")
				return MaxTurnRequests, nil
			}
			continue
		}
		n := r.batch(calls[i:])
		if err := r.run(ctx, calls[i:i+n]); err != nil {
			if ctx.Err() != nil {
				r.skip(calls[i+n:], cancelledResult())
				return Cancelled, nil
			}
			r.skip(calls[i+n:], failed(edits.CodeIO, "Not run, because the turn was ended by a fault in an earlier call."))
			return "", err
		}
		i += n
	}
	return "", nil
}

// refuse says why a call is not even tried: its arguments are no JSON object, or it goes in circles.
func (r *turn) refuse(c model.ToolCall) (tool.Result, bool) {
	if r.guard.stuck(c) {
		return r.guard.refuse(c), true
	}
	if problem := argumentProblem(c.Arguments); problem != "" {
		res := failed(edits.CodeInvalidArguments, fmt.Sprintf("The arguments of %s were not run: %s. "+
			"Make the call again with one complete JSON object.", c.Name, problem))
		r.guard.record(c, res, true)
		return res, true
	}
	return tool.Result{}, false
}

// batch gives how many of the first calls may run side by side: one, or a row of reading calls that
// are not the same call twice.
func (r *turn) batch(calls []model.ToolCall) int {
	seen := map[string]bool{}
	for i, c := range calls {
		sig := signature(c)
		if seen[sig] || !r.host.Parallel(c) || !r.runnable(c) {
			return max(i, 1)
		}
		seen[sig] = true
	}
	return len(calls)
}

func (r *turn) runnable(c model.ToolCall) bool {
	return !r.guard.stuck(c) && argumentProblem(c.Arguments) == ""
}

// run runs a batch to its end and appends its results in order. Calls that had not begun when the
// turn was cancelled are shown as skipped.
func (r *turn) run(ctx context.Context, calls []model.ToolCall) error {
	results := make([]tool.Result, len(calls))
	errs := make([]error, len(calls))
	begun := len(calls)
	var wg sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for i, c := range calls {
		slots <- struct{}{}
		if ctx.Err() != nil {
			begun = i
			break
		}
		wg.Go(func() {
			defer func() { <-slots }()
			results[i], errs[i] = r.do(ctx, c)
		})
	}
	wg.Wait()

	var first error
	for i, c := range calls[:begun] {
		res := results[i]
		if errs[i] != nil {
			if first == nil {
				first = errs[i]
			}
			res = cancelledResult()
			if ctx.Err() == nil {
				res = failed(edits.CodeIO, errs[i].Error())
			}
		}
		r.guard.record(c, res, r.host.Parallel(c))
		r.answerCall(c, res)
	}
	if begun < len(calls) {
		r.skip(calls[begun:], cancelledResult())
		first = ctx.Err()
	}
	return first
}

// do keeps a panic of one tool from ending the process, which holds other sessions.
func (r *turn) do(ctx context.Context, c model.ToolCall) (res tool.Result, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Tool: c.Name, Value: v, Stack: debug.Stack()}
		}
	}()
	return r.host.Do(ctx, c)
}

// skip shows calls as not run and gives each its result.
func (r *turn) skip(calls []model.ToolCall, res tool.Result) {
	for _, c := range calls {
		r.host.Skip(c, res)
		r.answerCall(c, res)
	}
}
