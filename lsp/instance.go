package lsp

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"acp-agent/internal/workspace"
)

// past is a time that has gone by, for deadlines that end a read at once.
var past = time.Unix(1, 0)

// poolKey tells the servers of this process apart: sessions with the same key share one (H10).
type poolKey struct {
	root    workspace.Path
	id      string
	hash    string
	trusted bool
}

// String is the key as the log and status show it.
func (k poolKey) String() string { return fmt.Sprintf("lsp:%s:%s:%s", k.root, k.id, k.hash) }

// configHash is a stable digest of everything of a row that shapes its process (H1). Objects are
// encoded with sorted keys, arrays keep their order, nothing of run time is in it.
func configHash(row *spec) string {
	data, err := json.Marshal(map[string]any{
		"id": row.id, "command": row.command, "env": row.env, "options": row.override,
		"files": row.files, "roots": row.roots, "language": row.language,
	})
	if err != nil {
		panic("lsp: settings do not encode: " + err.Error()) // they came from YAML
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}

// refusal is why a server could not be had: a reason of the contract and a sentence for people.
type refusal struct{ reason, text string }

// Error is the sentence.
func (r *refusal) Error() string { return r.text }

// instance is one server for one root, over the lives of its processes. It owns the process, the
// documents, and the lease that keeps proposals and questions apart.
type instance struct {
	m       *Manager
	row     *spec
	key     poolKey
	root    workspace.Path
	top     workspace.Path // the worktree
	trusted bool
	log     *slog.Logger
	lease   *lease

	mu        sync.Mutex
	client    *client   // guarded by mu; the one that is ready, nil for none
	process   *process  // guarded by mu; of client, or of the start that is running
	attempt   *attempt  // guarded by mu; the start that is running
	command   []string  // guarded by mu; resolved
	retiring  bool      // guarded by mu; the end of the process is wanted
	closed    bool      // guarded by mu; no start any more
	failures  int       // guarded by mu; in a row
	since     time.Time // guarded by mu; when client became ready
	retry     time.Time // guarded by mu; no start before it
	trouble   *refusal  // guarded by mu; why the last start failed
	lastError string    // guarded by mu
	users     int       // guarded by mu
	idle      *time.Timer
	documents // guarded by mu
	stats     // guarded by mu
}

// attempt is one start of a server, which any number of callers wait for.
type attempt struct {
	done chan struct{}
	err  error // written before done is closed
}

func newInstance(m *Manager, row *spec, key poolKey, top workspace.Path) *instance {
	in := &instance{
		m: m, row: row, key: key, root: key.root, top: top, trusted: key.trusted,
		log:   m.log.With("server", row.id, "root", string(key.root)),
		lease: newLease(),
	}
	in.documents.init()
	in.stats.init()
	return in
}

// use keeps the instance from being stopped as idle until the returned function is called.
func (in *instance) use() (release func()) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.users++
	if in.idle != nil {
		in.idle.Stop()
		in.idle = nil
	}
	return sync.OnceFunc(func() {
		in.mu.Lock()
		defer in.mu.Unlock()
		in.users--
		if in.users == 0 && !in.closed && in.m.idle > 0 {
			in.idle = time.AfterFunc(in.m.idle, func() { in.m.spawn(in.stopIdle) })
		}
	})
}

// stopIdle ends a server that nobody has used for the idle time (L16). It starts again when needed.
func (in *instance) stopIdle() {
	in.mu.Lock()
	quiet := in.users == 0 && in.client != nil
	in.mu.Unlock()
	if quiet {
		in.log.Info("idle, stopping")
		in.stop(in.m.ctx)
	}
}

// get gives the running client, starting one when there is none. It waits until ctx ends; the start
// goes on without it.
func (in *instance) get(ctx context.Context) (*client, error) {
	for {
		in.mu.Lock()
		if c := in.client; c != nil && c.alive() {
			retiring := in.retiring
			in.mu.Unlock()
			if !retiring {
				return c, nil
			}
			select { // it was idle; the next one follows when it is gone
			case <-c.done:
				continue
			case <-ctx.Done():
				return nil, &refusal{ReasonStarting, in.row.id + " is being restarted"}
			}
		}
		a := in.attempt
		if a == nil {
			if r := in.mayStart(); r != nil {
				in.mu.Unlock()
				return nil, r
			}
			a = &attempt{done: make(chan struct{})}
			in.attempt = a
			if !in.m.spawn(func() { in.start(a) }) {
				in.attempt = nil
				in.mu.Unlock()
				return nil, &refusal{ReasonClosed, "the program is ending"}
			}
		}
		in.mu.Unlock()
		select {
		case <-a.done:
			if a.err != nil {
				return nil, a.err
			}
		case <-ctx.Done():
			return nil, &refusal{ReasonStarting, in.row.id + " is still starting"}
		}
	}
}

// mayStart says why no start may be made now. in.mu is held.
func (in *instance) mayStart() *refusal {
	if in.closed {
		return &refusal{ReasonClosed, "the program is ending"}
	}
	if in.client != nil {
		// It has ended, and the goroutine that watches it has not yet said so.
		in.forget(in.client)
	}
	if in.trouble == nil || in.retry.IsZero() {
		return nil
	}
	if in.m.settings.BrokenRetry > 0 && !time.Now().Before(in.retry) {
		return nil
	}
	return &refusal{ReasonBackoff, in.trouble.text}
}

// stop ends the running server: shutdown, exit, then the process group, at once when ctx ends. It
// returns when it is gone.
func (in *instance) stop(ctx context.Context) {
	in.mu.Lock()
	in.retiring = true
	c, p, a := in.client, in.process, in.attempt
	in.mu.Unlock()
	switch {
	case c != nil:
		c.shutdown(ctx)
		c.conn.Close()
		select {
		case <-c.done:
		case <-ctx.Done():
			p.group.Kill(0)
			<-c.done
		}
	case a != nil && p != nil:
		p.group.Kill(0)
		<-a.done
	}
	in.mu.Lock()
	in.retiring = false
	in.mu.Unlock()
}

// close ends the instance for good.
func (in *instance) close(ctx context.Context) {
	in.mu.Lock()
	in.closed = true
	if in.idle != nil {
		in.idle.Stop()
	}
	in.mu.Unlock()
	in.stop(ctx)
}
