package anthropic_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
	"acp-agent/internal/model/anthropic"
	"acp-agent/internal/model/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// answer is what a stream of events amounts to.
type answer struct {
	Text, Thought string
	Starts        []string
	Calls         []model.ToolCall
	Thinking      []model.Thinking
	Done          *model.Done
}

func ask(ctx context.Context, t testing.TB, m model.Model, req model.Request) (answer, error) {
	t.Helper()
	var a answer
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return a, err
		}
		if a.Done != nil {
			t.Fatalf("an event after Done: %+v", e)
		}
		a.Text += e.Text
		a.Thought += e.Thought
		if e.CallStart != "" {
			a.Starts = append(a.Starts, e.CallStart)
		}
		if e.Call != nil {
			a.Calls = append(a.Calls, *e.Call)
		}
		if e.Thinking != nil {
			a.Thinking = append(a.Thinking, *e.Thinking)
		}
		a.Done = e.Done
		if strings.Contains(e.Text+e.Thought, "\uFFFD") {
			t.Errorf("half a character came out: %+v", e)
		}
	}
	if a.Done == nil {
		t.Error("the stream ended without Done and without an error")
	}
	return a, nil
}

func newModel(t testing.TB, s *modelserver.Server, change ...func(*anthropic.Config)) *anthropic.Model {
	t.Helper()
	client := stream.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	cfg := anthropic.Config{Info: model.Info{ID: "test/m1", Provider: "test", Name: "m1"}, Model: "m1",
		BaseURL: s.URL, Key: "secret-key", SignIn: "set TEST_KEY", Client: client}
	for _, c := range change {
		c(&cfg)
	}
	return anthropic.New(cfg)
}

const (
	someText = "Grüße 😀 to 中文, \"quoted\"\n\tand\\more"
	someArgs = `{"path":"ä/😀.go","content":"a\n\"b\" 中"}`
)

var (
	someCalls = []modelserver.Call{
		{ID: "toolu_1", Name: "write_file", Arguments: someArgs},
		{ID: "toolu_2", Name: "write_file", Arguments: someArgs},
		{ID: "toolu_3", Name: "read_file", Arguments: `{"path":"b"}`},
	}
	someUsage = model.Usage{Input: 100, Output: 20, Cached: 40}
)

