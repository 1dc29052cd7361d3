package wire

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// TestDrain: at the end of input, and when ctx ends, the owner finishes what runs, and all of it is
// sent before the connection closes.
func TestDrain(t *testing.T) {
	for name, tc := range map[string]struct {
		end  func(p *peer, cancel func())
		want error
	}{
		"end of input": {func(p *peer, _ func()) { _ = p.in.Close() }, nil},
		"ctx":          {func(_ *peer, cancel func()) { cancel() }, context.Canceled},
	} {
		t.Run(name, func(t *testing.T) {
			var turns sync.WaitGroup
			began, stop := make(chan struct{}), make(chan struct{})
			var p *peer
			p, cancel := startCancel(t, func(r *Request) {
				defer close(began)
				turns.Go(func() {
					<-stop
					if err := p.conn.Send(context.Background(), "update", nil); err != nil {
						t.Errorf("update in the drain: %v", err)
					}
					if err := p.conn.Call(context.Background(), "ask", nil, nil); !errors.Is(err, io.ErrClosedPipe) {
						t.Errorf("call in the drain: %v", err)
					}
					r.Reply("cancelled")
				})
			}, Options{Drain: func() { close(stop); turns.Wait() }})
			p.write(`{"id":1,"method":"prompt"}` + "\n")
			<-began
			tc.end(p, cancel)
			want := []string{`{"jsonrpc":"2.0","method":"update"}`, `{"jsonrpc":"2.0","id":1,"result":"cancelled"}`}
			if got := p.rest(); !slices.Equal(got, want) {
				t.Errorf("got %q", got)
			}
			if err := p.end(); !errors.Is(err, tc.want) || (tc.want == nil && err != nil) {
				t.Errorf("Run: %v", err)
			}
		})
	}
}

// TestDrainBehindHandler: no handler runs once Drain is called, so that what a handler begins is not
// missed by it.
func TestDrainBehindHandler(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, proceed := make(chan struct{}), make(chan struct{})
		running := false
		p, cancel := startCancel(t, func(*Request) {
			running = true
			close(began)
			<-proceed
			running = false
		}, Options{Drain: func() {
			if running {
				t.Error("drained while a handler ran")
			}
		}})
		p.write(`{"method":"a"}` + "\n")
		<-began
		cancel()
		synctest.Wait()
		close(proceed)
		if err := p.end(); !errors.Is(err, context.Canceled) {
			t.Errorf("Run: %v", err)
		}
	})
}

