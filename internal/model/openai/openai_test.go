package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
	"acp-agent/internal/model/openai"
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

func newModel(t testing.TB, s *modelserver.Server, change ...func(*openai.Config)) *openai.Model {
	t.Helper()
	client := stream.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	cfg := openai.Config{Info: model.Info{ID: "test/m1", Provider: "test", Name: "m1"}, Model: "m1",
		BaseURL: s.URL + "/v1", Key: "secret-key", SignIn: "set TEST_KEY", Client: client}
	for _, c := range change {
		c(&cfg)
	}
	return openai.New(cfg)
}

const (
	someText = "Grüße 😀 to 中文, \"quoted\"\n\tand\\more"
	someArgs = `{"path":"ä/😀.go","content":"a\n\"b\" 中"}`
)

var (
	someCalls = []modelserver.Call{
		{ID: "c1", Name: "write_file", Arguments: someArgs},
		{ID: "c2", Name: "write_file", Arguments: someArgs},
		{ID: "c3", Name: "read_file", Arguments: `{"path":"b"}`},
	}
	someUsage = model.Usage{Input: 100, Output: 20, Cached: 40}
)

// However a server writes an answer, it is the same answer.
func TestHabitsOfServers(t *testing.T) {
	cases := []struct {
		name  string
		reply modelserver.Reply
		ids   string // what becomes of the ids when it is not kept
	}{
		{name: "plain"},
		{name: "one delta for each call", reply: modelserver.Reply{WholeCalls: true}},
		{name: "all calls in one delta", reply: modelserver.Reply{OneDelta: true}},
		{name: "arguments as an object", reply: modelserver.Reply{ArgsObject: true}},
		{name: "arguments as an object in one delta", reply: modelserver.Reply{ArgsObject: true, OneDelta: true, NoIndex: true}},
		{name: "arguments byte by byte", reply: modelserver.Reply{ArgBytes: 1}},
		{name: "text and arguments byte by byte", reply: modelserver.Reply{Bytes: true}},
		{name: "surrogates cut in two", reply: modelserver.Reply{Surrogates: true}},
		{name: "socket writes of 1 byte", reply: modelserver.Reply{Write: 1}},
		{name: "socket writes of 7 bytes", reply: modelserver.Reply{Write: 7, Bytes: true}},
		{name: "no ids", reply: modelserver.Reply{NoIDs: true}, ids: "new"},
		{name: "no ids, whole calls", reply: modelserver.Reply{NoIDs: true, WholeCalls: true}, ids: "new"},
		{name: "no ids, no index, whole calls", reply: modelserver.Reply{NoIDs: true, NoIndex: true, WholeCalls: true}, ids: "new"},
		{name: "no ids, no index, one delta", reply: modelserver.Reply{NoIDs: true, NoIndex: true, OneDelta: true}, ids: "new"},
		{name: "no ids, no index, pieces", reply: modelserver.Reply{NoIDs: true, NoIndex: true}, ids: "new"},
		{name: "the same id for all", reply: modelserver.Reply{SameID: true}, ids: "some"},
		{name: "a new id in each delta", reply: modelserver.Reply{RandomIDs: true}, ids: "some"},
		{name: "no index", reply: modelserver.Reply{NoIndex: true}},
		{name: "no index, name in each delta", reply: modelserver.Reply{NoIndex: true, RepeatName: true}},
		{name: "no index, whole calls", reply: modelserver.Reply{NoIndex: true, WholeCalls: true}},
		{name: "index 0 for all", reply: modelserver.Reply{SameIndex: true}},
		{name: "index 0 for all, whole calls", reply: modelserver.Reply{SameIndex: true, WholeCalls: true}},
		{name: "index 0 for all, no ids, whole calls", reply: modelserver.Reply{SameIndex: true, NoIDs: true, WholeCalls: true}, ids: "new"},
		{name: "name in each delta", reply: modelserver.Reply{RepeatName: true}},
		{name: "arguments again at the end", reply: modelserver.Reply{RepeatArgs: true}},
		{name: "arguments again at the end, with name and id", reply: modelserver.Reply{RepeatArgs: true, RepeatName: true}},
		{name: "finish stop although there are calls", reply: modelserver.Reply{Finish: "stop"}},
		{name: "content null", reply: modelserver.Reply{ContentNull: true}},
		{name: "reasoning", reply: modelserver.Reply{Reasoning: "reasoning"}},
		{name: "think tags", reply: modelserver.Reply{Reasoning: "think"}},
		{name: "think tags cut anywhere", reply: modelserver.Reply{Reasoning: "think", Chunk: 1}},
		{name: "think tags byte by byte", reply: modelserver.Reply{Reasoning: "think", Bytes: true}},
		{name: "keepalive comments", reply: modelserver.Reply{Comments: true}},
		{name: "no [DONE]", reply: modelserver.Reply{NoDone: true}},
		{name: "no finish reason", reply: modelserver.Reply{NoFinish: true}},
		{name: "CRLF", reply: modelserver.Reply{CRLF: true}},
		{name: "no space after data:", reply: modelserver.Reply{NoSpace: true}},
		{name: "no stream at all", reply: modelserver.Reply{NoStream: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := c.reply
			r.Thought, r.Text, r.Calls, r.Usage = "hm, 中", someText, someCalls, someUsage
			got, err := ask(t.Context(), t, newModel(t, modelserver.New(t, r)), model.Request{})
			if err != nil {
				t.Fatal(err)
			}
			want := answer{Text: someText, Thought: "hm, 中", Starts: []string{"write_file", "write_file", "read_file"},
				Done: &model.Done{Finish: model.FinishToolCalls, Usage: someUsage}}
			for _, k := range someCalls {
				want.Calls = append(want.Calls, model.ToolCall(struct{ ID, Name, Arguments, Signature string }{k.ID, k.Name, k.Arguments, ""}))
			}
			if r.Reasoning != "think" {
				want.Thinking = []model.Thinking{{Text: "hm, 中"}}
			}
			if c.ids != "" {
				distinct(t, got.Calls)
				for i := range got.Calls {
					if c.ids == "new" && !strings.HasPrefix(got.Calls[i].ID, "call_") {
						t.Errorf("id %q was not made by us", got.Calls[i].ID)
					}
					if i < len(want.Calls) {
						want.Calls[i].ID = got.Calls[i].ID
					}
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Error(d)
			}
		})
	}
}

func distinct(t *testing.T, calls []model.ToolCall) {
	t.Helper()
	seen := map[string]bool{}
	for _, c := range calls {
		if c.ID == "" || seen[c.ID] {
			t.Errorf("id %q is empty or twice there", c.ID)
		}
		seen[c.ID] = true
	}
}

func TestIDsAreNewInTheConversation(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Calls: []modelserver.Call{{ID: "call_0", Name: "a", Arguments: "{}"}}})
	got, err := ask(t.Context(), t, newModel(t, s), model.Request{Messages: []model.Message{
		model.TextMessage(model.User, "go"), {Role: model.Assistant, Calls: []model.ToolCall{{ID: "call_0", Name: "a", Arguments: "{}"}}},
		{Role: model.ToolRole, CallID: "call_0", Parts: []model.Part{{Text: "ok"}}}}})
	if err != nil || len(got.Calls) != 1 || got.Calls[0].ID == "call_0" {
		t.Errorf("%+v %v: the id was used before", got.Calls, err)
	}
}

