package lsp

import (
	"context"
	"time"
)

// errandTime bounds the work in the background for a proposal that the user is still deciding on: a
// server may take minutes to read a project.
const errandTime = 2 * time.Minute

// errand is background work that is of no use any more once an edit is applied.
type errand struct{ cancel context.CancelFunc }

// untilApplied runs such work, ended by the next edit of the session.
func (s *Session) untilApplied(f func(context.Context)) {
	ctx, cancel := context.WithTimeout(s.ctx, errandTime)
	e := &errand{cancel}
	s.mu.Lock()
	s.errands[e] = struct{}{}
	s.mu.Unlock()
	done := func() {
		cancel()
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.errands, e)
	}
	if !s.spawn(func() { defer done(); f(ctx) }) {
		done()
	}
}

// warm takes the baselines of a group as far as the files still hold the old texts.
func (g *group) warm(ctx context.Context) {
	in := g.in
	defer in.use()()
	c, err := in.get(ctx)
	if err != nil {
		return
	}
	hold, ok := in.lease.shared(ctx)
	if !ok {
		return
	}
	defer hold.release()
	in.askAll(ctx, c, g.opened(c))
}

// opened has the server ready with the files of a group as they are before the edit, and gives those
// that it has.
func (g *group) opened(c *client) *group {
	in := g.in
	in.syncDisk(in.adopt(g)...)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.flush(c)
	still := &group{in: in}
	for _, f := range g.files {
		if !f.created && !f.doc.absent && f.doc.truth == f.change.OldText {
			in.show(c, f.doc, f.doc.truth)
			still.files = append(still.files, f)
		}
	}
	return still
}
