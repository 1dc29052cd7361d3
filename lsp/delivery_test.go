package lsp

import (
	"context"
	"slices"
	"testing"
	"time"
)

// given is a text with an error in each line that is named.
func given(names ...string) string {
	text := ""
	for _, n := range names {
		text += "ERROR(" + n + ")\n"
	}
	return text
}

// inline waits as a tool call does.
func (f *faulty) inline(c *Check) (v Verdict, ok bool, took time.Duration) {
	f.t.Helper()
	began := time.Now()
	v, ok = c.Wait(context.Background(), began.Add(80*time.Millisecond))
	return v, ok, time.Since(began)
}

// settle waits as the end of a turn does.
func (f *faulty) settle() []Late {
	f.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	return f.s.Settle(ctx)
}

func wantMessages(t *testing.T, what string, items []Finding, want ...string) {
	t.Helper()
	if got := messages(items); !slices.Equal(got, want) {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestL05_OnlyAQuickServerIsWaitedFor(t *testing.T) {
	t.Run("quick", func(t *testing.T) {
		t.Parallel()
		f := newFaulty(t, nil, map[string]string{"a.fk": "\n"})
		f.apply("a.fk", "warm\n")
		for i, name := range []string{"one", "two", "three"} {
			v, ok, _ := f.inline(f.edit("e", f.change("a.fk", given(name))))
			if !ok {
				f.settle() // the machine was busy for a moment
				continue
			}
			wantMessages(t, "inline", v.Introduced, name)
			if i > 0 && v.Mended != 1 {
				t.Errorf("mended %d", v.Mended)
			}
			return
		}
		t.Error("three edits in a row got no verdict inline from a server that answers at once")
	})
	t.Run("slow", func(t *testing.T) {
		t.Parallel()
		f := newFaulty(t, []string{"slow=250ms"}, map[string]string{"a.fk": "\n"})
		f.edit("e1", f.change("a.fk", given("one")))
		f.settle()
		f.edit("e2", f.change("a.fk", given("two")))
		f.settle()
		v, ok, took := f.inline(f.edit("e3", f.change("a.fk", given("three"))))
		if ok || v.State != NoVerdict || v.Servers[0].Reason != ReasonTooSlow {
			t.Errorf("a server that takes 250 ms gave %v %+v within 80", ok, v)
		}
		if took > 60*time.Millisecond {
			t.Errorf("it was waited for, for %v", took)
		}
		late := f.settle()
		if len(late) != 1 || late[0].Edit != "e3" {
			t.Fatalf("late: %+v", late)
		}
		wantMessages(t, "late", late[0].Verdict.Introduced, "three")
	})
}

func TestL07_OnlyWhatTheEditBroughtInIsShown(t *testing.T) {
	t.Parallel()
	before := "head\n" + given("p1", "same", "same") + "a\nb\nc\nd\n" + given("p2")
	after := "head\nnew line\n" + given("p1", "same", "same", "same") + "a\nb\nc\nd\n" + given("p2", "n1")
	f := newFaulty(t, nil, map[string]string{"a.fk": before})
	v := f.apply("a.fk", after)
	// p1 and p2 moved by a line; of three equal errors two were there before.
	wantMessages(t, "introduced", v.Introduced, "same", "n1")
	if v.Before != 4 || v.After != 6 || v.Mended != 0 || !v.BaselineKnown {
		t.Errorf("before %d, after %d, mended %d, baseline known %v", v.Before, v.After, v.Mended, v.BaselineKnown)
	}
	if n := v.Introduced[1]; n.Line != 12 || n.Column != 1 {
		t.Errorf("n1 is said to be at %d:%d", n.Line, n.Column)
	}
	v = f.apply("a.fk", "head\n"+given("p1"))
	wantMessages(t, "introduced by taking away", v.Introduced)
	if v.Mended != 5 || v.State != Findings {
		t.Errorf("mended %d, %s", v.Mended, v.State)
	}
}

func TestL08_LateVerdictRidesOnTheNextResult(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"slow=300ms"}, map[string]string{"a.fk": "\n", "b.fk": "\n"})
	shown := make(chan Late, 10)
	f.s.OnLate(func(l Late) { shown <- l })
	// A deadline in the past: nothing is waited for.
	if _, ok := f.edit("e1", f.change("a.fk", given("one"))).Wait(context.Background(), time.Now()); ok {
		t.Fatal("the verdict came at once")
	}
	l := <-shown
	if l.Edit != "e1" || l.Verdict.Foreseen || len(l.Paths) != 1 || l.Paths[0] != f.path("a.fk") {
		t.Errorf("shown at once: %+v", l)
	}
	// The next tool result, of whatever tool.
	list := f.s.Late()
	if len(list) != 1 || list[0].Edit != "e1" {
		t.Fatalf("late: %+v", list)
	}
	wantMessages(t, "late", list[0].Verdict.Introduced, "one")
	if again := f.s.Late(); len(again) != 0 {
		t.Errorf("handed out twice: %+v", again)
	}
	// Two edits of two files, both late: each is named.
	got := map[string][]string{}
	for id, ch := range map[string]Change{"e2": f.change("a.fk", given("one", "two")), "e3": f.change("b.fk", given("three"))} {
		if v, ok, _ := f.inline(f.edit(id, ch)); ok { // a machine that stood still for 300 ms
			got[id] = messages(v.Introduced)
		}
	}
	for _, l := range f.settle() {
		got[l.Edit] = append(got[l.Edit], messages(l.Verdict.Introduced)...)
	}
	if len(got) != 2 || !slices.Equal(got["e2"], []string{"two"}) || !slices.Equal(got["e3"], []string{"three"}) {
		t.Errorf("late: %v", got)
	}
}