func TestFinish(t *testing.T) {
	call := []modelserver.Call{{ID: "c", Name: "w", Arguments: `{"path":"a"`}}
	cases := []struct {
		name  string
		reply modelserver.Reply
		want  model.Finish
		calls int
	}{
		{"stop", modelserver.Reply{Text: "a"}, model.FinishStop, 0},
		{"empty", modelserver.Reply{}, model.FinishStop, 0},
		{"tool_calls without any", modelserver.Reply{Text: "a", Finish: "tool_calls"}, model.FinishStop, 0},
		{"length", modelserver.Reply{Text: "a", Finish: "length"}, model.FinishLength, 0},
		{"length inside a call", modelserver.Reply{Calls: call, Finish: "length"}, model.FinishLength, 1},
		{"content filter", modelserver.Reply{Text: "a", Finish: "content_filter"}, model.FinishRefusal, 0},
		{"a call that is not JSON", modelserver.Reply{Calls: call}, model.FinishToolCalls, 1},
		{"no usage", modelserver.Reply{Text: "a", NoUsage: true}, model.FinishStop, 0},
		{"the connection stays open", modelserver.Reply{Text: "a", Linger: true}, model.FinishStop, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := ask(t.Context(), t, newModel(t, modelserver.New(t, c.reply)), model.Request{})
			if err != nil {
				t.Fatal(err)
			}
			if got.Done.Finish != c.want || len(got.Calls) != c.calls {
				t.Errorf("finish %s with %d calls, want %s with %d", got.Done.Finish, len(got.Calls), c.want, c.calls)
			}
			for _, k := range got.Calls {
				if k.Arguments != call[0].Arguments {
					t.Errorf("arguments %q were changed", k.Arguments)
				}
			}
		})
	}
}

