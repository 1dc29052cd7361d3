package lsp

import (
	"context"
	"maps"
	"slices"
	"sync"

	"acp-agent/internal/workspace"
)

// group is the files of an edit that one instance owns.
type group struct {
	in    *instance
	files []*editFile
	gone  []*editFile // paths that hold no file any more
}

// editFile is one file of an edit at one server.
type editFile struct {
	change  Change
	file    workspace.Path // where the new text stands
	created bool
	chain   *chain // of an applied edit
	doc     *document
}

// grouped sorts an edit's files by the servers that own them. fixed are the words on files that no
// server is asked about; without any group they are the whole verdict.
func (s *Session) grouped(changes []Change) (groups []*group, fixed []ServerVerdict, off place) {
	find := func(in *instance) *group {
		for _, g := range groups {
			if g.in == in {
				return g
			}
		}
		g := &group{in: in}
		groups = append(groups, g)
		return g
	}
	off = place{off: ReasonNoServer}
	for _, ch := range changes {
		if ch.Op == Delete || ch.Op == Move {
			for _, in := range s.upFor(ch.Path) {
				g := find(in)
				g.gone = append(g.gone, &editFile{change: Change{Op: Delete, Path: ch.Path, OldText: ch.OldText}, file: ch.Path})
			}
		}
		if ch.Op == Delete {
			off.off = ReasonDeleted
			continue
		}
		file := ch.Path
		if ch.Op == Move {
			file = ch.To
		}
		list, where := s.assign(file)
		if where.off != "" {
			off = where
			continue
		}
		for _, a := range list {
			if a.refused != nil {
				fixed = append(fixed, ServerVerdict{ID: a.row.id, File: file, State: NoVerdict, Reason: a.refused.reason})
				continue
			}
			g := find(a.in)
			g.files = append(g.files, &editFile{change: ch, file: file, created: ch.Op == Create})
		}
	}
	return groups, fixed, off
}

// exploreGone looks for what depends on files that a proposal deletes or moves, while they are there:
// afterwards some servers cannot tell any more.
func (s *Session) exploreGone(changes []Change) {
	groups := map[*instance]*group{}
	for _, ch := range changes {
		if ch.Op != Delete && ch.Op != Move {
			continue
		}
		for _, in := range s.upFor(ch.Path) {
			if groups[in] == nil {
				groups[in] = &group{in: in}
			}
			gone := Change{Op: Delete, Path: ch.Path, OldText: ch.OldText}
			groups[in].files = append(groups[in].files, &editFile{change: gone, file: ch.Path})
		}
	}
	for _, g := range groups {
		s.untilApplied(g.explore)
	}
}

// upFor lists the servers of a file that are up: for a file that is gone none is started.
func (s *Session) upFor(p workspace.Path) (out []*instance) {
	list, _ := s.assign(p)
	for _, a := range list {
		if a.in == nil {
			continue
		}
		a.in.mu.Lock()
		if a.in.client != nil {
			out = append(out, a.in)
		}
		a.in.mu.Unlock()
	}
	return out
}

// Foresee gives the verdict on proposed texts without disturbing the truth: an exclusive lease on
// each (server, root), set, ask, put back (architecture, journey step 5). It starts the servers it
// needs and also takes the baseline. It returns at ctx's deadline with no_verdict (reason timeout)
// while the servers go on warming up; everything is put back even then. Deletes and moves are not
// foreseen. A session that the layer does not serve gives Off with the reason.
func (s *Session) Foresee(ctx context.Context, changes []Change) Verdict {
	var foreseen []Change
	for _, ch := range changes {
		if ch.Op == Create || ch.Op == Update {
			foreseen = append(foreseen, ch)
		}
	}
	s.exploreGone(changes)
	if len(foreseen) == 0 {
		return Verdict{State: Off, Reason: ReasonNotForeseen, Foreseen: true, BaselineKnown: true}
	}
	groups, fixed, off := s.grouped(foreseen)
	if len(groups) == 0 && len(fixed) == 0 {
		return Verdict{State: Off, Reason: off.off, Foreseen: true, BaselineKnown: true}
	}
	outs := make([][]outcome, len(groups))
	var wg sync.WaitGroup
	for i, g := range groups {
		outs[i] = g.none(ReasonFailed)
		wg.Go(func() { s.m.guard(func() { outs[i] = s.foreseeAt(ctx, g, changes) }) })
	}
	wg.Wait()
	v := assemble(fixed, slices.Concat(outs...), nil, s.m.settings.threshold())
	v.Foreseen = true
	return v
}

// whole says whether the group holds all of an edit that the server has to do with: only then does
// what it says of the proposal hold for the applied edit as well.
func (g *group) whole(c *client, changes []Change) bool {
	return !slices.ContainsFunc(changes, func(ch Change) bool {
		if ch.Op == Delete || ch.Op == Move {
			return true
		}
		in := slices.ContainsFunc(g.files, func(f *editFile) bool { return f.file == ch.Path })
		return !in && (g.in.row.owns(ch.Path) || c.watches(ch.Path, 2) || c.watches(ch.Path, 1))
	})
}

// none is the outcome of a group that no verdict came for.
func (g *group) none(reason string) []outcome {
	var out []outcome
	for _, f := range g.files {
		out = append(out, judge(g.in.row, f.file, utf16Units, baseline{}, answer{reason: reason}))
	}
	return out
}

