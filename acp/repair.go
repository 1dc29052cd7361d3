package acp

import (
	"context"
	"errors"
	"io/fs"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
	"acp-agent/provenance"
)

// repairs mends what a crash left behind, once for each root of this process, when its first session
// opens and before its first turn runs.
type repairs struct {
	mu    sync.Mutex
	roots map[workspace.Path]chan struct{} // guarded by mu; by real path, closed when mended
}

// tempAge is how old a temp file of unknown origin must be to be swept: a younger one may be in use by a
// process of another machine.
const tempAge = 10 * time.Minute

// repairRoots begins with the roots that nobody has begun with.
func (s *Server) repairRoots(ctx context.Context, roots *workspace.Roots) {
	for _, root := range roots.Real() {
		s.repair.mu.Lock()
		if s.repair.roots == nil {
			s.repair.roots = map[workspace.Path]chan struct{}{}
		}
		begun := s.repair.roots[root] != nil
		done := make(chan struct{})
		if !begun {
			s.repair.roots[root] = done
		}
		s.repair.mu.Unlock()
		if begun {
			continue
		}
		if !s.spawn(ctx, func(ctx context.Context) { s.repairRoot(ctx, root, done) }) {
			close(done)
		}
	}
}

// wait waits until the roots are mended; false when ctx ended first.
func (r *repairs) wait(ctx context.Context, roots *workspace.Roots) bool {
	for _, root := range roots.Real() {
		r.mu.Lock()
		done := r.roots[root]
		r.mu.Unlock()
		if done == nil {
			continue
		}
		select {
		case <-done:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

// repairRoot finishes or rolls back the applications that broke off, lets turns begin, and sweeps temp
// files, which nobody waits for.
func (s *Server) repairRoot(ctx context.Context, root workspace.Path, done chan<- struct{}) {
	func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic in repair", "root", root, "panic", p, "stack", string(debug.Stack()))
			}
		}()
		for _, dir := range s.repairIntents(root) {
			removed, err := workspace.SweepFolder(dir, time.Now().Add(-tempAge))
			s.swept(ctx, dir, removed, err)
		}
	}()
	removed, err := workspace.Sweep(ctx, root, time.Now().Add(-tempAge))
	s.swept(ctx, root, removed, err)
}

func (s *Server) swept(ctx context.Context, dir workspace.Path, removed []workspace.Path, err error) {
	if err != nil && ctx.Err() == nil && !errors.Is(err, fs.ErrNotExist) {
		s.log.Warn("temp files not swept", "dir", dir, "err", err)
	}
	if len(removed) > 0 {
		s.log.Info("temp files of a crash removed", "files", removed)
	}
}

// repairIntents gives each intent without an end its end, and the folders that were touched. One process
// at a time: a second one would roll back what it saw before the first was done.
func (s *Server) repairIntents(root workspace.Path) (folders []workspace.Path) {
	log, err := s.recordOf(root)
	if err != nil {
		s.log.Error("provenance record not opened", "root", root, "err", err)
		return nil
	}
	if pending, err := log.Pending(); err == nil && len(pending) == 0 {
		return nil
	}
	err = provenance.Alone(s.recordDir().String(), func() error {
		pending, err := log.Pending()
		for _, r := range pending {
			folders = append(folders, s.repairEdit(r.Proposal)...)
		}
		return err
	})
	if err != nil {
		s.log.Error("pending intents not read", "root", root, "err", err)
	}
	return folders
}

// broken is one root's share of an application that broke off.
type broken struct {
	log    *provenance.Log
	intent provenance.Record
}

// repairEdit ends an application in the logs of all the roots that it touched: it is finished when
// everything of it was done, else all of it is rolled back.
func (s *Server) repairEdit(proposal string) (folders []workspace.Path) {
	parts := s.brokenParts(proposal)
	var files []provenance.File
	for _, b := range parts {
		files = append(files, b.intent.Files...)
	}
	kind, note := s.repairFiles(files)
	for _, b := range parts {
		end := b.intent
		end.Kind, end.Time, end.Note = kind, time.Time{}, note
		if _, err := b.log.Append(end); err != nil {
			s.log.Error("repair not recorded", "log", b.log.Path(), "err", err)
		}
	}
	s.log.Warn("an edit that broke off was mended", "proposal", proposal, "how", note)
	for _, f := range files {
		folders = append(folders, f.Path.Dir())
		if f.To != "" {
			folders = append(folders, f.To.Dir())
		}
	}
	return folders
}

