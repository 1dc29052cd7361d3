package lsp

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/workspace"
)

// crossServer finds an error in b.x whenever a.x has the word "break", as a type checker would.
func crossServer() *fake {
	f := pullServer(nil)
	f.asked = func(f *fake, q question) bool {
		if q.Method != "textDocument/diagnostic" {
			return false
		}
		items := marked(q.texts[q.file])
		if q.file == "b.x" && strings.Contains(q.texts["a.x"], "break") {
			items = append(items, "a.x broke this")
		}
		time.Sleep(10 * time.Millisecond)
		q.Reply(map[string]any{"kind": "full", "items": problems(items...)})
		return true
	}
	return f
}

func (b *fakeBench) foreseeIn(s *Session, d time.Duration, changes ...Change) Verdict {
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	return s.Foresee(ctx, changes)
}

func TestForeseePutsEverythingBack(t *testing.T) {
	f := crossServer()
	withFake(t, map[string]string{"a.x": "fine\n"}, f, func(b *fakeBench) {
		v := b.foreseeIn(b.s, time.Minute, b.change("a.x", "bad bad\n"), b.change("new.x", "bad\n"))
		if v.State != Findings || len(v.Introduced) != 3 || !v.Foreseen || v.Before != 0 || v.After != 3 || len(v.Servers) != 2 {
			t.Fatalf("%+v", v)
		}
		if got := b.f.text("a.x"); got != "fine\n" {
			t.Errorf("a.x is left as %q", got)
		}
		heard := b.f.listen()
		if !slices.Contains(heard, "textDocument/didClose new.x") || slices.Contains(heard, "workspace/didChangeWatchedFiles new.x:1") {
			t.Errorf("heard %q", heard)
		}
		if v := b.foreseeIn(b.s, time.Minute, Change{Op: Delete, Path: b.path("a.x")}); v.State != Off || v.Reason != ReasonNotForeseen {
			t.Errorf("%+v", v)
		}
	})
}

func TestForeseeEndsAtItsDeadline(t *testing.T) {
	f := crossServer()
	inner := f.asked
	f.asked = func(f *fake, q question) bool {
		if strings.Contains(q.texts["a.x"], "slow") {
			time.Sleep(time.Minute)
		}
		return inner(f, q)
	}
	withFake(t, map[string]string{"a.x": "fine\n"}, f, func(b *fakeBench) {
		began := time.Now()
		v := b.foreseeIn(b.s, time.Second, b.change("a.x", "slow\n"))
		if v.State != NoVerdict || v.Reason != ReasonTimeout || time.Since(began) != time.Second {
			t.Fatalf("%+v after %s", v, time.Since(began))
		}
		if got := b.f.text("a.x"); got != "fine\n" {
			t.Errorf("a.x is left as %q", got)
		}
		if !slices.Contains(b.f.listen(), "$/cancelRequest") {
			t.Error("the question was not taken back")
		}
		time.Sleep(2 * time.Minute)
	})
}

// The questions of other sessions wait while a proposal stands, and never see it.
func TestQuestionsWaitForAProposal(t *testing.T) {
	f := crossServer()
	withFake(t, map[string]string{"a.x": "fine\n", "b.x": "fine\n"}, f, func(b *fakeBench) {
		other := b.session("s2")
		defer other.Close(context.Background())
		if v := b.foreseeIn(other, time.Minute, b.change("b.x", "fine too\n")); v.State != Clean {
			t.Fatalf("%+v", v)
		}
		done := make(chan struct{})
		go func() {
			defer close(done)
			if v := b.foreseeIn(b.s, time.Minute, b.change("a.x", "break\n")); v.State != Clean {
				t.Errorf("%+v", v)
			}
		}()
		for range 20 {
			time.Sleep(2 * time.Millisecond)
			items, notice, err := other.Diagnostics(context.Background(), b.path("b.x"), "fine\n")
			if len(items) != 0 || notice != "" || err != nil {
				t.Errorf("%+v %q %v", items, notice, err)
			}
		}
		<-done
		v, _ := b.verdictIn(b.edit("e", b.change("a.x", "break\n")), time.Minute)
		late := b.s.Settle(context.Background())
		if v.State != Clean || len(late) != 1 || len(late[0].Verdict.Other) != 1 || late[0].Verdict.Other[0].Path != b.path("b.x") {
			t.Errorf("%+v, late %+v", v, late)
		}
	})
}

// What is published about other files while a proposal stands may be the proposal's doing.
func TestPublishesDuringAProposalAreNotKept(t *testing.T) {
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		other := strings.Replace(uri, "a.x", "b.x", 1)
		if other != uri && strings.Contains(text, "break") {
			f.publish(other, 0, "a.x broke this")
		} else if other != uri {
			f.publish(other, 0)
		}
		f.publish(uri, version, marked(text)...)
	}}
	withFake(t, map[string]string{"a.x": "fine\n", "b.x": "fine\n"}, f, func(b *fakeBench) {
		if v := b.foreseeIn(b.s, time.Minute, b.change("a.x", "break\n")); v.State != Clean {
			t.Fatalf("%+v", v)
		}
		synctest.Wait()
		b.in.mu.Lock()
		kept := len(b.in.sets)
		b.in.mu.Unlock()
		if kept != 0 {
			t.Errorf("%d sets kept", kept)
		}
		v, _ := b.verdictIn(b.edit("e", b.change("a.x", "break\n")), time.Minute)
		other := v.Other
		time.Sleep(time.Second) // nobody waits for what a server may publish of other files
		for _, l := range b.s.Settle(context.Background()) {
			other = append(other, l.Verdict.Other...)
		}
		if len(other) != 1 || other[0].Path != b.path("b.x") || other[0].Message != "a.x broke this" {
			t.Errorf("other files: %+v", other)
		}
	})
}

