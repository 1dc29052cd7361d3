package lsp

import (
	"context"
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// Check is the check of one applied edit.
type Check struct {
	s     *Session
	edit  string
	paths []workspace.Path
	fixed []ServerVerdict // words on files that no server was asked about
	off   place           // when there is nothing else
	parts []*part
}

// part is the check of an edit at one server.
type part struct {
	*group
	s        *Session
	check    *Check
	deadline time.Time
	told     time.Time
	before   uint64 // the server's state of the world when the edit was told of
	after    uint64 // and right after
	known    bool   // these very texts were foreseen in this state of the world
	watch    *observer
	done     chan struct{}

	// Guarded by s.mu.
	finished bool
	gaveUp   bool // Wait ended without it: it is late
	taken    bool // handed out, by Wait, Late or Settle
	outs     []outcome
	other    []Finding
	dropped  map[workspace.Path]bool // files that a newer edit of the session speaks for
}

// Applied tells the servers that changes are on disk now (one didChangeWatchedFiles for all, opens
// and changes, saves) and starts the check, which goes on in the background up to WaitTimeout. edit
// names the edit for late delivery (the tool call id).
func (s *Session) Applied(edit string, changes []Change) *Check {
	groups, fixed, off := s.grouped(changes)
	c := &Check{s: s, edit: edit, fixed: fixed, off: off}
	for _, ch := range changes {
		c.paths = append(c.paths, ch.Path)
		if ch.Op == Move {
			c.paths = append(c.paths, ch.To)
		}
	}
	told := map[*instance]bool{}
	for _, g := range groups {
		told[g.in] = true
		p := &part{group: g, s: s, check: c, done: make(chan struct{}), dropped: map[workspace.Path]bool{}}
		p.tell(changes)
		c.parts = append(c.parts, p)
	}
	s.m.tellOthers(changes, told, s)
	s.mu.Lock()
	for e := range s.errands {
		e.cancel()
	}
	for _, older := range s.pending {
		for _, path := range c.paths {
			older.dropped[path] = true // the newer check is held against the older one's baseline
		}
	}
	s.pending = append(s.pending, c.parts...)
	for _, p := range c.parts {
		s.newest[p.in] = p
	}
	s.mu.Unlock()
	for _, p := range c.parts {
		if p.known {
			s.m.guard(p.confirmNow)
		}
		s.begin(p)
	}
	return c
}

// tell notes at once, in the order of the calls, what the edit changed: whichever check speaks to the
// server first then tells it the newest texts.
func (p *part) tell(changes []Change) {
	in := p.in
	p.s.mu.Lock()
	for _, f := range p.files {
		f.chain = p.s.chained(in, f.file, f.change.OldText, f.change.NewText, p)
		if f.created && f.chain.base.text == "" {
			f.chain.base.known = true
		}
	}
	p.s.mu.Unlock()
	wait := in.m.settings.waitTimeout()
	p.watch = in.observe()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.client == nil || in.cold {
		wait = max(wait, in.m.settings.WarmupTimeout)
	}
	p.told = time.Now()
	p.deadline = p.told.Add(wait)
	p.before = in.claim(changes, p.s)
	for _, ch := range changes {
		in.tell(ch, p.s)
	}
	p.after = in.world
	for _, f := range p.files {
		f.doc = in.doc(f.file)
	}
	for _, f := range p.gone {
		f.doc = in.doc(f.file)
		f.doc.absent = true
	}
	p.known = in.foreseen(p.before, p.group) != nil
}

// begin runs a part in a goroutine of the session.
func (s *Session) begin(p *part) {
	s.mu.Lock()
	if s.running == 0 {
		s.settled = make(chan struct{})
	}
	s.running++
	s.mu.Unlock()
	if !s.spawn(p.run) {
		p.in.unobserve(p.watch)
		p.finish(p.none(ReasonClosed))
		s.settle()
	}
}

// settle counts a part as no longer running.
func (s *Session) settle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.running--; s.running == 0 {
		close(s.settled)
	}
}

