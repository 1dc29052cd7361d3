package wire

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// FuzzLines: whatever a client writes, the line behind it is understood, and every line that we
// answer with is one JSON object.
func FuzzLines(f *testing.F) {
	for _, s := range []string{
		"", "{}", "[1]", `{"id":1,"method":"m","params":{}}`, "{\"id\":\"\\ud800\",\"method\":\"\xff\"}", "\xef\xbb\xbf{", "\r\n\n  ",
		`{"id":null,"result":1}`, `{"id":{},"error":{"code":"x"}}`, strings.Repeat("[", 300), strings.Repeat("x", 3000),
		`{"i\u0064":1e5,"method":"\u006d","params":null,"params":[]}`, `{"id":1,"method":"m"} {"id":2}`,
	} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, whole bool) {
		r := io.Reader(io.MultiReader(bytes.NewReader(in), strings.NewReader("\n{\"id\":\"sync\",\"method\":\"sync\"}")))
		if !whole {
			r = iotest.OneByteReader(r)
		}
		var out bytes.Buffer
		if err := NewConn(r, &out, method, Options{MaxIn: 1000}).Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
		if last := lines[len(lines)-1]; last != `{"jsonrpc":"2.0","id":"sync","result":"sync"}` {
			t.Fatalf("the line behind %q: %s", in, last)
		}
		for _, l := range lines {
			if e := parse([]byte(l)); e.kind != kindResponse {
				t.Fatalf("sent %q for %q", l, in)
			}
		}
	})
}

// FuzzContentLength: whatever a server writes, the message behind it is understood.
func FuzzContentLength(f *testing.F) {
	for _, s := range []string{
		"", framed("{}"), framed(`{"method":"m"}`), "banner\n", "Content-Length: 5\r\n", "Content-Length: 5\r\n\r\n", "Content-Length: 70\n\n{}",
		"content-length:99999\n\n{}", "Content-Length: 12\r\nX: y\r\n\r\n{}", framed("\xff"), "Content-Length: 3\r\n\r\nContent-Length: 90\r\n\r\n",
		"\r\n\r\nContent-Length: 4\r", strings.Repeat("x", 300),
	} {
		f.Add([]byte(s), true)
	}
	f.Fuzz(func(t *testing.T, in []byte, whole bool) {
		if len(in) > 4096 {
			return // beyond the budget of searched bytes a message may be lost by design
		}
		r := io.Reader(io.MultiReader(bytes.NewReader(in), strings.NewReader(framed(`{"method":"sync"}`)+framed(`{"method":"sync"}`))))
		if !whole {
			r = iotest.OneByteReader(r)
		}
		synced := 0
		c := NewConn(r, io.Discard, func(r *Request) {
			if r.Method == "sync" {
				synced++
			}
		}, Options{Framing: ContentLength, MaxIn: 1000})
		if err := c.Run(context.Background()); err != nil {
			t.Fatal(err)
		}
		if synced < 2 {
			t.Fatalf("%d of 2 messages behind %q", synced, in)
		}
	})
}
