package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime/debug"
	"sync"
	"time"
)

// The engine is our own. github.com/sourcegraph/jsonrpc2 was tried first, over two object streams,
// and what it would have kept doing for us was the map of pending calls: ids, params, errors,
// cancellation, the queue and the drain at the end of input all had to go round it. That map is
// where it fails: an abandoned call stays in it until its answer comes, which may be never, and
// there is no way to take it out. It also parses a request three times (2.6 s for one of 40 MiB,
// against 0.2 s here), and marshals what goes out several times over.

// Conn is one JSON-RPC connection. Its goroutines (reader, writer) belong to it; Close or the end
// of input ends them, and Run returns when they have ended.
type Conn struct {
	r   io.Reader
	w   io.Writer
	h   Handler
	o   Options
	log *slog.Logger

	in       framer   // belongs to the reader
	refusals warnings // belongs to the reader

	out   *queue
	calls calls

	quiet    chan struct{} // holds one token while no handler runs
	stop     chan struct{} // closed when nothing more is to be read
	stopOnce sync.Once
	err      error         // why the connection broke; written before stop is closed
	done     chan struct{} // closed when no more messages can be exchanged
}

// NewConn prepares a connection; [Conn.Run] starts it. w gets whole messages, one Write each. Run
// closes r and w at its end if they are Closers: that is what ends a Read or a Write that waits for
// the peer.
func NewConn(r io.Reader, w io.Writer, h Handler, o Options) *Conn {
	o = o.withDefaults()
	c := &Conn{
		r: r, w: w, h: h, o: o, log: o.Logger,
		in:    newFramer(r, o),
		out:   newQueue(o),
		calls: calls{pending: map[int64]chan answer{}},
		quiet: make(chan struct{}, 1),
		stop:  make(chan struct{}),
		done:  make(chan struct{}),
	}
	c.quiet <- struct{}{}
	return c
}

// Run reads until the input ends, Close is called or ctx ends, and returns when all of the
// connection's goroutines have ended. It is called once. The error is nil at the end of input and
// after Close, ctx's error when that ended it, and otherwise says what broke.
//
// A Read or Write that hangs although its file was closed (a blocking descriptor, see
// [Interruptible]) is left behind after another Options.Flush, and named in the error.
func (c *Conn) Run(ctx context.Context) error {
	readEnd, writeEnd := make(chan error, 1), make(chan struct{})
	go func() { defer close(readEnd); readEnd <- c.readAll() }()
	go func() { defer close(writeEnd); c.writeAll() }()

	var first bool // else Close, or a peer that takes nothing more: there is nobody to answer
	select {
	case err := <-readEnd:
		first = c.end(err)
	case <-ctx.Done():
		first = c.end(ctx.Err())
	case <-c.stop:
	}
	c.calls.end()
	if first {
		c.drain()
	}
	c.out.close()
	closeIf(c.r)
	if !within(c.o.Flush, writeEnd) {
		c.log.Warn("the peer does not read; what was queued for it is lost", "waited", c.o.Flush)
	}
	closeIf(c.w)
	close(c.done)

	err := c.err
	if !within(c.o.Flush, readEnd) {
		err = errors.Join(err, errors.New("wire: a Read of the input hangs though it was closed; the reader is left behind"))
	}
	if !within(c.o.Flush, writeEnd) {
		err = errors.Join(err, errors.New("wire: a Write to the output hangs though it was closed; the writer is left behind"))
	}
	return err
}

// Done is closed when no more messages can be exchanged.
func (c *Conn) Done() <-chan struct{} { return c.done }

// Close stops reading, flushes for at most Options.Flush, and lets Run return. It does not wait.
// Safe to call twice.
func (c *Conn) Close() { c.end(nil) }

// end stops the reading, and keeps the first reason; it says whether this was the first. Sending goes
// on until Run has drained.
func (c *Conn) end(err error) (first bool) {
	c.stopOnce.Do(func() {
		c.err, first = err, true
		close(c.stop)
	})
	return first
}

// stopped says that nothing more is to be read.
func (c *Conn) stopped() bool {
	select {
	case <-c.stop:
		return true
	default:
		return false
	}
}

// drain lets the owner finish its answers, once no handler runs that could begin something new.
func (c *Conn) drain() {
	if within(c.o.Flush, c.quiet) {
		c.quiet <- struct{}{}
	}
	if c.o.Drain == nil {
		return
	}
	defer func() {
		if p := recover(); p != nil {
			c.log.Error("drain panicked", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	c.o.Drain()
}

// within waits for an end, and says whether it came in time.
func within[T any](d time.Duration, end <-chan T) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-end:
		return true
	case <-t.C:
		return false
	}
}

// closeIf ends whatever waits in x.
func closeIf(x any) {
	if closer, ok := x.(io.Closer); ok {
		_ = closer.Close() // a pipe whose other end is gone may say so; nothing is lost by it
	}
}