func TestHabitsOfServers(t *testing.T) {
	cases := []struct {
		name  string
		reply modelserver.Reply
		ids   bool // ids are ours
	}{
		{name: "plain"},
		{name: "each call in one delta", reply: modelserver.Reply{WholeCalls: true}},
		{name: "input in the beginning of the block", reply: modelserver.Reply{ArgsObject: true}},
		{name: "arguments byte by byte", reply: modelserver.Reply{ArgBytes: 1}},
		{name: "everything byte by byte", reply: modelserver.Reply{Bytes: true}},
		{name: "surrogates cut in two", reply: modelserver.Reply{Surrogates: true}},
		{name: "socket writes of 1 byte", reply: modelserver.Reply{Write: 1}},
		{name: "socket writes of 7 bytes", reply: modelserver.Reply{Write: 7, Bytes: true}},
		{name: "no ids", reply: modelserver.Reply{NoIDs: true}, ids: true},
		{name: "the same id for all", reply: modelserver.Reply{SameID: true}, ids: true},
		{name: "end_turn although there are calls", reply: modelserver.Reply{Finish: "stop"}},
		{name: "pings and comments", reply: modelserver.Reply{Comments: true}},
		{name: "no message_stop", reply: modelserver.Reply{NoDone: true}},
		{name: "no stop reason", reply: modelserver.Reply{NoFinish: true}},
		{name: "CRLF", reply: modelserver.Reply{CRLF: true}},
		{name: "no space after data:", reply: modelserver.Reply{NoSpace: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := c.reply
			r.Thought, r.Signature, r.Redacted, r.Text, r.Calls, r.Usage = "hm, 中", "sig", "xyz", someText, someCalls, someUsage
			got, err := ask(t.Context(), t, newModel(t, modelserver.New(t, r)), model.Request{})
			if err != nil {
				t.Fatal(err)
			}
			want := answer{Text: someText, Thought: "hm, 中", Starts: []string{"write_file", "write_file", "read_file"},
				Thinking: []model.Thinking{{Text: "hm, 中", Signature: "sig"}, {Redacted: "xyz"}},
				Done:     &model.Done{Finish: model.FinishToolCalls, Usage: someUsage}}
			if r.NoFinish {
				want.Done.Usage.Output = 1 // what message_start said
			}
			seen := map[string]bool{}
			for i, k := range someCalls {
				id := k.ID
				if c.ids && i < len(got.Calls) {
					id = got.Calls[i].ID
				}
				if seen[id] || id == "" {
					t.Errorf("id %q is empty or twice there", id)
				}
				seen[id] = true
				want.Calls = append(want.Calls, model.ToolCall{ID: id, Name: k.Name, Arguments: k.Arguments})
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestWholeAnswer(t *testing.T) {
	r := modelserver.Reply{NoStream: true, Text: someText, Calls: someCalls, Usage: someUsage}
	got, err := ask(t.Context(), t, newModel(t, modelserver.New(t, r)), model.Request{})
	if err != nil || got.Text != someText || len(got.Calls) != 3 || got.Calls[0].Arguments != someArgs || got.Done.Usage != someUsage {
		t.Errorf("%+v %v", got, err)
	}
}

func TestFinish(t *testing.T) {
	call := []modelserver.Call{{ID: "c", Name: "w", Arguments: `{"path":"a"`}}
	cases := []struct {
		stop  string
		calls []modelserver.Call
		want  model.Finish
	}{
		{"end_turn", nil, model.FinishStop},
		{"stop_sequence", nil, model.FinishStop},
		{"pause_turn", nil, model.FinishStop},
		{"max_tokens", nil, model.FinishLength},
		{"max_tokens", call, model.FinishLength},
		{"model_context_window_exceeded", nil, model.FinishLength},
		{"refusal", nil, model.FinishRefusal},
		{"tool_use", call, model.FinishToolCalls},
		{"tool_use", nil, model.FinishStop},
	}
	for _, c := range cases {
		got, err := ask(t.Context(), t, newModel(t, modelserver.New(t, modelserver.Reply{Text: "a", Calls: c.calls, Finish: c.stop})), model.Request{})
		if err != nil || got.Done.Finish != c.want || len(got.Calls) != len(c.calls) {
			t.Errorf("%s: %+v %v", c.stop, got.Done, err)
		}
		for _, k := range got.Calls {
			if k.Arguments != call[0].Arguments {
				t.Errorf("%s: arguments %q were changed", c.stop, k.Arguments)
			}
		}
	}
}

func TestOpenEnd(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Text: "a", NoDone: true, Linger: true})
	got, err := ask(t.Context(), t, newModel(t, s), model.Request{})
	if err != nil || got.Text != "a" {
		t.Fatalf("%+v %v", got, err)
	}
	<-s.Requests()[0].Gone
}

func TestFaults(t *testing.T) {
	const long = "a text that is longer than one delta of twenty characters"
	body := func(typ, message string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"` + message + `"},"request_id":"r"}`
	}
	cases := []struct {
		name  string
		reply modelserver.Reply
		want  model.Error
		text  bool
	}{
		{"401", modelserver.Reply{Status: 401, Body: body("authentication_error", "invalid x-api-key secret-key")}, model.Error{Kind: model.KindAuth, Status: 401, Message: "invalid x-api-key [key] (set TEST_KEY)"}, false},
		{"400", modelserver.Reply{Status: 400, Body: body("invalid_request_error", "messages.1: odd")}, model.Error{Kind: model.KindInvalid, Status: 400, Message: "messages.1: odd"}, false},
		{"too long", modelserver.Reply{Status: 400, Body: body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")}, model.Error{Kind: model.KindContext, Status: 400, Message: "prompt is too long"}, false},
		{"404", modelserver.Reply{Status: 404, Body: body("not_found_error", "model: m1")}, model.Error{Kind: model.KindInvalid, Status: 404, Message: "model: m1"}, false},
		{"413", modelserver.Reply{Status: 413, Body: body("request_too_large", "big")}, model.Error{Kind: model.KindContext, Status: 413, Message: "big"}, false},
		{"429", modelserver.Reply{Status: 429, Body: body("rate_limit_error", "slow"), Header: http.Header{"Retry-After": {"3"}}}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "slow", RetryAfter: 3 * time.Second}, false},
		{"500", modelserver.Reply{Status: 500, Body: body("api_error", "oops")}, model.Error{Kind: model.KindServer, Status: 500, Message: "oops"}, false},
		{"529", modelserver.Reply{Status: 529, Body: body("overloaded_error", "Overloaded")}, model.Error{Kind: model.KindOverloaded, Status: 529, Message: "Overloaded"}, false},
		{"200 with an error", modelserver.Reply{Body: body("overloaded_error", "Overloaded")}, model.Error{Kind: model.KindOverloaded, Message: "Overloaded"}, false},
		{"200 with other JSON", modelserver.Reply{Body: `{"ok":true}`}, model.Error{Kind: model.KindProtocol, Message: "not a message"}, false},
		{"200 with a list", modelserver.Reply{Body: `[1]`}, model.Error{Kind: model.KindProtocol, Message: "not an event"}, false},
		{"200 with a page", modelserver.Reply{Body: "<html></html>"}, model.Error{Kind: model.KindProtocol, Message: "web page"}, false},
		{"error event", modelserver.Reply{Text: long, Fault: modelserver.ErrorEvent, After: 4, Body: body("overloaded_error", "Overloaded")}, model.Error{Kind: model.KindOverloaded, Message: "Overloaded"}, true},
		{"error event before all", modelserver.Reply{Fault: modelserver.ErrorEvent, Body: body("rate_limit_error", "slow")}, model.Error{Kind: model.KindRateLimit, Message: "slow"}, false},
		{"error object in the stream", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 4, Body: `{"error":{"message":"upstream"}}`}, model.Error{Kind: model.KindServer, Message: "upstream"}, true},
		{"error without data:", modelserver.Reply{Text: long, Fault: modelserver.BareError, After: 4, Body: body("api_error", "oops")}, model.Error{Kind: model.KindServer, Message: "oops"}, true},
		{"rubbish", modelserver.Reply{Text: long, Fault: modelserver.Garbage, After: 4}, model.Error{Kind: model.KindProtocol, Message: "not an event"}, true},
		{"cut off", modelserver.Reply{Text: long, Fault: modelserver.CutOff, After: 4}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"cut off behind whole calls", modelserver.Reply{Text: long, Calls: someCalls, Fault: modelserver.CutOff, After: modelserver.AtEnd}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"reset", modelserver.Reply{Text: long, Fault: modelserver.Reset, After: 4}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := modelserver.New(t, c.reply)
			got, err := ask(t.Context(), t, newModel(t, s), model.Request{})
			var e *model.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Kind != c.want.Kind || e.Status != c.want.Status || e.RetryAfter != c.want.RetryAfter || !strings.Contains(e.Message, c.want.Message) {
				t.Errorf("error %s %d %v %q\nwant  %s %d %v %q", e.Kind, e.Status, e.RetryAfter, e.Message, c.want.Kind, c.want.Status, c.want.RetryAfter, c.want.Message)
			}
			if !strings.HasPrefix(e.Message, "test: ") || strings.Contains(e.Error(), "secret-key") {
				t.Errorf("message %q", e.Message)
			}
			if got.Calls != nil || got.Done != nil || (got.Text != "") != c.text {
				t.Errorf("before the error came %+v", got)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests: retrying is not ours", n)
			}
		})
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Text: "abc", Fault: modelserver.Hang, After: 3})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var err error
	for e, e2 := range newModel(t, s).Stream(ctx, model.Request{}) {
		if e.Text != "" {
			cancel()
		}
		err = e2
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-s.Requests()[0].Gone
}

func TestReaderMayStop(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Thought: "a", Text: strings.Repeat("word ", 100), Calls: someCalls, Fault: modelserver.Hang, After: modelserver.AtEnd})
	for e, err := range newModel(t, s).Stream(t.Context(), model.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Text != "" {
			break
		}
	}
	<-s.Requests()[0].Gone
}

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
