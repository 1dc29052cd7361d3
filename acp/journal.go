package acp

import (
	"fmt"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/provenance"
)

// journals are the provenance logs of this process by root, opened when first needed.
type journals struct {
	mu   sync.Mutex
	open map[workspace.Path]*provenance.Log // guarded by mu; by the root's real path
}

// recordDir is where provenance logs live.
func (s *Server) recordDir() workspace.Path { return s.o.Home.Dir.Join("provenance") }

// record gives the log of a root, by its real path.
func (s *Server) recordOf(root workspace.Path) (*provenance.Log, error) {
	s.logs.mu.Lock()
	defer s.logs.mu.Unlock()
	if l := s.logs.open[root]; l != nil {
		return l, nil
	}
	l, err := provenance.Open(s.recordDir().String(), root)
	if err != nil {
		return nil, err
	}
	if s.logs.open == nil {
		s.logs.open = map[workspace.Path]*provenance.Log{}
	}
	s.logs.open[root] = l
	return l, nil
}

// journal makes one application durable, and records it in the log of each root that it touches.
type journal struct {
	e      *editing
	got    answer
	parts  []journalPart
	opened bool // the intent is recorded
}

// journalPart is the share of one root.
type journalPart struct {
	root    workspace.Path // real
	log     *provenance.Log
	changes []*edits.Change
}

// recorded is what the wire tells of an edit's record.
type recorded struct{ meta *provenanceMeta }

type provenanceMeta struct {
	Seq      int64                `json:"seq"`
	Hash     string               `json:"hash"`
	Decision *provenance.Decision `json:"decision"`
}

func (e *editing) newJournal(got answer) *journal { return &journal{e: e, got: got} }

// rootOf is the real path of the root that a change belongs to; what lies outside is recorded with the cwd.
func (o *session) rootOf(c *edits.Change) workspace.Path {
	loc := o.roots.Locate(c.Real)
	if !loc.Inside {
		loc.Root = o.roots.Cwd()
	}
	return o.real(loc.Root)
}

// open finds the logs that the proposal belongs to.
func (j *journal) open() error {
	for i := range j.e.p.Changes {
		c := &j.e.p.Changes[i]
		root := j.e.rootOf(c)
		at := 0
		for at < len(j.parts) && j.parts[at].root != root {
			at++
		}
		if at == len(j.parts) {
			log, err := j.e.srv.recordOf(root)
			if err != nil {
				return fmt.Errorf("provenance record: %w", err)
			}
			j.parts = append(j.parts, journalPart{root: root, log: log})
		}
		j.parts[at].changes = append(j.parts[at].changes, c)
	}
	return nil
}

// Keep stores an old content, for undo and repair.
func (j *journal) Keep(h workspace.Hash, data []byte) error { return j.e.srv.blobs.Put(h, data) }

// Intent stores the new contents, by which repair tells a torn file from a foreign one, and records
// the intent in each log.
func (j *journal) Intent(p *edits.Proposal) error {
	var group errgroup.Group
	for _, c := range p.Changes {
		if c.NewBytes != nil {
			group.Go(func() error { return j.e.srv.blobs.Put(c.After, c.NewBytes) })
		}
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for i := range j.parts {
		if _, err := j.parts[i].log.Append(j.record(provenance.Intent, &j.parts[i])); err != nil {
			for k := range i { // no intent stays open
				j.append(provenance.Failed, &j.parts[k], "the intent could not be recorded: "+err.Error(), nil)
			}
			return err
		}
	}
	j.opened = true
	return nil
}

// applied records what landed and gives the first record for the wire. An application that cannot be
// recorded any more stays an open intent, which the next start finishes.
func (j *journal) applied(landed []edits.Landed) recorded {
	found := map[*edits.Change]workspace.Hash{}
	for _, l := range landed {
		if l.Found != l.Written {
			found[l.Change] = l.Found
			if err := j.e.srv.blobs.Put(l.Found, []byte(l.Text)); err != nil {
				j.e.srv.log.Debug("found content not kept", "path", l.Change.Path, "err", err)
			}
		}
	}
	var out recorded
	for i := range j.parts {
		r, err := j.append(provenance.Applied, &j.parts[i], "", found)
		if err == nil && out.meta == nil {
			out.meta = &provenanceMeta{Seq: r.Seq, Hash: r.Hash, Decision: r.Decision}
		}
	}
	return out
}

// failed closes the intents of an application that was put back.
func (j *journal) failed(err error) {
	if !j.opened {
		return // stale, for one: nothing was begun
	}
	for i := range j.parts {
		j.append(provenance.Failed, &j.parts[i], err.Error(), nil)
	}
}

func (j *journal) append(kind provenance.Kind, part *journalPart, note string, found map[*edits.Change]workspace.Hash) (provenance.Record, error) {
	r := j.record(kind, part)
	if note != "" {
		r.Note = note
	}
	for i, c := range part.changes {
		r.Files[i].Found = found[c]
	}
	if v := j.e.foreseen.verdict; kind == provenance.Applied && j.e.foreseen.asked && (v.State == lsp.Clean || v.State == lsp.Findings) {
		r.Diagnostics = &provenance.Counts{Before: v.Before, After: v.After}
	}
	r, err := part.log.Append(r)
	if err != nil {
		j.e.srv.log.Error("provenance record not written", "kind", kind, "root", part.root, "err", err)
	}
	return r, err
}

// record is a record of one root's share.
func (j *journal) record(kind provenance.Kind, part *journalPart) provenance.Record {
	r := j.e.call.record(kind)
	r.Proposal = string(j.e.p.ID)
	r.Decision = j.got.record()
	var notes []string
	for _, c := range part.changes {
		f := provenance.File{Op: string(c.Op), Path: c.Path, To: c.To, Before: c.Before, After: c.After}
		if c.Op == edits.Delete || c.Op == edits.Move {
			f.Mode = recordMode(c.Mode)
		}
		r.Files = append(r.Files, f)
		if c.RouteWhy != "" {
			notes = append(notes, c.Path.Base()+" written to disk: "+c.RouteWhy)
		}
		if c.EditorRead != "" {
			notes = append(notes, c.Path.Base()+": "+c.EditorRead)
		}
	}
	r.Note = strings.Join(notes, "; ")
	return r
}

// record begins a record of this call.
func (c *call) record(kind provenance.Kind) provenance.Record {
	return provenance.Record{Kind: kind, Session: c.session.id, Turn: c.number, ToolCall: c.id, Model: c.modelID}
}

// recordDecision records an edit that was refused.
func (e *editing) recordDecision(got answer) {
	j := e.newJournal(got)
	if err := j.open(); err != nil {
		e.srv.log.Error("provenance record not written", "err", err)
		return
	}
	for i := range j.parts {
		j.append(provenance.Decided, &j.parts[i], "", nil)
	}
}
