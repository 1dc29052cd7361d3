package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// couple runs two connections against each other over OS pipes. Closing one ends both.
func couple(t testing.TB, a, b Handler, o Options) (left, right *Conn) {
	t.Helper()
	r1, w1, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r2, w2, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	left, right = NewConn(r1, w2, a, o), NewConn(r2, w1, b, o)
	ended := make(chan error, 2)
	go func() { ended <- left.Run(context.Background()) }()
	go func() { ended <- right.Run(context.Background()) }()
	t.Cleanup(func() {
		left.Close()
		for range 2 {
			if err := <-ended; err != nil && !errors.Is(err, os.ErrClosed) {
				t.Errorf("Run: %v", err)
			}
		}
	})
	return left, right
}

func TestCallBothWays(t *testing.T) {
	for name, framing := range map[string]Framing{"lines": Lines, "content length": ContentLength} {
		t.Run(name, func(t *testing.T) {
			left, right := couple(t, echo, echo, Options{Framing: framing, Logger: testLog(t)})
			for _, c := range []*Conn{left, right} {
				var got struct {
					Method string
					Params json.RawMessage
					Absent bool
				}
				if err := c.Call(t.Context(), "a/b", map[string]string{"text": "<ä\n>"}, &got); err != nil {
					t.Fatal(err)
				}
				if got.Method != "a/b" || string(got.Params) != `{"text":"<ä\n>"}` || got.Absent {
					t.Errorf("got %+v", got)
				}
				if err := c.Call(t.Context(), "none", nil, &got); err != nil || !got.Absent {
					t.Errorf("nil params: absent %v, %v", got.Absent, err)
				}
			}
		})
	}
}

func TestCallAfterEnd(t *testing.T) {
	p := start(t, nil, Options{})
	_ = p.in.Close()
	if err := p.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := p.conn.Call(t.Context(), "m", nil, nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Call after the end: %v", err)
	}
	if err := p.conn.Notify("m", nil); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("Notify after the end: %v", err)
	}
	<-p.conn.Done()
}

// openCalls is how many calls of c still wait for an answer.
func openCalls(c *Conn) int {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	return len(c.calls.pending)
}

// TestCallCancelled: when ctx ends, the peer is told with the same id, the entry is gone, and a late
// answer disturbs nobody.
func TestCallCancelled(t *testing.T) {
	for name, tc := range map[string]struct {
		o    Options
		want string
	}{
		"ACP": {Options{}, `{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":1}}`},
		"own": {Options{Cancel: "stop", CancelKey: "which"}, `{"jsonrpc":"2.0","method":"stop","params":{"which":1}}`},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, tc.o)
			ctx, cancel := context.WithCancel(t.Context())
			result := make(chan error, 1)
			go func() { result <- p.conn.Call(ctx, "ask", nil, nil) }()
			if got := p.line(); got != `{"jsonrpc":"2.0","id":1,"method":"ask"}` {
				t.Fatalf("request %s", got)
			}
			cancel()
			if got := p.line(); got != tc.want {
				t.Errorf("got %s, want %s", got, tc.want)
			}
			if err := <-result; !errors.Is(err, context.Canceled) {
				t.Errorf("Call: %v", err)
			}
			if n := openCalls(p.conn); n != 0 {
				t.Errorf("%d calls still open", n)
			}
			var second string
			go func() { result <- p.conn.Call(t.Context(), "again", nil, &second) }()
			if got := p.line(); got != `{"jsonrpc":"2.0","id":2,"method":"again"}` {
				t.Fatalf("request %s", got)
			}
			p.write(`{"id":1,"result":"late"}` + "\n" + `{"id":2,"result":"in time"}` + "\n")
			if err := <-result; err != nil || second != "in time" {
				t.Errorf("got %q, %v", second, err)
			}
		})
	}
	if o := (Options{Framing: ContentLength}).withDefaults(); o.Cancel != "$/cancelRequest" || o.CancelKey != "id" {
		t.Errorf("language servers are told by %s with %s", o.Cancel, o.CancelKey)
	}
}

// TestCallDeadlineWhileStuck: a deadline holds although the writer hangs, and a request that was
// never sent is taken back rather than cancelled.
func TestCallDeadlineWhileStuck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _, _, finish := stuck(t, nil, Options{})
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		began := time.Now()
		if err := c.Call(ctx, "ask", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Call: %v", err)
		}
		if took := time.Since(began); took != 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
		if got := finish(); len(got) != 0 {
			t.Errorf("sent %q", got)
		}
		if n := openCalls(c); n != 0 {
			t.Errorf("%d calls still open", n)
		}
	})
}

