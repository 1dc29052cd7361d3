package acp

import (
	"slices"
	"sync"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// pathLocks keeps two sessions of this process from writing one file at the same moment: each would
// find its base unchanged and the later one would win in silence.
type pathLocks struct {
	mu   sync.Mutex
	held map[workspace.Path]*pathLock // guarded by mu
}

type pathLock struct {
	sync.Mutex
	users int // guarded by pathLocks.mu
}

// lock takes the locks of all paths, in one order everywhere, and gives the function that frees them.
func (l *pathLocks) lock(paths []workspace.Path) (unlock func()) {
	paths = slices.Clone(paths)
	slices.Sort(paths)
	paths = slices.Compact(paths)
	taken := make([]*pathLock, len(paths))
	for i, p := range paths {
		l.mu.Lock()
		if l.held == nil {
			l.held = map[workspace.Path]*pathLock{}
		}
		one := l.held[p]
		if one == nil {
			one = &pathLock{}
			l.held[p] = one
		}
		one.users++
		l.mu.Unlock()
		one.Lock()
		taken[i] = one
	}
	return func() {
		for i, one := range taken {
			one.Unlock()
			l.mu.Lock()
			if one.users--; one.users == 0 {
				delete(l.held, paths[i])
			}
			l.mu.Unlock()
		}
	}
}

// realPaths are the files that a proposal really writes or removes.
func realPaths(p *edits.Proposal) []workspace.Path {
	var list []workspace.Path
	for _, c := range p.Changes {
		list = append(list, c.Real)
		if c.Op == edits.Move {
			list = append(list, c.ToReal)
		}
	}
	return list
}
