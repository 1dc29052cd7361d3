package lsp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest/lspserver"
)

// teller makes up a session's life: edits, proposals, what others write, questions, in any order, on
// files that depend on each other. Every error has a number of its own, so that a word on an older
// text is always noticed.
type teller struct {
	*faulty
	rnd   *rand.Rand
	names []string
	n     int
	steps []string
	told  map[string]edited

	pushes bool // the server is never asked
}

// edited is one edit: the file, its new text, and whether that was the old one.
type edited struct {
	name, text string
	same       bool
}

// numbers are the errors of a text that hang on no other file.
func numbers(text string) []string {
	return lspserver.Errors(text, func(string) bool { return true })
}

// text makes up a file: new errors, and names that it defines or uses.
func (w *teller) text() string {
	var b strings.Builder
	for range w.rnd.IntN(5) {
		w.n++
		switch w.rnd.IntN(6) {
		case 0, 1:
			fmt.Fprintf(&b, "ERROR(%d)\n", w.n)
		case 2:
			fmt.Fprintf(&b, "WARN(%d)\n", w.n)
		case 3:
			fmt.Fprintf(&b, "DEFINES(%c)\n", 'a'+w.rnd.IntN(3))
		case 4:
			fmt.Fprintf(&b, "USES(%c)\n", 'a'+w.rnd.IntN(3))
		default:
			b.WriteString("plain\n")
		}
	}
	return b.String()
}

// truth is what the server ought to say of a text when the files are as they are on disk, but with
// that text in the place of name.
func (w *teller) truth(name, text string) []string {
	return lspserver.Errors(text, func(what string) bool {
		for _, other := range w.names {
			if other != name && strings.Contains(w.read(other), "DEFINES("+what+")") {
				return true
			}
		}
		return false
	})
}

// late checks the words that came since: those on the edit that was made last, while nothing else has
// changed, wholly; second words on earlier ones by what depends on no other file.
func (w *teller) late(newest string) {
	w.t.Helper()
	for _, l := range w.s.Settle(context.Background()) {
		file := w.told[l.Edit]
		if l.Edit == newest {
			w.holds(l.Verdict, file.name, file.text, file.same)
			continue
		}
		for _, i := range l.Verdict.Items {
			if i.Code == "ERROR" && !slices.Contains(numbers(file.text), i.Message) {
				w.t.Fatalf("a word on %s, %+v, has %q\nsteps:\n%s", l.Edit, file, i.Message, strings.Join(w.steps, "\n"))
			}
		}
	}
}

// tell applies an edit under a name of its own.
func (w *teller) tell(name, text string) (*Check, string) {
	w.n++
	id := fmt.Sprintf("e%d", w.n)
	w.told[id] = edited{name, text, w.read(name) == text}
	return w.edit(id, w.change(name, text)), id
}

// holds checks a word on a text. A server that only publishes may still be about to say what another
// file's change has made of a text that it was told before; only what hangs on the text alone is held
// against it then.
func (w *teller) holds(v Verdict, name, text string, told bool) {
	w.t.Helper()
	alone := told && w.pushes
	truth := w.truth(name, text)
	if alone {
		truth = numbers(text)
	}
	var said []string
	for _, i := range v.Items {
		if i.Severity == SevError && (!alone || i.Code == "ERROR") {
			said = append(said, i.Message)
		}
	}
	wrong := ""
	switch {
	case v.State == Clean && len(truth) > 0, v.State == Findings && !slices.Equal(said, truth), alone && v.State != NoVerdict && !slices.Equal(said, truth):
		wrong = fmt.Sprintf("%s: said %q, true is %q", v.State, said, truth)
	case v.State == NoVerdict && v.Reason == "":
		wrong = "no verdict without a reason"
	case v.State == Off:
		wrong = "off"
	}
	if wrong != "" {
		w.t.Fatalf("%s of %q\nsteps:\n%s", wrong, text, strings.Join(w.steps, "\n"))
	}
}