// TestCallsFailAtEnd: open calls end with the input, not with their own deadlines.
func TestCallsFailAtEnd(t *testing.T) {
	for name, end := range map[string]func(*peer){
		"end of input": func(p *peer) { _ = p.in.Close() },
		"Close":        func(p *peer) { p.conn.Close() },
		"no reader":    func(p *peer) { _ = p.out.Close(); _ = p.conn.Notify("n", nil) },
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, Options{})
			results := make(chan error, 3)
			for range 3 {
				go func() { results <- p.conn.Call(context.Background(), "ask", nil, nil) }()
				p.line()
			}
			end(p)
			for range 3 {
				if err := <-results; !errors.Is(err, io.ErrClosedPipe) {
					t.Errorf("got %v", err)
				}
			}
			_ = p.end()
			if err := p.conn.Call(t.Context(), "ask", nil, nil); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("later: %v", err)
			}
		})
	}
}

// TestAnswers: what peers send back to a call, well formed or not. Every input begins with answers
// that belong to no call, which must not hit the first one.
func TestAnswers(t *testing.T) {
	const stray = `{"id":null,"result":"wrong"}` + "\n" + `{"result":"wrong"}` + "\n" + `{"id":0,"result":"wrong"}` + "\n" +
		`{"id":"1","result":"wrong"}` + "\n" + `{"id":2,"result":"wrong"}` + "\n" + `{"id":-1,"error":{"code":1,"message":"wrong"}}` + "\n" +
		`{"id":1.5,"result":"wrong"}` + "\n"
	for name, tc := range map[string]struct {
		in   string
		want string // the result, or
		code int    // the code of the error, whose message contains
		text string
	}{
		"result":              {`{"jsonrpc":"2.0","id":1,"result":{"a":1.50}}`, `{"a":1.50}`, 0, ""},
		"null":                {`{"id":1,"result":null}`, `null`, 0, ""},
		"no result":           {`{"jsonrpc":"2.0","id":1}`, `null`, 0, ""},
		"error null, no more": {`{"id":1,"error":null}`, `null`, 0, ""},
		"both, error null":    {`{"id":1,"result":3,"error":null}`, `3`, 0, ""},
		"method null":         {`{"id":1,"method":null,"params":null,"result":3}`, `3`, 0, ""},
		"error":               {`{"id":1,"error":{"code":-32000,"message":"log in","data":{"x":1}}}`, "", -32000, "log in"},
		"both":                {`{"id":1,"result":null,"error":{"code":5,"message":"m"}}`, "", 5, "m"},
		"error is a string":   {`{"id":1,"error":"boom"}`, "", CodeInternal, "boom"},
		"odd code":            {`{"id":1,"error":{"code":"x","message":"boom"}}`, "", CodeInternal, "boom"},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, nil, Options{})
			result := make(chan error, 1)
			var raw json.RawMessage
			go func() { result <- p.conn.Call(t.Context(), "ask", nil, &raw) }()
			p.line()
			go p.write(stray + tc.in + "\n")
			err := <-result
			if tc.code == 0 {
				if err != nil || string(raw) != tc.want {
					t.Errorf("got %s, %v", raw, err)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || e.Code != tc.code || !strings.Contains(e.Message, tc.text) || !errors.Is(err, &Error{Code: tc.code}) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestResultOfWrongType: the caller learns what could not be decoded, and the connection lives.
func TestResultOfWrongType(t *testing.T) {
	left, _ := couple(t, echo, func(r *Request) { r.Reply("text") }, Options{Logger: testLog(t)})
	var n int
	if err := left.Call(t.Context(), "ask", nil, &n); err == nil || !strings.Contains(err.Error(), "result of ask") {
		t.Errorf("got %v", err)
	}
	if err := left.Call(t.Context(), "ask", nil, nil); err != nil {
		t.Errorf("next: %v", err)
	}
}

// TestManyCalls: concurrent calls each get their own answer.
func TestManyCalls(t *testing.T) {
	left, right := couple(t, echo, echo, Options{Logger: testLog(t)})
	var wg sync.WaitGroup
	for i := range 200 {
		wg.Go(func() {
			c := left
			if i%2 == 1 {
				c = right
			}
			var got struct{ Params [1]int }
			if err := c.Call(t.Context(), "m", [1]int{i}, &got); err != nil || got.Params[0] != i {
				t.Errorf("call %d got %v, %v", i, got.Params, err)
			}
		})
	}
	wg.Wait()
}
