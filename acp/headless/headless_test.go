package headless

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"acp-agent/internal/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeAgent is the other side: it sends the updates, asks the questions, and ends the turn.
type fakeAgent struct {
	updates   []string // of the turn, as JSON
	questions []string // params of permission requests without sessionId
	stop      string
	failure   *wire.Error

	mu      sync.Mutex
	calls   []string // methods and params as they came
	answers []string // of the questions
}

func (a *fakeAgent) serve(ctx context.Context, r io.Reader, w io.Writer) error {
	var conn *wire.Conn
	var turns sync.WaitGroup
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	conn = wire.NewConn(r, w, func(req *wire.Request) {
		a.mu.Lock()
		a.calls = append(a.calls, req.Method+" "+string(req.Params))
		a.mu.Unlock()
		switch req.Method {
		case "initialize":
			req.Reply(map[string]any{"protocolVersion": 1, "agentInfo": map[string]any{"name": "fake", "version": "9.9.9"}})
		case "session/new":
			req.Reply(map[string]any{"sessionId": "s1", "configOptions": []any{map[string]any{"id": "mode", "currentValue": "default"}}})
		case "session/prompt":
			turns.Go(func() { a.turn(ctx, conn, req) })
		case "session/cancel":
			cancel()
		default:
			req.Reply(struct{}{})
		}
	}, wire.Options{})
	err := conn.Run(context.WithoutCancel(ctx))
	cancel()
	turns.Wait()
	return err
}

func (a *fakeAgent) turn(ctx context.Context, conn *wire.Conn, req *wire.Request) {
	for _, u := range a.updates {
		_ = conn.Notify("session/update", map[string]any{"sessionId": "s1", "update": json.RawMessage(u)})
	}
	for _, q := range a.questions {
		var answer json.RawMessage
		if err := conn.Call(ctx, "session/request_permission", json.RawMessage(q), &answer); err != nil {
			answer = json.RawMessage(`"` + err.Error() + `"`)
		}
		a.mu.Lock()
		a.answers = append(a.answers, string(answer))
		a.mu.Unlock()
	}
	switch {
	case ctx.Err() != nil:
		req.Reply(map[string]any{"stopReason": "cancelled"})
	case a.failure != nil:
		req.ReplyError(a.failure)
	default:
		req.Reply(map[string]any{"stopReason": a.stop})
	}
}

// question is an edit's permission request; meta is put into its _meta.acpAgent.
func question(meta string) string {
	return fmt.Sprintf(`{"sessionId":"s1","_meta":{"acpAgent":{"v":1%s}},"options":[
		{"optionId":"allow_once","name":"Allow once","kind":"allow_once"},
		{"optionId":"allow_session","name":"Allow all edits inside the workspace this session","kind":"allow_always"},
		{"optionId":"reject_once","name":"Reject","kind":"reject_once"}],
		"toolCall":{"toolCallId":"c1","title":"Edit a.go (+1 −1, +1 error)","kind":"edit","status":"pending",
		"content":[{"type":"diff","path":"/w/a.go","oldText":"a\nb\n","newText":"a\nB\n"},
			{"type":"content","content":{"type":"text","text":"LSP diagnostics:\nERROR [2:1] undefined: B"}}],
		"_meta":{"acpAgent":{"edit":{"id":"p","kind":"patch_replace","state":"pending","files":[{"path":"/w/a.go","op":"update"}]}}}}}`, meta)
}

// play runs the runner against the agent and gives the exit code with both outputs.
func play(t *testing.T, a *fakeAgent, change func(*Runner)) (code int, out, side string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	r := &Runner{Serve: a.serve, Version: "1.2.3", Cwd: "/w", Prompt: "go",
		Screen: &Screen{Out: &stdout, Side: &stderr, Cwd: "/w"}}
	if change != nil {
		change(r)
	}
	code, err := r.Run(t.Context())
	if err != nil {
		t.Logf("error: %v", err)
	}
	return code, stdout.String(), stderr.String()
}

