package wire

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"strings"
	"testing"
	"testing/iotest"
)

// framed puts the header before a body.
func framed(body string) string {
	return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body)
}

// notes runs a connection over an input and gives the methods that the handler got.
func notes(t *testing.T, in io.Reader, o Options) (methods []string, sent string, err error) {
	t.Helper()
	var out strings.Builder
	o.Framing, o.Logger = ContentLength, testLog(t)
	err = NewConn(in, &out, func(r *Request) {
		methods = append(methods, r.Method)
		r.Reply("ok")
	}, o).Run(context.Background())
	return methods, out.String(), err
}

// TestContentLength: whatever stands before the last message, that arrives.
func TestContentLength(t *testing.T) {
	msg := func(m string) string { return `{"jsonrpc":"2.0","method":"` + m + `"}` }
	a, last := framed(msg("a")), framed(msg("last"))
	body := msg("a")
	n := strconv.Itoa(len(body))
	for name, tc := range map[string]struct {
		in   string
		want string // methods before the last
	}{
		"plain":                      {a, "a"},
		"several":                    {a + a, "a a"},
		"lower case":                 {"content-length: " + n + "\r\n\r\n" + body, "a"},
		"upper case":                 {"CONTENT-LENGTH:" + n + "\r\n\r\n" + body, "a"},
		"no space":                   {"Content-Length:" + n + "\r\n\r\n" + body, "a"},
		"spaces":                     {"Content-Length :  " + n + " \r\n\r\n" + body, "a"},
		"LF only":                    {"Content-Length: " + n + "\n\n" + body, "a"},
		"type behind":                {"Content-Length: " + n + "\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n" + body, "a"},
		"type before":                {"Content-Type: x\r\nX-Y: z\r\nContent-Length: " + n + "\r\n\r\n" + body, "a"},
		"length twice":               {"Content-Length: 1\r\nContent-Length: " + n + "\r\n\r\n" + body, "a"},
		"spaces after the body":      {framed(body + strings.Repeat(" ", 5000)), "a"},
		"newline after the body":     {a + "\n\r\n" + a, "a a"},
		"bytes, not characters":      {framed(msg("ä€😀")), "ä€😀"},
		"banner":                     {"> server@1.0 start\n> run: it\n\n" + a, "a"},
		"banner without newline":     {"Debugger attached." + a, "a"},
		"long banner without it":     {strings.Repeat("x", 200_000) + a, "a"},
		"banner in a header block":   {"Content-Length: " + n + "\r\nwarning\r\n\r\n" + body, "a"},
		"banner between":             {a + "warning: something\nand more\n" + a, "a a"},
		"garbage body":               {framed("garbage") + a, "a"},
		"empty body":                 {"Content-Length: 0\r\n\r\n" + a, "a"},
		"truncated JSON":             {framed(`{"method":"b","par`) + a, "a"},
		"large garbage body":         {framed(strings.Repeat("x", 3<<20)) + a, "a"},
		"scalar, batch, empty":       {framed("1") + framed("[]") + framed("{}") + framed(`[{"method":"b"}]`) + a, "a"},
		"not UTF-8":                  {framed(msg("b\xffc")), "b\uFFFDc"},
		"length too small":           {"Content-Length: 10\r\n\r\n" + body + a, "a"},
		"length too large":           {"Content-Length: 70\r\n\r\n" + body + a, "a"},
		"length much too large":      {"Content-Length: 100\r\n\r\n" + body + a + a + a + a, "a a a a"},
		"length beyond the limit":    {"Content-Length: 99999999999\r\n\r\n" + body + a, "a"},
		"length of absurd size":      {"Content-Length: 99999999999999999999999\r\n\r\n" + body + "\n" + a, "a"},
		"length no number":           {"Content-Length: many\r\n\r\n" + a, "a"},
		"negative length":            {"Content-Length: -5\r\n\r\n" + a, "a"},
		"header without body":        {"Content-Length: 5\r\n" + a, "a"},
		"headers without end":        {"Content-Length: 5\r\n" + strings.Repeat("X-Y: z\r\n", 2000) + "\r\n" + a, "a"},
		"body above the limit":       {framed(`{"method":"`+strings.Repeat("x", 200_000)+`"}`) + a, "a"},
		"header in a body's text":    {framed(`{"method":"Content-Length: 5\r\n\r\n"}`) + a, "Content-Length: 5\r\n\r\n a"},
		"pretty printed":             {framed("{\n  \"method\": \"b\"\n}\n") + a, "b a"},
		"pretty, above the limit":    {framed("{\n  \"method\":\n \"Content-Length: 7\",\n \"x\":\""+strings.Repeat("x", 200_000)+"\"\n}\n") + a, "a"},
		"notification, bad params":   {framed(`{"method":"b","params":3}`) + a, "a"},
		"answers nobody waits for":   {framed(`{"id":1,"result":null}`) + framed(`{"id":null,"error":{"code":1,"message":""}}`) + a, "a"},
		"headers that only look bad": {"HTTP/1.1 200 OK\r\nContent-Length: " + n + "\r\n\r\n" + body, "a"},
	} {
		for cut, r := range map[string]io.Reader{
			"whole":        strings.NewReader(tc.in + last),
			"byte by byte": iotest.OneByteReader(strings.NewReader(tc.in + last)),
			"halves":       iotest.HalfReader(strings.NewReader(tc.in + last)),
		} {
			t.Run(name+", "+cut, func(t *testing.T) {
				got, sent, err := notes(t, r, Options{MaxIn: 100_000})
				if err != nil {
					t.Fatal(err)
				}
				want := strings.TrimSpace(tc.want + " last")
				if strings.Join(got, " ") != want {
					t.Errorf("got %.200q, want %q", got, want)
				}
				if sent != "" {
					t.Errorf("sent %.200q though nothing was asked", sent)
				}
			})
		}
	}
}