// open says whether the server has a file as a document.
func (w *teller) open(name string) bool {
	for _, in := range w.m.instances() {
		in.mu.Lock()
		d := in.find(w.path(name))
		open := d != nil && d.client != nil
		in.mu.Unlock()
		if open {
			return true
		}
	}
	return false
}

func (w *teller) step() {
	name := w.names[w.rnd.IntN(len(w.names))]
	text := w.text()
	within := time.Duration(w.rnd.IntN(300)) * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	switch kind := w.rnd.IntN(7); kind {
	case 0, 1:
		w.steps = append(w.steps, fmt.Sprintf("apply %s %q", name, text))
		c, id := w.tell(name, text)
		v, ok := c.Wait(context.Background(), time.Now().Add(within))
		if ok {
			w.holds(v, name, text, w.told[id].same)
		}
		w.late(id)
	case 2, 3:
		w.steps = append(w.steps, fmt.Sprintf("foresee %s %q in %v", name, text, within))
		w.holds(w.s.Foresee(ctx, []Change{w.change(name, text)}), name, text, w.read(name) == text)
	case 4:
		w.steps = append(w.steps, fmt.Sprintf("somebody writes %s %q", name, text))
		w.write(name, text)
		if w.rnd.IntN(2) == 0 || !w.open(name) { // what is open is looked at before each question
			w.s.External(paths(w.path(name)))
		}
	case 5:
		w.steps = append(w.steps, fmt.Sprintf("ask %s in %v", name, within))
		items, notice, err := w.s.Diagnostics(ctx, w.path(name), w.read(name))
		if err == nil && notice == "" {
			w.holds(verdictOn(items), name, w.read(name), true)
		}
	default:
		w.steps = append(w.steps, fmt.Sprintf("edit %s over and over, last %q", name, text))
		for range w.rnd.IntN(3) {
			w.tell(name, w.text())
		}
		_, id := w.tell(name, text)
		w.late(id)
	}
}

// verdictOn makes a verdict of what the tool lists.
func verdictOn(items []Finding) Verdict {
	v := Verdict{State: Clean, Items: items}
	for _, i := range items {
		if i.Severity == SevError {
			v.State = Findings
		}
	}
	// The tool lists errors first, in the order of the text.
	return v
}

// storyModes are servers that must be told the truth of, and never mistaken, in whatever order things
// happen.
var storyModes = []string{
	"", "slow=30ms", "slow=30ms coalesce", "slow=30ms serial", "slow=30ms stale", "silent-identical", "silent-clean slow=20ms",
	"pull", "pull slow=30ms", "pull-dynamic refresh-storm=3", "identifiers slow=20ms", "incremental", "dependents", "split stray",
	"unversioned", "unversioned slow=30ms", "unversioned serial slow=30ms", "unversioned stale slow=30ms", "unversioned coalesce slow=30ms",
}

func TestL15_RandomStoriesAreHonest(t *testing.T) {
	for _, modes := range storyModes {
		t.Run(strings.ReplaceAll(modes, " ", ","), func(t *testing.T) {
			t.Parallel()
			seed := uint64(time.Now().UnixNano())
			t.Logf("seed %d", seed)
			f := newFaulty(t, strings.Fields(modes), map[string]string{"x.fk": "USES(a)\n", "y.fk": "DEFINES(a)\n", "z.fk": ""})
			w := &teller{faulty: f, rnd: rand.New(rand.NewPCG(seed, 1)), names: []string{"x.fk", "y.fk", "z.fk"}, told: map[string]edited{},
				pushes: !strings.Contains(modes, "pull") && !strings.Contains(modes, "identifiers")}
			for range 40 {
				w.step()
			}
			if f.m.instances()[0].status().Verdicts == 0 {
				t.Error("no verdict in the whole story")
			}
			f.ended()
		})
	}
}
