package wire

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"sync"
)

// answer is what came back for a call.
type answer struct {
	result json.RawMessage // nil and no err: the peer left it out, which is null
	err    error
}

// calls are our open requests by id.
type calls struct {
	mu      sync.Mutex
	last    int64                 // guarded by mu; id of the newest call
	pending map[int64]chan answer // guarded by mu; nil when the connection has ended
}

// open gives the next id and the channel on which its answer comes; the channel is closed when
// none can come any more.
func (c *calls) open() (int64, chan answer, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pending == nil {
		return 0, nil, io.ErrClosedPipe
	}
	c.last++
	ch := make(chan answer, 1)
	c.pending[c.last] = ch
	return c.last, ch, nil
}

// settle hands over an answer, and says whether somebody waited for it.
func (c *calls) settle(id int64, a answer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	ch, ok := c.pending[id]
	if ok {
		delete(c.pending, id)
		ch <- a
	}
	return ok
}

// drop forgets a call, and says whether it was still open.
func (c *calls) drop(id int64) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, ok := c.pending[id]
	delete(c.pending, id)
	return ok
}

// end fails all open calls and all later ones.
func (c *calls) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, ch := range c.pending {
		close(ch)
	}
	c.pending = nil
}

// Call asks the peer and decodes its result into result (a pointer, or nil). When ctx ends first, the cancel
// notification is sent, the pending entry is dropped and ctx's error is returned; a late answer is
// ignored. A request that the writer has not taken yet is withdrawn instead. A peer's error is
// *[Error]. A closed connection is io.ErrClosedPipe. It never waits for room, so it may be made
// however full the queue is; but not from the read loop, which would never see the answer.
func (c *Conn) Call(ctx context.Context, method string, params, result any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	id, ch, err := c.calls.open()
	if err != nil {
		return fmt.Errorf("call %s: %w", method, err)
	}
	body, err := c.encodeCall(id, method, params)
	if err != nil {
		c.calls.drop(id)
		return fmt.Errorf("call %s: %w", method, err)
	}
	it := &item{body: body}
	if err := c.queued(c.out.add(it)); err != nil {
		c.calls.drop(id)
		return fmt.Errorf("call %s: %w", method, err)
	}
	select {
	case a, ok := <-ch:
		return a.decode(ok, method, result)
	case <-ctx.Done():
	}
	if !c.calls.drop(id) {
		a, ok := <-ch // it came in the same moment
		return a.decode(ok, method, result)
	}
	if !c.out.withdraw(it) {
		c.cancel(id, method)
	}
	return ctx.Err()
}

// cancel tells the peer that nobody waits for its answer.
func (c *Conn) cancel(id int64, method string) {
	if err := c.Notify(c.o.Cancel, map[string]int64{c.o.CancelKey: id}); err != nil {
		c.log.Debug("cancellation not sent", "method", method, "err", err)
	}
}

// decode puts the result where the caller wants it. ok is false when the connection ended.
func (a answer) decode(ok bool, method string, result any) error {
	switch {
	case !ok:
		return fmt.Errorf("call %s: %w", method, io.ErrClosedPipe)
	case a.err != nil:
		return a.err
	case result == nil:
		return nil
	}
	if a.result == nil {
		a.result = json.RawMessage("null")
	}
	if raw, ok := result.(*json.RawMessage); ok {
		*raw = a.result
		return nil
	}
	if err := json.Unmarshal(a.result, result); err != nil {
		return fmt.Errorf("result of %s: %w", method, err)
	}
	return nil
}
