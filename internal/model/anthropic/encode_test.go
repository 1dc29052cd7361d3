package anthropic_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
	"acp-agent/internal/model/anthropic"
	"acp-agent/internal/model/stream"
)

// sent is the request that a model makes of req.
func sent(t *testing.T, req model.Request, change ...func(*anthropic.Config)) (modelserver.Request, map[string]any) {
	t.Helper()
	s := modelserver.New(t)
	if _, err := ask(t.Context(), t, newModel(t, s, change...), req); err != nil {
		t.Fatal(err)
	}
	return s.Requests()[0], s.Requests()[0].JSON(t)
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

func TestRequest(t *testing.T) {
	req := model.Request{System: "be brief", Session: "s1",
		Tools: []model.Tool{{Name: "t", Description: "d", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "bare"}},
		Messages: []model.Message{
			{Role: model.User, Parts: []model.Part{{Text: "look"}, {Image: &model.Media{MIME: "image/png", Data: []byte("png")}}}},
			{Role: model.Assistant, Parts: []model.Part{{Text: "ok"}}, Calls: []model.ToolCall{
				{ID: "call.1", Name: "t", Arguments: `{"a":1}`}, {ID: "c2", Name: "no such!", Arguments: `{"a`}},
				Thinking: []model.Thinking{{Text: "of another provider"}, {Text: "hm", Signature: "sig"}, {Signature: "hidden"}, {Redacted: "xyz"}}},
			{Role: model.ToolRole, CallID: "call.1", Parts: []model.Part{{Text: "r"}, {Image: &model.Media{MIME: "image/png", Data: []byte("i")}}}},
			{Role: model.ToolRole, CallID: "c2", IsError: true},
			model.TextMessage(model.User, "go on"),
			{Role: model.Assistant, Thinking: []model.Thinking{{Text: "only", Signature: "s"}}},
			model.TextMessage(model.User, " \n"),
			{Role: model.Assistant, Parts: []model.Part{{Text: "well"}}},
			model.TextMessage(model.User, "end"),
		}}
	r, got := sent(t, req)
	if r.Path != "/v1/messages" || r.Header.Get("X-Api-Key") != "secret-key" || r.Header.Get("Anthropic-Version") == "" || r.Header.Get("Anthropic-Beta") != "" {
		t.Errorf("%s %v", r.Path, r.Header)
	}
	const cache = `"cache_control":{"type":"ephemeral"}`
	id := stream.ID("call.1", 64)
	checkJSON(t, `{"model":"m1","max_tokens":32000,"stream":true,
		"system":[{"type":"text","text":"be brief",`+cache+`}],
		"tools":[{"name":"t","description":"d","input_schema":{"type":"object"}},{"name":"bare","input_schema":{"type":"object","properties":{}},`+cache+`}],
		"messages":[
			{"role":"user","content":[{"type":"text","text":"look"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"cG5n"}}]},
			{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"sig"},{"type":"thinking","thinking":"","signature":"hidden"},
				{"type":"redacted_thinking","data":"xyz"},{"type":"text","text":"ok"},
				{"type":"tool_use","id":"`+id+`","name":"t","input":{"a":1}},
				{"type":"tool_use","id":"c2","name":"`+stream.Name("no such!")+`","input":{"_raw":"{\"a"}}]},
			{"role":"user","content":[
				{"type":"tool_result","tool_use_id":"`+id+`","content":[{"type":"text","text":"r"},{"type":"image","source":{"type":"base64","media_type":"image/png","data":"aQ=="}}]},
				{"type":"tool_result","tool_use_id":"c2","is_error":true,"content":[{"type":"text","text":"(no message)"}]},
				{"type":"text","text":"go on",`+cache+`}]},
			{"role":"assistant","content":[{"type":"text","text":"well"}]},
			{"role":"user","content":[{"type":"text","text":"end",`+cache+`}]}]}`, got)
}

func TestThoughtLevels(t *testing.T) {
	cases := []struct {
		kind             anthropic.Thinking
		level            string
		max              int
		thinking, output string
		beta             bool
	}{
		{anthropic.Adaptive, "", 0, `null`, `null`, false},
		{anthropic.Adaptive, "max", 0, `{"type":"adaptive","display":"summarized"}`, `{"effort":"max"}`, false},
		{anthropic.Budget, "", 0, `null`, `null`, true},
		{anthropic.Budget, "low", 0, `{"type":"enabled","budget_tokens":4000}`, `null`, true},
		{anthropic.Budget, "high", 64000, `{"type":"enabled","budget_tokens":24000}`, `null`, true},
		{anthropic.Budget, "high", 8192, `{"type":"enabled","budget_tokens":4096}`, `null`, true},
		{anthropic.Never, "high", 0, `null`, `null`, false},
	}
	for _, c := range cases {
		r, got := sent(t, model.Request{Thought: c.level}, func(cfg *anthropic.Config) {
			cfg.Thinking, cfg.MaxOutput, cfg.BaseURL = c.kind, c.max, cfg.BaseURL+"/v1/"
		})
		checkJSON(t, c.thinking, got["thinking"])
		checkJSON(t, c.output, got["output_config"])
		if (r.Header.Get("Anthropic-Beta") != "") != c.beta || r.Path != "/v1/messages" {
			t.Errorf("%v: beta %q, path %s", c.kind, r.Header.Get("Anthropic-Beta"), r.Path)
		}
	}
}
