package scripted_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/model"
	"acp-agent/internal/model/scripted"
)

func TestParse(t *testing.T) {
	cases := []struct {
		name string
		yaml string
		want []scripted.Turn
	}{
		{"empty file", "", nil},
		{"only a comment", "# nothing yet\n", nil},
		{"no turns", "turns: []\n", nil},
		{"text with defaults", "turns:\n  - text: hi\n",
			[]scripted.Turn{{Text: "hi", Chunk: 20, Repeat: 1, Finish: model.FinishStop}}},
		{"everything",
			"turns:\n  - {thought: hm, text: hi, chunk: 3, delay_ms: 40, usage: {input: 10, output: 5, cached: 2}, finish: length, repeat: 2}\n",
			[]scripted.Turn{{Thought: "hm", Text: "hi", Chunk: 3, Delay: 40 * time.Millisecond, Repeat: 2,
				Usage: model.Usage{Input: 10, Output: 5, Cached: 2}, Finish: model.FinishLength}}},
		{"arguments keep their order and types",
			"turns:\n  - tool_calls: [{id: c1, name: w, arguments: {path: a.go, content: \"x\\n<b>\", n: 3, f: 1.5, ok: true, none: null, list: [1, {z: 1, a: 2}]}}]\n",
			[]scripted.Turn{{Chunk: 20, Repeat: 1, Finish: model.FinishToolCalls, Calls: []model.ToolCall{{ID: "c1", Name: "w",
				Arguments: `{"path":"a.go","content":"x\n<b>","n":3,"f":1.5,"ok":true,"none":null,"list":[1,{"z":1,"a":2}]}`}}}}},
		{"block text",
			"turns:\n  - tool_calls:\n      - name: w\n        arguments:\n          content: |\n            a\n              b\n",
			[]scripted.Turn{{Chunk: 20, Repeat: 1, Finish: model.FinishToolCalls, Calls: []model.ToolCall{{Name: "w", Arguments: `{"content":"a\n  b\n"}`}}}}},
		{"no arguments", "turns:\n  - tool_calls: [{name: w}, {name: v, arguments: {}}]\n",
			[]scripted.Turn{{Chunk: 20, Repeat: 1, Finish: model.FinishToolCalls, Calls: []model.ToolCall{{Name: "w", Arguments: "{}"}, {Name: "v", Arguments: "{}"}}}}},
		{"raw", "turns:\n  - tool_calls: [{name: w, raw: '{\"path\":\"a'}]\n    finish: stop\n",
			[]scripted.Turn{{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Calls: []model.ToolCall{{Name: "w", Arguments: `{"path":"a`}}}}},
		{"error and hang", "turns:\n  - error: {status: 429, message: slow down, retry_after: 1.5}\n  - hang: true\n",
			[]scripted.Turn{
				{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Error: &model.Error{Kind: model.KindRateLimit, Status: 429, Message: "slow down", RetryAfter: 1500 * time.Millisecond}},
				{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Hang: true}}},
		{"kinds of error", "turns:\n  - error: {status: 401, message: no}\n  - error: {status: 500}\n  - error: {status: 529}\n  - error: {message: gone}\n",
			[]scripted.Turn{
				{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Error: &model.Error{Kind: model.KindAuth, Status: 401, Message: "no"}},
				{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Error: &model.Error{Kind: model.KindServer, Status: 500, Message: "the script says so"}},
				{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Error: &model.Error{Kind: model.KindOverloaded, Status: 529, Message: "the script says so"}},
				{Chunk: 20, Repeat: 1, Finish: model.FinishStop, Error: &model.Error{Kind: model.KindUnreachable, Message: "gone"}}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s, err := scripted.Parse("m.yaml", []byte(c.yaml))
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(c.want, s.Turns); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestParseTellsTheLine(t *testing.T) {
	cases := []struct {
		name, yaml string
		want       []string
	}{
		{"unknown key at the top", "turn:\n  - text: a\n", []string{"m.yaml:1:", `"turn"`, "turns"}},
		{"unknown key of a turn", "turns:\n  - text: a\n  - txt: b\n", []string{"m.yaml:3:", `"txt"`, "text", "thought"}},
		{"unknown key of a call", "turns:\n  - tool_calls:\n      - name: a\n        args: {}\n", []string{"m.yaml:4:", `"args"`, "arguments"}},
		{"unknown key of usage", "turns:\n  - usage: {in: 1}\n", []string{"m.yaml:2:", `"in"`, "input"}},
		{"unknown key of an error", "turns:\n  - error: {code: 1}\n", []string{"m.yaml:2:", `"code"`, "status"}},
		{"key twice", "turns:\n  - text: a\n    text: b\n", []string{"m.yaml:3:", "text"}},
		{"wrong type", "turns:\n  - text: a\n    delay_ms: soon\n", []string{"m.yaml:3:", "delay_ms"}},
		{"not a list", "turns: yes\n", []string{"m.yaml:1:", "turns"}},
		{"not YAML", "turns:\n  - text: \"a\n", []string{"m.yaml:2:"}},
		{"finish", "turns:\n  - text: a\n\n  - text: a\n    finish: ended\n", []string{"m.yaml:4:", `"ended"`, "tool_calls"}},
		{"chunk", "turns:\n  - {text: a, chunk: 0}\n", []string{"m.yaml:2:", "chunk"}},
		{"repeat", "turns:\n  - {text: a, repeat: -1}\n", []string{"m.yaml:2:", "repeat"}},
		{"delay", "turns:\n  - {text: a, delay_ms: -1}\n", []string{"m.yaml:2:", "delay_ms"}},
		{"nameless call", "turns:\n  - tool_calls: [{id: a}]\n", []string{"m.yaml:2:", "name"}},
		{"raw and arguments", "turns:\n  - tool_calls: [{name: a, raw: x, arguments: {}}]\n", []string{"m.yaml:2:", "raw", "arguments"}},
		{"arguments of another type", "turns:\n  - tool_calls: [{name: a, arguments: [1]}]\n", []string{"m.yaml:2:", "arguments", "mapping"}},
		{"hang and error", "turns:\n  - {hang: true, error: {status: 500}}\n", []string{"m.yaml:2:", "hangs"}},
		{"two documents", "turns: []\n---\nturns: []\n", []string{"m.yaml", "2"}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := scripted.Parse("m.yaml", []byte(c.yaml))
			if err == nil {
				t.Fatal("no error")
			}
			for _, w := range c.want {
				if !strings.Contains(err.Error(), w) {
					t.Errorf("%q does not hold %q", err, w)
				}
			}
			if strings.Contains(err.Error(), "\n") {
				t.Errorf("more than one line: %q", err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add("turns:\n  - {text: a, tool_calls: [{name: x, arguments: {a: [1, {b: c}]}}]}\n")
	f.Add("turns: [&a {text: x}, *a]\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := scripted.Parse("m.yaml", []byte(text))
		if (s == nil) == (err == nil) {
			t.Fatalf("script %v, error %v", s, err)
		}
	})
}
