package lsp

import (
	"context"
	"time"
)

// baseline is what a server said of a file before an edit.
type baseline struct {
	known bool
	text  string
	items []diag
}

// lease gets the right to ask: a shared one, or an exclusive one when what the server said before the
// edit is not known and has to be asked for first.
func (p *part) lease(ctx context.Context, c *client) (*hold, bool) {
	if p.knowsBases() || p.in.saysNothing(c) {
		return p.in.lease.shared(ctx)
	}
	return p.in.lease.exclusive(ctx)
}

// saysNothing says that the server publishes, and stayed silent about an old text the last time: it is
// not asked for a baseline again.
func (in *instance) saysNothing(c *client) bool {
	in.mu.Lock()
	silent := in.silent
	in.mu.Unlock()
	return silent && !in.asks(c)
}

// knowsBases fills in the baselines that the server's earlier verdicts give, and says whether those
// are all.
func (p *part) knowsBases() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.in.mu.Lock()
	defer p.in.mu.Unlock()
	all := true
	for _, f := range p.files {
		base := &f.chain.base
		if base.known {
			continue
		}
		d := f.doc
		if f.change.Op == Move {
			if from := p.in.find(f.change.Path); from != nil {
				d = from
			}
		}
		if r, ok := p.in.recall(d, base.text, true); ok {
			base.known, base.items = true, r.items
		} else {
			all = false
		}
	}
	return all
}

// takeBases asks what the server says of the texts before the edit. The exclusive lease is held; the
// caller puts the truth back.
func (p *part) takeBases(ctx context.Context, c *client) {
	in := p.in
	if p.knowsBases() { // learned while the lease was waited for
		return
	}
	old := map[*document]string{}
	ask := &group{in: in}
	p.s.mu.Lock()
	for _, f := range p.files {
		if !f.created {
			old[f.doc] = f.chain.base.text
		}
		if !f.chain.base.known {
			ask.files = append(ask.files, f)
		}
	}
	p.s.mu.Unlock()
	in.mu.Lock()
	in.overlaid = map[*document]bool{} // the flush leaves them out: they get their old texts next
	for d := range old {
		in.overlaid[d] = true
	}
	in.flush(c)
	in.mu.Unlock()
	in.overlay(c, old)
	ctx, cancel := context.WithTimeout(ctx, in.baseTime(c, p.deadline))
	defer cancel()
	answers := in.askAll(ctx, c, ask)
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	silent := false
	for i, f := range ask.files {
		a := answers[i]
		if a.reason == "" && a.text == f.chain.base.text {
			f.chain.base.known, f.chain.base.items = true, a.items
		}
		silent = silent || a.reason == ReasonSilent || a.reason == ReasonTimeout
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.silent = silent
}

// baseTime is how much of a check's time its baseline may take. A server that answers questions is
// slow once, when it reads the project, and quick for the question that follows; one that publishes
// when it likes may stay silent about the old text for ever.
func (in *instance) baseTime(c *client, deadline time.Time) time.Duration {
	left := time.Until(deadline)
	if in.asks(c) {
		return left * 4 / 5
	}
	return left / 2
}

// bases are the baselines as far as they are known now.
func (p *part) bases() []baseline {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	out := make([]baseline, len(p.files))
	for i, f := range p.files {
		out[i] = f.chain.base
	}
	return out
}
