package wire

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"time"
)

// Notify sends a notification without waiting for room in the queue.
func (c *Conn) Notify(method string, params any) error {
	body, err := c.encodeCall(0, method, params)
	if err == nil {
		err = c.queued(c.out.add(&item{body: body}))
	}
	return named(method, err)
}

// Send queues a notification behind everything queued before it, waiting for room when more than
// MaxQueue is queued; ctx bounds the wait. Not for the read loop.
func (c *Conn) Send(ctx context.Context, method string, params any) error {
	body, err := c.encodeCall(0, method, params)
	if err == nil {
		err = c.queued(c.out.addWithRoom(ctx, &item{body: body}))
	}
	return named(method, err)
}

// Merge queues a notification that may be joined with the last queued one of the same key as long
// as nothing else was queued since. build makes the params from the joined text at write time, so
// that text grows by appending and is encoded once. It waits for room like Send. Text is held back
// for Options.Coalesce at most; anything queued behind it sends it off.
//
// build is called by the writer and must not use the connection. A text longer than 64 KiB (or than
// an eighth of MaxOut) becomes several notifications.
func (c *Conn) Merge(ctx context.Context, key, method, text string, build func(text string) any) error {
	return named(method, c.queued(c.out.join(ctx, key, method, text, build)))
}

// Latest queues a notification that replaces a queued one of the same key that is not yet written
// (usage, session info: the first to be dropped). It never waits. The new one stands at the end of
// the queue, where its order says that it belongs.
func (c *Conn) Latest(key, method string, params any) error {
	body, err := c.encodeCall(0, method, params)
	if err == nil {
		err = c.queued(c.out.add(&item{body: body, key: key, latest: true}))
	}
	return named(method, err)
}

// answer queues the answer of a request.
func (c *Conn) answer(method string, body []byte) {
	if err := c.queued(c.out.add(&item{body: body})); err != nil {
		c.log.Debug("answer not sent", "method", method, "err", err)
	}
}

// queued gives up the connection when its queue is full, and passes on why something was not queued.
func (c *Conn) queued(err error) error {
	if errors.Is(err, errFull) {
		c.end(fmt.Errorf("wire: %w", err))
		return fmt.Errorf("%w: %w", err, io.ErrClosedPipe)
	}
	return err
}

func named(method string, err error) error {
	if err != nil {
		return fmt.Errorf("send %s: %w", method, err)
	}
	return nil
}

// writeAll is the writer: it takes messages from the queue until that is closed and empty, or until
// the peer takes no more.
func (c *Conn) writeAll() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		it, wait, ended := c.out.take()
		switch {
		case ended:
			return
		case it == nil && wait < 0:
			<-c.out.wake
		case it == nil:
			timer.Reset(wait)
			select {
			case <-c.out.wake:
			case <-timer.C:
			}
		default:
			if err := c.write(it); err != nil {
				c.out.close()
				c.end(fmt.Errorf("write: %w", err))
				return
			}
		}
	}
}

// write sends one message, which may have to be made first.
func (c *Conn) write(it *item) error {
	body := it.body
	if it.build != nil {
		var err error
		if body, err = c.build(it); err != nil {
			c.log.Error("update could not be made and is lost", "method", it.method, "bytes", len(it.text), "err", err)
			return nil
		}
	}
	if c.o.Tap != nil {
		c.o.Tap(true, c.unframed(body))
	}
	_, err := c.w.Write(body)
	return err
}

// build makes a message of joined text.
func (c *Conn) build(it *item) (body []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v\n%s", p, debug.Stack())
		}
	}()
	return c.encodeCall(0, it.method, it.build(string(it.text)))
}
