package lsp

import (
	"context"
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// Late is a verdict that came after its Wait gave up (or a second, changed verdict of a server).
type Late struct {
	Edit    string
	Paths   []workspace.Path
	Verdict Verdict
}

// Wait waits for the verdict until deadline, less for servers that are known to be slower. ok is
// false when it did not come: it is then delivered by Late or Settle. A caller that does not want to
// wait gives a deadline in the past. When one server of several has not spoken, v is what the others
// said, with that one's no_verdict in it, and its own word comes late.
func (c *Check) Wait(ctx context.Context, deadline time.Time) (v Verdict, ok bool) {
	if len(c.parts) == 0 {
		if len(c.fixed) == 0 {
			return Verdict{State: Off, Reason: c.off.off, BaselineKnown: true}, true
		}
		return assemble(c.fixed, nil, nil, c.s.m.settings.threshold()), true
	}
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	expired := false
	for _, p := range c.parts {
		if expired || (!p.known && p.in.slower(time.Until(deadline))) {
			continue
		}
		select {
		case <-p.done:
		case <-timer.C:
			expired = true
		case <-ctx.Done():
			expired = true
		}
	}
	return c.take(expired)
}

// startEstimate is what the start of a server takes at the least.
const startEstimate = 200 * time.Millisecond

// slower says whether the server is known to need longer than what is left (L5).
func (in *instance) slower(left time.Duration) bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.client == nil && in.trouble == nil {
		return startEstimate > left
	}
	return in.average > left
}

// take hands out what is there and marks the rest as late.
func (c *Check) take(expired bool) (v Verdict, ok bool) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	var outs []outcome
	var other []Finding
	for _, p := range c.parts {
		switch {
		case p.finished && !p.taken:
			outs = append(outs, p.outs...)
			other = append(other, p.other...)
			s.hand(p)
			ok = true
		case !p.finished:
			p.gaveUp = true
			outs = append(outs, p.none(p.why(expired))...)
		}
	}
	v = assemble(c.fixed, outs, other, s.m.settings.threshold())
	return v, ok
}

// why names the reason for which a part was not waited for longer.
func (p *part) why(expired bool) string {
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	switch {
	case p.in.client == nil:
		return ReasonStarting
	case !expired:
		return ReasonTooSlow
	}
	return ReasonTimeout
}

// hand marks a part as handed out. s.mu is held.
func (s *Session) hand(p *part) {
	p.taken = true
	s.handedOut(p)
	s.pending = slices.DeleteFunc(s.pending, func(o *part) bool { return o == p })
}

// late is a finished part's word, without the files that a newer edit speaks for; false when nothing
// is left of it. s.mu is held.
func (p *part) late() (Late, bool) {
	var outs []outcome
	for _, o := range p.outs {
		if !p.dropped[o.server.File] && o.server.Reason != ReasonChanged {
			outs = append(outs, o)
		}
	}
	if len(outs) == 0 && len(p.other) == 0 {
		return Late{}, false
	}
	return Late{
		Edit: p.check.edit, Paths: p.check.paths,
		Verdict: assemble(nil, outs, p.other, p.s.m.settings.threshold()),
	}, true
}

// Late takes the verdicts that came since the last call (they ride on the next tool result), those of
// edits whose Wait was never called as well.
func (s *Session) Late() []Late {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Late
	for _, p := range slices.Clone(s.pending) {
		if !p.finished {
			continue
		}
		if l, ok := p.late(); ok {
			out = append(out, l)
			s.hand(p)
			continue
		}
		// Nothing is left of it; the newer edit goes on with its baseline.
		p.taken = true
		s.pending = slices.DeleteFunc(s.pending, func(o *part) bool { return o == p })
	}
	out = append(out, s.extra...)
	s.extra = nil
	return out
}

// OnLate sets a function that is called, from a goroutine of the session, when a late verdict
// arrives, so that the editor can be shown it at once. Late still returns it for the model.
func (s *Session) OnLate(f func(Late)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.onLate = f
}

// Settle waits until no check is running or ctx ends, and takes what Late would (turn-end hold, L9).
func (s *Session) Settle(ctx context.Context) []Late {
	for ctx.Err() == nil {
		s.mu.Lock()
		running, settled := s.running, s.settled
		s.mu.Unlock()
		if running == 0 {
			break
		}
		select {
		case <-settled:
		case <-ctx.Done():
		}
	}
	return s.Late()
}
