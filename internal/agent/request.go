package agent

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"acp-agent/internal/model"
)

const (
	maxRetryWait = 60 * time.Second // however long a provider asks us to wait
	silentWait   = 2 * time.Second  // a longer wait is told to the user
)

// errIdle is the cause of a stream that was ended for its silence.
var errIdle = errors.New("model is silent")

// answer is what came of one request, complete or not.
type answer struct {
	text     strings.Builder
	thinking []model.Thinking
	calls    []model.ToolCall
	finish   model.Finish
	done     bool
}

// empty says that there is nothing to show and nothing to do. Reasoning alone is nothing.
func (a *answer) empty() bool {
	return len(a.calls) == 0 && strings.TrimSpace(a.text.String()) == ""
}

// ask asks the model with the history so far, and asks again where that can help and the user has
// seen no text of this answer yet. The answer is never nil, and holds what came before an error.
func (r *turn) ask(ctx context.Context) (*answer, error) {
	for try := 0; ; try++ {
		if err := ctx.Err(); err != nil {
			return &answer{}, err
		}
		a, err := r.stream(ctx)
		if err == nil || ctx.Err() != nil || !retryable(err) {
			return a, err
		}
		if strings.TrimSpace(a.text.String()) != "" || try >= r.t.Options.MaxRetries {
			return a, err
		}
		wait := r.retryWait(try, err)
		if wait > silentWait {
			r.host.Notice(fmt.Sprintf("%s. Trying again in %s (%d of %d).", strings.TrimSuffix(err.Error(), "."),
				wait.Round(time.Second), try+1, r.t.Options.MaxRetries))
		}
		sleep(ctx, wait)
	}
}

// stream sends one request and gives its text to the host as it comes.
func (r *turn) stream(ctx context.Context) (*answer, error) {
	a := &answer{}
	idle := r.t.Options.IdleTimeout
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(idle, func() { cancel(errIdle) })
	defer timer.Stop()

	r.host.Begin()
	for ev, err := range r.t.Model.Stream(ctx, r.request()) {
		timer.Stop() // what the host does with the event is not the model's silence
		if err != nil {
			if errors.Is(context.Cause(ctx), errIdle) {
				err = &model.Error{Kind: model.KindIdle, Err: err, Message: fmt.Sprintf(
					"the model sent nothing for %s; check that it is running, or raise the idle timeout", idle)}
			}
			return a, err
		}
		r.take(a, ev)
		if a.done {
			return a, nil
		}
		timer.Reset(idle)
	}
	if err := context.Cause(ctx); err != nil && !errors.Is(err, errIdle) {
		return a, err
	}
	return a, &model.Error{Kind: model.KindUnreachable, Message: "the model's answer ended before it was complete"}
}

func (r *turn) take(a *answer, ev model.Event) {
	switch {
	case ev.Text != "":
		a.text.WriteString(ev.Text)
		r.host.Say(ev.Text)
	case ev.Thought != "":
		r.host.Think(ev.Thought)
	case ev.Thinking != nil:
		a.thinking = append(a.thinking, *ev.Thinking)
	case ev.Call != nil:
		a.calls = append(a.calls, *ev.Call)
	case ev.Done != nil:
		a.finish, a.done = ev.Done.Finish, true
		if ev.Done.Usage != (model.Usage{}) {
			r.usage = ev.Done.Usage
			r.host.Usage(r.usage)
		}
	}
}

// request is the question as it stands. Neighbouring user messages (a prompt after a cancelled one)
// become one, since many chat templates insist on turns that alternate.
func (r *turn) request() model.Request {
	messages := make([]model.Message, 0, len(r.t.History)+len(r.added))
	for _, list := range [][]model.Message{r.t.History, r.added} {
		for _, m := range list {
			if last := len(messages) - 1; last >= 0 && m.Role == model.User && messages[last].Role == model.User {
				messages[last].Parts = append(messages[last].Parts[:len(messages[last].Parts):len(messages[last].Parts)], m.Parts...)
				continue
			}
			messages = append(messages, m)
		}
	}
	return model.Request{System: r.t.System, Messages: messages, Tools: r.t.Tools,
		Thought: r.t.Thought, Session: r.t.Session, Cwd: r.t.Cwd}
}

// retryWait doubles with every try, spread by a fifth so that clients do not come back together, and
// is never shorter than what the provider asked for.
func (r *turn) retryWait(try int, err error) time.Duration {
	wait := r.t.Options.Backoff << min(try, 16)
	wait = time.Duration(float64(wait) * (0.8 + 0.4*rand.Float64()))
	var me *model.Error
	if errors.As(err, &me) {
		wait = max(wait, me.RetryAfter)
	}
	return min(wait, maxRetryWait)
}

func retryable(err error) bool {
	var me *model.Error
	return errors.As(err, &me) && me.Retryable()
}

// sleep waits for d or until ctx is cancelled.
func sleep(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
