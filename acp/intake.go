package acp

import (
	"context"
	"io"
	"sync"
	"time"
)

// intake is the editor's stream with one question added: has everything that was read been handled? A
// cancel that came in the same piece as its prompt is on its way to the handler while the turn begins,
// and a quick turn would be over before it; so a turn begins when the read loop is back in Read.
type intake struct {
	r io.Reader

	mu   sync.Mutex
	idle chan struct{} // guarded by mu; closed while a Read waits for the editor, and after the last one
	over bool          // guarded by mu; the stream has ended
}

func newIntake(r io.Reader) *intake { return &intake{r: r, idle: make(chan struct{})} }

// Read reads. When it is called, every whole message of what was read before has been handled.
func (i *intake) Read(p []byte) (int, error) {
	i.mu.Lock()
	if !i.over {
		close(i.idle)
	}
	i.mu.Unlock()
	n, err := i.r.Read(p)
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.over = i.over || err != nil; !i.over {
		i.idle = make(chan struct{})
	}
	return n, err
}

// Close ends a Read that waits, where the stream can do that.
func (i *intake) Close() error {
	if c, ok := i.r.(io.Closer); ok {
		return c.Close()
	}
	return nil
}

// intakeLimit bounds the wait: it is for a cancel that is already here, not for one that may come.
const intakeLimit = 100 * time.Millisecond

// handled waits until everything that was read has been handled.
func (i *intake) handled(ctx context.Context) {
	i.mu.Lock()
	idle := i.idle
	i.mu.Unlock()
	timer := time.NewTimer(intakeLimit)
	defer timer.Stop()
	select {
	case <-idle:
	case <-ctx.Done():
	case <-timer.C:
	}
}
