package agent

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

func limited(after time.Duration) error {
	return &model.Error{Kind: model.KindRateLimit, Status: 429, Message: "slow down", RetryAfter: after}
}

var down = &model.Error{Kind: model.KindServer, Status: 500, Message: "oops"}

func TestRetries(t *testing.T) {
	auth := &model.Error{Kind: model.KindAuth, Status: 401, Message: "no key"}
	for name, tc := range map[string]struct {
		answers  []answerScript
		retries  int
		requests int
		min, max time.Duration
		notices  int
		want     string // part of the error, "" for none
		added    string
	}{
		"once":                  {answers: []answerScript{{breakOff(down)}}, requests: 2, min: 400 * time.Millisecond, max: 600 * time.Millisecond, added: "user go\nassistant done"},
		"doubled up to the end": {answers: []answerScript{{breakOff(down)}, {breakOff(down)}, {breakOff(down)}, {breakOff(down)}, {breakOff(down)}}, requests: 5, min: 6 * time.Second, max: 9 * time.Second, notices: 1, want: "HTTP 500: oops", added: "user go"},
		"as long as the provider asks": {answers: []answerScript{{breakOff(limited(7 * time.Second))}}, requests: 2, min: 7 * time.Second, max: 7 * time.Second,
			notices: 1, added: "user go\nassistant done"},
		"but not for an hour":      {answers: []answerScript{{breakOff(limited(time.Hour))}}, requests: 2, min: 60 * time.Second, max: 60 * time.Second, notices: 1, added: "user go\nassistant done"},
		"never for a wrong key":    {answers: []answerScript{{breakOff(auth)}}, requests: 1, want: "no key", added: "user go"},
		"never for our own fault":  {answers: []answerScript{{breakOff(errors.New("bug"))}}, requests: 1, want: "bug", added: "user go"},
		"never after visible text": {answers: []answerScript{{say("half"), breakOff(down)}}, requests: 1, want: "oops", added: "user go\nassistant half"},
		"after thoughts":           {answers: []answerScript{{think("half"), breakOff(down)}}, requests: 2, max: time.Second, added: "user go\nassistant done"},
		"a call that nobody saw":   {answers: []answerScript{{call("c1", "write", "{}"), breakOff(down)}}, requests: 2, max: time.Second, added: "user go\nassistant done"},
		"a call after visible text": {answers: []answerScript{{say("half"), call("c1", "write", "{}"), breakOff(down)}}, requests: 2,
			added: "user go\nassistant half c1(write)\ntool[c1] truncated\nassistant done"},
		"a call after text, wrong key": {answers: []answerScript{{say("half"), call("c1", "write", "{}"), breakOff(auth)}}, requests: 1, want: "no key",
			added: "user go\nassistant half c1(write)\ntool[c1] truncated"},
		"a stream without an end": {answers: []answerScript{{}}, requests: 2, max: time.Second, added: "user go\nassistant done"},
		"none wanted":             {answers: []answerScript{{breakOff(down)}}, retries: -1, requests: 1, want: "oops", added: "user go"},
		"silence": {answers: []answerScript{{pause(time.Hour)}}, requests: 2, min: 120 * time.Second, max: 121 * time.Second,
			added: "user go\nassistant done"},
		"silence after text":     {answers: []answerScript{{say("half"), pause(time.Hour)}}, requests: 1, min: 120 * time.Second, max: 120 * time.Second, want: "sent nothing for 2m0s", added: "user go\nassistant half"},
		"slow but never silent":  {answers: []answerScript{{pause(100 * time.Second), say("a"), pause(100 * time.Second), say("b"), pause(100 * time.Second), done(model.FinishStop)}}, requests: 1, min: 300 * time.Second, max: 300 * time.Second, added: "user go\nassistant ab"},
		"each request by itself": {answers: []answerScript{{breakOff(down)}, {call("c1", "read", "{}"), done(model.FinishToolCalls)}, {breakOff(down)}}, requests: 4, max: 2 * time.Second, added: "user go\nassistant c1(read)\ntool[c1] ok\nassistant done"},
	} {
		t.Run(name, func(t *testing.T) {
			g := play(t, tc.answers, func(turn *Turn, _ *fakeHost, _ context.CancelFunc) { turn.Options.MaxRetries = tc.retries })
			if len(g.model.requests) != tc.requests {
				t.Errorf("%d requests at %v, want %d", len(g.model.requests), g.model.at, tc.requests)
			}
			if g.took < tc.min || g.took > tc.max {
				t.Errorf("took %s, want %s to %s", g.took, tc.min, tc.max)
			}
			if n := len(g.host.notices); n < tc.notices || tc.notices == 0 && n > 0 { // a wait near the limit may be told or not
				t.Errorf("notices %q, want %d or more", g.host.notices, tc.notices)
			}
			if tc.want == "" && g.err != nil || tc.want != "" && (g.err == nil || !strings.Contains(g.err.Error(), tc.want)) {
				t.Errorf("error %v, want %q", g.err, tc.want)
			}
			if got := brief(g.out.Added); got != tc.added {
				t.Errorf("added:\n%s\nwant:\n%s", got, tc.added)
			}
		})
	}
}