// run makes the check: it gets the verdict, then looks at what else the edit did, then listens for a
// while to whether the server changes its mind.
func (p *part) run() {
	ctx, cancel := context.WithDeadline(p.s.ctx, p.deadline)
	defer cancel()
	defer p.in.use()()
	settled := false
	defer func() {
		p.finish(p.none(ReasonFailed)) // only when a panic came before
		if !settled {
			p.s.settle()
		}
	}()
	defer p.in.unobserve(p.watch)
	v := p.verdict(ctx)
	p.finish(v.outs)
	looked := true
	if v.client != nil {
		looked = p.elsewhere(ctx, v, p.watch, elsewhereTime)
	}
	p.s.settle()
	settled = true
	if v.client != nil {
		p.follow(v, p.watch, looked)
	}
}

// verdictOf is a part's verdict with what it was made from.
type verdictOf struct {
	client  *client
	answers []answer
	bases   []baseline
	outs    []outcome
}

// verdict gets the verdict. A server that ends in the middle is asked once more when it is back.
func (p *part) verdict(ctx context.Context) verdictOf {
	for try := 0; ; try++ {
		c, err := p.in.get(ctx)
		if err != nil {
			return verdictOf{outs: p.none(p.in.refusedFor(err))}
		}
		v, ok := p.attempt(ctx, c)
		if !ok {
			return verdictOf{outs: p.none(ReasonBusy)}
		}
		crashed := slices.ContainsFunc(v.answers, func(a answer) bool { return a.reason == ReasonCrashed })
		if !crashed || try > 0 {
			return v
		}
		select {
		case <-c.done:
		case <-ctx.Done():
			return v
		}
	}
}

// attempt asks one process. ok is false when its lease could not be had in time.
func (p *part) attempt(ctx context.Context, c *client) (v verdictOf, ok bool) {
	in := p.in
	v.client = c
	hold, ok := p.lease(ctx, c)
	if !ok {
		return v, false
	}
	defer hold.release()
	defer in.pin(p.docs())()
	in.syncDisk(p.docs()...)
	if hold.exclusive() {
		p.takeBases(ctx, c)
		in.putBack(c)
		hold.share()
	}
	in.mu.Lock()
	changed := p.flush(c)
	in.mu.Unlock()
	v.answers = in.askAll(ctx, c, p.group)
	p.judge(&v, changed)
	return v, true
}

func (p *part) docs() (docs []*document) {
	for _, f := range p.files {
		docs = append(docs, f.doc)
	}
	return docs
}

// flush tells the server the truth, and says of which files it is another than the edit's by now.
// in.mu is held.
func (p *part) flush(c *client) (changed []bool) {
	p.in.flush(c, p.docs()...)
	p.in.confirm(p)
	for _, f := range p.files {
		changed = append(changed, f.doc.absent || f.doc.truth != f.change.NewText)
	}
	return changed
}

// judge makes outcomes of the answers. One about another text than the edit's is none.
func (p *part) judge(v *verdictOf, changed []bool) {
	v.bases = p.bases()
	for i, f := range p.files {
		if changed[i] || (v.answers[i].reason == "" && v.answers[i].text != f.change.NewText) {
			v.answers[i] = answer{reason: ReasonChanged}
		}
		v.outs = append(v.outs, judge(p.in.row, f.file, v.client.caps.enc, v.bases[i], v.answers[i]))
	}
}

// finish makes a part's outcome known. Only the first call counts.
func (p *part) finish(outs []outcome) {
	s := p.s
	s.mu.Lock()
	if p.finished {
		s.mu.Unlock()
		return
	}
	p.finished, p.outs = true, outs
	tell := s.onLate
	if !p.gaveUp {
		tell = nil
	}
	late, ok := p.late()
	s.mu.Unlock()
	close(p.done)
	if tell != nil && ok {
		s.m.guard(func() { tell(late) })
	}
}
