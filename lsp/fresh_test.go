package lsp

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
)

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// marked is a server that finds an error for every word "bad" in a text.
func marked(text string) []string {
	var out []string
	for range strings.Count(text, "bad") {
		out = append(out, "bad word")
	}
	return out
}

func after(d time.Duration, f func(f *fake, uri string, version int, text string)) func(*fake, string, int, string) {
	return func(x *fake, uri string, version int, text string) {
		time.Sleep(d)
		f(x, uri, version, text)
	}
}

func versioned(f *fake, uri string, version int, text string) {
	f.publish(uri, version, marked(text)...)
}

func versionless(f *fake, uri string, version int, text string) { f.publish(uri, 0, marked(text)...) }

// Case G-L01: an old publish that comes after the change is not the change's verdict.
func TestOldDiagnosticsAfterTheEdit(t *testing.T) {
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		if version == 1 {
			f.publish(uri, 1, "E-old")
			return
		}
		f.publish(uri, 1, "E-old") // once more, of the text before
		time.Sleep(800 * time.Millisecond)
		f.publish(uri, version)
	}}
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		began := time.Now()
		v, ok := b.verdictIn(b.edit("e", b.change("a.x", "new\n")), 10*time.Second)
		if !ok || v.State != Clean || v.Mended != 1 || len(v.Items) != 0 {
			t.Fatalf("%v %+v", ok, v)
		}
		if took := time.Since(began); took != 800*time.Millisecond {
			t.Errorf("took %s", took)
		}
		if b.f.text("a.x") != "new\n" || f.vers["a.x"] != 2 {
			t.Errorf("server has %q, version %d", f.texts["a.x"], f.vers["a.x"])
		}
	})
}

// Case G-L02: silence is not "clean", and costs one deadline, not two.
func TestSilentServer(t *testing.T) {
	withFake(t, map[string]string{"a.x": "old\n"}, &fake{}, func(b *fakeBench) {
		began := time.Now()
		v, ok := b.verdictIn(b.edit("e", b.change("a.x", "new\n")), time.Minute)
		if !ok || v.State != NoVerdict || v.Reason != ReasonTimeout || v.ForModel("h", 0) != "" {
			t.Fatalf("%v %+v", ok, v)
		}
		if took := time.Since(began); took != 5*time.Second {
			t.Errorf("took %s", took)
		}
	})
}

// A server that publishes only when something changes never confirms that a text is clean.
func TestSilentOnClean(t *testing.T) {
	last := ""
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		now := strings.Join(marked(text), ",")
		f.mu.Lock()
		same := now == last
		last = now
		f.mu.Unlock()
		if !same {
			f.publish(uri, 0, marked(text)...)
		}
	}}
	withFake(t, map[string]string{"a.x": "fine\n"}, f, func(b *fakeBench) {
		v, ok := b.verdictIn(b.edit("1", b.change("a.x", "bad\n")), time.Minute)
		if !ok || v.State != Findings {
			t.Fatalf("%v %+v", ok, v)
		}
		if v, _ = b.verdictIn(b.edit("2", b.change("a.x", "fine again\n")), time.Minute); v.State != Clean {
			t.Fatalf("%+v", v)
		}
		v, ok = b.verdictIn(b.edit("3", b.change("a.x", "fine as before\n")), time.Minute)
		if !ok || v.State != NoVerdict || v.Reason != ReasonSilent {
			t.Fatalf("%v %+v", ok, v)
		}
	})
}

func TestIdenticalTextNeverWaits(t *testing.T) {
	f := &fake{changed: after(50*time.Millisecond, versioned)}
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		b.verdictIn(b.edit("1", b.change("a.x", "bad\n")), time.Minute)
		f.listen()
		began := time.Now()
		v, ok := b.verdictIn(b.edit("2", b.change("a.x", "bad\n")), time.Minute)
		if !ok || v.State != Findings || len(v.Introduced) != 0 || time.Since(began) != 0 {
			t.Fatalf("%v %+v after %s", ok, v, time.Since(began))
		}
		if heard := f.listen(); slices.Contains(heard, "textDocument/didChange a.x") {
			t.Errorf("a change that changes nothing was sent: %q", heard)
		}
	})
}

// A server that publishes once for each change, without versions: what comes for an earlier change is
// not taken for the last one's.
func TestPublishPerChangeWithoutVersions(t *testing.T) {
	f := &fake{changed: after(100*time.Millisecond, versionless)}
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		b.verdictIn(b.edit("0", b.change("a.x", "fine\n")), time.Minute)
		b.edit("1", b.change("a.x", "bad bad\n"))
		synctest.Wait()
		time.Sleep(50 * time.Millisecond) // the publish for the first is on its way
		v, ok := b.verdictIn(b.edit("2", b.change("a.x", "bad\n")), time.Minute)
		if !ok || v.State != Findings || len(v.Introduced) != 1 || v.After != 1 {
			t.Fatalf("%v %+v", ok, v)
		}
	})
}

