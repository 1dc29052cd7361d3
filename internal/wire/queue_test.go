package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// asText builds the params of the merged texts in these tests.
func asText(text string) any { return map[string]string{"t": text} }

func note(m, params string) string {
	return `{"jsonrpc":"2.0","method":"` + m + `","params":` + params + `}`
}

// TestOrder: the order of queueing is the order on the wire; text joins only with text right before
// it, and only the newest of a key that replaces is kept.
func TestOrder(t *testing.T) {
	reqs := make(chan *Request, 1)
	c, _, in, finish := stuck(t, func(r *Request) { reqs <- r }, Options{})
	ctx := t.Context()
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	merge := func(key, text string) { t.Helper(); check(c.Merge(ctx, key, "m"+key, text, asText)) }

	merge("a", "1")
	merge("a", "2")
	check(c.Notify("n", []int{1}))
	merge("a", "3")
	merge("b", "4")
	merge("a", "5")
	merge("a", "") // nothing to say
	check(c.Latest("u", "usage", []int{1}))
	merge("a", "6")
	if _, err := io.WriteString(in, `{"id":5,"method":"x"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	(<-reqs).Reply("done")
	check(c.Latest("v", "other", []int{2}))
	check(c.Latest("u", "usage", []int{3}))
	check(c.Send(ctx, "s", nil))
	merge("", "7")
	merge("", "8")

	want := []string{
		note("ma", `{"t":"12"}`), note("n", "[1]"), note("ma", `{"t":"3"}`), note("mb", `{"t":"4"}`), note("ma", `{"t":"5"}`),
		note("ma", `{"t":"6"}`), `{"jsonrpc":"2.0","id":5,"result":"done"}`, note("other", "[2]"), note("usage", "[3]"),
		`{"jsonrpc":"2.0","method":"s"}`, note("m", `{"t":"78"}`),
	}
	if got := finish(); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestQueueModel compares any sequence of operations on the queue with a plain list.
func TestQueueModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		type entry struct{ kind, key, text string }
		var model []entry
		q := newQueue(Options{}.withDefaults())
		q.textMax = rapid.IntRange(4, 20).Draw(rt, "textMax")
		for range rapid.IntRange(0, 60).Draw(rt, "ops") {
			key := rapid.SampledFrom([]string{"a", "b"}).Draw(rt, "key")
			text := rapid.StringMatching(`[a-zä€😀]{0,30}`).Draw(rt, "text")
			switch op := rapid.SampledFrom([]string{"merge", "merge", "add", "latest", "take", "withdraw"}).Draw(rt, "op"); op {
			case "merge":
				if err := q.join(context.Background(), key, "m", text, asText); err != nil {
					rt.Fatal(err)
				}
				if last := len(model) - 1; last >= 0 && model[last].kind == op && model[last].key == key {
					model[last].text += text
				} else if text != "" {
					model = append(model, entry{op, key, text})
				}
			case "add", "latest", "withdraw":
				it := &item{body: []byte(text), key: key, latest: op == "latest"}
				if err := q.add(it); err != nil {
					rt.Fatal(err)
				}
				if op == "latest" {
					kept := model[:0:0]
					for _, e := range model {
						if e.kind != op || e.key != key {
							kept = append(kept, e)
						}
					}
					model = kept
				}
				if op == "withdraw" {
					if !q.withdraw(it) || q.withdraw(it) {
						rt.Fatal("withdraw must work once")
					}
					break
				}
				model = append(model, entry{op, key, text})
			case "take":
				it, _, _ := q.take()
				if it == nil {
					if len(model) > 0 {
						rt.Fatalf("nothing taken, %d left", len(model))
					}
					break
				}
				got := string(it.body)
				if it.build != nil {
					got = string(it.text)
					if len(got) > q.textMax || !utf8.ValidString(got) {
						rt.Fatalf("piece %q of at most %d bytes", got, q.textMax)
					}
				}
				if len(model) == 0 || !strings.HasPrefix(model[0].text, got) || it.key != model[0].key {
					rt.Fatalf("took %q, want the start of %v", got, model)
				}
				if model[0].text = model[0].text[len(got):]; model[0].text == "" || it.build == nil {
					model = model[1:]
				}
			}
		}
		left := int64(0)
		for _, e := range model {
			left += int64(len(e.text))
		}
		if q.bytes != left {
			rt.Fatalf("%d bytes counted, %d queued", q.bytes, left)
		}
	})
}

// TestRoom: updates wait above MaxQueue until the peer reads, their ctx ends or the connection
// does; what must not wait does not.
func TestRoom(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reqs := make(chan *Request, 1)
		c, _, in, finish := stuck(t, func(r *Request) { reqs <- r }, Options{MaxQueue: 100})
		if err := c.Send(t.Context(), "full", strings.Repeat("x", 100)); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error, 2)
		go func() { results <- c.Send(ctx, "waits", nil) }()
		go func() { results <- c.Merge(ctx, "k", "waits too", "text", asText) }()
		synctest.Wait()
		if len(results) != 0 {
			t.Fatal("there was no room, but something was queued")
		}
		if err := c.Notify("notify", nil); err != nil {
			t.Error(err)
		}
		if err := c.Latest("k", "latest", nil); err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(in, `{"id":1,"method":"x"}`+"\n")
		(<-reqs).Reply(nil)

		cancel()
		for range 2 {
			if err := <-results; !errors.Is(err, context.Canceled) {
				t.Errorf("got %v", err)
			}
		}
		go func() { results <- c.Send(t.Context(), "waits again", nil) }()
		synctest.Wait()
		if len(results) != 0 {
			t.Fatal("there was no room, but something was queued")
		}
		c.Close()
		if err := <-results; !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("after Close: %v", err)
		}
		if got := len(finish()); got != 4 {
			t.Errorf("%d lines, want full, notify, latest and the answer", got)
		}
	})
}

// TestRoomComesBack: a producer that waits goes on when the peer reads, and nothing is lost.
func TestRoomComesBack(t *testing.T) {
	c, g, _, finish := stuck(t, nil, Options{MaxQueue: 1000})
	sent := make(chan error, 1)
	go func() {
		for i := range 500 {
			if err := c.Send(t.Context(), fmt.Sprint("n", i), strings.Repeat("x", 100)); err != nil {
				sent <- err
				return
			}
		}
		sent <- nil
	}()
	g.open()
	if err := <-sent; err != nil {
		t.Fatal(err)
	}
	got := finish()
	if len(got) != 500 {
		t.Fatalf("%d lines", len(got))
	}
	for i, l := range got {
		if !strings.Contains(l, fmt.Sprintf(`"n%d"`, i)) {
			t.Fatalf("line %d is %s", i, l)
		}
	}
}

// TestHardLimit: a peer that never reads costs a bounded amount of memory, and then the connection.
func TestHardLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGate()
		r, in := io.Pipe()
		c := NewConn(r, g, func(r *Request) { r.Reply(strings.Repeat("x", 1000)) }, Options{HardQueue: 100_000, Logger: testLog(t)})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		for i := 0; ; i++ { // every request is answered, and no answer is read
			if _, err := fmt.Fprintf(in, `{"id":%d,"method":"x"}`+"\n", i); err != nil {
				break
			}
			if i > 200 {
				t.Fatal("the queue grew without a limit")
			}
		}
		if err := c.Notify("n", nil); !errors.Is(err, io.ErrClosedPipe) {
			t.Errorf("Notify: %v", err)
		}
		g.open()
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "does not read") {
			t.Errorf("Run: %v", err)
		}
		<-c.Done()
	})
}

// TestTinyFlood: many tiny messages are bounded by what they cost, not by their bytes.
func TestTinyFlood(t *testing.T) {
	c, _, _, _ := stuck(t, nil, Options{HardQueue: 1 << 20})
	for i := 0; ; i++ {
		if err := c.Notify("n", nil); err != nil {
			if !errors.Is(err, io.ErrClosedPipe) || i < 1000 {
				t.Errorf("after %d: %v", i, err)
			}
			return
		}
		if i > 10_000 {
			t.Fatal("no limit")
		}
	}
}

// TestLongText: a text above the limit goes in pieces, none cut inside a character, and in order.
func TestLongText(t *testing.T) {
	c, _, _, finish := stuck(t, nil, Options{MaxQueue: 1 << 30, MaxOut: 8000})
	text := strings.Repeat("a€😀\n", 3000)
	for rest := text; len(rest) > 0; {
		n := cut(rest, 701)
		if err := c.Merge(t.Context(), "k", "m", rest[:n], asText); err != nil {
			t.Fatal(err)
		}
		rest = rest[n:]
	}
	var joined strings.Builder
	lines := finish()
	for _, l := range lines {
		var m struct{ Params struct{ T string } }
		if err := json.Unmarshal([]byte(l), &m); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsRune(m.Params.T, utf8.RuneError) || len(l) > 8000 {
			t.Errorf("line of %d bytes: %.50s", len(l), l)
		}
		joined.WriteString(m.Params.T)
	}
	if joined.String() != text {
		t.Error("the text changed on its way")
	}
	if len(lines) > 2+len(text)/900 {
		t.Errorf("%d lines for %d bytes", len(lines), len(text))
	}
}

// TestBuildPanics: an update that cannot be made is lost, and nothing else.
func TestBuildPanics(t *testing.T) {
	c, _, _, finish := stuck(t, nil, Options{})
	_ = c.Merge(t.Context(), "k", "m", "x", func(string) any { panic("no") })
	_ = c.Merge(t.Context(), "l", "m", "x", func(string) any { return func() {} })
	_ = c.Merge(t.Context(), "k", "m", "y", asText)
	if got := finish(); len(got) != 1 || got[0] != note("m", `{"t":"y"}`) {
		t.Errorf("got %q", got)
	}
}
