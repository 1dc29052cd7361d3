package wire

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
)

// BenchmarkRoundTrip is one request and its answer over OS pipes, one at a time.
func BenchmarkRoundTrip(b *testing.B) {
	for name, framing := range map[string]Framing{"lines": Lines, "contentLength": ContentLength} {
		b.Run(name, func(b *testing.B) {
			left, _ := couple(b, echo, echo, Options{Framing: framing})
			params := json.RawMessage(`{"sessionId":"s","path":"/a/b"}`)
			b.ReportAllocs()
			for b.Loop() {
				if err := left.Call(context.Background(), "m", params, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkNotificationsIn is how fast small notifications are read and handed over.
func BenchmarkNotificationsIn(b *testing.B) {
	for name, framing := range map[string]Framing{"lines": Lines, "contentLength": ContentLength} {
		b.Run(name, func(b *testing.B) {
			msg := `{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"sess_0123456789"}}` + "\n"
			if framing == ContentLength {
				msg = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(msg), msg)
			}
			input := strings.NewReader(strings.Repeat(msg, b.N))
			got := 0
			c := NewConn(input, io.Discard, func(*Request) { got++ }, Options{Framing: framing})
			b.ReportAllocs()
			b.ResetTimer()
			if err := c.Run(context.Background()); err != nil || got != b.N {
				b.Fatalf("%d of %d, %v", got, b.N, err)
			}
		})
	}
}

// drained is a connection whose output a reader takes off an OS pipe; stop waits for the end and
// gives the number of lines.
func drained(b *testing.B, o Options) (c *Conn, stop func() int) {
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	in, hold := io.Pipe()
	c = NewConn(in, w, func(*Request) {}, o)
	ended, lines := make(chan error, 1), make(chan int, 1)
	go func() { ended <- c.Run(context.Background()) }()
	go func() {
		n := 0
		for br := bufio.NewReaderSize(r, 1<<16); ; {
			part, err := br.ReadSlice('\n')
			if err == nil {
				n++
			} else if err != bufio.ErrBufferFull || len(part) == 0 {
				lines <- n
				return
			}
		}
	}()
	return c, func() int {
		c.Close()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		n := <-lines
		_ = hold.Close()
		_ = r.Close()
		return n
	}
}

// BenchmarkNotificationsOut is how fast small notifications are sent, with waiting for room.
func BenchmarkNotificationsOut(b *testing.B) {
	c, stop := drained(b, Options{})
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Send(context.Background(), "session/update", map[string]string{"sessionId": "s"}); err != nil {
			b.Fatal(err)
		}
	}
	stop()
}

// BenchmarkMerge50000 is a whole answer of 50,000 deltas.
func BenchmarkMerge50000(b *testing.B) {
	b.ReportAllocs()
	lines := 0
	for b.Loop() {
		c, stop := drained(b, Options{Coalesce: 30e6})
		for range 50_000 {
			err := c.Merge(context.Background(), "k", "session/update", "token ", func(s string) any { return map[string]string{"text": s} })
			if err != nil {
				b.Fatal(err)
			}
		}
		lines = stop()
	}
	b.ReportMetric(float64(lines), "lines")
}

// BenchmarkLargeLine is a request of 40 MiB in, and its params out again as the answer.
func BenchmarkLargeLine(b *testing.B) {
	line := `{"jsonrpc":"2.0","id":1,"method":"m","params":{"text":"` + strings.Repeat("x<y\\n", 8<<20) + "\"}}\n"
	for name, h := range map[string]Handler{
		"in":   func(r *Request) { r.Reply(nil) },
		"echo": func(r *Request) { r.Reply(r.Params) },
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(line)))
			b.ReportAllocs()
			for b.Loop() {
				c := NewConn(strings.NewReader(line), io.Discard, h, Options{})
				if err := c.Run(context.Background()); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
