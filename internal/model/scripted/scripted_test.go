package scripted_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/model"
	"acp-agent/internal/model/scripted"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func parse(t testing.TB, text string) *scripted.Script {
	t.Helper()
	s, err := scripted.Parse("m.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play asks once and writes the answer down, a line an event.
func play(ctx context.Context, m model.Model, req model.Request) (string, error) {
	var b strings.Builder
	for e, err := range m.Stream(ctx, req) {
		if err != nil {
			return b.String(), err
		}
		switch {
		case e.Text != "":
			fmt.Fprintf(&b, "text %q\n", e.Text)
		case e.Thought != "":
			fmt.Fprintf(&b, "thought %q\n", e.Thought)
		case e.CallStart != "":
			fmt.Fprintf(&b, "start %s\n", e.CallStart)
		case e.Call != nil:
			fmt.Fprintf(&b, "call %s %s %s\n", e.Call.ID, e.Call.Name, e.Call.Arguments)
		case e.Done != nil:
			fmt.Fprintf(&b, "done %s %d/%d/%d\n", e.Done.Finish, e.Done.Usage.Input, e.Done.Usage.Output, e.Done.Usage.Cached)
		}
	}
	return b.String(), nil
}

func TestTurns(t *testing.T) {
	const script = `
turns:
  - thought: aé中b
    text: 😀 two
    chunk: 2
    tool_calls: [{id: c1, name: read_file, arguments: {path: a}}, {name: x, raw: 'not json'}]
    usage: {input: 10, output: 5, cached: 1}
  - {text: again, repeat: 2}
  - {tool_calls: [{id: c1, name: read_file}], finish: length}
  - {}
`
	m := scripted.New("s", parse(t, script))
	want := []string{
		"thought \"aé\"\nthought \"中b\"\ntext \"😀 \"\ntext \"tw\"\ntext \"o\"\n" +
			"start read_file\ncall c1 read_file {\"path\":\"a\"}\nstart x\ncall call_2 x not json\ndone tool_calls 10/5/1\n",
		"text \"again\"\ndone stop 0/0/0\n",
		"text \"again\"\ndone stop 0/0/0\n",
		"start read_file\ncall c1_2 read_file {}\ndone length 0/0/0\n",
		"done stop 0/0/0\n",
		"text \"done\"\ndone stop 0/0/0\n",
		"text \"done\"\ndone stop 0/0/0\n",
	}
	req := model.Request{Session: "a", Messages: []model.Message{{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c0"}}}}}
	for i, w := range want {
		got, err := play(t.Context(), m, req)
		if err != nil || got != w {
			t.Fatalf("request %d:\n%s(%v)\nwant\n%s", i+1, got, err, w)
		}
		if i == 0 {
			req.Messages = append(req.Messages, model.Message{Role: model.Assistant, Calls: []model.ToolCall{{ID: "c1"}, {ID: "call_2"}}})
		}
		// Another session is where it was.
		if got, _ := play(t.Context(), m, model.Request{Session: fmt.Sprint("other", i)}); !strings.HasPrefix(got, "thought") {
			t.Fatalf("a new session begins with %q", got)
		}
	}
}

func TestErrorAfterText(t *testing.T) {
	m := scripted.New("s", parse(t, "turns:\n  - {text: abc, tool_calls: [{name: x}], error: {status: 503, message: busy, retry_after: 2}}\n"))
	got, err := play(t.Context(), m, model.Request{})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindOverloaded || e.RetryAfter != 2*time.Second || !e.Retryable() {
		t.Fatalf("error %#v", err)
	}
	if want := "text \"abc\"\nstart x\n"; got != want {
		t.Fatalf("got %q, want %q: a broken answer has no calls", got, want)
	}
}

func TestHangAndDelayEndWithTheContext(t *testing.T) {
	for _, script := range []string{"turns:\n  - {text: abc, hang: true}\n", "turns:\n  - {text: abcdef, chunk: 3, delay_ms: 3600000}\n"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			m := scripted.New("s", parse(t, script))
			done := make(chan error, 1)
			go func() {
				_, err := play(ctx, m, model.Request{})
				done <- err
			}()
			synctest.Wait()
			select {
			case err := <-done:
				t.Errorf("ended by itself: %v", err)
			default:
			}
			cancel()
			if err := <-done; !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestDelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := scripted.New("s", parse(t, "turns:\n  - {thought: abcd, text: abcdef, chunk: 2, delay_ms: 100, tool_calls: [{name: x}]}\n"))
		start := time.Now()
		if _, err := play(t.Context(), m, model.Request{}); err != nil {
			t.Fatal(err)
		}
		if d := time.Since(start); d != 600*time.Millisecond {
			t.Errorf("took %v, want 600ms: 2 + 3 deltas and a call", d)
		}
	})
}

func TestReaderMayStop(t *testing.T) {
	m := scripted.New("s", parse(t, "turns:\n  - {text: abcdef, chunk: 1, hang: true}\n"))
	n := 0
	for range m.Stream(t.Context(), model.Request{}) {
		if n++; n == 3 {
			break
		}
	}
	if n != 3 {
		t.Errorf("%d events", n)
	}
}

func TestFileIsRelativeToTheSessionsCwd(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	write(t, filepath.Join(a, "m.yaml"), "turns: [{text: in a}]")
	write(t, filepath.Join(b, "m.yaml"), "turns: [{text: in b}]")
	write(t, filepath.Join(b, "bad.yaml"), "turns:\n  - nonsense: 1\n")
	m := scripted.File("m.yaml")
	for _, c := range []struct{ cwd, want string }{{a, "in a"}, {b, "in b"}} {
		got, err := play(t.Context(), m, model.Request{Session: c.cwd, Cwd: c.cwd})
		if err != nil || !strings.Contains(got, c.want) {
			t.Errorf("cwd %s: %q %v", c.cwd, got, err)
		}
	}
	if got, err := play(t.Context(), scripted.File(filepath.Join(a, "m.yaml")), model.Request{}); err != nil || !strings.Contains(got, "in a") {
		t.Errorf("absolute: %q %v", got, err)
	}
	for _, c := range []struct{ file, cwd, want string }{
		{"none.yaml", a, filepath.Join(a, "none.yaml")},
		{"m.yaml", "", "no cwd"},
		{"bad.yaml", b, filepath.Join(b, "bad.yaml") + ":2: unknown key \"nonsense\""},
	} {
		_, err := play(t.Context(), scripted.File(c.file), model.Request{Cwd: c.cwd})
		var e *model.Error
		if !errors.As(err, &e) || e.Kind != model.KindInvalid || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s: error %v, want %q", c.file, err, c.want)
		}
		if check := scripted.File(c.file).Check(c.cwd); check == nil || check.Error() != err.Error() {
			t.Errorf("%s: Check says %v", c.file, check)
		}
	}
}

// A script that is mended may be tried again by the session that failed, and a running session keeps
// the one that it began with.
func TestFileIsReadOnceASession(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "m.yaml")
	m := scripted.File(file)
	if _, err := play(t.Context(), m, model.Request{Session: "s"}); err == nil {
		t.Fatal("no error for a missing file")
	}
	write(t, file, "turns: [{text: one}, {text: two}]")
	if got, _ := play(t.Context(), m, model.Request{Session: "s"}); !strings.Contains(got, "one") {
		t.Fatalf("got %q", got)
	}
	write(t, file, "turns: []")
	if got, _ := play(t.Context(), m, model.Request{Session: "s"}); !strings.Contains(got, "two") {
		t.Fatalf("got %q", got)
	}
}

func TestSessionsSideBySide(t *testing.T) {
	m := scripted.New("s", parse(t, "turns: [{text: a}, {text: b}, {text: c}]"))
	var wg sync.WaitGroup
	for s := range 20 {
		wg.Go(func() {
			for _, want := range []string{"a", "b", "c", "done"} {
				if got, _ := play(t.Context(), m, model.Request{Session: fmt.Sprint(s)}); !strings.HasPrefix(got, fmt.Sprintf("text %q", want)) {
					t.Errorf("session %d: got %q, want %q", s, got, want)
				}
			}
		})
	}
	wg.Wait()
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
