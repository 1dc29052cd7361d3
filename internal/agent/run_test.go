package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

func TestTurns(t *testing.T) {
	const lenCut = `{"path":"big.txt","content":"par"}`
	for name, tc := range map[string]struct {
		answers []answerScript
		change  func(*Turn, *fakeHost, context.CancelFunc)
		stop    StopReason
		log     string
		added   string
		text    string
		notice  string // part of the one notice, "" for none
	}{
		"text": {
			answers: []answerScript{{think("hm"), say("hel"), say("lo"), done(model.FinishStop)}},
			stop:    EndTurn, added: "user go\nassistant hello", text: "hello",
		},
		"a call, then text": {
			answers: []answerScript{
				{say("look: "), call("c1", "read_file", `{"path":"a"}`), done(model.FinishToolCalls)},
				{say("seen"), done(model.FinishStop)}},
			stop: EndTurn, log: `do read_file {"path":"a"}`, text: "look: seen",
			added: "user go\nassistant look:  c1(read_file)\ntool[c1] ok\nassistant seen",
		},
		"calls although the finish says stop": {
			answers: []answerScript{{call("c1", "write", `{}`), done(model.FinishStop)}},
			stop:    EndTurn, log: "do write {}", text: "done",
			added: "user go\nassistant c1(write)\ntool[c1] ok\nassistant done",
		},
		"arguments that are not JSON (G-M01)": {
			answers: []answerScript{
				{call("c1", "edit_file", `{"path":"a.txt","old_string":"x`), done(model.FinishToolCalls)},
				{call("c2", "edit_file", `{"path":"a.txt"}`), done(model.FinishToolCalls)}},
			stop: EndTurn, log: "skip edit_file invalid_arguments\ndo edit_file {\"path\":\"a.txt\"}", text: "done",
			added: "user go\nassistant c1(edit_file)\ntool[c1] invalid_arguments\nassistant c2(edit_file)\ntool[c2] ok\nassistant done",
		},
		"arguments of other forms": {
			answers: []answerScript{{call("c1", "a", ""), call("c2", "b", `"{\"x\":1}"`), call("c3", "c", `[1]`),
				call("c4", "d", `{"x":1} and more`), done(model.FinishToolCalls)}},
			stop: EndTurn, log: "do a {}\ndo b {\"x\":1}\nskip c invalid_arguments\nskip d invalid_arguments", text: "done",
			added: "user go\nassistant c1(a) c2(b) c3(c) c4(d)\ntool[c1] ok\ntool[c2] ok\ntool[c3] invalid_arguments\n" +
				"tool[c4] invalid_arguments\nassistant done",
		},
		"cut at the token limit, half a call (G-M02 a)": {
			answers: []answerScript{{call("c1", "write_file", `{"path":"big.txt"`), done(model.FinishLength)}},
			stop:    EndTurn, log: "skip write_file truncated", text: "done",
			added: "user go\nassistant c1(write_file)\ntool[c1] truncated\nassistant done",
		},
		"cut at the token limit, whole JSON (G-M02 b)": {
			answers: []answerScript{{say("writing"), call("c1", "write_file", lenCut), done(model.FinishLength)}},
			stop:    EndTurn, log: "skip write_file truncated", text: "writingdone",
			added: "user go\nassistant writing c1(write_file)\ntool[c1] truncated\nassistant done",
		},
		"cut for ever": {
			answers: slices.Repeat([]answerScript{{call("", "write_file", lenCut), done(model.FinishLength)}}, 9),
			stop:    MaxTokens, log: "skip write_file truncated\nskip write_file truncated\nskip write_file truncated",
			added: "user go\nassistant (write_file)\ntool truncated\nassistant (write_file)\ntool truncated\n" +
				"assistant (write_file)\ntool truncated",
			notice: "cut off 3 times",
		},
		"text cut at the token limit": {
			answers: []answerScript{{say("long"), done(model.FinishLength)}},
			stop:    MaxTokens, added: "user go\nassistant long", text: "long",
		},
		"nothing but thinking up to the token limit": {
			answers: []answerScript{{think("hmmm"), done(model.FinishLength)}},
			stop:    MaxTokens, added: "user go", notice: "output limit",
		},
		"refusal": {
			answers: []answerScript{
				{call("c1", "read", `{}`), done(model.FinishToolCalls)},
				{say("I cannot"), call("c2", "write", `{}`), done(model.FinishRefusal)}},
			stop: Refusal, log: "do read {}\nskip write cancelled", text: "I cannot",
		},
		"too many rounds": {
			answers: []answerScript{
				{call("c1", "write", `{"n":1}`), done(model.FinishToolCalls)},
				{call("c2", "write", `{"n":2}`), done(model.FinishToolCalls)},
				{call("c3", "write", `{"n":3}`), done(model.FinishToolCalls)}},
			change: func(t *Turn, _ *fakeHost, _ context.CancelFunc) { t.Options.MaxRounds = 2 },
			stop:   MaxTurnRequests, log: "do write {\"n\":1}\ndo write {\"n\":2}", notice: "2 rounds",
			added: "user go\nassistant c1(write)\ntool[c1] ok\nassistant c2(write)\ntool[c2] ok",
		},
		"an empty answer once (G-M05 a)": {
			answers: []answerScript{
				{call("c1", "read", `{}`), done(model.FinishToolCalls)},
				{say(" \n"), think("?"), done(model.FinishStop)},
				{say("here"), done(model.FinishStop)}},
			stop: EndTurn, log: "do read {}", text: " \nhere",
			added: "user go\nassistant c1(read)\ntool[c1] ok\nassistant here",
		},
		"empty answers for ever (G-M05 b)": {
			answers: slices.Repeat([]answerScript{{done(model.FinishStop)}}, 9),
			stop:    EndTurn, added: "user go", notice: "empty answer 3 times",
		},
		"results that are still out": {
			answers: []answerScript{{say("a"), done(model.FinishStop)}, {say("b"), done(model.FinishStop)}, {say("c"), done(model.FinishStop)}},
			change: func(_ *Turn, h *fakeHost, _ context.CancelFunc) {
				h.pending = []string{"[diagnostics] one", "[diagnostics] two", "[diagnostics] three"}
			},
			stop: EndTurn, text: "abc",
			added: "user go\nassistant a\nuser [diagnostics] one\nassistant b\nuser [diagnostics] two\nassistant c",
		},
		"odd ids and names": {
			answers: []answerScript{
				{call("functions.x:0", "functions.read file", `{}`), call("old", "", `{}`), done(model.FinishToolCalls)}},
			change: func(t *Turn, _ *fakeHost, _ context.CancelFunc) {
				t.History = []model.Message{model.TextMessage(model.User, "before"),
					{Role: model.Assistant, Calls: []model.ToolCall{{ID: "old", Name: "x", Arguments: "{}"}}},
					{Role: model.ToolRole, CallID: "old", Name: "x", Parts: []model.Part{{Text: "r"}}},
					model.TextMessage(model.Assistant, "after")}
			},
			stop: EndTurn, log: "do read_file_ {}\ndo unnamed {}", text: "done",
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := play(t, tc.answers, tc.change)
			if name == "odd ids and names" {
				c := g.out.Added[1].Calls
				if c[0].ID != "functions_x_0" || c[0].Name != "read_file" || c[1].Name != "unnamed" || c[1].ID == "old" {
					t.Errorf("calls in the history: %+v", c)
				}
				return
			}
			for i := range g.out.Added { // generated ids differ each time
				m := &g.out.Added[i]
				if strings.HasPrefix(m.CallID, "call_") {
					m.CallID = ""
				}
				for j := range m.Calls {
					if strings.HasPrefix(m.Calls[j].ID, "call_") {
						m.Calls[j].ID = ""
					}
				}
			}
			g.check(t, tc.stop, tc.log, tc.added)
			if got := g.host.text.String(); got != tc.text {
				t.Errorf("text %q, want %q", got, tc.text)
			}
			if tc.notice == "" && len(g.host.notices) > 0 || tc.notice != "" && !strings.Contains(strings.Join(g.host.notices, "|"), tc.notice) {
				t.Errorf("notices %q, want one with %q", g.host.notices, tc.notice)
			}
		})
	}
}

