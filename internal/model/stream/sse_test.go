package stream

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

// events reads all of r, an event as "name|data".
func events(r io.Reader) ([]string, error) {
	e := NewEvents(r)
	var out []string
	for {
		name, data, err := e.Next()
		if errors.Is(err, io.EOF) {
			return out, nil
		}
		if err != nil {
			return out, err
		}
		out = append(out, string(name)+"|"+string(data))
	}
}

func TestEvents(t *testing.T) {
	cases := []struct {
		name, in string
		want     []string
	}{
		{"plain", "data: a\n\ndata: b\n\n", []string{"|a", "|b"}},
		{"name", "event: error\ndata: a\n\ndata: b\n\n", []string{"error|a", "|b"}},
		{"name without data is forgotten", "event: ping\n\ndata: b\n\n", []string{"|b"}},
		{"CRLF", "event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n", []string{"x|a", "|b"}},
		{"no space", "data:a\n\n", []string{"|a"}},
		{"only one space is taken", "data:  a\n\n", []string{"| a"}},
		{"many lines", "data: a\ndata: b\ndata:\n\n", []string{"|a\nb\n"}},
		{"comments", ": hi\n\n:\ndata: a\n: OPENROUTER PROCESSING\ndata: b\n\n", []string{"|a\nb"}},
		{"other fields", "id: 1\nretry: 5\ndata: a\nfoo\n\n", []string{"|a"}},
		{"the last blank line is missing", "data: a\n\ndata: b\n", []string{"|a", "|b"}},
		{"the last line is not ended", "data: a\n\ndata: b", []string{"|a", "|b"}},
		{"bare object", "data: a\n\n{\"error\":\n  \"x: y\"}\n\ndata: b\n\n", []string{"|a", "|{\"error\":\n  \"x: y\"}", "|b"}},
		{"bare object at the end", "{\"error\":1}", []string{"|{\"error\":1}"}},
		{"words that are no field", "hello\n\ndata: a\n\n", []string{"|a"}},
		{"nothing", "", nil},
		{"blank lines", "\n\n\n", nil},
		{"longer than the buffer", "data: " + strings.Repeat("x", 100_000) + "\n\ndata: b\n\n", []string{"|" + strings.Repeat("x", 100_000), "|b"}},
	}
	for _, c := range cases {
		for _, r := range []io.Reader{strings.NewReader(c.in), iotest.OneByteReader(strings.NewReader(c.in)), iotest.DataErrReader(strings.NewReader(c.in))} {
			got, err := events(r)
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("%s: %v\n%s", c.name, err, d)
			}
		}
	}
}

func TestEventsErrors(t *testing.T) {
	broken := errors.New("broken")
	got, err := events(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || len(got) != 1 {
		t.Errorf("%v %v: an event that was cut is none", got, err)
	}
	for name, in := range map[string]string{"one line": strings.Repeat("x", 2000), "many lines": strings.Repeat("data: x\n", 200)} {
		e := NewEvents(strings.NewReader("data: a\n\n" + in))
		e.max = 1000
		if _, data, err := e.Next(); err != nil || string(data) != "a" {
			t.Errorf("%s: %q %v", name, data, err)
		}
		if _, _, err := e.Next(); !errors.Is(err, errEventTooLarge) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

func FuzzEvents(f *testing.F) {
	f.Add("event: a\ndata: {\"x\":1}\r\n\r\n: c\n{\"error\":{}}\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		whole, err := events(strings.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		bytewise, err := events(iotest.OneByteReader(strings.NewReader(in)))
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(whole, bytewise); d != "" {
			t.Fatalf("cut differently, read differently:\n%s", d)
		}
	})
}
