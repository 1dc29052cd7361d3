package wire

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// timed collects lines with the time at which they were written.
type timed struct {
	start time.Time
	at    []time.Duration
	lines []string
}

func (w *timed) Write(p []byte) (int, error) {
	w.at = append(w.at, time.Since(w.start))
	w.lines = append(w.lines, strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

// TestCoalesce runs a script of sends at given times and compares what was written, and when.
func TestCoalesce(t *testing.T) {
	type send struct {
		at   time.Duration
		text string // merged under the part before ":"; without one it is a notification
	}
	type line struct {
		at   time.Duration
		text string
	}
	const ms = time.Millisecond
	for name, tc := range map[string]struct {
		coalesce time.Duration
		sends    []send
		want     []line
	}{
		"one text waits for more": {30 * ms, []send{{0, "a:x"}}, []line{{30 * ms, "x"}}},
		"more comes":              {30 * ms, []send{{0, "a:x"}, {10 * ms, "a:y"}, {29 * ms, "a:z"}}, []line{{30 * ms, "xyz"}}},
		"too late":                {30 * ms, []send{{0, "a:x"}, {31 * ms, "a:y"}}, []line{{30 * ms, "x"}, {61 * ms, "y"}}},
		"another message":         {30 * ms, []send{{0, "a:x"}, {10 * ms, "note"}, {11 * ms, "a:y"}}, []line{{10 * ms, "x"}, {10 * ms, "note"}, {41 * ms, "y"}}},
		"another key":             {30 * ms, []send{{0, "a:x"}, {10 * ms, "b:y"}}, []line{{10 * ms, "x"}, {40 * ms, "y"}}},
		"at once":                 {0, []send{{0, "a:x"}, {1 * ms, "a:y"}}, []line{{0, "x"}, {1 * ms, "y"}}},
		"the end":                 {time.Hour, []send{{0, "a:x"}, {10 * ms, "end"}}, []line{{10 * ms, "x"}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, in := io.Pipe()
				out := &timed{start: time.Now()}
				c := NewConn(r, out, func(*Request) {}, Options{Coalesce: tc.coalesce, Logger: testLog(t)})
				ended := make(chan error, 1)
				go func() { ended <- c.Run(t.Context()) }()
				for _, s := range tc.sends {
					time.Sleep(s.at - time.Since(out.start))
					key, text, merged := strings.Cut(s.text, ":")
					switch {
					case merged:
						if err := c.Merge(t.Context(), key, "m", text, func(s string) any { return []string{s} }); err != nil {
							t.Fatal(err)
						}
					case s.text == "end":
						c.Close()
					default:
						if err := c.Notify("m", []string{s.text}); err != nil {
							t.Fatal(err)
						}
					}
					synctest.Wait()
				}
				time.Sleep(time.Second)
				_ = in.Close()
				if err := <-ended; err != nil {
					t.Fatal(err)
				}
				if len(out.lines) != len(tc.want) {
					t.Fatalf("got %q", out.lines)
				}
				for i, w := range tc.want {
					if out.at[i] != w.at || out.lines[i] != note("m", `["`+w.text+`"]`) {
						t.Errorf("line %d at %v: %s, want %v %s", i, out.at[i], out.lines[i], w.at, w.text)
					}
				}
			})
		})
	}
}

// TestTokens: 5,000 tokens in a second make few lines, and all of the text.
func TestTokens(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, in := io.Pipe()
		out := &timed{start: time.Now()}
		c := NewConn(r, out, func(*Request) {}, Options{Coalesce: 30 * time.Millisecond, Logger: testLog(t)})
		ended := make(chan error, 1)
		go func() { ended <- c.Run(t.Context()) }()
		for range 5000 {
			if err := c.Merge(t.Context(), "k", "m", "tok ", func(s string) any { return []string{s} }); err != nil {
				t.Fatal(err)
			}
			time.Sleep(200 * time.Microsecond)
		}
		_ = in.Close()
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		for _, l := range out.lines {
			var m struct{ Params []string }
			if err := json.Unmarshal([]byte(l), &m); err != nil {
				t.Fatal(err)
			}
			text.WriteString(m.Params[0])
		}
		if text.String() != strings.Repeat("tok ", 5000) {
			t.Errorf("%d bytes of text arrived", text.Len())
		}
		if len(out.lines) > 50 {
			t.Errorf("%d lines", len(out.lines))
		}
	})
}