func TestThinkingIsKeptWithItsSignature(t *testing.T) {
	g := play(t, []answerScript{{think("why"), event(model.Event{Thinking: &model.Thinking{Text: "why", Signature: "s"}}),
		call("c1", "read", "{}"), done(model.FinishToolCalls)}}, nil)
	want := []model.Thinking{{Text: "why", Signature: "s"}}
	if got := g.out.Added[1].Thinking; !slices.Equal(got, want) {
		t.Errorf("thinking %v, want %v", got, want)
	}
	if g.host.thought.String() != "why" || g.out.Usage.Input != 10 || len(g.host.usage) != 2 {
		t.Errorf("thought %q, usage %v, told %v", g.host.thought.String(), g.out.Usage, g.host.usage)
	}
}

func TestMalformedArgumentsAreExplained(t *testing.T) {
	for args, want := range map[string]string{
		`{"path":"a.txt","old_string":"x`: `incomplete`,
		`{"path": a.txt}`:                 `character 10`,
		`[1]`:                             `not valid JSON`,
		`{"a":1}{"b":2}`:                  `more text after the JSON object`,
	} {
		g := play(t, []answerScript{{call("c1", "edit_file", args), done(model.FinishToolCalls)}}, nil)
		res := g.out.Added[2]
		if !res.IsError || !strings.Contains(res.Text(), want) || !strings.Contains(res.Text(), "edit_file") {
			t.Errorf("%s: result %q (error %v), want %q", args, res.Text(), res.IsError, want)
		}
	}
}

