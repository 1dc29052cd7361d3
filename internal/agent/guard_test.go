package agent

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

func TestLoopGuard(t *testing.T) {
	different := func(n int) (list []answerScript) {
		for i := range n {
			list = append(list, answerScript{call("", "edit", fmt.Sprintf(`{"n":%d}`, i)), done(model.FinishToolCalls)})
		}
		return list
	}
	again := func(n int, calls ...step) []answerScript {
		return slices.Repeat([]answerScript{append(calls, done(model.FinishToolCalls))}, n)
	}
	count := 0
	for name, tc := range map[string]struct {
		answers []answerScript
		change  func(*Turn, *fakeHost, context.CancelFunc)
		run     int // calls that were run
		skipped int
		ended   bool // by the guard
	}{
		"the same failing call (G-M04)":  {answers: again(50, call("", "edit", `{"a":1}`)), run: 3, skipped: 2, ended: true},
		"spelled differently":            {answers: slices.Concat(again(2, call("", "edit", `{"a":1,"b":2}`)), again(9, call("", "edit", `{ "b":2, "a":1}`))), run: 3, skipped: 2, ended: true},
		"with a read in between":         {answers: again(50, call("", "edit", `{"a":1}`), call("", "read", `{}`)), run: 3 + 4, skipped: 2 + 1, ended: true},
		"with a command in between":      {answers: again(50, call("", "edit", `{"a":1}`), call("", "ok_run", `{}`)), run: 3 + 4, skipped: 2 + 1, ended: true},
		"many in one message":            {answers: again(1, slices.Repeat([]step{call("", "edit", `{}`)}, 6)...), run: 3, skipped: 3},
		"6 different failing calls":      {answers: different(6), run: 6},
		"bad JSON again and again":       {answers: again(50, call("", "edit", `{`)), skipped: 5, ended: true},
		"the same succeeding call":       {answers: again(50, call("", "ok", `{}`)), run: 5, skipped: 2, ended: true},
		"the same reads in one message":  {answers: again(1, slices.Repeat([]step{call("", "read", `{}`)}, 7)...), run: 5, skipped: 2},
		"twice the model gives way":      {answers: slices.Concat(again(4, call("", "edit", `{}`)), different(2)), run: 5, skipped: 1},
		"tests after each of many edits": {answers: testsAfterEdits(10), run: 20},
		"the same call, other results": {answers: again(12, call("", "ok", `{}`)), run: 12,
			change: func(_ *Turn, h *fakeHost, _ context.CancelFunc) {
				h.do = func(context.Context, model.ToolCall) (tool.Result, error) {
					count++
					return tool.Result{Text: fmt.Sprint(count)}, nil
				}
			}},
	} {
		t.Run(name, func(t *testing.T) {
			change := tc.change
			if change == nil {
				change = refusing
			}
			g := play(t, tc.answers, change)
			run, skipped := 0, 0
			for _, l := range g.host.log {
				if strings.HasPrefix(l, "do ") {
					run++
				} else {
					skipped++
				}
			}
			if run != tc.run || skipped != tc.skipped {
				t.Errorf("%d calls run and %d skipped, want %d and %d:\n%s", run, skipped, tc.run, tc.skipped, strings.Join(g.host.log, "\n"))
			}
			want, notices := EndTurn, 0
			if tc.ended {
				want, notices = MaxTurnRequests, 1
			}
			if g.err != nil || g.out.Stop != want || len(g.host.notices) != notices {
				t.Errorf("ended with %s, %v, notices %q; want %s", g.out.Stop, g.err, g.host.notices, want)
			}
		})
	}
}

// testsAfterEdits runs the same failing command after each of n edits.
func testsAfterEdits(n int) (list []answerScript) {
	for i := range n {
		list = append(list, answerScript{call("", "ok_edit", fmt.Sprintf(`{"n":%d}`, i)), call("", "run_tests", `{}`), done(model.FinishToolCalls)})
	}
	return list
}

// TestRefusalRepeatsTheLastResult holds that a model in a circle still sees the lines that it needs.
func TestRefusalRepeatsTheLastResult(t *testing.T) {
	g := play(t, repeated(4), refusing)
	var last model.Message
	for _, m := range g.out.Added {
		if m.Role == model.ToolRole {
			last = m
		}
	}
	if !last.IsError || code(last.Text()) != "loop" || !strings.Contains(last.Text(), "nearest lines: 12 foo") {
		t.Errorf("result %q", last.Text())
	}
}