// slowHost takes its time for every piece of text.
type slowHost struct {
	*fakeHost
	ctx context.Context
}

func (h slowHost) Say(s string) {
	sleep(h.ctx, time.Hour)
	h.fakeHost.Say(s)
}

func TestSlowHostIsNotSilenceOfTheModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := slowHost{&fakeHost{}, t.Context()}
		m := &fakeModel{t: t, answers: []answerScript{{say("a"), say("b"), done(model.FinishStop)}}}
		out, err := Run(t.Context(), h, Turn{Model: m, Prompt: []model.Part{{Text: "go"}}})
		if err != nil || out.Stop != EndTurn || h.text.String() != "ab" {
			t.Errorf("%s, %v, text %q", out.Stop, err, h.text.String())
		}
	})
}

func readsOf(n int) (a answerScript) {
	for i := range n {
		a = append(a, call("", "read", `{"n":`+strconv.Itoa(i)+`}`))
	}
	return append(a, done(model.FinishToolCalls))
}

func TestCancel(t *testing.T) {
	ignoring := func(ctx context.Context, c model.ToolCall) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	two := answerScript{say("on it"), call("c1", "write", `{"n":1}`), call("c2", "write", `{"n":2}`), done(model.FinishToolCalls)}
	for name, tc := range map[string]struct {
		answers []answerScript
		after   time.Duration // when the user cancels
		do      func(ctx context.Context, c model.ToolCall) (tool.Result, error)
		log     string
		added   string
	}{
		"before the first request":  {after: 0, added: "user go"},
		"while the model is silent": {answers: []answerScript{{pause(time.Hour)}}, after: time.Second, added: "user go"},
		"while the model streams": {answers: []answerScript{{say("half"), call("c1", "write", "{}"), pause(time.Hour)}}, after: time.Second,
			added: "user go\nassistant half"},
		"while waiting to try again": {answers: []answerScript{{breakOff(limited(time.Minute))}}, after: time.Second, added: "user go"},
		"in a tool (G-M03)": {answers: []answerScript{two}, after: time.Second, do: ignoring,
			log:   "do write {\"n\":1}\nskip write cancelled",
			added: "user go\nassistant on it c1(write) c2(write)\ntool[c1] cancelled\ntool[c2] cancelled"},
		"in a tool that came to its end": {answers: []answerScript{two}, after: time.Second,
			do: func(ctx context.Context, c model.ToolCall) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{Text: "applied"}, nil
			},
			log:   "do write {\"n\":1}\nskip write cancelled",
			added: "user go\nassistant on it c1(write) c2(write)\ntool[c1] applied\ntool[c2] cancelled"},
		"in the first of many reads": {answers: []answerScript{readsOf(10)}, after: time.Second, do: ignoring,
			log:   strings.Repeat("do\n", 8) + "skip\nskip",
			added: "user go\nassistant" + strings.Repeat(" (read)", 10) + strings.Repeat("\ntool cancelled", 10)},
	} {
		t.Run(name, func(t *testing.T) {
			g := play(t, tc.answers, func(_ *Turn, h *fakeHost, cancel context.CancelFunc) {
				h.do = tc.do
				if tc.after == 0 {
					cancel()
				} else {
					time.AfterFunc(tc.after, cancel)
				}
			})
			if strings.HasPrefix(name, "in the first") {
				for i, l := range g.host.log {
					g.host.log[i], _, _ = strings.Cut(l, " ")
				}
				for i := range g.out.Added {
					g.out.Added[i].CallID = ""
					for j := range g.out.Added[i].Calls {
						g.out.Added[i].Calls[j].ID = ""
					}
				}
			}
			g.check(t, Cancelled, tc.log, tc.added)
			if g.took != tc.after {
				t.Errorf("answered %s after the prompt, cancelled after %s", g.took, tc.after)
			}
		})
	}
}

// TestPromptAfterCancel holds the other half of case G-M03: the next turn's request is one that every
// provider takes (the fake model checks it), with both prompts in it.
func TestPromptAfterCancel(t *testing.T) {
	first := play(t, nil, func(_ *Turn, _ *fakeHost, cancel context.CancelFunc) { cancel() })
	second := play(t, nil, func(turn *Turn, _ *fakeHost, _ context.CancelFunc) {
		turn.History = first.out.Added
		turn.Prompt = []model.Part{{Text: "again"}}
	})
	if got := second.model.requests[0].Messages; len(got) != 1 || got[0].Text() != "goagain" || len(got[0].Parts) != 2 {
		t.Errorf("request %+v", got)
	}
	if len(first.out.Added[0].Parts) != 1 {
		t.Error("an earlier message was rewritten")
	}
	second.check(t, EndTurn, "", "user again\nassistant done")
}
