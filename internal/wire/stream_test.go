package wire

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"
)

// answers runs a connection over an input to its end and gives what it sent.
func answers(t *testing.T, in io.Reader, h Handler, o Options) string {
	t.Helper()
	var out strings.Builder
	if o.Logger == nil {
		o.Logger = testLog(t)
	}
	if err := NewConn(in, &out, h, o).Run(context.Background()); err != nil {
		t.Fatalf("Run: %v", err)
	}
	return out.String()
}

func method(r *Request) { r.Reply(r.Method) }

// TestLinesInPieces: how the peer cuts its writes does not matter, and a last line needs no newline.
func TestLinesInPieces(t *testing.T) {
	long := strings.Repeat("x", 3*readBuffer)
	in := `{"id":1,"method":"a"}` + "\n" + `{"id":2,"method":"` + long + `"}` + "\r\n\n" +
		`{"id":3,"method":"ä€😀"}` + "\n" + `{"id":4,"method":"no newline"}`
	want := `{"jsonrpc":"2.0","id":1,"result":"a"}` + "\n" + `{"jsonrpc":"2.0","id":2,"result":"` + long + `"}` + "\n" +
		`{"jsonrpc":"2.0","id":3,"result":"ä€😀"}` + "\n" + `{"jsonrpc":"2.0","id":4,"result":"no newline"}` + "\n"
	for name, r := range map[string]io.Reader{
		"one write":      strings.NewReader(in),
		"byte by byte":   iotest.OneByteReader(strings.NewReader(in)),
		"halves":         iotest.HalfReader(strings.NewReader(in)),
		"end comes with": iotest.DataErrReader(strings.NewReader(in)),
	} {
		t.Run(name, func(t *testing.T) {
			if got := answers(t, r, method, Options{}); got != want {
				t.Errorf("got %.300q", got)
			}
		})
	}
}

// TestLongLine: the limit is exact, an over-long line is answered and the next one is served.
func TestLongLine(t *testing.T) {
	const refusal = `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"message longer than the limit of %d bytes"}}` + "\n"
	line := func(n int) string { // a request of n bytes
		s := `{"id":1,"method":"m","params":{"t":""}}`
		return s[:len(s)-3] + strings.Repeat("x", n-len(s)) + s[len(s)-3:]
	}
	const answer = `{"jsonrpc":"2.0","id":1,"result":"m"}` + "\n"
	for _, limit := range []int{100, readBuffer, 200_000} {
		for name, tc := range map[string]struct {
			in   string
			want string
		}{
			"at the limit":       {line(limit) + "\n" + line(50), answer + answer},
			"one byte more":      {line(limit+1) + "\n" + line(50), refusal + answer},
			"much more":          {line(5*limit) + "\n" + line(50), refusal + answer},
			"more, then the end": {line(2 * limit), refusal},
			"twice":              {line(2*limit) + "\n" + line(3*limit) + "\n" + line(50) + "\n", refusal + refusal + answer},
		} {
			t.Run(fmt.Sprint(limit, " ", name), func(t *testing.T) {
				want := strings.ReplaceAll(tc.want, "%d", fmt.Sprint(limit))
				if got := answers(t, strings.NewReader(tc.in), method, Options{MaxIn: int64(limit)}); got != want {
					t.Errorf("got  %.400s\nwant %.400s", got, want)
				}
			})
		}
	}
}

// huge is a stream with one message of n bytes in its middle that is never in memory.
func huge(before, after string, n int64) io.Reader {
	return io.MultiReader(strings.NewReader(before), io.LimitReader(xs{}, n), strings.NewReader(after))
}

type xs struct{}

var manyXs = strings.Repeat("x", 1<<20)

func (xs) Read(p []byte) (int, error) {
	return copy(p, manyXs), nil
}

// TestMemory bounds what large messages allocate in all, and so what they hold at any time.
func TestMemory(t *testing.T) {
	const mib = 1 << 20
	for name, tc := range map[string]struct {
		framing Framing
		size    int64
		limit   uint64 // bytes allocated
		want    string
	}{
		"line of 40 MiB":  {Lines, 40 * mib, 100 * mib, `"result":"m"`},
		"line of 70 MiB":  {Lines, 70 * mib, 80 * mib, `-32600`},
		"line of 200 MiB": {Lines, 200 * mib, 80 * mib, `-32600`},
		"body of 40 MiB":  {ContentLength, 40 * mib, 50 * mib, `"result":"m"`},
		"body of 200 MiB": {ContentLength, 200 * mib, 1 * mib, ``},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := `{"id":1,"method":"m","params":{"t":"`, `"}}`
			last := `{"id":2,"method":"last"}`
			if tc.framing == Lines {
				after += "\n"
			} else {
				before = fmt.Sprintf("Content-Length: %d\r\n\r\n", tc.size+int64(len(before)+len(after))) + before
				last = fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(last), last)
			}
			var m0, m1 runtime.MemStats
			runtime.ReadMemStats(&m0)
			got := answers(t, huge(before, after+last, tc.size), method, Options{Framing: tc.framing})
			runtime.ReadMemStats(&m1)
			if !strings.Contains(got, tc.want) || !strings.Contains(got, `"id":2,"result":"last"`) {
				t.Errorf("got %.500s", got)
			}
			if used := m1.TotalAlloc - m0.TotalAlloc; used > tc.limit {
				t.Errorf("%d MiB allocated, limit %d MiB", used/mib, tc.limit/mib)
			}
		})
	}
}

// TestLargeAnswerSkipped: an answer above the limit fails its call instead of leaving it to wait.
func TestLargeAnswerSkipped(t *testing.T) {
	for name, framing := range map[string]Framing{"lines": Lines, "content length": ContentLength} {
		t.Run(name, func(t *testing.T) {
			left, _ := couple(t, echo, func(r *Request) {
				if r.Method == "big" {
					r.Reply(strings.Repeat("x", 100_000))
					return
				}
				r.Reply(nil)
			}, Options{Framing: framing, MaxIn: 10_000, Logger: testLog(t)})
			err := left.Call(t.Context(), "big", nil, nil)
			if err == nil || !strings.Contains(err.Error(), "longer than the limit") {
				t.Errorf("got %v", err)
			}
			if err := left.Call(t.Context(), "small", nil, nil); err != nil {
				t.Errorf("next call: %v", err)
			}
		})
	}
}
