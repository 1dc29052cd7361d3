package lsp

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/workspace"
)

// Manager owns the server processes of this process. Constructing one starts nothing.
type Manager struct {
	settings Settings
	home     workspace.Path
	user     workspace.Path
	environ  []string // scrubbed
	log      *slog.Logger
	catalog  *catalog
	finder   finder
	idle     time.Duration

	ctx    context.Context // of everything that outlives a call; ends with Close
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex
	closed bool                  // guarded by mu
	pool   map[poolKey]*instance // guarded by mu
	said   map[string]bool       // guarded by mu; notices that were logged once
	denied map[string]ServerStatus
}

// forever is the context at which a manager's own begins: its constructor is given none, because what
// it starts ends with Close and with nothing else.
type forever struct{}

func (forever) Deadline() (t time.Time, ok bool) { return }
func (forever) Done() <-chan struct{}            { return nil }
func (forever) Err() error                       { return nil }
func (forever) Value(any) any                    { return nil }

// NewManager makes a manager; servers start on first need.
func NewManager(o Options) *Manager {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("log", "lsp.client")
	m := &Manager{
		settings: o.Settings, home: o.Home, user: o.UserHome, log: log,
		environ: scrub(o.Environ, string(o.Home.Join("cache"))),
		catalog: newCatalog(&o.Settings, log),
		finder:  finder{home: o.Home, user: o.UserHome, path: lookup(o.Environ, "PATH"), pathext: lookup(o.Environ, "PATHEXT")},
		idle:    o.Settings.idleTimeout(),
		pool:    map[poolKey]*instance{}, said: map[string]bool{}, denied: map[string]ServerStatus{},
	}
	m.ctx, m.cancel = context.WithCancel(forever{})
	return m
}

// Close ends all servers (shutdown, exit, then the process group) and returns when they are gone or
// ctx ends, in which case they have been killed.
func (m *Manager) Close(ctx context.Context) {
	m.mu.Lock()
	m.closed = true
	pool := make([]*instance, 0, len(m.pool))
	for _, in := range m.pool {
		pool = append(pool, in)
	}
	m.mu.Unlock()
	var wg sync.WaitGroup
	for _, in := range pool {
		wg.Go(func() { in.close(ctx) })
	}
	wg.Wait()
	m.cancel()
	m.wg.Wait()
}

// spawn runs f in a goroutine that Close waits for. It says false, and runs nothing, when the manager
// has been closed. A panic in f is logged; f's own deferred calls have told whoever waits.
func (m *Manager) spawn(f func()) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.closed {
		return false
	}
	m.wg.Go(func() { m.guard(f) })
	return true
}

func (m *Manager) guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			m.log.Error("panic", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
		}
	}()
	f()
}

// once logs a notice the first time only.
func (m *Manager) once(key string, log func()) {
	m.mu.Lock()
	first := !m.said[key]
	if first && len(m.said) < 10000 {
		m.said[key] = true
	}
	m.mu.Unlock()
	if first {
		log()
	}
}

// instance gives the pool's entry for a row at a root, making it when there is none.
func (m *Manager) instance(row *spec, root, top workspace.Path, trusted bool) *instance {
	key := poolKey{root: root, id: row.id, hash: row.hash, trusted: trusted}
	m.mu.Lock()
	defer m.mu.Unlock()
	in := m.pool[key]
	if in == nil {
		in = newInstance(m, row, key, top)
		in.closed = m.closed
		m.pool[key] = in
	}
	return in
}

// instances lists the pool in a stable order.
func (m *Manager) instances() []*instance {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := make([]*instance, 0, len(m.pool))
	for _, in := range m.pool {
		out = append(out, in)
	}
	slices.SortFunc(out, func(a, b *instance) int { return strings.Compare(a.key.String(), b.key.String()) })
	return out
}
