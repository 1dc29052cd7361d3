package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
	"acp-agent/internal/model/openai"
)

// sent is the request that a model makes of req.
func sent(t *testing.T, req model.Request, change ...func(*openai.Config)) map[string]any {
	t.Helper()
	s := modelserver.New(t)
	if _, err := ask(t.Context(), t, newModel(t, s, change...), req); err != nil {
		t.Fatal(err)
	}
	return s.Requests()[0].JSON(t)
}

func checkJSON(t *testing.T, want string, got any) {
	t.Helper()
	var w any
	if err := json.Unmarshal([]byte(want), &w); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(w, got); d != "" {
		t.Error(d)
	}
}

func dialect(d openai.Dialect) func(*openai.Config) {
	return func(c *openai.Config) { c.Dialect = d }
}

func TestHeaders(t *testing.T) {
	s := modelserver.New(t)
	if _, err := ask(t.Context(), t, newModel(t, s), model.Request{}); err != nil {
		t.Fatal(err)
	}
	if _, err := ask(t.Context(), t, newModel(t, s, func(c *openai.Config) { c.Key = ""; c.BaseURL += "/" }), model.Request{}); err != nil {
		t.Fatal(err)
	}
	r := s.Requests()
	if r[0].Path != "/v1/chat/completions" || r[1].Path != r[0].Path {
		t.Errorf("paths %s %s", r[0].Path, r[1].Path)
	}
	if got := r[0].Header.Get("Authorization"); got != "Bearer secret-key" {
		t.Errorf("Authorization %q", got)
	}
	if got := r[1].Header.Values("Authorization"); len(got) != 0 {
		t.Errorf("without a key: Authorization %q", got)
	}
}

