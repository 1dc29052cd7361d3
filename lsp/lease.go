package lsp

import (
	"context"
	"sync/atomic"

	"golang.org/x/sync/semaphore"
)

// leaseAll is what an exclusive lease takes of a server; a question takes 1.
const leaseAll = 1 << 30

// lease keeps the questions about what is on disk and the short times in which a proposal stands in
// its place apart. It is first come, first served, so that neither side starves.
type lease struct {
	sem     *semaphore.Weighted
	waiting atomic.Int32
}

func newLease() *lease { return &lease{sem: semaphore.NewWeighted(leaseAll)} }

// shared waits for the right to ask.
func (l *lease) shared(ctx context.Context) (*hold, bool) { return l.take(ctx, 1) }

// exclusive waits until nobody else asks, and keeps it so.
func (l *lease) exclusive(ctx context.Context) (*hold, bool) { return l.take(ctx, leaseAll) }

// trySharing is shared for those who do not want to wait.
func (l *lease) trySharing() (*hold, bool) {
	if !l.sem.TryAcquire(1) {
		return nil, false
	}
	return &hold{l, 1}, true
}

func (l *lease) take(ctx context.Context, n int64) (*hold, bool) {
	if l.sem.TryAcquire(n) {
		return &hold{l, n}, true
	}
	l.waiting.Add(1)
	defer l.waiting.Add(-1)
	if l.sem.Acquire(ctx, n) != nil {
		return nil, false
	}
	return &hold{l, n}, true
}

// wanted says whether somebody waits for the lease: work in the background then gives way.
func (l *lease) wanted() bool { return l.waiting.Load() > 0 }

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

func (h *hold) release() { h.l.sem.Release(h.n) }
