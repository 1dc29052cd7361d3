package stream

import (
	"strings"
	"testing"
)

// split runs text through Think in pieces of n bytes and gives text and thought.
func split(text string, n int) (string, string) {
	var think Think
	var said, thought strings.Builder
	emit := func(s string, isThought bool) bool {
		if isThought {
			thought.WriteString(s)
		} else {
			said.WriteString(s)
		}
		return true
	}
	for len(text) > 0 {
		k := min(n, len(text))
		think.Add(text[:k], emit)
		text = text[k:]
	}
	think.Flush(emit)
	return said.String(), thought.String()
}

func TestThink(t *testing.T) {
	cases := []struct{ name, in, text, thought string }{
		{"no tags", "hello", "hello", ""},
		{"tags", "<think>hm</think>hello", "hello", "hm"},
		{"the other tag", "<thinking>hm</thinking>hello", "hello", "hm"},
		{"space around", "\n<think>\nhm\n</think>\n\n hello ", "hello ", "\nhm\n"},
		{"two blocks", "<think>a</think>\n<think>b</think>\nc", "c", "ab"},
		{"empty block", "<think>\n\n</think>\n\nhello", "hello", "\n\n"},
		{"never closed", "<think>hm</thi", "", "hm</thi"},
		{"tag in the text", "about <think>x</think>", "about <think>x</think>", ""},
		{"tag after text", "<think>a</think>b<think>c</think>", "b<think>c</think>", "a"},
		{"nearly a tag", "<thin ice", "<thin ice", ""},
		{"half a tag at the end", "<thi", "<thi", ""},
		{"another closer inside", "<think>a</thinking></think>b", "b", "a</thinking>"},
		{"looks like the closer", "<think>a</</think>b", "b", "a</"},
		{"leading space is text", "  hello", "  hello", ""},
		{"only space", " \n", " \n", ""},
		{"only thought", "<think>a</think>\n", "", "a"},
	}
	for _, c := range cases {
		for n := 1; n <= len(c.in); n++ {
			text, thought := split(c.in, n)
			if text != c.text || thought != c.thought {
				t.Errorf("%s in pieces of %d: text %q, thought %q", c.name, n, text, thought)
			}
		}
	}
}

// What cannot become a tag is not held back.
func TestThinkHoldsNothingBack(t *testing.T) {
	var think Think
	var got []string
	emit := func(s string, _ bool) bool {
		got = append(got, s)
		return true
	}
	for _, s := range []string{"<think>", "abc", "de<", "f</thin", "k>", "\n\n", "x", "<think>"} {
		think.Add(s, emit)
	}
	if want := "abc de <f x <think>"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", strings.Join(got, " "), want)
	}
	if think.Add("y", func(string, bool) bool { return false }) {
		t.Error("the reader's no was not passed on")
	}
}
