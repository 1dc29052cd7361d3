package stream

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/model"
)

func at(i int) *int { return &i }

func lit(s string) json.RawMessage {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return b
}

func TestCalls(t *testing.T) {
	cases := []struct {
		name   string
		deltas [][]Piece
		starts string
		want   []string // "id name arguments"; id * for one that we made
	}{
		{"nothing", nil, "", nil},
		{"no arguments at all", [][]Piece{{{Index: at(0), ID: "a", Name: "f"}}}, "f", []string{"a f {}"}},
		{"null arguments", [][]Piece{{{Index: at(0), ID: "a", Name: "f", Arguments: json.RawMessage("null")}}}, "f", []string{"a f {}"}},
		{"neither name nor arguments", [][]Piece{{{Index: at(0), ID: "a"}}}, "", nil},
		{"a name that comes late", [][]Piece{{{Index: at(0), ID: "a"}}, {{Index: at(0), Name: "f", Arguments: lit("{}")}}}, "f", []string{"a f {}"}},
		{"a name in pieces", [][]Piece{{{Index: at(0), ID: "a", Name: "wri"}}, {{Index: at(0), Name: "te"}}}, "wri", []string{"a write {}"}},
		{"arguments without a name", [][]Piece{{{Index: at(0), ID: "a", Arguments: lit(`{"x":1}`)}}}, "", []string{`a  {"x":1}`}},
		{"two calls that take turns", [][]Piece{
			{{Index: at(0), ID: "a", Name: "f", Arguments: lit(`{"x"`)}, {Index: at(1), ID: "b", Name: "g", Arguments: lit(`{"y"`)}},
			{{Index: at(0), Arguments: lit(`:1}`)}, {Index: at(1), Arguments: lit(`:2}`)}}}, "f g", []string{`a f {"x":1}`, `b g {"y":2}`}},
		{"one index, calls without arguments", [][]Piece{{{Index: at(0), ID: "a", Name: "f"}}, {{Index: at(0), ID: "b", Name: "f"}}}, "f f", []string{"a f {}", "b f {}"}},
		{"no index, no id, one delta, calls without arguments", [][]Piece{{{Name: "f"}, {Name: "f"}}}, "f f", []string{"* f {}", "* f {}"}},
		{"indexes that begin at 1", [][]Piece{{{Index: at(1), ID: "a", Name: "f", Arguments: lit("{}")}}, {{Index: at(2), ID: "b", Name: "f", Arguments: lit("{}")}}}, "f f", []string{"a f {}", "b f {}"}},
		{"no index, no id, calls without arguments", [][]Piece{{{Name: "f"}}, {{Name: "g"}}}, "f g", []string{"* f {}", "* g {}"}},
		{"no index, ids that take turns", [][]Piece{{{ID: "a", Name: "f"}}, {{ID: "b", Name: "g"}}, {{ID: "a", Arguments: lit(`{"x":1}`)}}, {{ID: "b", Arguments: lit(`{"y":1}`)}}}, "f g", []string{`a f {"x":1}`, `b g {"y":1}`}},
		{"no index, the same id for another call", [][]Piece{{{ID: "a", Name: "f", Arguments: lit(`{"x":1}`)}}, {{ID: "a", Name: "f", Arguments: lit(`{"x":2}`)}}}, "f f", []string{`a f {"x":1}`, `* f {"x":2}`}},
		{"an object twice", [][]Piece{{{Index: at(0), ID: "a", Name: "f", Arguments: json.RawMessage(`{"x": 1}`)}}, {{Index: at(0), Arguments: lit(`{"x":1}`)}}}, "f", []string{`a f {"x": 1}`}},
		{"an object in a string", [][]Piece{{{ID: "a", Name: "f", Arguments: lit(`"{\"x\":1}"`)}}}, "f", []string{`a f {"x":1}`}},
		{"not JSON", [][]Piece{{{ID: "a", Name: "f", Arguments: lit(`{"x":`)}}}, "f", []string{`a f {"x":`}},
		{"cut inside a character", [][]Piece{{{ID: "a", Name: "f", Arguments: json.RawMessage("\"{\\\"x\xc3\"")}}}, "f", []string{"a f {\"x\uFFFD"}},
		{"space around", [][]Piece{{{ID: "a", Name: "f", Arguments: lit(" \n{}\n")}}}, "f", []string{"a f {}"}},
		{"an id of the history", [][]Piece{{{ID: "old", Name: "f"}}}, "f", []string{"* f {}"}},
		{"a second id for one call", [][]Piece{{{Index: at(0), ID: "a", Name: "f", Arguments: lit(`{"x"`)}}, {{Index: at(0), ID: "b", Arguments: lit(":1}")}}}, "f", []string{`a f {"x":1}`}},
	}
	for _, c := range cases {
		calls := NewCalls([]model.Message{{Calls: []model.ToolCall{{ID: "old"}}}})
		var starts []string
		for _, d := range c.deltas {
			starts = append(starts, calls.Add(d)...)
		}
		var got []string
		seen := map[string]bool{}
		for _, k := range calls.Finish() {
			if seen[k.ID] || k.ID == "" || k.ID == "old" {
				t.Errorf("%s: id %q", c.name, k.ID)
			}
			seen[k.ID] = true
			id := k.ID
			if strings.HasPrefix(id, "call_") {
				id = "*"
			}
			got = append(got, fmt.Sprintf("%s %s %s", id, k.Name, k.Arguments))
		}
		if d := cmp.Diff(c.want, got); d != "" || strings.Join(starts, " ") != c.starts {
			t.Errorf("%s: starts %q\n%s", c.name, starts, d)
		}
	}
}

// Long arguments in many deltas take time in proportion, even when each delta has the name again.
func BenchmarkCallsRepeatedName(b *testing.B) {
	piece := Piece{Index: at(0), ID: "a", Name: "f", Arguments: lit(`some } text `)}
	for b.Loop() {
		c := NewCalls(nil)
		c.Add([]Piece{{Index: at(0), ID: "a", Name: "f", Arguments: lit(`{"content":"`)}})
		for range 20_000 {
			c.Add([]Piece{piece})
		}
	}
}

func TestHistory(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`: `{"a":1}`, ` {"a": 1} `: ` {"a": 1} `, ``: `{}`, " \n": `{}`, `{"a"`: `{"_raw":"{\"a\""}`,
		`[1]`: `{"_raw":"[1]"}`, `null`: `{"_raw":"null"}`, `"x"`: `{"_raw":"\"x\""}`, "{} {}": `{"_raw":"{} {}"}`,
	} {
		got := string(Arguments(in))
		if got != want || !json.Valid([]byte(got)) {
			t.Errorf("Arguments(%q) is %s, want %s", in, got, want)
		}
	}
	long := strings.Repeat("x", 100)
	seen := map[string]string{}
	for _, in := range []string{"call_1", "functions.f:0", "functions.f:1", "functions_f_0", "", long, long + "y", "é"} {
		got := ID(in, 40)
		if len(got) > 40 || got == "" || strings.Trim(got, "abcdefghijklmnopqrstuvwxyz0123456789_") != "" || got != ID(in, 40) {
			t.Errorf("ID(%q) is %q", in, got)
		}
		if other, ok := seen[got]; ok {
			t.Errorf("%q and %q are both %q", in, other, got)
		}
		seen[got] = in
	}
	if ID("call_1", 40) != "call_1" || Name("write_file") != "write_file" || Name("") != "unnamed" {
		t.Error("what fits is changed")
	}
}
