package wire

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"testing"
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
