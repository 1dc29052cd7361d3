package lsp

// confirm takes the verdicts that were foreseen for exactly the texts that are on disk now, when
// nothing else has changed since: they are about these very texts, and asking again would give the
// same. in.mu is held.
func (in *instance) confirm(p *part) {
	if in.world != p.after {
		return
	}
	answers := in.foreseen(p.before, p.group)
	for _, f := range p.files {
		if a, ok := answers[f.file]; ok && f.doc.sent == a.text {
			f.doc.remember(record{text: a.text, world: in.world, at: in.world, items: a.items})
		}
	}
}

// confirmNow gives the verdict that was foreseen for exactly these texts, without waiting for anything:
// neither a server that is known to be slow nor a slow disk that has eaten up the budget may keep back
// what is known already. When somebody else has the server just now it does nothing, and run comes to
// the same verdict a little later.
func (p *part) confirmNow() {
	in := p.in
	in.mu.Lock()
	c := in.client
	in.mu.Unlock()
	if c == nil || !c.alive() || !p.knowsBases() {
		return
	}
	hold, ok := in.lease.trySharing()
	if !ok {
		return
	}
	defer hold.release()
	defer in.pin(p.docs())()
	in.syncDisk(p.docs()...)
	v := verdictOf{client: c}
	in.mu.Lock()
	changed := p.flush(c)
	for _, f := range p.files {
		if r, ok := in.recall(f.doc, f.change.NewText, false); ok && f.doc.client == c {
			v.answers = append(v.answers, answer{record: r})
		}
	}
	in.mu.Unlock()
	if len(v.answers) == len(p.files) {
		p.judge(&v, changed)
		p.finish(v.outs)
	}
}