// A server that publishes once for several changes, without versions: its publish counts when nothing
// follows it for a while.
func TestOnePublishForSeveralChanges(t *testing.T) {
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		time.Sleep(100 * time.Millisecond)
		f.mu.Lock()
		newest := f.vers["a.x"] == version
		f.mu.Unlock()
		if newest {
			f.publish(uri, 0, marked(text)...)
		}
	}}
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		b.verdictIn(b.edit("0", b.change("a.x", "fine\n")), time.Minute)
		b.edit("1", b.change("a.x", "bad bad\n"))
		synctest.Wait()
		began := time.Now()
		v, ok := b.verdictIn(b.edit("2", b.change("a.x", "bad\n")), time.Minute)
		if took := time.Since(began); !ok || v.After != 1 || took != 100*time.Millisecond+settleTime {
			t.Fatalf("%v %+v after %s", ok, v, took)
		}
	})
}

// The second thoughts of a server come late, and only when they change what the edit brought in.
func TestSecondPublish(t *testing.T) {
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		f.publish(uri, version, marked(text)...)
		time.Sleep(time.Second)
		f.publish(uri, version, marked(text)...) // the same again
		time.Sleep(time.Second)
		if strings.Contains(text, "vet") {
			f.publish(uri, version, append(marked(text), "analyzer says no")...)
		}
	}}
	withFake(t, map[string]string{"a.x": "old\n"}, f, func(b *fakeBench) {
		v, _ := b.verdictIn(b.edit("1", b.change("a.x", "bad vet\n")), time.Minute)
		if len(v.Introduced) != 1 {
			t.Fatalf("%+v", v)
		}
		var shown atomic.Int32
		b.s.OnLate(func(Late) { shown.Add(1) })
		time.Sleep(1500 * time.Millisecond)
		if late := b.s.Late(); len(late) != 0 {
			t.Errorf("nothing changed, and yet %+v", late)
		}
		time.Sleep(time.Second)
		late := b.s.Late()
		if len(late) != 1 || shown.Load() != 1 || late[0].Edit != "1" || len(late[0].Verdict.Introduced) != 1 ||
			late[0].Verdict.Introduced[0].Message != "analyzer says no" || late[0].Verdict.After != 2 {
			t.Fatalf("late %+v, shown %d", late, shown.Load())
		}
	})
}

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