func TestExitCodes(t *testing.T) {
	data := json.RawMessage(`{"kind":"unreachable"}`)
	for name, tc := range map[string]struct {
		agent *fakeAgent
		in    string // answers; "" for no terminal
		yes   bool
		want  int
	}{
		"end of turn":                {agent: &fakeAgent{stop: "end_turn"}, want: ExitOK},
		"refusal":                    {agent: &fakeAgent{stop: "refusal"}, want: ExitLimit},
		"token limit":                {agent: &fakeAgent{stop: "max_tokens"}, want: ExitLimit},
		"too many rounds":            {agent: &fakeAgent{stop: "max_turn_requests"}, want: ExitLimit},
		"not signed in":              {agent: &fakeAgent{failure: &wire.Error{Code: -32000, Message: "no key"}}, want: ExitNoModel},
		"model unreachable":          {agent: &fakeAgent{failure: &wire.Error{Code: -32603, Message: "gone", Data: data}}, want: ExitNoModel},
		"other error":                {agent: &fakeAgent{failure: &wire.Error{Code: -32603, Message: "odd"}}, want: ExitError},
		"nobody to ask":              {agent: &fakeAgent{questions: []string{question("")}, stop: "end_turn"}, want: ExitRejected},
		"yes":                        {agent: &fakeAgent{questions: []string{question("")}, stop: "end_turn"}, in: "y\n", want: ExitOK},
		"no":                         {agent: &fakeAgent{questions: []string{question("")}, stop: "end_turn"}, in: "what?\nn\n", want: ExitRejected},
		"end of input":               {agent: &fakeAgent{questions: []string{question("")}, stop: "end_turn"}, in: "what?\n", want: ExitRejected},
		"quit":                       {agent: &fakeAgent{questions: []string{question("")}, stop: "end_turn"}, in: "q\n", want: ExitCancelled},
		"--yes":                      {agent: &fakeAgent{questions: []string{question("")}, stop: "end_turn"}, yes: true, want: ExitOK},
		"--yes and sensitive":        {agent: &fakeAgent{questions: []string{question(`,"sensitive":true`)}, stop: "end_turn"}, yes: true, want: ExitRejected},
		"--yes and outside":          {agent: &fakeAgent{questions: []string{question(`,"outside":true`)}, stop: "end_turn"}, yes: true, want: ExitRejected},
		"rejected, then token limit": {agent: &fakeAgent{questions: []string{question("")}, stop: "max_tokens"}, want: ExitLimit},
	} {
		t.Run(name, func(t *testing.T) {
			code, _, side := play(t, tc.agent, func(r *Runner) {
				r.Yes = tc.yes
				if tc.in != "" {
					r.In = strings.NewReader(tc.in)
				}
			})
			if code != tc.want {
				t.Errorf("exit code %d, want %d; the side said:\n%s", code, tc.want, side)
			}
		})
	}
}

func TestAnswersOnTheWire(t *testing.T) {
	for in, want := range map[string]string{
		"y\n": `{"outcome":{"optionId":"allow_once","outcome":"selected"}}`,
		"a\n": `{"outcome":{"optionId":"allow_session","outcome":"selected"}}`,
		"e\n": `{"_meta":{"acpAgent":{"edited":"a\nB\nmine\n","v":1}},"outcome":{"optionId":"allow_once","outcome":"selected"}}`,
	} {
		a := &fakeAgent{questions: []string{question("")}, stop: "end_turn"}
		play(t, a, func(r *Runner) {
			r.In = strings.NewReader(in)
			r.Edit = func(_ context.Context, path, text string) (string, error) {
				if path != "/w/a.go" {
					t.Errorf("the editor was opened for %s", path)
				}
				return text + "mine\n", nil
			}
		})
		if len(a.answers) != 1 || a.answers[0] != want {
			t.Errorf("%q answers %s, want %s", in, a.answers, want)
		}
	}
}

func TestModeAndModelAreSetBeforeThePrompt(t *testing.T) {
	a := &fakeAgent{stop: "end_turn"}
	play(t, a, func(r *Runner) { r.Mode, r.Model = "plan", "scripted/x.yaml" })
	var methods []string
	for _, c := range a.calls {
		method, _, _ := strings.Cut(c, " ")
		methods = append(methods, method)
	}
	want := "initialize session/new session/set_mode session/set_config_option session/prompt"
	if got := strings.Join(methods, " "); got != want {
		t.Errorf("calls: %s, want %s", got, want)
	}
}

