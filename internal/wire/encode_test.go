package wire

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

// escaper encodes itself with the escapes for HTML, as generated types do.
type escaper struct{ s string }

func (e escaper) MarshalJSON() ([]byte, error) { return json.Marshal(map[string]string{"s": e.s}) }

// TestEncode: what goes out, as one line of plain JSON.
func TestEncode(t *testing.T) {
	for name, tc := range map[string]struct {
		params any
		want   string
	}{
		"none":          {nil, `{"jsonrpc":"2.0","method":"m"}`},
		"null":          {json.RawMessage("null"), note("m", "null")},
		"html":          {[]string{"<a href='x'>&</a>"}, note("m", `["<a href='x'>&</a>"]`)},
		"html inside":   {escaper{`<a>&\u003c`}, note("m", `{"s":"<a>&\\u003c"}`)},
		"backslashes":   {[]string{`\<`, `\\<`, `\u003c`, `\`}, note("m", `["\\<","\\\\<","\\u003c","\\"]`)},
		"newlines":      {[]string{"a\nb\r\u2028"}, note("m", `["a\nb\r\u2028"]`)},
		"control":       {[]string{"\x00\x1b<"}, note("m", `["\u0000\u001b<"]`)},
		"not UTF-8":     {[]string{"a\xffb"}, note("m", `["a\ufffdb"]`)},
		"raw not UTF-8": {json.RawMessage("[\"a\xff\"]"), note("m", "[\"a\uFFFD\"]")},
		"raw pretty":    {json.RawMessage("{\n  \"a\": [\n1]}"), note("m", `{"a":[1]}`)},
		"raw inside":    {map[string]any{"r": json.RawMessage("{\n \"x\" : 1.50 }")}, note("m", `{"r":{"x":1.50}}`)},
		"empty slice":   {[]int{}, note("m", `[]`)},
	} {
		t.Run(name, func(t *testing.T) {
			c := NewConn(nil, nil, nil, Options{})
			b, err := c.encodeCall(0, "m", tc.params)
			if err != nil || string(b) != tc.want+"\n" {
				t.Errorf("got  %s%v\nwant %s", b, err, tc.want)
			}
		})
	}
}

// TestEncodeKeepsMeaning: whatever a string holds, the peer reads the same, and no line grows by
// escapes that JSON does not need.
func TestEncodeKeepsMeaning(t *testing.T) {
	c := NewConn(nil, nil, nil, Options{})
	rapid.Check(t, func(rt *rapid.T) {
		s := rapid.StringOf(rapid.RuneFrom([]rune("<>&\\u003ceE6\"\n\x00a€😀"))).Draw(rt, "s")
		b, err := c.encodeCall(7, "m", escaper{s})
		if err != nil {
			rt.Fatal(err)
		}
		var m struct{ Params struct{ S string } }
		if err := json.Unmarshal(b, &m); err != nil || m.Params.S != s {
			rt.Fatalf("%q became %q (%v) in %s", s, m.Params.S, err, b)
		}
		if strings.Count(string(b), "<") != strings.Count(s, "<") || strings.Count(string(b), "\n") != 1 || !utf8.Valid(b) {
			rt.Fatalf("%q is sent as %s", s, b)
		}
	})
}

// TestMaxOut: a message above the limit is an error for whoever sends it, and is never sent.
func TestMaxOut(t *testing.T) {
	p := start(t, nil, Options{MaxOut: 200})
	long := strings.Repeat("x", 200)
	for name, err := range map[string]error{
		"Notify": p.conn.Notify("m", []string{long}),
		"Send":   p.conn.Send(t.Context(), "m", []string{long}),
		"Latest": p.conn.Latest("k", "m", []string{long}),
		"Call":   p.conn.Call(t.Context(), "m", []string{long}, nil),
	} {
		if !errors.Is(err, ErrTooLong) || !strings.Contains(err.Error(), "limit 200") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := openCalls(p.conn); n != 0 {
		t.Errorf("%d calls still open", n)
	}
	if err := p.conn.Notify("fits", nil); err != nil {
		t.Fatal(err)
	}
	if got := p.line(); got != `{"jsonrpc":"2.0","method":"fits"}` {
		t.Errorf("got %s", got)
	}
}

// TestUnencodable: the caller of a send learns that its params are no JSON.
func TestUnencodable(t *testing.T) {
	c := NewConn(nil, nil, nil, Options{})
	for name, err := range map[string]error{
		"Notify": c.Notify("m", func() {}),
		"Send":   c.Send(t.Context(), "m", json.RawMessage("{")),
		"Call":   c.Call(t.Context(), "m", make(chan int), nil),
	} {
		if err == nil || !strings.Contains(err.Error(), " m: encode ") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if n := openCalls(c); n != 0 {
		t.Errorf("%d calls still open", n)
	}
}
