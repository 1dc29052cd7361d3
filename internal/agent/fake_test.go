package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// step is one thing that a scripted answer does.
type step func(ctx context.Context, yield func(model.Event, error) bool) bool

// answerScript is what the model does with one request.
type answerScript []step

func event(ev model.Event) step {
	return func(_ context.Context, yield func(model.Event, error) bool) bool { return yield(ev, nil) }
}

func say(s string) step   { return event(model.Event{Text: s}) }
func think(s string) step { return event(model.Event{Thought: s}) }
func call(id, name, args string) step {
	return event(model.Event{Call: &model.ToolCall{ID: id, Name: name, Arguments: args}})
}
func done(f model.Finish) step {
	return event(model.Event{Done: &model.Done{Finish: f, Usage: model.Usage{Input: 10, Output: 5}}})
}
func breakOff(err error) step {
	return func(_ context.Context, yield func(model.Event, error) bool) bool {
		yield(model.Event{}, err)
		return false
	}
}

// pause is silence of the stream.
func pause(d time.Duration) step {
	return func(ctx context.Context, yield func(model.Event, error) bool) bool {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-t.C:
			return true
		case <-ctx.Done():
			yield(model.Event{}, ctx.Err())
			return false
		}
	}
}

// fakeModel plays answers in order; past the end it says "done".
type fakeModel struct {
	t        *testing.T
	answers  []answerScript
	requests []model.Request
	at       []time.Duration // when each request came
	start    time.Time
}

func (m *fakeModel) Info() model.Info { return model.Info{ID: "fake/model"} }

func (m *fakeModel) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	checkHistory(m.t, req.Messages)
	n := len(m.requests)
	m.requests = append(m.requests, req)
	m.at = append(m.at, time.Since(m.start))
	script := answerScript{say("done"), done(model.FinishStop)}
	if n < len(m.answers) {
		script = m.answers[n]
	}
	return func(yield func(model.Event, error) bool) {
		for _, s := range script {
			if !s(ctx, yield) {
				return
			}
		}
	}
}

// checkHistory holds what every provider demands of a history.
func checkHistory(t *testing.T, messages []model.Message) {
	t.Helper()
	ids := map[string]bool{}
	var open []string
	for i, m := range messages {
		if m.Role != model.ToolRole && len(open) > 0 {
			t.Errorf("message %d (%s) comes before the results of %v", i, m.Role, open)
		}
		if i > 0 && m.Role != model.ToolRole && m.Role == messages[i-1].Role {
			t.Errorf("messages %d and %d are both of the %s", i-1, i, m.Role)
		}
		if len(m.Parts) == 0 && len(m.Calls) == 0 || m.Role != model.Assistant && strings.TrimSpace(m.Text()) == "" {
			t.Errorf("message %d (%s) is empty", i, m.Role)
		}
		for _, c := range m.Calls {
			if c.ID == "" || ids[c.ID] || oddRunes.MatchString(c.ID+c.Name) || c.Name == "" {
				t.Errorf("message %d: bad or repeated id %q of %q", i, c.ID, c.Name)
			}
			if trimmed := strings.TrimSpace(c.Arguments); json.Valid([]byte(trimmed)) && trimmed[0] != '{' {
				t.Errorf("message %d: arguments %s are JSON but no object", i, c.Arguments)
			}
			ids[c.ID] = true
			open = append(open, c.ID)
		}
		if m.Role == model.ToolRole {
			at := slices.Index(open, m.CallID)
			if at != 0 {
				t.Errorf("message %d answers %q; the open calls are %v", i, m.CallID, open)
				continue
			}
			open = open[1:]
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without a result: %v", open)
	}
}

// fakeHost records what it is told. Tools: "read…" are parallel; the rest is in do.
type fakeHost struct {
	mu      sync.Mutex
	text    strings.Builder
	thought strings.Builder
	log     []string // "do NAME ARGS", "skip NAME CODE"
	notices []string
	usage   []model.Usage
	begun   int
	pending []string
	do      func(ctx context.Context, c model.ToolCall) (tool.Result, error)
}

func (h *fakeHost) Say(s string)                   { h.text.WriteString(s) }
func (h *fakeHost) Think(s string)                 { h.thought.WriteString(s) }
func (h *fakeHost) Begin()                         { h.begun++ }
func (h *fakeHost) Parallel(c model.ToolCall) bool { return strings.HasPrefix(c.Name, "read") }
func (h *fakeHost) Usage(u model.Usage)            { h.usage = append(h.usage, u) }
func (h *fakeHost) Notice(s string)                { h.notices = append(h.notices, s) }
func (h *fakeHost) Skip(c model.ToolCall, r tool.Result) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.log = append(h.log, "skip "+c.Name+" "+code(r.Text))
}

func (h *fakeHost) Pending(context.Context) string {
	if len(h.pending) == 0 {
		return ""
	}
	p := h.pending[0]
	h.pending = h.pending[1:]
	return p
}

func (h *fakeHost) Do(ctx context.Context, c model.ToolCall) (tool.Result, error) {
	h.mu.Lock()
	h.log = append(h.log, "do "+c.Name+" "+c.Arguments)
	h.mu.Unlock()
	if h.do != nil {
		return h.do(ctx, c)
	}
	return tool.Result{Text: "ok"}, nil
}

// code is the code of a failed result, or its text.
func code(text string) string {
	var f struct{ Code string }
	if json.Unmarshal([]byte(text), &f) == nil && f.Code != "" {
		return f.Code
	}
	return text
}

// brief writes messages one a line: role, text or code, calls.
func brief(messages []model.Message) string {
	var b strings.Builder
	for _, m := range messages {
		fmt.Fprintf(&b, "%s", m.Role)
		if m.CallID != "" {
			fmt.Fprintf(&b, "[%s]", m.CallID)
		}
		if s := code(m.Text()); s != "" {
			fmt.Fprintf(&b, " %s", s)
		}
		for _, c := range m.Calls {
			fmt.Fprintf(&b, " %s(%s)", c.ID, c.Name)
		}
		b.WriteString("\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// game is one Run under a fake clock and what came of it.
type game struct {
	host  *fakeHost
	model *fakeModel
	out   Outcome
	err   error
	took  time.Duration
}

// play runs a turn with the answers in a synctest bubble. change may adjust the turn and the host; it
// gets the turn's cancel.
func play(t *testing.T, answers []answerScript, change func(*Turn, *fakeHost, context.CancelFunc)) *game {
	t.Helper()
	g := &game{host: &fakeHost{}, model: &fakeModel{t: t, answers: answers}}
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		g.model.start = time.Now()
		turn := Turn{Model: g.model, Prompt: []model.Part{{Text: "go"}}}
		if change != nil {
			change(&turn, g.host, cancel)
		}
		g.out, g.err = Run(ctx, g.host, turn)
		g.took = time.Since(g.model.start)
		checkHistory(t, merged(turn.History, g.out.Added))
	})
	return g
}

func merged(history, added []model.Message) []model.Message {
	return (&turn{t: Turn{History: history}, added: added}).request().Messages
}

func (g *game) check(t *testing.T, stop StopReason, log, added string) {
	t.Helper()
	if g.err != nil {
		t.Errorf("error: %v", g.err)
	}
	if g.out.Stop != stop {
		t.Errorf("stop reason %q, want %q", g.out.Stop, stop)
	}
	if got := strings.Join(g.host.log, "\n"); got != log {
		t.Errorf("calls:\n%s\nwant:\n%s", got, log)
	}
	if got := brief(g.out.Added); got != added {
		t.Errorf("added:\n%s\nwant:\n%s", got, added)
	}
}
