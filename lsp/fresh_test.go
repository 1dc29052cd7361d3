package lsp

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

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