// Case G-L06, and the rest of what servers ask for.
func TestServerAsksTheClient(t *testing.T) {
	withFake(t, nil, &fake{}, func(b *fakeBench) {
		tests := []struct{ method, params, want string }{
			{"workspace/configuration", `{"items":[{"section":"x"},{"section":"y.z"}]}`, `[null,null]`},
			{"client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeConfiguration"}]}`, `null`},
			{"window/workDoneProgress/create", `{"token":1}`, `null`},
			{"x/foo", `{}`, `error: method not found: x/foo (-32601)`},
			{"workspace/applyEdit", `{"edit":{}}`, `{"applied":false,"failureReason":"edits are proposed to the user, not applied"}`},
			{"window/showDocument", `{"uri":"file:///x"}`, `{"success":false}`},
			{"window/showMessageRequest", `{"type":1,"message":"x"}`, `null`},
			{"workspace/diagnostic/refresh", `null`, `null`},
			{"workspace/inlayHint/refresh", `null`, `null`},
			{"workspace/workspaceFolders", `null`, `[{"name":"` + b.dir.Base() + `","uri":"` + toURI(b.dir) + `"}]`},
			{"client/registerCapability", `"rubbish"`, ""},
		}
		for _, tt := range tests {
			got := b.f.request(tt.method, rawJSON(tt.params))
			if tt.want != "" && got != tt.want {
				t.Errorf("%s: %s, want %s", tt.method, got, tt.want)
			}
		}
	})
}

// Case G-L04: findings under another spelling of the URI are the file's.
func TestServerSpellsTheURIItsOwnWay(t *testing.T) {
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		uri = strings.Replace(strings.Replace(uri, "%C3%BC", "%c3%bc", 1), "%2B", "+", 1)
		f.publish(uri, version, "here")
	}}
	withFake(t, nil, f, func(b *fakeBench) {
		v, ok := b.verdictIn(b.edit("1", b.change("a b/ü+1.x", "new\n")), time.Minute)
		if !ok || v.State != Findings || v.Items[0].Path != b.path("a b/ü+1.x") {
			t.Fatalf("%v %+v", ok, v)
		}
	})
}

// Case G-L07: a new file is made known before what depends on it changes, all files in one notice.
func TestNewFileIsMadeKnownFirst(t *testing.T) {
	f := &fake{changed: versioned}
	withFake(t, map[string]string{"main.x": "old\n"}, f, func(b *fakeBench) {
		b.verdictIn(b.edit("0", b.change("main.x", "older\n")), time.Minute)
		f.listen()
		b.verdictIn(b.edit("1", b.change("lib.x", "lib\n"), b.change("main.x", "uses lib\n")), time.Minute)
		heard := f.listen()
		first := slices.Index(heard, "workspace/didChangeWatchedFiles lib.x:1 main.x:2")
		then := slices.Index(heard, "textDocument/didChange main.x")
		if first < 0 || then < first || slices.Index(heard, "textDocument/didSave main.x") < then {
			t.Errorf("heard %q", heard)
		}
		b.verdictIn(b.edit("2", Change{Op: Move, Path: b.path("lib.x"), To: b.path("lib2.x"), OldText: "lib\n", NewText: "lib bad\n"}), time.Minute)
		heard = f.listen()
		if !slices.Contains(heard, "workspace/didChangeWatchedFiles lib.x:3 lib2.x:1") || !slices.Contains(heard, "textDocument/didClose lib.x") ||
			!slices.Contains(heard, "textDocument/didOpen lib2.x") {
			t.Errorf("heard %q", heard)
		}
		b.edit("3", Change{Op: Delete, Path: b.path("lib2.x"), OldText: "lib bad\n"})
		if heard = f.listen(); !slices.Contains(heard, "workspace/didChangeWatchedFiles lib2.x:3") || !slices.Contains(heard, "textDocument/didClose lib2.x") {
			t.Errorf("heard %q", heard)
		}
		b.write("other.x", "by a command\n")
		b.s.External([]workspace.Path{b.path("other.x")})
		if heard = f.listen(); !slices.Contains(heard, "workspace/didChangeWatchedFiles other.x:1") {
			t.Errorf("heard %q", heard)
		}
	})
}

func TestRegisteredWatchersAreHonoured(t *testing.T) {
	f := &fake{changed: versioned}
	withFake(t, nil, f, func(b *fakeBench) {
		f.request("client/registerCapability", rawJSON(`{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[
			{"globPattern":"**/*.{mod,x}","kind":1},
			{"globPattern":{"baseUri":"`+toURI(b.dir.Join("sub"))+`","pattern":"*.txt"}},
			{"globPattern":{"baseUri":{"uri":"`+toURI(b.dir.Join("ws"))+`","name":"n"},"pattern":"**"}}]}}]}`))
		for name, want := range map[string]bool{"go.mod": true, "a.txt": false, "sub/a.txt": true, "sub/deep/a.txt": false, "ws/deep/any": true, "a.y": false} {
			b.write(name, "x")
			b.s.External([]workspace.Path{b.path(name)})
			told := slices.ContainsFunc(f.listen(), func(h string) bool { return strings.HasPrefix(h, "workspace/didChangeWatchedFiles") })
			if told != want {
				t.Errorf("%s: told %v", name, told)
			}
		}
		b.write("b.x", "1")
		b.verdictIn(b.edit("e", b.change("b.x", "2")), time.Minute)
		if heard := f.listen(); slices.Contains(heard, "workspace/didChangeWatchedFiles b.x:2") {
			t.Errorf("changes are not watched: %q", heard)
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

func TestWaitIsAdaptive(t *testing.T) {
	var delay atomic.Int64
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		time.Sleep(time.Duration(delay.Load()))
		versioned(f, uri, version, text)
	}}
	withFake(t, nil, f, func(b *fakeBench) {
		budget := func() (took time.Duration, ok bool, reason string) {
			began := time.Now()
			v, ok := b.verdictIn(b.edit("e", b.change("a.x", began.String())), 80*time.Millisecond)
			took, reason = time.Since(began), v.Reason
			b.s.Settle(context.Background())
			return took, ok, reason
		}
		delay.Store(int64(10 * time.Millisecond))
		if took, ok, _ := budget(); !ok || took != 10*time.Millisecond {
			t.Fatalf("quick server: %s %v", took, ok)
		}
		delay.Store(int64(400 * time.Millisecond))
		if took, ok, reason := budget(); ok || took != 80*time.Millisecond || reason != ReasonTimeout {
			t.Fatalf("slow for the first time: %s %v %s", took, ok, reason)
		}
		if took, ok, reason := budget(); ok || took != 0 || reason != ReasonTooSlow {
			t.Fatalf("known to be slow: %s %v %s", took, ok, reason)
		}
		delay.Store(int64(10 * time.Millisecond))
		waited := 0
		for range 5 {
			if _, ok, _ := budget(); ok {
				waited++
			}
		}
		if waited < 2 {
			t.Errorf("quick again, and waited for %d times of 5", waited)
		}
	})
}