func TestL08_SecondWordOfAServerComesLate(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"late-second=300ms"}, map[string]string{"a.fk": "\n"})
	shown := make(chan Late, 10)
	f.s.OnLate(func(l Late) { shown <- l })
	v := f.apply("a.fk", "ERROR(at once)\nLATE(thought again)\n")
	wantMessages(t, "at once", v.Introduced, "at once")
	<-shown
	list := f.s.Late()
	if len(list) != 1 {
		t.Fatalf("late: %+v", list)
	}
	wantMessages(t, "later", list[0].Verdict.Introduced, "thought again")
}

func TestL09_TheEndOfATurnWaitsAndNoLonger(t *testing.T) {
	t.Run("it comes", func(t *testing.T) {
		t.Parallel()
		f := newFaulty(t, []string{"slow=400ms"}, map[string]string{"a.fk": "\n"})
		f.inline(f.edit("e1", f.change("a.fk", given("one"))))
		list := f.settle()
		if len(list) != 1 {
			t.Fatalf("at the end of the turn: %+v", list)
		}
		wantMessages(t, "at the end of the turn", list[0].Verdict.Introduced, "one")
		began := time.Now()
		if list := f.settle(); len(list) != 0 || time.Since(began) > slack {
			t.Errorf("nothing runs, and the end waited %v for %+v", time.Since(began), list)
		}
	})
	t.Run("it does not", func(t *testing.T) {
		t.Parallel()
		f := newFaulty(t, []string{"silent"}, map[string]string{"a.fk": "\n"}, func(s *Settings) { s.WaitTimeout = 20 * time.Second })
		f.inline(f.edit("e1", f.change("a.fk", given("one"))))
		ctx, cancel := context.WithTimeout(context.Background(), 300*time.Millisecond)
		defer cancel()
		began := time.Now()
		list := f.s.Settle(ctx)
		if took := time.Since(began); len(list) != 0 || took > 300*time.Millisecond+slack {
			t.Errorf("%v, %+v", took, list)
		}
		f.ended() // while the check still runs
	})
}

func TestL10_EditedAgainBeforeItsCheckEnded(t *testing.T) {
	for name, modes := range map[string][]string{
		"versioned":   {"slow=200ms"},
		"unversioned": {"slow=200ms", "unversioned"},
		"coalescing":  {"slow=200ms", "coalesce"},
		"pull":        {"slow=200ms", "pull"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, modes, map[string]string{"a.fk": given("old")})
			f.inline(f.edit("e1", f.change("a.fk", given("old", "one"))))
			f.inline(f.edit("e2", f.change("a.fk", "a line\n"+given("old", "one"))))
			f.inline(f.edit("e3", f.change("a.fk", "a line\n"+given("old", "one", "two"))))
			var all []string
			for _, l := range f.settle() {
				if l.Edit != "e3" {
					t.Errorf("edit %s, which was edited over, says %v", l.Edit, messages(l.Verdict.Introduced))
				}
				all = append(all, messages(l.Verdict.Introduced)...)
			}
			// The first edit's error stays reported, once; the one that was there before does not.
			if !slices.Equal(all, []string{"one", "two"}) {
				t.Errorf("reported %q", all)
			}
		})
	}
}
