//go:build unix

package acp_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

// command is a script whose first turn runs a shell command.
func command(line string) string {
	return fmt.Sprintf(`turns: [{tool_calls: [{name: terminal, arguments: {command: %q}}]}, {text: "Done."}]`, line)
}

// lifeline is a FIFO that a command holds open: a line tells that it has started, the end that it
// and all its children have ended.
type lifeline struct {
	path string
	file *os.File
	own  *os.File // our own writing end, until the command has started
	in   *bufio.Reader
}

func newLifeline(t *testing.T) *lifeline {
	t.Helper()
	path := filepath.Join(t.TempDir(), "lifeline")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	// Opened without waiting, so that deadlines work on it; a writer of our own keeps it from ending
	// before the command has come.
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		t.Fatal(err)
	}
	own, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close(); own.Close() })
	return &lifeline{path: path, file: file, own: own, in: bufio.NewReader(file)}
}

// awaitStart waits until the command has started; from then on its end is the lifeline's.
func (l *lifeline) awaitStart(t *testing.T) {
	t.Helper()
	if err := l.file.SetReadDeadline(time.Now().Add(30 * time.Second)); err != nil {
		t.Fatal(err)
	}
	if line, err := l.in.ReadString('\n'); err != nil {
		t.Fatalf("the command did not start: %q %v", line, err)
	}
	l.own.Close()
}

// sleeper is a command line that reports its start and then sleeps, with a child that does as well.
func (l *lifeline) sleeper() string {
	return fmt.Sprintf("exec 3>%s; echo started >&3; sleep 60 & sleep 60", l.path)
}

// awaitEnd wants everybody who holds the lifeline to be gone within a time.
func (l *lifeline) awaitEnd(t *testing.T, within time.Duration) {
	t.Helper()
	if err := l.file.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(l.in); err != nil {
		t.Errorf("a process still runs after %v: %v", within, err)
	}
}

func TestACP_078_TerminalsAreReleased(t *testing.T) {
	for _, profile := range []string{"zed", "vscode", "acpx"} {
		t.Run(profile, func(t *testing.T) {
			f := start(t, command("echo one; exit 3"), acptest.EditorOptions{Profile: profile, Answer: "allow_once"})
			id := f.open()
			f.Prompt(id, "go").Result()
			if made, open := f.Terminals(); made != 1 || open != 0 {
				t.Errorf("%d terminals were made, %d are not released", made, open)
			}
			if text := f.recorder.Results()[0].Text(); !strings.Contains(text, "one") || !strings.Contains(text, "3") {
				t.Errorf("the model was told %q", text)
			}
		})
	}
	t.Run("cancelled", func(t *testing.T) {
		line := newLifeline(t)
		f := start(t, command(line.sleeper()), acptest.EditorOptions{Profile: "zed", Answer: "allow_once"})
		id := f.open()
		turn := f.Prompt(id, "go")
		line.awaitStart(t)
		f.Cancel(id)
		if stop := turn.StopReason(); stop != "cancelled" {
			t.Errorf("stop reason %q", stop)
		}
		if made, open := f.Terminals(); made != 1 || open != 0 {
			t.Errorf("%d terminals were made, %d are not released", made, open)
		}
	})
	t.Run("timed out", func(t *testing.T) {
		line := newLifeline(t)
		script := fmt.Sprintf(`turns: [{tool_calls: [{name: terminal, arguments: {command: %q, timeout_seconds: 1}}]}]`, line.sleeper())
		f := start(t, script, acptest.EditorOptions{Profile: "zed", Answer: "allow_once"})
		id := f.open()
		turn := f.Prompt(id, "go")
		line.awaitStart(t)
		line.awaitEnd(t, 20*time.Second)
		turn.Result()
		if made, open := f.Terminals(); made != 1 || open != 0 {
			t.Errorf("%d terminals were made, %d are not released", made, open)
		}
	})
	t.Run("cannot be made", func(t *testing.T) {
		f := start(t, command("echo one"), acptest.EditorOptions{Profile: "zed", Answer: "allow_once"})
		f.Fail("terminal/create", &acptest.RPCError{Code: -32603, Message: "no terminal for you"})
		id := f.open()
		f.Prompt(id, "go").Result()
		if r := f.recorder.Results()[0]; !r.IsError || !strings.Contains(r.Text(), "no terminal for you") {
			t.Errorf("the model was told %q", r.Text())
		}
	})
}

func TestACP_085_CancelEndsTheProcessGroup(t *testing.T) {
	line := newLifeline(t)
	f := start(t, command(line.sleeper()), acptest.EditorOptions{Answer: "allow_once"}) // no terminal offered: a local one
	id := f.open()
	turn := f.Prompt(id, "go")
	line.awaitStart(t)
	f.Cancel(id)
	line.awaitEnd(t, 2*time.Second)
	if stop := turn.StopReason(); stop != "cancelled" {
		t.Errorf("stop reason %q", stop)
	}
}
