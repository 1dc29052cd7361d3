package lsp

import (
	"context"
	"sync"

	"acp-agent/internal/workspace"
)

// Session is one ACP session's view of the servers. Safe for use from several goroutines.
type Session struct {
	m      *Manager
	id     string
	roots  *workspace.Roots
	who    func() operator
	ctx    context.Context // of the session's goroutines; ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu      sync.Mutex
	closed  bool
	running int                  // guarded by mu; parts that have no verdict yet
	settled chan struct{}        // guarded by mu; closed when running falls to 0
	pending []*part              // guarded by mu; parts whose outcome was not handed out
	extra   []Late               // guarded by mu; second, changed verdicts
	onLate  func(Late)           // guarded by mu
	chains  map[chainKey]*chain  // guarded by mu
	errands map[*errand]struct{} // guarded by mu
	newest  map[*instance]*part  // guarded by mu; the last edit's part at a server
}

// Session opens the layer for one ACP session. The roots were chosen by the operator, through the
// editor or the configuration, so the worktrees that hold them are trusted (L11).
func (m *Manager) Session(id string, roots *workspace.Roots) *Session {
	s := &Session{
		m: m, id: id, roots: roots,
		chains: map[chainKey]*chain{}, errands: map[*errand]struct{}{}, newest: map[*instance]*part{},
	}
	// Looked up at the first file, not here: opening a session reads no disk.
	s.who = sync.OnceValue(func() operator {
		return newOperator(roots.Named(), m.user, m.settings.TrustedWorkspaces)
	})
	s.ctx, s.cancel = context.WithCancel(m.ctx)
	return s
}

func (s *Session) operator() operator { return s.who() }

// Close ends this session's checks and gives back its leases. It returns when its goroutines ended,
// or when ctx does.
func (s *Session) Close(ctx context.Context) {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	ended := make(chan struct{})
	if !s.m.spawn(func() { defer close(ended); s.wg.Wait() }) {
		s.wg.Wait()
		return
	}
	select {
	case <-ended:
	case <-ctx.Done():
	}
}

// spawn runs f in a goroutine of the session; false when the session has been closed.
func (s *Session) spawn(f func()) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	s.wg.Add(1)
	if !s.m.spawn(func() { defer s.wg.Done(); f() }) {
		s.wg.Done()
		return false
	}
	return true
}

// chainKey names a file at a server.
type chainKey struct {
	in   *instance
	file workspace.Path
}

// chain is a run of edits of one file of which no verdict has been handed out yet. They are all held
// against what was there before the first of them, so that the first one's error is not taken for an
// old one by the second (L10).
type chain struct {
	base baseline
	last string // the text after the newest edit
	edit *part  // the newest edit
}

// chained gives the baseline for an edit of a file at a server: that of the edits before it which
// were not reported yet, when they lead to exactly its old text, else its own. s.mu is held.
func (s *Session) chained(in *instance, file workspace.Path, before, after string, p *part) *chain {
	key := chainKey{in, file}
	c := s.chains[key]
	if c == nil || c.last != before {
		c = &chain{base: baseline{text: before}}
		s.chains[key] = c
	}
	c.last, c.edit = after, p
	return c
}

// handedOut ends the chains that a reported part was the end of. s.mu is held.
func (s *Session) handedOut(p *part) {
	for _, f := range p.files {
		key := chainKey{p.in, f.file}
		if c := s.chains[key]; c != nil && c.edit == p {
			delete(s.chains, key)
		}
	}
}
