package lsp

import (
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// Bounds of blaming an edit for what happened to other files.
const (
	maxAuthored = 1024
	// afterthought is how long after a change a server may still publish what came of it.
	afterthought = 3 * time.Second
)

// authored is one change of a file's text and whose it was; by is nil for what we were only told of
// or found on disk.
type authored struct {
	path  workspace.Path
	world uint64
	when  time.Time
	by    *Session
}

// wrote notes whose a change was. It is called after the change, with in.mu held.
func (in *instance) wrote(path workspace.Path, by *Session) {
	if len(in.authored) >= maxAuthored {
		in.authored = slices.Delete(in.authored, 0, maxAuthored/4)
	}
	in.authored = append(in.authored, authored{pathKey(path), in.world, time.Now(), by})
}

// onlyBy says whether all changes after a state of the world were a session's own: what other files
// say since then is its doing. in.mu is held.
func (in *instance) onlyBy(s *Session, since uint64) bool {
	if len(in.authored) == maxAuthored && in.authored[0].world > since {
		return false // not remembered
	}
	return !slices.ContainsFunc(in.authored, func(a authored) bool { return a.world > since && a.by != s })
}

// quietBefore says whether nobody but a session changed anything so shortly before t that a server
// may still be publishing what came of it. in.mu is held.
func (in *instance) quietBefore(s *Session, t time.Time) bool {
	return !slices.ContainsFunc(in.authored, func(a authored) bool { return a.by != s && t.Sub(a.when) < afterthought })
}

// touchedSince says whether a file's own text changed after a state of the world. in.mu is held.
func (in *instance) touchedSince(path workspace.Path, since uint64) bool {
	key := pathKey(path)
	return slices.ContainsFunc(in.authored, func(a authored) bool { return a.path == key && a.world > since })
}

// claim gives a session the changes that were found on disk just before it told of them: the disk is
// looked at whenever a question is asked, and so between the writing of an edit and the word about it.
// It gives the state of the world before them. in.mu is held, and the edit is not noted yet.
func (in *instance) claim(changes []Change, by *Session) (before uint64) {
	before = in.world
	for i := len(in.authored) - 1; i >= 0; i-- {
		a := &in.authored[i]
		mine := a.by == nil && slices.ContainsFunc(changes, func(ch Change) bool {
			if pathKey(ch.Path) != a.path || (ch.Op != Create && ch.Op != Update) {
				return false
			}
			d := in.find(ch.Path)
			return d != nil && !d.absent && d.truth == ch.NewText
		})
		if !mine || a.world != before {
			return before
		}
		a.by = by
		before--
	}
	return before
}