// foreseeAt foresees the files of one server.
func (s *Session) foreseeAt(ctx context.Context, g *group, changes []Change) []outcome {
	in := g.in
	defer in.use()()
	c, err := in.get(ctx)
	if err != nil {
		reason := in.refusedFor(err)
		if reason == ReasonStarting {
			s.untilApplied(g.warm)
		}
		return g.none(reason)
	}
	hold, ok := in.lease.exclusive(ctx)
	if !ok {
		return g.none(ReasonBusy)
	}
	answers, bases := in.underLease(ctx, c, g, g.whole(c, changes))
	hold.release()
	out := make([]outcome, len(g.files))
	late := false
	for i, f := range g.files {
		out[i] = judge(in.row, f.file, c.caps.enc, bases[i], answers[i])
		late = late || !bases[i].known
	}
	switch {
	case late:
		s.untilApplied(g.warm)
	case c.mayExplore():
		s.untilApplied(g.explore)
	}
	return out
}

// underLease sets the proposal's texts, asks, and puts everything back. The exclusive lease is held.
func (in *instance) underLease(ctx context.Context, c *client, g *group, whole bool) ([]answer, []baseline) {
	docs := in.adopt(g)
	defer in.pin(docs)()
	in.syncDisk(docs...)
	in.mu.Lock()
	in.flush(c)
	world := in.world
	in.mu.Unlock()
	defer in.putBack(c)
	bases := in.bases(ctx, c, g)
	now := map[*document]string{}
	for _, f := range g.files {
		now[f.doc] = f.change.NewText
	}
	in.overlay(c, now)
	answers := in.askAll(ctx, c, g)
	in.mu.Lock()
	defer in.mu.Unlock()
	if whole {
		in.keepProposal(world, g, answers)
	}
	return answers, bases
}

// adopt makes the documents of a group. A file that was never seen gets the edit's old text for its
// truth; the look at the disk that follows corrects it when the edit began from an unsaved buffer.
func (in *instance) adopt(g *group) (docs []*document) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, f := range g.files {
		known := in.find(f.file) != nil
		f.doc = in.doc(f.file)
		if !known {
			f.doc.truth, f.doc.was, f.doc.absent = f.change.OldText, f.change.OldText, f.created
		}
		docs = append(docs, f.doc)
	}
	return docs
}

// bases gets what the server says of the texts before the edit, as far as it is not known already.
func (in *instance) bases(ctx context.Context, c *client, g *group) []baseline {
	out := make([]baseline, len(g.files))
	before := map[*document]string{}
	var missing []int
	in.mu.Lock()
	for i, f := range g.files {
		out[i].text = f.change.OldText
		if f.created {
			out[i].known = true
			continue
		}
		if r, ok := in.recall(f.doc, f.change.OldText, false); ok {
			out[i].known, out[i].items = true, r.items
		} else {
			missing = append(missing, i)
		}
		before[f.doc] = f.change.OldText
	}
	in.mu.Unlock()
	if len(missing) == 0 {
		return out
	}
	in.overlay(c, before)
	var wg sync.WaitGroup
	for _, i := range missing {
		wg.Go(func() {
			in.m.guard(func() {
				if a := in.ask(ctx, c, g.files[i].doc); a.reason == "" {
					out[i].known, out[i].items = true, a.items
				}
			})
		})
	}
	wg.Wait()
	return out
}

// overlay makes the server have texts in place of the truth.
func (in *instance) overlay(c *client, texts map[*document]string) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.overlaid == nil {
		in.overlaid = map[*document]bool{}
	}
	for d, text := range texts {
		in.overlaid[d] = true
		in.untrue = in.untrue || d.absent || text != d.truth
	}
	for _, d := range sortedDocs(texts) {
		in.show(c, d, texts[d])
	}
}

// putBack makes the server have the truth again, and closes what exists only in a proposal.
func (in *instance) putBack(c *client) {
	in.mu.Lock()
	defer in.mu.Unlock()
	overlaid := in.overlaid
	in.overlaid, in.untrue = nil, false
	for _, d := range sortedDocs(overlaid) {
		in.restore(c, d)
	}
}

// sortedDocs gives documents in the order of their paths, so that what is sent is the same every time.
func sortedDocs[V any](set map[*document]V) []*document {
	return slices.SortedFunc(maps.Keys(set), func(a, b *document) int {
		if a.path < b.path {
			return -1
		}
		return 1
	})
}

// askAll asks about all files of a group at the same time.
func (in *instance) askAll(ctx context.Context, c *client, g *group) []answer {
	out := make([]answer, len(g.files))
	var wg sync.WaitGroup
	for i, f := range g.files {
		out[i].reason = ReasonFailed
		if len(g.files) == 1 {
			out[i] = in.ask(ctx, c, f.doc)
			break
		}
		wg.Go(func() { in.m.guard(func() { out[i] = in.ask(ctx, c, f.doc) }) })
	}
	wg.Wait()
	return out
}

// refusedFor counts why a server could not be had, and names it.
func (in *instance) refusedFor(err error) string {
	reason := ReasonFailed
	if r, ok := err.(*refusal); ok {
		reason = r.reason
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.none[reason]++
	return reason
}