// TestContentLengthAnswers: requests of a server are answered with a frame whose length counts bytes.
func TestContentLengthAnswers(t *testing.T) {
	for _, id := range []string{`7`, `"seven"`, `0`, `-1`} {
		in := framed(`{"jsonrpc":"2.0","id":`+id+`,"method":"ä"}`) + framed(`{"jsonrpc":"2.0","id":`+id+`,"method":"b","params":3}`)
		sent := answers(t, strings.NewReader(in), method, Options{Framing: ContentLength})
		r := bufio.NewReader(strings.NewReader(sent))
		for _, want := range []string{
			`{"jsonrpc":"2.0","id":` + id + `,"result":"ä"}`,
			`{"jsonrpc":"2.0","id":` + id + `,"error":{"code":-32602,"message":"params of b must be an object"}}`,
		} {
			h, err := textproto.NewReader(r).ReadMIMEHeader()
			if err != nil {
				t.Fatal(err)
			}
			n, err := strconv.Atoi(h.Get("Content-Length"))
			if err != nil || len(h) != 1 {
				t.Fatalf("header %v", h)
			}
			body := make([]byte, n)
			if _, err := io.ReadFull(r, body); err != nil || string(body) != want {
				t.Errorf("got %s, %v, want %s", body, err, want)
			}
		}
	}
}

// TestNoServer: a program that only prints is given up with an error that shows what it printed.
func TestNoServer(t *testing.T) {
	_, _, err := notes(t, strings.NewReader(strings.Repeat(strings.Repeat("usage: server [options] ", 100)+"\n", 1+maxStray/2400)+framed(`{"method":"a"}`)), Options{})
	if err == nil || !strings.Contains(err.Error(), "usage: server [options]") {
		t.Errorf("got %v", err)
	}
}

// TestManyBrokenBodies: bodies that each claim all that follows cost a bounded search, not the
// square of their number.
func TestManyBrokenBodies(t *testing.T) {
	header := "Content-Length: 900000\r\n\r\n"
	in := strings.Repeat(header, 40_000)
	got, _, err := notes(t, strings.NewReader(in+strings.Repeat(framed(`{"method":"a"}`), 40_000)), Options{})
	if err != nil || len(got) == 0 || got[len(got)-1] != "a" {
		t.Errorf("%d messages, %v", len(got), err)
	}
}
