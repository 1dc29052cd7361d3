package wire

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// peer is the other end of a connection under test, at the level of bytes.
type peer struct {
	t    *testing.T
	conn *Conn
	in   *io.PipeWriter // to the connection
	out  *io.PipeReader // from it
	r    *bufio.Reader
	ran  chan error // Run's result
}

// start runs a connection over pipes. The test's end closes them and waits for Run.
func start(t *testing.T, h Handler, o Options) *peer {
	t.Helper()
	p, _ := startCancel(t, h, o)
	return p
}

// startCancel is start with the way to end Run's ctx.
func startCancel(t *testing.T, h Handler, o Options) (*peer, context.CancelFunc) {
	t.Helper()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	if h == nil {
		h = func(*Request) {}
	}
	if o.Logger == nil {
		o.Logger = testLog(t)
	}
	p := &peer{t: t, conn: NewConn(inR, outW, h, o), in: inW, out: outR, r: bufio.NewReader(outR), ran: make(chan error, 1)}
	ctx, cancel := context.WithCancel(t.Context())
	go func() { p.ran <- p.conn.Run(ctx); close(p.ran) }()
	t.Cleanup(func() {
		cancel()
		_ = inW.Close()
		_ = outR.Close()
		for range p.ran {
		}
	})
	return p, cancel
}

// write sends bytes to the connection in one write. It may run on a goroutine of its own.
func (p *peer) write(s string) {
	p.t.Helper()
	if _, err := io.WriteString(p.in, s); err != nil {
		p.t.Errorf("write to the connection: %v", err)
	}
}

// line reads the next line that the connection sent.
func (p *peer) line() string {
	p.t.Helper()
	s, err := p.r.ReadString('\n')
	if err != nil {
		p.t.Fatalf("read from the connection: %v", err)
	}
	return strings.TrimSuffix(s, "\n")
}

// rest reads the lines up to the end.
func (p *peer) rest() []string {
	p.t.Helper()
	b, err := io.ReadAll(p.r)
	if err != nil {
		p.t.Fatalf("read to the end: %v", err)
	}
	if len(b) == 0 {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(b), "\n"), "\n")
}

// end waits for Run.
func (p *peer) end() error {
	p.t.Helper()
	select {
	case err := <-p.ran:
		return err
	case <-time.After(20 * time.Second):
		p.t.Fatal("Run did not return")
		return nil
	}
}

// testLog collects what is logged and shows it when the test fails.
func testLog(t *testing.T) *slog.Logger {
	var mu sync.Mutex
	var text strings.Builder
	t.Cleanup(func() {
		mu.Lock()
		defer mu.Unlock()
		if t.Failed() {
			t.Logf("log:\n%s", text.String())
		}
	})
	return slog.New(slog.NewTextHandler(writerFunc(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		if text.Len() < 1<<16 {
			text.Write(b)
		}
		return len(b), nil
	}), &slog.HandlerOptions{Level: slog.LevelDebug}))
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// echo answers every request with what it was.
func echo(r *Request) {
	r.Reply(map[string]any{"method": r.Method, "params": r.Params, "absent": r.Params == nil})
}
