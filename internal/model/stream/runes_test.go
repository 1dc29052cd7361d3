package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestRunes(t *testing.T) {
	cases := []struct {
		name string
		in   []string
		want []string // a piece for each literal, then what Flush gives
	}{
		{"plain", []string{`"abc"`, `"é😀"`}, []string{"abc", "é😀", ""}},
		{"escapes", []string{`"a\n\t\"\\\/\b\f\rb\u00e9"`}, []string{"a\n\t\"\\/\b\f\rbé", ""}},
		{"nothing", []string{``, `null`, `""`, `{"a":1}`}, []string{"", "", "", "", ""}},
		{"bytes of a rune", []string{"\"\xf0\"", "\"\x9f\"", "\"\x98\"", "\"\x80!\""}, []string{"", "", "", "😀!", ""}},
		{"text before half a rune", []string{"\"ab\xc3\"", "\"\xa9cd\""}, []string{"ab", "écd", ""}},
		{"half a rune before an escape", []string{"\"\xc3\"", `"\n"`}, []string{"", "\uFFFD\n", ""}},
		{"surrogates in two", []string{`"a\ud83d"`, `"\ude00b"`}, []string{"a", "😀b", ""}},
		{"surrogates in one", []string{`"\uD83D\uDE00"`}, []string{"😀", ""}},
		{"high without low", []string{`"\ud83d"`, `"x"`}, []string{"", "\uFFFDx", ""}},
		{"high twice", []string{`"\ud83d\ud83d\ude00"`}, []string{"\uFFFD😀", ""}},
		{"low alone", []string{`"\ude00x"`}, []string{"\uFFFDx", ""}},
		{"invalid in the middle", []string{"\"a\xffb\""}, []string{"a\uFFFDb", ""}},
		{"cut at the end", []string{"\"a\xe4\xb8\""}, []string{"a", "\uFFFD"}},
		{"high at the end", []string{`"a\ud83d"`}, []string{"a", "\uFFFD"}},
	}
	for _, c := range cases {
		var r Runes
		var got []string
		for _, in := range c.in {
			got = append(got, r.Add([]byte(in)))
		}
		got = append(got, r.Flush())
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		if r.Add([]byte(`"z"`)) != "z" {
			t.Errorf("%s: something is left after Flush", c.name)
		}
	}
}

// Whatever encoding/json would read from the whole text comes out of any cut of it.
func TestRunesOfAnyCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Draw(t, "text")
		var b strings.Builder // the pieces joined
		var r Runes
		add := func(literal string) {
			s := r.Add([]byte(literal))
			if !utf8.ValidString(s) {
				t.Fatalf("half a rune in %q", s)
			}
			b.WriteString(s)
		}
		if rapid.Bool().Draw(t, "escaped") {
			for _, u := range utf16.Encode([]rune(text)) {
				add(fmt.Sprintf(`"\u%04x"`, u))
			}
		} else {
			lit, err := json.Marshal(text)
			if err != nil {
				t.Fatal(err)
			}
			body := string(lit[1 : len(lit)-1])
			for len(body) > 0 {
				n := rapid.IntRange(1, 7).Draw(t, "n")
				n = min(n, len(body))
				for i := n; i > 0 && i > n-6; i-- { // an escape stays whole in a valid literal
					if cut := strings.LastIndexByte(body[:n], '\\'); cut >= 0 && n < escapeEnd(body, cut) {
						n = escapeEnd(body, cut)
					}
				}
				add(`"` + body[:n] + `"`)
				body = body[n:]
			}
		}
		b.WriteString(r.Flush())
		if b.String() != text {
			t.Fatalf("got %q, want %q", b.String(), text)
		}
	})
}

// escapeEnd gives the end of the escape at i; a backslash that is itself escaped ends with itself.
func escapeEnd(s string, i int) int {
	n := 0
	for j := i - 1; j >= 0 && s[j] == '\\'; j-- {
		n++
	}
	switch {
	case n%2 == 1:
		return i + 1
	case s[i+1] == 'u':
		return i + 6
	}
	return i + 2
}
