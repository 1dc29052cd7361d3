package openai_test

import (
	"context"
	"strings"
	"testing"

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
		{"refusal", modelserver.Reply{Refusal: "I cannot help with that."}, model.FinishRefusal, 0},
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
			if c.reply.Refusal != got.Text && c.reply.Text != got.Text {
				t.Errorf("text %q", got.Text)
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
