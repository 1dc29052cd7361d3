package lsp

import (
	"context"
	"sync"

	"golang.org/x/sync/semaphore"
)

// leaseAll is what an exclusive lease takes of a server; a question takes 1.
const leaseAll = 1 << 30

// lease keeps the questions about what is on disk and the short times in which a proposal stands in
// its place apart. It is first come, first served, so that neither side starves; only work in the
// background ends early for whoever waits.
type lease struct {
	sem *semaphore.Weighted

	mu      sync.Mutex
	waiting int                          // guarded by mu; those that somebody waits for
	idlers  map[*hold]context.CancelFunc // guarded by mu; background work that has the lease
}

func newLease() *lease {
	return &lease{sem: semaphore.NewWeighted(leaseAll), idlers: map[*hold]context.CancelFunc{}}
}

// shared waits for the right to ask.
func (l *lease) shared(ctx context.Context) (*hold, bool) { return l.take(ctx, 1) }

// exclusive waits until nobody else asks, and keeps it so.
func (l *lease) exclusive(ctx context.Context) (*hold, bool) { return l.take(ctx, leaseAll) }

// trySharing is shared for those who do not want to wait.
func (l *lease) trySharing() (*hold, bool) {
	if !l.sem.TryAcquire(1) {
		return nil, false
	}
	return &hold{l: l, n: 1}, true
}

func (l *lease) take(ctx context.Context, n int64) (*hold, bool) {
	if !l.sem.TryAcquire(n) {
		l.wait(+1)
		defer l.wait(-1)
		if l.sem.Acquire(ctx, n) != nil {
			return nil, false
		}
	}
	return &hold{l: l, n: n}, true
}

// wait counts somebody who waits, and ends the work in the background that is in the way.
func (l *lease) wait(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.waiting += n
	if n > 0 {
		for _, cancel := range l.idlers {
			cancel()
		}
	}
}

// background takes the lease, shared or exclusive, for work that nobody waits for. The context that it
// gives ends when somebody else wants the lease in the meantime.
func (l *lease) background(ctx context.Context, n int64) (context.Context, *hold, bool) {
	ctx, cancel := context.WithCancel(ctx)
	if l.sem.Acquire(ctx, n) != nil {
		cancel()
		return ctx, nil, false
	}
	h := &hold{l: l, n: n}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.idlers[h] = cancel
	if l.waiting > 0 {
		cancel()
	}
	return ctx, h, true
}

// hold is a lease that was given. An exclusive one may be turned into a shared one.
type hold struct {
	l *lease
	n int64
}

func (h *hold) exclusive() bool { return h.n > 1 }

// share lets other questions in again, and keeps the right to ask.
func (h *hold) share() {
	h.l.sem.Release(h.n - 1)
	h.n = 1
}

func (h *hold) release() {
	h.l.mu.Lock()
	if cancel := h.l.idlers[h]; cancel != nil {
		cancel()
		delete(h.l.idlers, h)
	}
	h.l.mu.Unlock()
	h.l.sem.Release(h.n)
}