func TestWhatATerminalShows(t *testing.T) {
	a := &fakeAgent{stop: "end_turn", questions: []string{question("")}, updates: []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hel"}}`,
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"lo\u001b[2J."}}`,
		`{"sessionUpdate":"plan","entries":[{"content":"one","priority":"high","status":"completed"}]}`,
		`{"sessionUpdate":"tool_call","toolCallId":"c0","title":"Read b.go","kind":"read","status":"pending"}`,
		`{"sessionUpdate":"tool_call_update","toolCallId":"c0","status":"completed","content":[{"type":"content","content":{"type":"text","text":"package b"}}]}`,
		`{"sessionUpdate":"notice","severity":"warning","title":"careful"}`,
		`{"sessionUpdate":"something_new","x":1}`,
	}}
	_, out, side := play(t, a, func(r *Runner) { r.In = strings.NewReader("y\n") })
	if want := "Hello\\u001b[2J.\n"; out != want {
		t.Errorf("the agent's words: %q, want %q", out, want)
	}
	want := `  [x] one
✓ Read b.go
  package b
! careful

Edit a.go (+1 −1, +1 error)
--- a/a.go
+++ b/a.go
@@ -1,2 +1,2 @@
 a
-b
+B
LSP diagnostics:
ERROR [2:1] undefined: B
Allow? y (once) / n / a (this session) / q (cancel): `
	if side != want {
		t.Errorf("the side:\n%s\nwant:\n%s", side, want)
	}
}

// TestDiagnosticsAreShownWithoutTags shows an edit's diagnostics by file; what a command printed stays
// as it is.
func TestDiagnosticsAreShownWithoutTags(t *testing.T) {
	const tagged = `LSP diagnostics:\n<diagnostics file=\"/w/a &amp; b.go\">\nERROR [2:1] undefined: B\n</diagnostics>`
	end := func(id, meta string) string {
		return fmt.Sprintf(`{"sessionUpdate":"tool_call_update","toolCallId":%q,"title":%q,"status":"completed","content":[{"type":"content","content":{"type":"text","text":"%s"}}]%s}`, id, id, tagged, meta)
	}
	a := &fakeAgent{stop: "end_turn", updates: []string{end("edit", `,"_meta":{"acpAgent":{"edit":{"id":"e"}}}`), end("command", "")}}
	_, _, side := play(t, a, nil)
	want := `✓ edit

  LSP diagnostics:
  a & b.go:
  ERROR [2:1] undefined: B
✓ command
  LSP diagnostics:
  <diagnostics file="/w/a &amp; b.go">
  ERROR [2:1] undefined: B
  </diagnostics>
`
	if side != want {
		t.Errorf("the side:\n%s\nwant:\n%s", side, want)
	}
}

func TestColours(t *testing.T) {
	s := &Screen{Color: Palette{On: true}}
	got := s.colour("--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n z")
	want := "\x1b[1m--- a\x1b[0m\n\x1b[1m+++ b\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n\x1b[31m-x\x1b[0m\n\x1b[32m+y\x1b[0m\n z"
	if got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestJSONPrintsEveryMessageAndNothingElse(t *testing.T) {
	a := &fakeAgent{stop: "end_turn", questions: []string{question("")}, updates: []string{
		`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"Hello"}}`,
	}}
	_, out, side := play(t, a, func(r *Runner) { r.JSON = true })
	lines := strings.Split(strings.TrimSpace(out), "\n")
	if len(lines) != 9 { // three requests and three answers, one update, one question and its answer
		t.Errorf("%d lines:\n%s", len(lines), out)
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
	if strings.Contains(side, "Edit a.go") {
		t.Errorf("the side shows the proposal too:\n%s", side)
	}
}

func TestCancelIsAnsweredBeforeTheClientGoes(t *testing.T) {
	a := &fakeAgent{stop: "end_turn", questions: []string{question("")}}
	asked := make(chan struct{})
	c, err := Start(t.Context(), a.serve, Options{Permission: func(ctx context.Context, _ Question) Answer {
		close(asked)
		<-ctx.Done()
		return Answer{}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if c.AgentVersion() != "9.9.9" {
		t.Errorf("version %q", c.AgentVersion())
	}
	s, err := c.NewSession(t.Context(), "/w")
	if err != nil || s.Option("mode") != "default" {
		t.Errorf("session %+v: %v", s, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	stop, err := c.Prompt(ctx, s.ID, "go")
	if stop != "cancelled" || err != nil {
		t.Errorf("stop %q, error %v", stop, err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}
