package acptest

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"
)

// Serve is an agent on one pair of streams, such as acp.Server.Serve. It returns when the streams
// end and everything that it started has ended.
type Serve func(ctx context.Context, r io.Reader, w io.Writer) error

// EditorOptions choose how a fake editor behaves.
type EditorOptions struct {
	Profile string // "plain" by default
	// Answer is given to every permission request at once ("allow_once"); "" leaves them to the test.
	Answer string
	// Format is run on save by profiles that write buffers; nil changes nothing.
	Format func(path, text string) string
	// Patience bounds every wait of a test: 60 s by default.
	Patience time.Duration
	// Unchecked is for conversations that break the rules on purpose: lines of the agent are
	// recorded but not held to them.
	Unchecked bool
}

// Editor is a fake ACP client on raw streams, with a reader of its own. It records every line both
// ways and holds each line of the agent to the rules of check.go; a broken rule fails the test. Its
// methods are for the test's goroutine.
type Editor struct {
	Profile Profile

	t       testing.TB
	o       EditorOptions
	in      io.WriteCloser // the agent's stdin
	writing sync.Mutex     // one line at a time

	mu      sync.Mutex
	changed chan struct{}        // closed and renewed when anything below changes
	log     []Message            // every line in order
	check   *checker             // of the agent's lines
	calls   map[string]*Call     // by idKey, while they wait
	nextID  int                  // of the next request
	perms   []*Permission        // all permission requests in order
	answer  string               // see EditorOptions.Answer
	buffers map[string]string    // open files
	roots   map[string]string    // session -> cwd
	terms   map[string]*terminal // by id
	held    map[string][]func()  // requests of the agent that wait for [Editor.Resume], by method
	fail    map[string]*RPCError // methods answered with an error
	ended   bool                 // the agent closed its stdout
	served  error                // what Serve returned
	reader  sync.WaitGroup       // the reader and everything that it started
	stop    context.CancelFunc   // ends an agent in this process
	gone    chan struct{}        // closed when Serve returned; nil for a process
	paused  chan struct{}        // not nil while the editor reads nothing
	onLine  func(m Message)      // sees every line of the agent, on the reader
	missed  []string             // complaints of an unchecked editor
}

// InProcess starts serve on pipes and an editor on the other ends. At the end of the test the
// streams are closed and serve must return.
func InProcess(t testing.TB, serve Serve, o EditorOptions) *Editor {
	t.Helper()
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	ctx, stop := context.WithCancel(context.Background())
	e := NewEditor(t, out, in, o)
	e.stop, e.gone = stop, make(chan struct{})
	go func() {
		defer close(e.gone)
		err := serve(ctx, toAgent, fromAgent)
		e.mu.Lock()
		e.served = err
		e.mu.Unlock()
		fromAgent.Close()
		toAgent.CloseWithError(io.ErrClosedPipe)
	}()
	return e
}

// NewEditor speaks to an agent that somebody else runs: r is its stdout, in its stdin. At the end
// of the test in is closed and r must end.
func NewEditor(t testing.TB, r io.Reader, in io.WriteCloser, o EditorOptions) *Editor {
	t.Helper()
	if o.Profile == "" {
		o.Profile = "plain"
	}
	if o.Patience == 0 {
		o.Patience = 60 * time.Second
	}
	profile, err := ProfileByName(o.Profile)
	if err != nil {
		t.Fatal(err)
	}
	e := &Editor{
		Profile: profile, t: t, o: o, in: in, answer: o.Answer,
		changed: make(chan struct{}), check: newChecker(LoadSchema(t)), calls: map[string]*Call{}, nextID: 1,
		buffers: map[string]string{}, roots: map[string]string{}, terms: map[string]*terminal{},
		held: map[string][]func(){}, fail: map[string]*RPCError{},
	}
	e.reader.Add(1)
	go e.read(r)
	t.Cleanup(e.Close)
	return e
}

// Close ends the agent's input and waits until it has gone; a test that does not call it has it
// done at its end.
func (e *Editor) Close() {
	e.in.Close()
	e.Unpause()
	e.mu.Lock()
	for _, term := range e.terms {
		term.kill()
	}
	e.mu.Unlock()
	if e.gone != nil {
		select {
		case <-e.gone:
		case <-time.After(e.o.Patience):
			e.t.Errorf("the agent did not return %v after its input ended", e.o.Patience)
			e.stop()
			e.dump()
			<-e.gone
		}
		e.stop()
	}
	e.reader.Wait()
	if e.t.Failed() {
		e.dump()
	}
}

// Served is what an agent in this process returned; call it after [Editor.Close].
func (e *Editor) Served() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.served
}

// change runs f under the lock and wakes everybody who waits.
func (e *Editor) change(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
	close(e.changed)
	e.changed = make(chan struct{})
}

// Until waits for a condition over the editor's state, which is looked at under its lock after
// every change. The test fails when the agent goes away or patience ends before.
func (e *Editor) Until(what string, cond func() bool) {
	e.t.Helper()
	met := false
	e.wait(what, func() bool {
		met = cond()
		return met || e.ended
	})
	if !met {
		e.fatalf("the agent ended before %s", what)
	}
}

// wait is Until that outlives the agent.
func (e *Editor) wait(what string, cond func() bool) {
	e.t.Helper()
	deadline := time.NewTimer(e.o.Patience)
	defer deadline.Stop()
	for {
		e.mu.Lock()
		ok, changed := cond(), e.changed
		e.mu.Unlock()
		if ok {
			return
		}
		select {
		case <-changed:
		case <-deadline.C:
			e.fatalf("waited %v for %s", e.o.Patience, what)
		}
	}
}

func (e *Editor) fatalf(format string, args ...any) {
	e.t.Helper()
	e.t.Fatalf(format, args...)
}

// dump logs the end of the conversation.
func (e *Editor) dump() {
	e.mu.Lock()
	defer e.mu.Unlock()
	const last = 40
	var b strings.Builder
	for _, m := range e.log[max(0, len(e.log)-last):] {
		fmt.Fprintf(&b, "%4d %s\n", m.Seq, m)
	}
	e.t.Logf("the conversation's last lines:\n%s", b.String())
}

// Messages is the conversation so far.
func (e *Editor) Messages() []Message {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]Message(nil), e.log...)
}

// Complaints are the broken rules that an unchecked editor saw.
func (e *Editor) Complaints() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return append([]string(nil), e.missed...)
}

// OnLine has f called on the reader with every later line of the agent.
func (e *Editor) OnLine(f func(m Message)) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.onLine = f
}
