package modelserver_test

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
	"acp-agent/internal/model/anthropic"
	"acp-agent/internal/model/openai"
	"acp-agent/internal/model/scripted"
	"acp-agent/internal/model/stream"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const script = `
turns:
  - thought: let me see
    text: I will write 中文 😀.
    chunk: 3
    tool_calls:
      - {id: c1, name: write_file, arguments: {path: a.go, content: "package a\n"}}
      - {id: c2, name: read_file, raw: '{"path":"b'}
    usage: {input: 10, output: 5, cached: 2}
  - {text: cut, finish: length}
  - {text: no, finish: refusal}
  - {text: again, repeat: 2}
  - error: {status: 429, message: slow down, retry_after: 1.5}
  - error: {status: 401, message: who are you}
  - {text: half, error: {status: 529, message: busy}}
  - {text: half, error: {message: gone}}
`

// told is one answer as far as it can be the same for a script and for a wire.
type told struct {
	Text, Thought string
	Calls         []model.ToolCall
	Finish        model.Finish
	Usage         model.Usage
	Kind          model.Kind
	Status        int
	RetryAfter    string
	Words         bool // the error has the script's words
}

func ask(t *testing.T, m model.Model, words string) told {
	t.Helper()
	var a told
	for e, err := range m.Stream(t.Context(), model.Request{Session: "s"}) {
		var fault *model.Error
		if errors.As(err, &fault) {
			a.Kind, a.Status, a.RetryAfter, a.Words = fault.Kind, fault.Status, fault.RetryAfter.String(), strings.Contains(fault.Message, words)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		a.Text += e.Text
		a.Thought += e.Thought
		if e.Call != nil {
			a.Calls = append(a.Calls, *e.Call)
		}
		if e.Done != nil {
			a.Finish, a.Usage = e.Done.Finish, e.Done.Usage
		}
	}
	return a
}

// A script says the same on both wires as it does without any.
func TestScriptOnTheWire(t *testing.T) {
	s, err := scripted.Parse("s", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	client := stream.NewClient()
	t.Cleanup(client.CloseIdleConnections)
	wires := map[string]model.Model{
		"openai":    openai.New(openai.Config{Model: "m", BaseURL: modelserver.FromScript(t, script).URL + "/v1", Client: client}),
		"anthropic": anthropic.New(anthropic.Config{Model: "m", BaseURL: modelserver.FromScript(t, script).URL, Client: client}),
	}
	plain := scripted.New("s", s)
	for turn := range 10 {
		words := []string{5: "slow down", 6: "who are you", 7: "busy", 9: ""}[min(turn, 9)]
		want := ask(t, plain, words)
		for name, m := range wires {
			got := ask(t, m, words)
			if want.Kind == model.KindUnreachable {
				got.Words = want.Words // a connection that breaks has no words
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s, request %d:\n%s", name, turn+1, d)
			}
		}
	}
}

func TestLists(t *testing.T) {
	s := modelserver.New(t)
	s.List(modelserver.Listed{Name: "m", Context: 7, Capabilities: []string{"tools"}})
	get := func(path, body string) (int, string) {
		resp, err := http.Post(s.URL+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = resp.Body.Close() }()
		raw, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(raw)
	}
	t.Cleanup(http.DefaultClient.CloseIdleConnections)
	for _, c := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/models", "", 200, `"id":"m"`},
		{"/api/tags", "", 200, `"name":"m"`},
		{"/api/show", `{"model":"m"}`, 200, `"x.context_length":7`},
		{"/api/show", `{"model":"n"}`, 404, `not found`},
		{"/other", "", 404, ""},
	} {
		if status, body := get(c.path, c.body); status != c.status || !strings.Contains(body, c.want) {
			t.Errorf("%s: %d %s", c.path, status, body)
		}
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests for an answer", n)
	}
}
