package lsp

import (
	"cmp"
	"context"
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// Bounds of the work that nobody waits for.
const (
	elsewhereTime  = 2 * time.Second // looking at other files after an edit
	elsewhereFiles = 20
	followTime     = 5 * time.Second       // listening to second thoughts of a server
	coalesce       = 50 * time.Millisecond // servers ask for a refresh in bursts
)

// elsewhere finds the errors that the edit brought into other files: what the server published about
// them since, and what it says of the other documents that it has open. It says whether the time was
// enough for all of them.
func (p *part) elsewhere(ctx context.Context, v verdictOf, watch *observer, d time.Duration) (done bool) {
	if slices.ContainsFunc(v.answers, func(a answer) bool { return a.reason != "" }) {
		return true
	}
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	p.exploreLate(ctx, v.client)
	found := p.publishedElsewhere(v.client, watch)
	found = append(found, p.askElsewhere(ctx, v.client)...)
	p.reportElsewhere(found)
	return ctx.Err() == nil
}

// publishedElsewhere compares what was published about other files with what they had before.
func (p *part) publishedElsewhere(c *client, watch *observer) []Finding {
	in := p.in
	type change struct {
		path          workspace.Path
		before, after []diag
	}
	var changes []change
	if !p.newest() {
		return nil // the newer edit hears of it, too
	}
	in.mu.Lock()
	quiet := in.quietBefore(p.s, p.told)
	for path, before := range watch.before {
		if quiet && !p.touches(path) && !in.touchedSince(path, p.before) && !in.askedAbout(c, path) {
			changes = append(changes, change{path, before, in.sets[pathKey(path)]})
		}
	}
	in.mu.Unlock()
	var out []Finding
	for _, ch := range changes {
		text, ok := in.textOf(ch.path)
		if ok {
			out = append(out, p.brought(c, ch.path, text, ch.before, ch.after)...)
		}
	}
	return out
}

// askedAbout says whether a file is a document that askElsewhere asks about, which tells more exactly
// what an edit did to it. in.mu is held.
func (in *instance) askedAbout(c *client, path workspace.Path) bool {
	d := in.find(path)
	return d != nil && d.client == c && len(d.records) > 0 && in.asks(c)
}

// touches says whether a file is one of the edit's own.
func (p *part) touches(path workspace.Path) bool {
	return slices.Contains(p.check.paths, path) || slices.Contains(p.check.paths, realPath(path))
}

// textOf is a file's text as the server should see it.
func (in *instance) textOf(p workspace.Path) (string, bool) {
	in.mu.Lock()
	if d := in.find(p); d != nil && d.client != nil {
		defer in.mu.Unlock()
		return d.truth, true
	}
	in.mu.Unlock()
	s := lookAt(&document{path: p}, stamp{})
	if s.gone || s.data == nil {
		return "", false
	}
	text, _, err := workspace.Decode(s.data, "")
	return text, err == nil
}

// brought lists the errors of a file that it did not have before, its text being the same.
func (p *part) brought(c *client, path workspace.Path, text string, before, after []diag) []Finding {
	l := newLines(text)
	fresh, _ := difference(before, after, mapLines(l, l))
	var out []Finding
	for i, d := range after {
		if fresh[i] && d.severity <= p.s.m.settings.threshold() {
			out = append(out, finding(p.in.row, path, l, c.caps.enc, d, true))
		}
	}
	return out
}

// askElsewhere asks again about the other documents whose findings are known, the last used ones
// first. It gives way to whoever wants the server for a proposal.
func (p *part) askElsewhere(ctx context.Context, c *client) []Finding {
	in := p.in
	if !c.interFile() || !in.asks(c) {
		return nil
	}
	type known struct {
		doc    *document
		before record
	}
	var list []known
	in.mu.Lock()
	for _, d := range in.docs {
		if d.client == c && !d.absent && !p.touches(d.path) && d.sent == d.truth {
			if r, ok := in.recall(d, d.truth, true); ok && (r.world == 0 || r.at <= p.before) && in.onlyBy(p.s, r.at) {
				list = append(list, known{d, r})
			}
		}
	}
	slices.SortFunc(list, func(a, b known) int { return cmp.Compare(b.doc.used, a.doc.used) })
	in.mu.Unlock()
	var out []Finding
	for _, k := range list[:min(len(list), elsewhereFiles)] {
		if !p.newest() {
			break
		}
		asking, hold, ok := in.lease.background(ctx, 1)
		if !ok {
			break
		}
		a := in.question(asking, c, k.doc)
		hold.release()
		in.mu.Lock()
		mine := in.onlyBy(p.s, k.before.at)
		in.mu.Unlock()
		if mine && a.reason == "" && a.text == k.before.text {
			out = append(out, p.brought(c, k.doc.path, a.text, k.before.items, a.items)...)
		}
	}
	return out
}

// newest says that no later edit of the session has begun at the server. When one has, its look at
// the other files covers what this one would have found.
func (p *part) newest() bool {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	return p.s.newest[p.in] == p
}

// asks says whether the server answers questions, rather than publishing when it likes.
func (in *instance) asks(c *client) bool {
	list, _ := c.sources()
	return len(list) > 0 || (in.row.quirks.syncCommand && c.caps.commands[tsCommand])
}

// reportElsewhere adds findings in other files that were not reported yet.
func (p *part) reportElsewhere(found []Finding) {
	s := p.s
	s.mu.Lock()
	var added []Finding
	for _, f := range found {
		if !slices.Contains(p.other, f) {
			p.other = append(p.other, f)
			added = append(added, f)
		}
	}
	if len(added) == 0 {
		s.mu.Unlock()
		return
	}
	s.second(p, Verdict{Other: sorted(added)})
}

// second hands out what a part says after its first word: with that, when it is still there to be
// taken, or as a late verdict of its own. s.mu is held, and is given back.
func (s *Session) second(p *part, v Verdict) {
	all := assemble(nil, p.outs, nil, s.m.settings.threshold())
	v.State, v.Reason, v.Servers, v.Items = all.State, all.Reason, all.Servers, all.Items
	v.Before, v.After, v.BaselineKnown = all.Before, all.After, all.BaselineKnown
	l := Late{Edit: p.check.edit, Paths: p.check.paths, Verdict: v}
	if p.taken {
		s.extra = append(s.extra, l)
	}
	tell := s.onLate
	if !p.taken && !p.gaveUp {
		tell = nil
	}
	s.mu.Unlock()
	if tell != nil {
		s.m.guard(func() { tell(l) })
	}
}

// follow listens for a while to whether the server says something else about the edit's files, or
// about others: gopls publishes its analyzers' findings a second later, pyright asks to be asked
// again. Only a change of what the edit brought in is worth a word.
func (p *part) follow(v verdictOf, watch *observer, looked bool) {
	ctx, cancel := context.WithTimeout(p.s.ctx, followTime)
	defer cancel()
	if !looked { // a slow server, that the end of the turn did not wait for
		p.elsewhere(ctx, v, watch, followTime)
	}
	for {
		in := p.in
		in.mu.Lock()
		fresh := in.fresh
		files := slices.Concat(p.files, p.gone)
		wake := files[0].doc.wake
		current := !slices.ContainsFunc(files, func(f *editFile) bool { return !f.stands() })
		in.mu.Unlock()
		if !current || !v.client.alive() {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-v.client.done:
			return
		case <-watch.kick:
			p.reportElsewhere(p.publishedElsewhere(v.client, watch))
			if !in.asks(v.client) {
				p.again(ctx, &v)
			}
		case <-wake: // perhaps another text: look
		case <-fresh:
			if !pause(ctx, coalesce) {
				return
			}
			p.again(ctx, &v)
		}
	}
}

// again asks once more and reports what is new in the answer.
func (p *part) again(ctx context.Context, v *verdictOf) {
	in := p.in
	ctx, hold, ok := in.lease.background(ctx, 1)
	if !ok {
		return
	}
	defer hold.release()
	in.syncDisk()
	in.mu.Lock()
	in.flush(v.client)
	superseded := slices.ContainsFunc(p.files, func(f *editFile) bool { return f.doc.sent != f.change.NewText })
	in.mu.Unlock()
	if superseded {
		return
	}
	var outs []outcome
	var added []Finding
	for i, f := range p.files {
		a := in.question(ctx, v.client, f.doc)
		if a.reason != "" || a.text != f.change.NewText {
			return
		}
		o := judge(in.row, f.file, v.client.caps.enc, v.bases[i], a)
		outs = append(outs, o)
		for _, found := range o.findings {
			if found.New && found.Severity <= p.s.m.settings.threshold() && !slices.Contains(v.outs[i].findings, found) {
				added = append(added, found)
			}
		}
	}
	if len(added) == 0 && errorsIn(outs) == errorsIn(v.outs) {
		return
	}
	p.s.mu.Lock()
	v.outs, p.outs = outs, outs
	p.s.second(p, Verdict{Introduced: sorted(added)})
}

func errorsIn(outs []outcome) (n int) {
	for _, o := range outs {
		n += o.after
	}
	return n
}