// TestDrainPanics: the connection ends as it should all the same.
func TestDrainPanics(t *testing.T) {
	p := start(t, method, Options{Drain: func() { panic("boom") }})
	p.write(`{"id":1,"method":"m"}` + "\n")
	_ = p.in.Close()
	if got := p.rest(); len(got) != 1 {
		t.Errorf("got %q", got)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

// TestClose: what is queued is flushed, Run returns without the peer's help, twice is harmless.
func TestClose(t *testing.T) {
	p := start(t, nil, Options{Coalesce: time.Hour, Drain: func() { t.Error("drained though the owner closed") }})
	if err := p.conn.Merge(t.Context(), "k", "m", "text", asText); err != nil {
		t.Fatal(err)
	}
	p.conn.Close()
	p.conn.Close()
	if got := p.rest(); len(got) != 1 || got[0] != note("m", `{"t":"text"}`) {
		t.Errorf("got %q", got)
	}
	if err := p.end(); err != nil {
		t.Error(err)
	}
	if _, err := io.WriteString(p.in, "x"); err == nil {
		t.Error("the input was not closed")
	}
}

// TestCloseBeforeRun: Run returns at once.
func TestCloseBeforeRun(t *testing.T) {
	r, w := io.Pipe()
	defer w.Close()
	c := NewConn(r, io.Discard, func(*Request) {}, Options{})
	c.Close()
	if err := c.Run(t.Context()); err != nil {
		t.Error(err)
	}
}

// TestPeerNeverReads: the end waits for the flush no longer than agreed, then breaks the Write.
func TestPeerNeverReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := start(t, nil, Options{Flush: 3 * time.Second})
		for range 5 {
			if err := p.conn.Notify("n", nil); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		_ = p.in.Close()
		if err := p.end(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}

// TestReadLoopGoesOn: while the peer does not read, requests are still taken and answered into the
// queue, and what cancels is seen.
func TestReadLoopGoesOn(t *testing.T) {
	seen, all := 0, make(chan struct{})
	_, _, in, finish := stuck(t, func(r *Request) {
		r.Reply(r.Method)
		if seen++; seen == 200 {
			close(all)
		}
	}, Options{MaxQueue: 10})
	for range 100 {
		if _, err := io.WriteString(in, `{"id":1,"method":"a"}`+"\n"+`{"method":"cancel"}`+"\n"); err != nil {
			t.Fatal(err)
		}
	}
	<-all
	if got := len(finish()); got != 100 {
		t.Errorf("%d answers", got)
	}
}

// TestPeerGone: a Write that fails ends the connection at once, though its input is still open.
func TestPeerGone(t *testing.T) {
	p := start(t, nil, Options{})
	_ = p.out.Close()
	if err := p.conn.Notify("n", nil); err != nil {
		t.Fatal(err)
	}
	if err := p.end(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Run: %v", err)
	}
	<-p.conn.Done()
	if err := p.conn.Send(t.Context(), "n", nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Send: %v", err)
	}
}

// TestReadFails: an input that breaks is an error of Run; messages before it are handled.
func TestReadFails(t *testing.T) {
	broken := errors.New("cable cut")
	var out strings.Builder
	drained := false
	c := NewConn(io.MultiReader(strings.NewReader(`{"id":1,"method":"m"}`+"\n"), failing{broken}), &out, method, Options{Drain: func() { drained = true }})
	if err := c.Run(t.Context()); !errors.Is(err, broken) || !drained {
		t.Errorf("Run: %v, drained %v", err, drained)
	}
	if !strings.Contains(out.String(), `"result":"m"`) {
		t.Errorf("sent %q", out.String())
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// TestStuckRead: a Read that no Close ends is left behind and named, instead of hanging Run.
func TestStuckRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, w := io.Pipe()
		c := NewConn(struct{ io.Reader }{r}, io.Discard, func(*Request) { t.Error("handled after Close") }, Options{})
		time.AfterFunc(time.Second, c.Close)
		if err := c.Run(t.Context()); err == nil || !strings.Contains(err.Error(), "left behind") {
			t.Errorf("Run: %v", err)
		}
		_, _ = io.WriteString(w, `{"method":"late"}`+"\n")
		_ = w.Close()
	})
}

// TestTap sees every message both ways, as JSON without its framing.
func TestTap(t *testing.T) {
	for name, framing := range map[string]Framing{"lines": Lines, "content length": ContentLength} {
		t.Run(name, func(t *testing.T) {
			var mu sync.Mutex
			var seen []string
			in, body := "", `{"id":1,"method":"m"}`
			if in = body + "\r\n"; framing == ContentLength {
				in = framed(body)
			}
			answers(t, strings.NewReader(in), method, Options{Framing: framing, Tap: func(out bool, msg []byte) {
				mu.Lock()
				defer mu.Unlock()
				seen = append(seen, map[bool]string{true: "> ", false: "< "}[out]+string(msg))
			}})
			want := []string{"< " + body, `> {"jsonrpc":"2.0","id":1,"result":"m"}`}
			if !slices.Equal(seen, want) {
				t.Errorf("got %q", seen)
			}
		})
	}
}

// TestOneWrite: each message is one Write, in both framings.
func TestOneWrite(t *testing.T) {
	for name, framing := range map[string]Framing{"lines": Lines, "content length": ContentLength} {
		t.Run(name, func(t *testing.T) {
			var writes []string
			r, w := io.Pipe()
			c := NewConn(r, writerFunc(func(p []byte) (int, error) {
				writes = append(writes, string(p))
				return len(p), nil
			}), method, Options{Framing: framing})
			for _, s := range []string{"a", strings.Repeat("ä", 100_000)} {
				if err := c.Notify("m", []string{s}); err != nil {
					t.Fatal(err)
				}
			}
			_ = w.Close()
			if err := c.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			want := []string{note("m", `["a"]`), note("m", `["`+strings.Repeat("ä", 100_000)+`"]`)}
			for i := range want {
				if framing == ContentLength {
					want[i] = framed(want[i])
				} else {
					want[i] += "\n"
				}
			}
			if !slices.Equal(writes, want) {
				t.Errorf("%d writes, first %.60q", len(writes), writes[0])
			}
		})
	}
}