// A server that leaves the connection open without [DONE] does not hold the answer up.
func TestOpenEnd(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Text: "a", NoUsage: true, NoDone: true, Linger: true})
	got, err := ask(t.Context(), t, newModel(t, s), model.Request{})
	if err != nil || got.Text != "a" {
		t.Fatalf("%+v %v", got, err)
	}
	<-s.Requests()[0].Gone
}

func TestFaults(t *testing.T) {
	const long = "a text that is longer than one delta of twenty characters"
	openaiError := `{"error":{"message":"bad thing secret-key happened","type":"t","code":"c"}}`
	cases := []struct {
		name  string
		reply modelserver.Reply
		want  model.Error // Kind, Status, RetryAfter; Message is a part of it
		text  bool        // text came before
	}{
		{"401", modelserver.Reply{Status: 401, Body: openaiError}, model.Error{Kind: model.KindAuth, Status: 401, Message: "bad thing [key] happened (set TEST_KEY)"}, false},
		{"403", modelserver.Reply{Status: 403, Body: openaiError}, model.Error{Kind: model.KindAuth, Status: 403, Message: "bad thing"}, false},
		{"400", modelserver.Reply{Status: 400, Body: openaiError}, model.Error{Kind: model.KindInvalid, Status: 400, Message: "bad thing"}, false},
		{"404", modelserver.Reply{Status: 404, Body: `{"error":"model 'm1' not found"}`}, model.Error{Kind: model.KindInvalid, Status: 404, Message: "model 'm1' not found (asked http://"}, false},
		{"context by code", modelserver.Reply{Status: 400, Body: `{"error":{"message":"too much","code":"context_length_exceeded"}}`}, model.Error{Kind: model.KindContext, Status: 400, Message: "too much"}, false},
		{"context by words", modelserver.Reply{Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}`}, model.Error{Kind: model.KindContext, Status: 400, Message: "maximum context length"}, false},
		{"413", modelserver.Reply{Status: 413, Body: "too large"}, model.Error{Kind: model.KindContext, Status: 413, Message: "too large"}, false},
		{"429 with Retry-After", modelserver.Reply{Status: 429, Body: openaiError, Header: http.Header{"Retry-After": {"7"}}}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "bad thing", RetryAfter: 7 * time.Second}, false},
		{"429 with Retry-After-Ms", modelserver.Reply{Status: 429, Body: openaiError, Header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "bad thing", RetryAfter: 1500 * time.Millisecond}, false},
		{"429 of Gemini", modelserver.Reply{Status: 429, Body: `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","retryDelay":"21s"}]}}]`}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "quota", RetryAfter: 21 * time.Second}, false},
		{"429 that no waiting mends", modelserver.Reply{Status: 429, Body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}, model.Error{Kind: model.KindInvalid, Status: 429, Message: "pay"}, false},
		{"500", modelserver.Reply{Status: 500, Body: "oops"}, model.Error{Kind: model.KindServer, Status: 500, Message: "oops"}, false},
		{"500 with nothing", modelserver.Reply{Status: 500}, model.Error{Kind: model.KindServer, Status: 500, Message: "internal server error"}, false},
		{"502 with a page", modelserver.Reply{Status: 502, Body: "<html><head><title>Bad\n gateway</title></head></html>", Header: http.Header{"Content-Type": {"text/html"}}}, model.Error{Kind: model.KindServer, Status: 502, Message: "test: Bad gateway"}, false},
		{"503", modelserver.Reply{Status: 503, Body: openaiError}, model.Error{Kind: model.KindOverloaded, Status: 503, Message: "bad thing"}, false},
		{"529", modelserver.Reply{Status: 529, Body: openaiError}, model.Error{Kind: model.KindOverloaded, Status: 529, Message: "bad thing"}, false},
		{"redirect", modelserver.Reply{Status: 307, Header: http.Header{"Location": {"http://elsewhere.invalid/"}}}, model.Error{Kind: model.KindInvalid, Status: 307, Message: "http://elsewhere.invalid/"}, false},
		{"200 with an error", modelserver.Reply{Body: openaiError}, model.Error{Kind: model.KindServer, Message: "bad thing"}, false},
		{"200 with a rate limit", modelserver.Reply{Body: `{"error":{"message":"slow down","code":429}}`}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "slow down"}, false},
		{"200 with a detail", modelserver.Reply{Body: `{"detail":[{"loc":["body"],"msg":"field required"}]}`}, model.Error{Kind: model.KindServer, Message: "field required"}, false},
		{"200 with other JSON", modelserver.Reply{Body: `{"models":[]}`}, model.Error{Kind: model.KindProtocol, Message: "not a chat completion"}, false},
		{"200 with a page", modelserver.Reply{Body: "<!doctype html><title>Welcome</title>", Header: http.Header{"Content-Type": {"text/html"}}}, model.Error{Kind: model.KindProtocol, Message: "(Welcome)"}, false},
		{"error event", modelserver.Reply{Text: long, Fault: modelserver.ErrorEvent, After: 3, Body: openaiError}, model.Error{Kind: model.KindServer, Message: "bad thing [key]"}, true},
		{"error event of words", modelserver.Reply{Text: long, Fault: modelserver.ErrorEvent, After: 3, Body: "it broke"}, model.Error{Kind: model.KindServer, Message: "it broke"}, true},
		{"error object in the stream", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 3, Body: `{"error":{"message":"overloaded","type":"overloaded_error"}}`}, model.Error{Kind: model.KindOverloaded, Message: "overloaded"}, true},
		{"error in the first event", modelserver.Reply{Fault: modelserver.ErrorData, Body: `{"error":{"message":"no","code":401}}`}, model.Error{Kind: model.KindAuth, Status: 401, Message: "no"}, false},
		{"error of older vLLM", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 3, Body: `{"object":"error","message":"no","type":"BadRequestError","code":400}`}, model.Error{Kind: model.KindInvalid, Status: 400, Message: "no"}, true},
		{"error of OpenRouter", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 3, Body: `{"id":"1","error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream died"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`}, model.Error{Kind: model.KindServer, Status: 502, Message: "upstream died"}, true},
		{"finish reason error", modelserver.Reply{Text: long, Finish: "error"}, model.Error{Kind: model.KindServer, Message: "without saying why"}, true},
		{"error without data:", modelserver.Reply{Text: long, Fault: modelserver.BareError, After: 3, Body: `{"error":"it broke"}`}, model.Error{Kind: model.KindServer, Message: "it broke"}, true},
		{"rubbish", modelserver.Reply{Text: long, Fault: modelserver.Garbage, After: 3}, model.Error{Kind: model.KindProtocol, Message: "not a chat completion chunk"}, true},
		{"cut off", modelserver.Reply{Text: long, Fault: modelserver.CutOff, After: 3}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"cut off inside a whole call", modelserver.Reply{Text: long, Calls: someCalls, Fault: modelserver.CutOff, After: modelserver.AtEnd}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"reset", modelserver.Reply{Text: long, Fault: modelserver.Reset, After: 3}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
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
			if !strings.HasPrefix(e.Message, "test: ") || strings.Contains(e.Error(), "secret-key") || strings.Contains(e.Error(), "\n") {
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

func TestNobodyListens(t *testing.T) {
	s := modelserver.New(t)
	m := newModel(t, s)
	s.Close()
	_, err := ask(t.Context(), t, m, model.Request{})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindUnreachable || !e.Retryable() || !strings.Contains(e.Message, "nothing listens at 127.0.0.1:") {
		t.Errorf("error %v", err)
	}
	m = newModel(t, s, func(c *openai.Config) { c.BaseURL = "::nonsense" })
	if _, err := ask(t.Context(), t, m, model.Request{}); !errors.As(err, &e) || e.Kind != model.KindInvalid {
		t.Errorf("error %v", err)
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	for _, after := range []int{0, 2} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			s := modelserver.New(t, modelserver.Reply{Text: "abc", Fault: modelserver.Hang, After: after})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if after == 0 {
				go func() {
					s.Await(t, 1)
					cancel()
				}()
			}
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
		})
	}
}

func TestDeadlineIsTheCallersOwnError(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Fault: modelserver.Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, t, newModel(t, s), model.Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestReaderMayStop(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Text: strings.Repeat("word ", 100), Fault: modelserver.Hang, After: modelserver.AtEnd})
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

// Text is handed on while the server is still writing.
func TestTextComesAtOnce(t *testing.T) {
	hold := make(chan struct{})
	s := modelserver.New(t, modelserver.Reply{Text: "one two", Chunk: 4, Hold: hold, Write: 5})
	hold2 := func() { hold <- struct{}{} }
	go hold2() // lets the first text out
	var got []string
	for e, err := range newModel(t, s).Stream(t.Context(), model.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Text != "" {
			if got = append(got, e.Text); len(got) == 1 {
				close(hold) // only now may the server go on
			}
		}
	}
	if d := cmp.Diff([]string{"one ", "two"}, got); d != "" {
		t.Error(d)
	}
}