// A foreseen verdict is the applied text's own, unless something else has changed in between.
func TestForeseenVerdictIsConfirmed(t *testing.T) {
	var asked atomic.Int32
	f := crossServer()
	inner := f.asked
	f.asked = func(f *fake, q question) bool {
		if q.Method == "textDocument/diagnostic" {
			asked.Add(1)
		}
		return inner(f, q)
	}
	tests := []struct {
		name      string
		between   func(b *fakeBench)
		text      string
		confirmed bool
	}{
		{"nothing else", func(*fakeBench) {}, "bad\n", true},
		{"a question between the writing and the word", func(b *fakeBench) {
			b.write("a.x", "bad\n")
			_, _, _ = b.s.Diagnostics(context.Background(), b.path("b.x"), b.read("b.x"))
		}, "bad\n", true},
		{"another text", func(*fakeBench) {}, "bad \n", false},
		{"another edit", func(b *fakeBench) { b.verdictIn(b.edit("x", b.change("c.x", time.Now().String())), time.Minute) }, "bad\n", false},
		{"a command", func(b *fakeBench) {
			b.write("d.x", time.Now().String())
			b.s.External([]workspace.Path{b.path("d.x")})
		}, "bad\n", false},
		{"the server asks for it", func(b *fakeBench) { b.f.request("workspace/diagnostic/refresh", nil) }, "bad\n", false},
		{"an open file written by somebody", func(b *fakeBench) { b.write("b.x", time.Now().String()) }, "bad\n", false},
	}
	withFake(t, map[string]string{"a.x": "fine\n", "b.x": "b\n"}, f, func(b *fakeBench) {
		b.verdictIn(b.edit("b", b.change("b.x", "b2\n")), time.Minute)
		for _, tt := range tests {
			b.verdictIn(b.edit("reset", b.change("a.x", "fine\n")), time.Minute)
			b.s.Settle(context.Background())
			if v := b.foreseeIn(b.s, time.Minute, b.change("a.x", "bad\n")); v.State != Findings {
				t.Fatalf("%s: %+v", tt.name, v)
			}
			ch := b.change("a.x", tt.text)
			tt.between(b)
			time.Sleep(time.Second)
			synctest.Wait()
			asked.Store(0)
			began := time.Now()
			v, ok := b.verdictIn(b.edit("e", ch), time.Minute)
			if !ok || v.State != Findings || len(v.Introduced) != 1 {
				t.Errorf("%s: %v %+v", tt.name, ok, v)
			}
			if confirmed := time.Since(began) == 0; confirmed != tt.confirmed {
				t.Errorf("%s: confirmed %v, asked %d times", tt.name, confirmed, asked.Load())
			}
			if got := b.f.text("a.x"); got != tt.text {
				t.Errorf("%s: the server has %q", tt.name, got)
			}
			b.s.Settle(context.Background())
		}
		// Another file of the edit is none of the server's, but it wants to hear of it.
		b.f.request("client/registerCapability", rawJSON(`{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[{"globPattern":"**/*.mod"}]}}]}`))
		for name, confirmed := range map[string]bool{"x.mod": false, "README": true} {
			b.verdictIn(b.edit("reset", b.change("a.x", "fine\n")), time.Minute)
			b.s.Settle(context.Background())
			list := []Change{b.change("a.x", "bad\n"), b.change(name, "text")}
			b.foreseeIn(b.s, time.Minute, list...)
			time.Sleep(time.Second)
			began := time.Now()
			v, ok := b.verdictIn(b.edit("e", list...), time.Minute)
			if !ok || v.State != Findings || (time.Since(began) == 0) != confirmed {
				t.Errorf("%s: %v %+v after %s", name, ok, v, time.Since(began))
			}
			b.s.Settle(context.Background())
		}
	})
}

// L10: an edit that comes before the verdict on the one before is held against what was there before
// both, and the earlier one is not reported any more.
func TestEditedAgainBeforeTheVerdict(t *testing.T) {
	f := crossServer()
	inner := f.asked
	f.asked = func(f *fake, q question) bool {
		time.Sleep(300 * time.Millisecond)
		return inner(f, q)
	}
	withFake(t, map[string]string{"a.x": "bad\nfine\n"}, f, func(b *fakeBench) {
		b.foreseeIn(b.s, time.Minute, b.change("a.x", "whatever\n"))
		inline := 80 * time.Millisecond
		if v, ok := b.verdictIn(b.edit("1", b.change("a.x", "bad\nfine\nbad\n")), inline); ok {
			t.Fatalf("%+v", v)
		}
		if v, ok := b.verdictIn(b.edit("2", b.change("a.x", "// moved\nbad\nfine\nbad\n")), inline); ok {
			t.Fatalf("%+v", v)
		}
		late := b.s.Settle(context.Background())
		if len(late) != 1 || late[0].Edit != "2" || len(late[0].Verdict.Introduced) != 1 {
			t.Fatalf("%+v", late)
		}
		// Reported now, so that the next edit is held against it.
		b.edit("3", b.change("a.x", "// moved\nbad\nfine\nbad\nfine\n"))
		late = b.s.Settle(context.Background())
		if len(late) != 1 || len(late[0].Verdict.Introduced) != 0 || late[0].Verdict.Before != 2 {
			t.Fatalf("%+v", late)
		}
	})
}