// brokenParts finds the open intents of one proposal.
func (s *Server) brokenParts(proposal string) (parts []broken) {
	logs, err := provenance.OpenAll(s.recordDir().String())
	if err != nil {
		s.log.Error("provenance records not opened", "err", err)
	}
	for _, log := range logs {
		pending, err := log.Pending()
		if err != nil {
			s.log.Error("pending intents not read", "log", log.Path(), "err", err)
		}
		for _, r := range pending {
			if r.Proposal == proposal {
				parts = append(parts, broken{log, r})
			}
		}
	}
	return parts
}

// fileState is where a file of a broken application stands.
type fileState int

const (
	stateBefore  fileState = iota
	stateAfter             // as the edit wanted it
	stateTorn              // part of one, part of the other
	stateForeign           // changed by somebody else since: it stays as it is
)

// repairFiles keeps an application of which everything was done, and rolls any other back.
func (s *Server) repairFiles(files []provenance.File) (kind provenance.Kind, note string) {
	states := make([]fileState, len(files))
	all := true
	for i, f := range files {
		states[i] = s.fileState(f)
		all = all && states[i] == stateAfter
	}
	if all {
		return provenance.Applied, "finished at start"
	}
	notes := []string{"rolled back at start"}
	for i, f := range files {
		switch states[i] {
		case stateBefore:
		case stateForeign:
			notes = append(notes, f.Path.String()+" was changed since and stays as it is")
		default:
			if err := s.rollBack(f); err != nil {
				notes = append(notes, err.Error())
			}
		}
	}
	return provenance.Failed, strings.Join(notes, "; ")
}

// fileState compares the disk with the record.
func (s *Server) fileState(f provenance.File) fileState {
	op := edits.Op(f.Op)
	if op == edits.Delete || op == edits.Move {
		return s.entryState(f)
	}
	now, exists := readReal(realOf(f.Path))
	switch {
	case !exists && op == edits.Create:
		return stateBefore
	case !exists:
		return stateForeign
	case workspace.HashBytes(now) == f.After:
		return stateAfter
	case workspace.HashBytes(now) == f.Before:
		return stateBefore
	case s.torn(now, f.Before, f.After):
		return stateTorn
	}
	return stateForeign
}

// entryState is fileState for what takes an entry away. A move stands for two: its new place decides
// while the old one is still there.
func (s *Server) entryState(f provenance.File) fileState {
	now, mode, exists := held(entryOf(f.Path))
	same := exists && workspace.HashBytes(now) == f.Before && mode.Type() == parseMode(f.Mode).Type()
	if edits.Op(f.Op) == edits.Delete {
		switch {
		case !exists:
			return stateAfter
		case same:
			return stateBefore
		}
		return stateForeign
	}
	moved, there := readReal(realOf(f.To))
	arrived := there && workspace.HashBytes(moved) == f.After
	switch {
	case arrived && (!exists || workspace.SameFile(entryOf(f.Path), realOf(f.To))):
		return stateAfter
	case arrived:
		return stateTorn
	case exists && !there:
		return stateBefore
	case !exists && !there && backupOf(entryOf(f.Path), f.Before, parseMode(f.Mode)) != "":
		return stateTorn // only put aside so far, as a name that differs by case must be
	}
	return stateForeign
}

// torn says whether every byte of now is of the old or of the new content at its place, which is what
// a rewriting in place leaves when it breaks off, and what nobody types.
func (s *Server) torn(now []byte, before, after workspace.Hash) bool {
	var old []byte
	if before != "" {
		var err error
		if old, err = s.blobs.Get(before); err != nil {
			return false
		}
	}
	want, err := s.blobs.Get(after)
	if err != nil || len(now) > max(len(old), len(want)) {
		return false
	}
	for i, b := range now {
		if (i >= len(old) || old[i] != b) && (i >= len(want) || want[i] != b) {
			return false
		}
	}
	return true
}
