package agent

import (
	"fmt"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

// How often the same call may be made in a row of calls that change nothing else (case G-M04).
const (
	maxSameFailure = 3
	maxSameSuccess = 5
	maxSameRefusal = 2    // rounds that insist on one refused call, before the turn ends
	maxRefusals    = 5    // rounds with any refused call, before the turn ends
	maxRepeated    = 2000 // bytes of the last result that a refusal repeats
)

// bookkeeping are calls whose success changes nothing that another call could depend on.
var bookkeeping = map[string]bool{"update_plan": true, "ask_user": true, "terminal_output": true, "terminal_kill": true}

// guard sees a model go in circles. What it has seen of a call is forgotten when another call changed
// something, since the same call may then well be what is needed: tests run again after each edit.
// Refusals with a code (no match, stale, bad arguments) are not forgotten: they say what to do
// instead, and a model that reads the file between two such calls still goes in circles.
type guard struct {
	seen     map[string]*repeats
	round    int // counts answers with calls
	refusals int // rounds with a refused call
	refused  int // the last of them
}

// repeats is what came of one and the same call.
type repeats struct {
	failures, successes int
	coded               bool // the last failure has a code
	refusals, refused   int  // rounds in which it was refused, and the last of them
	last                string
}

func newGuard() guard { return guard{seen: map[string]*repeats{}} }

// stuck says whether a call was made too often already.
func (g *guard) stuck(c model.ToolCall) bool {
	r := g.seen[signature(c)]
	return r != nil && (r.failures >= maxSameFailure || r.successes >= maxSameSuccess)
}

// refuse gives the result of a call that is stuck, with what came of it before.
func (g *guard) refuse(c model.ToolCall) tool.Result {
	r := g.seen[signature(c)]
	if r.refused != g.round { // one message may hold the same call many times: it has learnt nothing yet
		r.refused = g.round
		r.refusals++
	}
	if g.refused != g.round {
		g.refused = g.round
		g.refusals++
	}
	times, how := r.successes, "with the same result each time"
	if r.failures >= maxSameFailure {
		times, how = r.failures, "and failed each time"
	}
	last := r.last
	if len(last) > maxRepeated {
		last = strings.ToValidUTF8(last[:maxRepeated], "") + " …"
	}
	return failed(edits.CodeLoop, fmt.Sprintf("This very call was made %d times %s, so it was not run again. "+
		"Do something else: read the file as it is now, change the arguments, or tell the user what is in the way. "+
		"The last result was: %s", times, how, last))
}

// exhausted says that the model went on after it was told that c is refused.
func (g *guard) exhausted(c model.ToolCall) bool {
	r := g.seen[signature(c)]
	return g.refusals >= maxRefusals || (r != nil && r.refusals >= maxSameRefusal)
}

// record counts a call that was run. A success counts as the same only when its result is the same:
// asking for a command's output again is no circle while more comes.
func (g *guard) record(c model.ToolCall, res tool.Result, reads bool) {
	sig := signature(c)
	r := g.seen[sig]
	if r == nil {
		r = &repeats{}
		g.seen[sig] = r
	}
	same := r.last == res.Text
	r.last = res.Text
	if res.IsError {
		r.failures++
		r.coded = strings.HasPrefix(res.Text, `{"error":`) && strings.Contains(res.Text, `"code":`)
		return
	}
	r.failures = 0
	if !same {
		r.successes = 0
	}
	r.successes++
	if reads || bookkeeping[c.Name] {
		return
	}
	for other, o := range g.seen {
		if other != sig && !(o.failures > 0 && o.coded) {
			delete(g.seen, other)
		}
	}
}
