package lsp

import (
	"context"

	"golang.org/x/sync/semaphore"
)

// leaseAll is what an exclusive lease takes of a server; a question takes 1.
const leaseAll = 1 << 30

// lease keeps the questions about what is on disk and the short times in which a proposal stands in
// its place apart. It is first come, first served, so that neither side starves.
type lease struct{ *semaphore.Weighted }

// shared waits for the right to ask.
func (l lease) shared(ctx context.Context) (release func(), ok bool) {
	if l.Acquire(ctx, 1) != nil {
		return nil, false
	}
	return func() { l.Release(1) }, true
}

// exclusive waits until nobody else asks, and keeps it so.
func (l lease) exclusive(ctx context.Context) (*hold, bool) {
	if l.Acquire(ctx, leaseAll) != nil {
		return nil, false
	}
	return &hold{l: l, n: leaseAll}, true
}

// wanted says whether somebody waits for the lease: work in the background then gives way.
func (l lease) wanted() bool {
	if !l.TryAcquire(1) {
		return true
	}
	l.Release(1)
	return false
}

// hold is an exclusive lease that may be turned into a shared one.
type hold struct {
	l lease
	n int64
}

// share lets other questions in again, and keeps the right to ask.
func (h *hold) share() {
	h.l.Release(h.n - 1)
	h.n = 1
}

func (h *hold) release() { h.l.Release(h.n) }
