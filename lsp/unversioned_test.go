package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
)

// A server that names no versions may still speak of an earlier text: of the one that a proposal stood
// in for, of the one before the edit when a file event made it look again. Nothing of that becomes a
// verdict, and its own word does in the end.
func TestL15_UnversionedWordsOnEarlierTexts(t *testing.T) {
	for _, modes := range []string{
		"", "slow=20ms", "slow=150ms", "slow=150ms slow-open=400ms", "slow=300ms", "slow=150ms serial", "slow=150ms coalesce",
		"slow=150ms stale", "stale", "slow=600ms serial",
	} {
		t.Run(strings.ReplaceAll(modes, " ", ","), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, append(strings.Fields(modes), "unversioned"), map[string]string{"a.fk": given("old")}, func(s *Settings) { s.WaitTimeout = 5 * time.Second })
			text := given("old")
			for _, name := range []string{"one", "two", "three"} {
				f.foreseen("a.fk", given("refused", name))
				text += "\n" + given(name)
				v := last(f.story(name, "a.fk", text))
				if v.State != Findings || v.BaselineKnown && !slices.Equal(messages(v.Introduced), []string{name}) {
					t.Errorf("edit %s got %s (%s): %q", name, v.State, v.Reason, messages(v.Introduced))
				}
				f.foreseen("a.fk", "refused, clean\n")
			}
			for _, l := range f.s.Late() {
				t.Errorf("an afterthought: %+v", l)
			}
		})
	}
}

// A server that publishes twice for each change, the first time nothing, is found out by its first
// correction; from then on its first word is not taken.
func TestL15_SecondPublishIsLearned(t *testing.T) {
	for _, modes := range []string{"double=30ms", "double=120ms", "double=30ms unversioned"} {
		t.Run(strings.ReplaceAll(modes, " ", ","), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, strings.Fields(modes), map[string]string{"a.fk": "\n"}, func(s *Settings) { s.WaitTimeout = 5 * time.Second })
			shown := make(chan Late, 10)
			f.s.OnLate(func(l Late) { shown <- l })
			v := f.apply("a.fk", given("one"))
			if v.State == Clean { // it could not be known yet; the correction comes by itself
				l := <-shown
				wantMessages(t, "the correction", l.Verdict.Introduced, "one")
				f.s.Late()
			}
			for _, name := range []string{"two", "three"} {
				v := last(f.story(name, "a.fk", given(name)))
				wantMessages(t, "once it is known", v.Introduced, name)
			}
			v = f.apply("a.fk", "fine\n")
			if v.State != Clean || v.Mended != 1 {
				t.Errorf("mended: %s, %d", v.State, v.Mended)
			}
		})
	}
}

// A server that says nothing of a clean text still gets its errors told; that the text before was clean
// is not known then.
func TestL15_SilentOnCleanStillTellsErrors(t *testing.T) {
	for _, modes := range []string{"silent-clean", "silent-clean unversioned", "silent-clean slow=100ms"} {
		t.Run(strings.ReplaceAll(modes, " ", ","), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, strings.Fields(modes), map[string]string{"a.fk": "clean\n"}, func(s *Settings) { s.WaitTimeout = 5 * time.Second })
			v := last(f.story("e1", "a.fk", given("one")))
			if v.State != Findings || !slices.Equal(messages(v.Introduced), []string{"one"}) {
				t.Errorf("%s (%s): %q", v.State, v.Reason, messages(v.Introduced))
			}
			v = last(f.story("e2", "a.fk", "clean again\n"))
			if v.State == Findings {
				t.Errorf("%+v", v)
			}
			v = last(f.story("e3", "a.fk", "clean still\n")) // of this the server says nothing at all
			if v.State == Clean {
				t.Errorf("clean was guessed: %+v", v)
			}
		})
	}
}

// While one session's proposal stands at the server, nobody else is told of it.
func TestL15_ProposalsAreNobodyElsesTruth(t *testing.T) {
	for _, modes := range []string{"slow=60ms", "pull slow=60ms", "slow=60ms unversioned", "dependents slow=60ms"} {
		t.Run(strings.ReplaceAll(modes, " ", ","), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, strings.Fields(modes), map[string]string{"a.fk": given("real"), "b.fk": "USES(x)\n"}, func(s *Settings) { s.WaitTimeout = 5 * time.Second })
			other := f.session("s2")
			stop := make(chan struct{})
			done := make(chan struct{})
			go func() {
				defer close(done)
				for {
					select {
					case <-stop:
						return
					default:
						f.foreseen("a.fk", given("proposed")+"DEFINES(x)\n")
					}
				}
			}()
			answers := 0
			for range 10 {
				for file, want := range map[string]string{"a.fk": "real", "b.fk": "x is not defined"} {
					ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
					items, notice, err := other.Diagnostics(ctx, f.path(file), f.read(file))
					cancel()
					if err == nil && notice == "" {
						answers++
						wantMessages(t, file, items, want)
					}
				}
			}
			close(stop)
			<-done
			if answers == 0 {
				t.Error("the other session never got an answer")
			}
		})
	}
}

// A server without versions that says one word for each change is soon taken at its first.
func TestL05_UnversionedServerIsTakenAtItsWord(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"unversioned"}, map[string]string{"a.fk": "\n"})
	history := ""
	for i := range 15 {
		name := "error " + string(rune('a'+i)) // a message with another number would be the same complaint
		check := f.edit(name, f.change("a.fk", given(name)))
		v, ok, _ := f.inline(check)
		if ok {
			wantMessages(t, "inline", v.Introduced, name)
			return
		}
		f.settle()
		in := f.m.instances()[0]
		f.server.Until("rest, as between two calls of a model", func() bool {
			in.mu.Lock()
			defer in.mu.Unlock()
			return time.Since(in.stirred) > in.silence(false)
		})
		in.mu.Lock()
		history += fmt.Sprintf("%d: %d plain words, gap %v, lag %v, average %v\n", i, in.plain, in.gap, in.lag, in.average)
		in.mu.Unlock()
	}
	t.Errorf("fifteen edits, and none got its verdict inline:\n%s", history)
}
