package lsp

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/wire"
)

func pullServer(items func(identifier, text string) []string) *fake {
	return &fake{
		caps: map[string]any{"textDocumentSync": 1, "diagnosticProvider": map[string]any{"identifier": "one", "interFileDependencies": true}},
		asked: func(f *fake, q question) bool {
			if q.Method != "textDocument/diagnostic" {
				return false
			}
			q.Reply(map[string]any{"kind": "full", "items": problems(items(q.identifier, q.texts[q.file])...)})
			return true
		},
	}
}

// Every registration has findings of its own, also one that comes in the middle of a question.
func TestDynamicRegistrationsAreAllAsked(t *testing.T) {
	f := pullServer(func(identifier, text string) []string { return []string{"from " + identifier} })
	delete(f.caps, "diagnosticProvider")
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		c := b.edit("e", b.change("a.x", "new\n"))
		synctest.Wait() // it waits for a publish, in vain
		register := func(id, identifier string) any {
			return map[string]any{"id": id, "method": "textDocument/diagnostic", "registerOptions": map[string]any{"identifier": identifier}}
		}
		if got := f.request("client/registerCapability", map[string]any{"registrations": []any{register("1", "types"), register("2", "lint")}}); got != "null" {
			t.Fatalf("registration answered %s", got)
		}
		v, ok := b.verdictIn(c, time.Minute)
		var said []string
		for _, i := range v.Items {
			said = append(said, i.Message)
		}
		slices.Sort(said)
		if !ok || !slices.Equal(said, []string{"from lint", "from types"}) {
			t.Fatalf("%v %q", ok, said)
		}
		f.request("client/unregisterCapability", map[string]any{"unregisterations": []any{map[string]any{"id": "2", "method": "textDocument/diagnostic"}}})
		v, _ = b.verdictIn(b.edit("e2", b.change("a.x", "newer\n")), time.Minute)
		if len(v.Items) != 1 || v.Items[0].Message != "from types" {
			t.Fatalf("%+v", v.Items)
		}
	})
}

// A server that announces pull diagnostics and knows none is asked once, never again.
func TestPullThatIsNotThere(t *testing.T) {
	f := pullServer(nil)
	f.asked, f.changed = nil, versioned
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		for i, text := range []string{"bad\n", "bad bad\n", "fine\n"} {
			v, ok := b.verdictIn(b.edit("e", b.change("a.x", text)), time.Minute)
			if !ok || v.After != len(marked(text)) {
				t.Fatalf("%d: %v %+v", i, ok, v)
			}
		}
		pulls := 0
		for _, h := range f.listen() {
			if strings.HasPrefix(h, "textDocument/diagnostic") {
				pulls++
			}
		}
		if pulls != 1 {
			t.Errorf("asked %d times", pulls)
		}
	})
}

// "Not now" is asked again within the budget; a lie is no verdict.
func TestPullAnswersThatAreNone(t *testing.T) {
	answers := []func(r *wire.Request){
		func(r *wire.Request) { r.ReplyError(&wire.Error{Code: codeContentModified, Message: "modified"}) },
		func(r *wire.Request) { r.ReplyError(&wire.Error{Code: codeServerCancelled, Message: "busy"}) },
		func(r *wire.Request) { r.Reply(map[string]any{"items": problems("real")}) }, // no kind, as gopls sends it
	}
	var n atomic.Int32
	f := pullServer(nil)
	f.asked = func(f *fake, q question) bool {
		if q.Method != "textDocument/diagnostic" {
			return false
		}
		answers[min(int(n.Add(1)), len(answers))-1](q.Request)
		return true
	}
	withFake(t, nil, f, func(b *fakeBench) {
		v, ok := b.verdictIn(b.edit("1", b.change("a.x", "new\n")), time.Minute)
		if !ok || v.State != Findings || n.Load() != 3 {
			t.Fatalf("%v %+v after %d questions", ok, v, n.Load())
		}
		for name, lie := range map[string]any{"unchanged": map[string]any{"kind": "unchanged", "resultId": "1"}, "null": nil, "rubbish": "yes"} {
			answers = []func(r *wire.Request){func(r *wire.Request) { r.Reply(lie) }}
			v, ok := b.verdictIn(b.edit("2", b.change("a.x", name+"\n")), time.Minute)
			if !ok || v.State != NoVerdict || v.Reason != ReasonFailed {
				t.Errorf("%s: %v %+v", name, ok, v)
			}
		}
		answers = []func(r *wire.Request){func(r *wire.Request) {
			r.ReplyError(&wire.Error{Code: codeServerCancelled, Message: "for ever"})
		}}
		began := time.Now()
		v, _ = b.verdictIn(b.edit("3", b.change("a.x", "for ever\n")), time.Minute)
		if took := time.Since(began); v.Reason != ReasonTimeout || took != 5*time.Second {
			t.Errorf("%+v after %s", v, took)
		}
	})
}

// Three questions without an answer, and no answer to a cheap one either: the server is ended.
func TestHangingServerIsEnded(t *testing.T) {
	f := pullServer(nil)
	f.asked = func(f *fake, q question) bool { return true } // never answers
	withFake(t, nil, f, func(b *fakeBench) {
		for i := range hangs {
			v, _ := b.verdictIn(b.edit("e", b.change("a.x", strings.Repeat("x", i+1))), time.Minute)
			if v.State != NoVerdict {
				t.Fatalf("%+v", v)
			}
			if i == 0 && !b.c.alive() {
				t.Fatal("ended after one question")
			}
		}
		time.Sleep(10 * time.Second)
		if b.c.alive() {
			t.Error("still there")
		}
		if v, ok := b.verdictIn(b.edit("e", b.change("a.x", "again")), 4*time.Second); !ok || v.Reason != ReasonNotInstalled {
			t.Errorf("no new start was tried: %v %+v", ok, v)
		}
	})
}

func TestServerThatEndsInTheMiddle(t *testing.T) {
	f := pullServer(nil)
	f.asked = func(f *fake, q question) bool { f.conn.Close(); return true }
	withFake(t, nil, f, func(b *fakeBench) {
		began := time.Now()
		v, ok := b.verdictIn(b.edit("e", b.change("a.x", "text")), time.Minute)
		// The fake is no program that could be started again, which is what is said in the end.
		if !ok || v.State != NoVerdict || v.Reason != ReasonNotInstalled || time.Since(began) > 2*time.Second {
			t.Errorf("%v %+v after %s", ok, v, time.Since(began))
		}
	})
}