func TestParallelReads(t *testing.T) {
	var calls answerScript
	for i := range 20 {
		calls = append(calls, call(fmt.Sprint("r", i), "read", fmt.Sprintf(`{"n":%d}`, i)))
	}
	calls = append(calls, call("w1", "write", `{"n":1}`), call("w2", "write", `{"n":2}`), call("r20", "read", `{"n":20}`), done(model.FinishToolCalls))
	running, most, writesAlone := 0, 0, true
	g := play(t, []answerScript{calls}, func(_ *Turn, h *fakeHost, _ context.CancelFunc) {
		h.do = func(ctx context.Context, c model.ToolCall) (tool.Result, error) {
			h.mu.Lock()
			running++
			most = max(most, running)
			writesAlone = writesAlone && (c.Name == "read" || running == 1)
			h.mu.Unlock()
			sleep(ctx, time.Second)
			h.mu.Lock()
			running--
			h.mu.Unlock()
			return tool.Result{Text: c.Arguments}, nil
		}
	})
	if most != maxParallel || !writesAlone {
		t.Errorf("at most %d calls at once, want %d; writes alone: %v", most, maxParallel, writesAlone)
	}
	if g.took != 6*time.Second { // 20 reads in 3 steps, 2 writes, 1 read
		t.Errorf("took %s, want 6 s", g.took)
	}
	for i, m := range g.out.Added[2:22] {
		if m.CallID != fmt.Sprint("r", i) || m.Text() != fmt.Sprintf(`{"n":%d}`, i) {
			t.Errorf("result %d: %s %s", i, m.CallID, m.Text())
		}
	}
}

func TestPanicEndsTheTurnOnly(t *testing.T) {
	g := play(t, []answerScript{{call("c1", "write", `{}`), call("c2", "write", `{"n":2}`), done(model.FinishToolCalls)}},
		func(_ *Turn, h *fakeHost, _ context.CancelFunc) {
			h.do = func(context.Context, model.ToolCall) (tool.Result, error) { panic("boom") }
		})
	var p *PanicError
	if !errors.As(g.err, &p) || p.Tool != "write" || len(p.Stack) == 0 {
		t.Fatalf("error %v", g.err)
	}
	if got, want := brief(g.out.Added), "user go\nassistant c1(write) c2(write)\ntool[c1] io\ntool[c2] io"; got != want {
		t.Errorf("added:\n%s\nwant:\n%s", got, want)
	}
}

func TestImagesOfAResult(t *testing.T) {
	g := play(t, []answerScript{{call("c1", "read", `{}`), done(model.FinishToolCalls)}},
		func(_ *Turn, h *fakeHost, _ context.CancelFunc) {
			h.do = func(context.Context, model.ToolCall) (tool.Result, error) {
				return tool.Result{Images: []model.Media{{MIME: "image/png", Data: []byte{1}}}}, nil
			}
		})
	if p := g.out.Added[2].Parts; len(p) != 2 || p[0].Text == "" || p[1].Image == nil || p[1].Image.MIME != "image/png" {
		t.Errorf("parts %+v", p)
	}
}

// refusing fails every call as an edit that does not match.
func refusing(_ *Turn, h *fakeHost, _ context.CancelFunc) {
	h.do = func(_ context.Context, c model.ToolCall) (tool.Result, error) {
		if strings.HasPrefix(c.Name, "ok") || c.Name == "read" {
			return tool.Result{Text: "fine"}, nil
		}
		if c.Name == "run_tests" {
			return tool.Result{Text: "exit status 1", IsError: true}, nil
		}
		return tool.Failed(edits.CodeNoMatch, "nearest lines: 12 foo"), nil
	}
}

func repeated(n int, mid ...step) []answerScript {
	var list []answerScript
	for i := range n {
		a := answerScript{call(fmt.Sprint("c", i), "edit", `{"path":"a","old_string":"x"}`)}
		list = append(list, append(append(a, mid...), done(model.FinishToolCalls)))
	}
	return list
}
