package wire

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
)

// gate is a peer that takes one message and then nothing until it is opened.
type gate struct {
	entered chan struct{} // closed when the first Write waits
	opened  chan struct{}
	enter   sync.Once
	release sync.Once

	mu    sync.Mutex
	lines []string // guarded by mu
}

func newGate() *gate {
	return &gate{entered: make(chan struct{}), opened: make(chan struct{})}
}

// open lets everything through from now on.
func (g *gate) open() { g.release.Do(func() { close(g.opened) }) }

func (g *gate) Write(p []byte) (int, error) {
	g.enter.Do(func() { close(g.entered) })
	<-g.opened
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines = append(g.lines, strings.TrimSuffix(string(p), "\n"))
	return len(p), nil
}

func (g *gate) got() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return append([]string(nil), g.lines...)
}

// stuck runs a connection whose writer already waits in its first Write, so that whatever is sent
// from now on stays queued. finish opens the gate, ends the connection and gives the lines behind
// the first.
func stuck(t *testing.T, h Handler, o Options) (c *Conn, g *gate, in *io.PipeWriter, finish func() []string) {
	t.Helper()
	if o.Logger == nil {
		o.Logger = testLog(t)
	}
	if h == nil {
		h = func(*Request) {}
	}
	g = newGate()
	r, in := io.Pipe()
	c = NewConn(r, g, h, o)
	ended := make(chan error, 1)
	go func() { ended <- c.Run(context.Background()) }()
	if err := c.Notify("first", nil); err != nil {
		t.Fatal(err)
	}
	<-g.entered
	finished := false
	finish = func() []string {
		if !finished {
			finished = true
			g.open()
			c.Close()
			<-ended
			_ = in.Close()
		}
		return g.got()[1:]
	}
	t.Cleanup(func() { finish() })
	return c, g, in, finish
}