func TestRequest(t *testing.T) {
	req := model.Request{System: "be <brief>", Thought: "low", Session: "s1",
		Tools: []model.Tool{{Name: "t", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "bare"}},
		Messages: []model.Message{
			{Role: model.User, Parts: []model.Part{{Text: "look"}, {Image: &model.Media{MIME: "image/png", Data: []byte("png")}}, {Audio: &model.Media{MIME: "audio/mpeg", Data: []byte("mp3")}}}},
			{Role: model.Assistant, Parts: []model.Part{{Text: "ok"}}, Calls: []model.ToolCall{
				{ID: "functions.t:0", Name: "t", Arguments: `{"a":1}`}, {ID: "c2", Name: "no such tool!", Arguments: `{"a`}, {ID: "c3", Name: "t", Arguments: ""}, {ID: "c4", Name: "t", Arguments: "[1]"}},
				Thinking: []model.Thinking{{Text: "hm", Signature: "of another provider"}}},
			{Role: model.ToolRole, CallID: "functions.t:0", Name: "t", Parts: []model.Part{{Text: "r"}, {Image: &model.Media{MIME: "image/png", Data: []byte("i")}}}},
			{Role: model.ToolRole, CallID: "c2", Name: "no such tool!", Parts: []model.Part{{Text: "no"}}, IsError: true},
			{Role: model.Assistant},
			{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c5", Name: "t", Arguments: "{}", Signature: "sig"}}},
			{Role: model.ToolRole, CallID: "c5", Name: "t"},
		}}
	got := sent(t, req)
	checkJSON(t, `{"model":"m1","stream":true,"stream_options":{"include_usage":true},"reasoning_effort":"low",
		"tools":[{"type":"function","function":{"name":"t","description":"d","parameters":{"type":"object"}}},
			{"type":"function","function":{"name":"bare","parameters":{"type":"object","properties":{}}}}],
		"messages":[
			{"role":"system","content":"be <brief>"},
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,cG5n"}},
				{"type":"input_audio","input_audio":{"data":"bXAz","format":"mp3"}}]},
			{"role":"assistant","content":"ok","tool_calls":[
				{"id":"functions_t_0_9348c0a1","type":"function","function":{"name":"t","arguments":"{\"a\":1}"}},
				{"id":"c2","type":"function","function":{"name":"no_such_tool__957a42d4","arguments":"{\"_raw\":\"{\\\"a\"}"}},
				{"id":"c3","type":"function","function":{"name":"t","arguments":"{}"}},
				{"id":"c4","type":"function","function":{"name":"t","arguments":"{\"_raw\":\"[1]\"}"}}]},
			{"role":"tool","content":"r","tool_call_id":"functions_t_0_9348c0a1"},
			{"role":"tool","content":"no","tool_call_id":"c2"},
			{"role":"user","content":[{"type":"text","text":"From the result of t:"},{"type":"image_url","image_url":{"url":"data:image/png;base64,aQ=="}}]},
			{"role":"assistant","content":null,"tool_calls":[{"id":"c5","type":"function","function":{"name":"t","arguments":"{}"}}]},
			{"role":"tool","content":"","tool_call_id":"c5"}]}`, got)
}

func TestDialects(t *testing.T) {
	calls := []model.Message{
		model.TextMessage(model.User, "go"),
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c1", Name: "t", Arguments: "{}", Signature: "sig"}, {ID: "c2", Name: "t", Arguments: "{}"}}},
		{Role: model.ToolRole, CallID: "c1"}, {Role: model.ToolRole, CallID: "c2"},
		{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c3", Name: "t", Arguments: "{}"}}},
		{Role: model.ToolRole, CallID: "c3"},
	}
	req := model.Request{Thought: "high", Session: "s1", Messages: calls, Tools: []model.Tool{{Name: "t"}}}
	if got := sent(t, req, dialect(openai.Official)); got["prompt_cache_key"] != "s1" || got["reasoning_effort"] != "high" {
		t.Errorf("official: %v", got)
	}
	got := sent(t, req, dialect(openai.OpenRouter))
	checkJSON(t, `{"effort":"high"}`, got["reasoning"])
	if got["reasoning_effort"] != nil || got["prompt_cache_key"] != nil {
		t.Errorf("OpenRouter: %v", got)
	}
	got = sent(t, req, dialect(openai.Gemini))
	call := func(id, extra string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"t","arguments":"{}"}` + extra + `}`
	}
	sig := func(s string) string { return `,"extra_content":{"google":{"thought_signature":"` + s + `"}}` }
	msgs := got["messages"].([]any)
	checkJSON(t, `[`+call("c1", sig("sig"))+`,`+call("c2", "")+`]`, msgs[1].(map[string]any)["tool_calls"])
	checkJSON(t, `[`+call("c3", sig("skip_thought_signature_validator"))+`]`, msgs[4].(map[string]any)["tool_calls"])
	noEffort := func(c *openai.Config) { c.NoEffort = true }
	if got := sent(t, req, noEffort); got["reasoning_effort"] != "none" {
		t.Errorf("with tools: effort %v", got["reasoning_effort"])
	}
	if got := sent(t, model.Request{Thought: "high"}, noEffort); got["reasoning_effort"] != "high" {
		t.Errorf("without tools: effort %v", got["reasoning_effort"])
	}
}

// Gemini's thought signature comes out with its call.
func TestSignature(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Calls: someCalls, Signature: "sig", WholeCalls: true})
	got, err := ask(t.Context(), t, newModel(t, s, dialect(openai.Gemini)), model.Request{})
	if err != nil || len(got.Calls) != 3 || got.Calls[0].Signature != "sig" || got.Calls[1].Signature != "" {
		t.Errorf("%+v %v", got.Calls, err)
	}
}

// Reasoning goes back in the field that it came in, within its turn, to servers that sent it so.
func TestReasoningIsEchoed(t *testing.T) {
	for _, field := range []string{"reasoning_content", "reasoning"} {
		call := modelserver.Reply{Thought: "hm", Reasoning: field, Calls: []modelserver.Call{{ID: "c1", Name: "t", Arguments: "{}"}}}
		s := modelserver.New(t, call)
		m := newModel(t, s)
		old := model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c0", Name: "t", Arguments: "{}"}}, Thinking: []model.Thinking{{Text: "old"}}}
		history := []model.Message{model.TextMessage(model.User, "one"), old, {Role: model.ToolRole, CallID: "c0"}, model.TextMessage(model.User, "two")}
		a, err := ask(t.Context(), t, m, model.Request{Messages: history})
		if err != nil {
			t.Fatal(err)
		}
		history = append(history, model.Message{Role: model.Assistant, Calls: a.Calls, Thinking: a.Thinking}, model.Message{Role: model.ToolRole, CallID: "c1"})
		if _, err := ask(t.Context(), t, m, model.Request{Messages: history}); err != nil {
			t.Fatal(err)
		}
		for i, r := range s.Requests() {
			var echoed []any
			for _, msg := range r.JSON(t)["messages"].([]any) {
				for _, f := range []string{"reasoning_content", "reasoning"} {
					if v, ok := msg.(map[string]any)[f]; ok {
						echoed = append(echoed, f, v)
					}
				}
			}
			var want []any
			if i == 1 {
				want = []any{field, "hm"}
			}
			if d := cmp.Diff(want, echoed); d != "" {
				t.Errorf("request %d: %s", i+1, d)
			}
		}
	}
}

// What a server refuses is left out when the caller asks again.
func TestLearnsFromRefusals(t *testing.T) {
	cases := []struct{ message, field, before, after string }{
		{"Unknown parameter: 'stream_options'", "stream_options", `{"include_usage":true}`, `null`},
		{"Function tools with reasoning_effort are not supported for x in /v1/chat/completions.", "reasoning_effort", `"high"`, `"none"`},
	}
	for _, c := range cases {
		refusal := modelserver.Reply{Status: 400, Body: `{"error":{"message":"` + c.message + `"}}`}
		s := modelserver.New(t, refusal, modelserver.Reply{Text: "ok"}, refusal)
		m := newModel(t, s)
		req := model.Request{Thought: "high", Tools: []model.Tool{{Name: "t"}}}
		_, first := ask(t.Context(), t, m, req)
		_, second := ask(t.Context(), t, m, req)
		_, third := ask(t.Context(), t, m, req)
		if e, ok := first.(*model.Error); !ok || !e.Retryable() {
			t.Errorf("first: %v", first)
		}
		if second != nil {
			t.Errorf("second: %v", second)
		}
		if e, ok := third.(*model.Error); !ok || e.Retryable() || !strings.Contains(e.Message, c.message) {
			t.Errorf("third: %v: the same refusal again is final", third)
		}
		checkJSON(t, c.before, s.Requests()[0].JSON(t)[c.field])
		checkJSON(t, c.after, s.Requests()[1].JSON(t)[c.field])
	}
}
