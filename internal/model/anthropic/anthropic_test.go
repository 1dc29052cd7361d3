package anthropic_test

import (
	"context"
	"strings"
	"testing"

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
