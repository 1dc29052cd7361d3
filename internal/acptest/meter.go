package acptest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Meter is an editor for measurements: it reads and writes lines, notes when they came, and does as
// little else as it can. It checks nothing; [Editor] does. It offers no files and no terminal.
type Meter struct {
	Asks    chan Ask          // permission requests; a benchmark that gets none may leave it alone
	Updates func(line []byte) // sees every update, on the reader; set before the first prompt; may be nil

	t      testing.TB
	in     io.WriteCloser
	reader sync.WaitGroup

	writing sync.Mutex
	mu      sync.Mutex
	nextID  int                  // guarded by mu
	calls   map[string]chan line // guarded by mu; by id
	ended   bool                 // guarded by mu; the agent's output is over
}

// Ask is a permission request, and when its last byte was read.
type Ask struct {
	At   time.Time
	ID   json.RawMessage
	Line []byte
}

type line struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

// maxAsks is how many questions may be open at the same time.
const maxAsks = 1024

// NewMeter speaks to an agent: r is its stdout, in its stdin.
func NewMeter(t testing.TB, r io.Reader, in io.WriteCloser) *Meter {
	m := &Meter{Asks: make(chan Ask, maxAsks), t: t, in: in, calls: map[string]chan line{}}
	m.reader.Go(func() { m.read(r) })
	return m
}

// MeterInProcess starts serve on pipes with a meter on the other ends. stop closes the pipes and
// waits until serve has returned.
func MeterInProcess(t testing.TB, serve Serve) (m *Meter, stop func()) {
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	served := make(chan error, 1)
	go func() {
		err := serve(context.Background(), toAgent, fromAgent)
		fromAgent.Close()
		served <- err
	}()
	m = NewMeter(t, out, in)
	return m, func() {
		m.Close()
		if err := <-served; err != nil {
			t.Errorf("serve: %v", err)
		}
	}
}

// MeterProcess starts a program with a meter on its streams. The caller closes the meter and then
// waits for the command.
func MeterProcess(t testing.TB, cmd *exec.Cmd) *Meter {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return NewMeter(t, out, in)
}

// Close ends the agent's input and waits for the end of its output.
func (m *Meter) Close() {
	m.in.Close()
	m.reader.Wait()
}

var (
	updateMark = []byte(`"method":"session/update"`)
	askMark    = []byte(`"method":"session/request_permission"`)
)

func (m *Meter) read(r io.Reader) {
	buffered := bufio.NewReaderSize(r, 1<<20)
	for {
		data, err := buffered.ReadBytes('\n')
		if err != nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.ended = true
			for id, c := range m.calls {
				close(c)
				delete(m.calls, id)
			}
			return
		}
		m.take(data, time.Now())
	}
}

func (m *Meter) take(data []byte, at time.Time) {
	head := data[:min(len(data), 80)]
	if bytes.Contains(head, updateMark) {
		if m.Updates != nil {
			m.Updates(data)
		}
		return
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		m.t.Errorf("line of the agent: %v", err)
		return
	}
	switch {
	case bytes.Contains(head, askMark):
		m.Asks <- Ask{At: at, ID: l.ID, Line: data}
	case l.Method == "":
		m.mu.Lock()
		c := m.calls[string(l.ID)]
		delete(m.calls, string(l.ID))
		m.mu.Unlock()
		if c != nil {
			c <- l
		}
	}
}

func (m *Meter) write(format string, args ...any) {
	m.writing.Lock()
	defer m.writing.Unlock()
	if _, err := fmt.Fprintf(m.in, format+"\n", args...); err != nil {
		m.t.Errorf("write to the agent: %v", err)
	}
}

// Go sends a request; the returned function waits for its result.
func (m *Meter) Go(method string, params any) (wait func() json.RawMessage) {
	c := make(chan line, 1)
	m.mu.Lock()
	m.nextID++
	id := strconv.Itoa(m.nextID)
	if m.ended {
		close(c)
	} else {
		m.calls[id] = c
	}
	m.mu.Unlock()
	m.write(`{"jsonrpc":"2.0","id":%s,"method":%q,"params":%s}`, id, method, mustJSON(params))
	return func() json.RawMessage {
		l, ok := <-c
		if !ok || l.Error != nil {
			m.t.Errorf("%s: agent alive %v, error %s", method, ok, l.Error)
		}
		return l.Result
	}
}

// Call sends a request and waits for its result.
func (m *Meter) Call(method string, params any) json.RawMessage { return m.Go(method, params)() }

// Initialize says that the editor offers nothing.
func (m *Meter) Initialize() {
	m.Call("initialize", map[string]any{"protocolVersion": 1, "clientInfo": map[string]any{"name": "meter", "version": "1"}})
}

// NewSession opens a session and gives its id.
func (m *Meter) NewSession(cwd string) string {
	return get[string](m.Call("session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}), "sessionId")
}

// Prompt sends a prompt; the returned function waits for the end of its turn.
func (m *Meter) Prompt(session, text string) (wait func() json.RawMessage) {
	return m.Go("session/prompt", map[string]any{"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}}})
}

// Allow answers a question with allow_once and says when it began to write.
func (m *Meter) Allow(a Ask) time.Time {
	answer := fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"outcome":{"outcome":"selected","optionId":"allow_once"}}}`, a.ID)
	at := time.Now()
	m.write("%s", answer)
	return at
}

// Memory gives two figures of a process in MB, as Linux counts them; zeros elsewhere: what it has
// resident now (VmRSS), and at most since its start (VmHWM).
func Memory(pid int) (now, most float64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	figure := func(name string) float64 {
		_, after, _ := strings.Cut(string(data), name)
		kb := 0.0
		fmt.Sscan(after, &kb)
		return kb / 1024
	}
	return figure("VmRSS:"), figure("VmHWM:")
}
