package acp

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"acp-agent/internal/wire"
)

// Times of outgoing updates.
const (
	// textGathered is how long streamed text waits for more: editors redraw at each chunk.
	textGathered = 30 * time.Millisecond
	// sendPatience is how long a turn waits for an editor that does not read. After it, updates are
	// queued without waiting, up to the connection's hard limit, so that the turn goes on.
	sendPatience = 2 * time.Second
	// sendImpatience takes its place while the editor is known not to read.
	sendImpatience = 20 * time.Millisecond
)

// outbox sends one turn's updates in the order in which they were made. Text grows in the queue until
// it is written or something stands behind it. After close nothing is sent any more: an update that is
// late belongs to no turn and is dropped.
type outbox struct {
	conn    *wire.Conn
	log     *slog.Logger
	session string
	// patience gives the context that bounds one wait for room in the queue. It is made from the
	// turn's context, so a cancel ends the wait, and the update is queued all the same.
	patience func(d time.Duration) (context.Context, context.CancelFunc)

	mu     sync.Mutex
	closed bool // guarded by mu
	stuck  bool // guarded by mu; the editor did not read for sendPatience
}

// newOutbox makes the outbox of a turn that ends with ctx.
func newOutbox(ctx context.Context, s *Server, session string) *outbox {
	return &outbox{conn: s.conn, log: s.log, session: session,
		patience: func(d time.Duration) (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, d) }}
}

// say adds text to a message; kind is updateMessage or updateThought.
func (b *outbox) say(kind, id, s string) {
	if s == "" {
		return
	}
	build := func(s string) any {
		return update{SessionID: b.session, Update: chunk{Kind: kind, MessageID: id, Content: text(s)}}
	}
	b.queue(func(ctx context.Context) error {
		return b.conn.Merge(ctx, b.session+"/"+id, methodUpdate, s, build)
	}, func() any { return build(s) })
}

// send queues an update behind everything sent so far.
func (b *outbox) send(u any) {
	params := update{SessionID: b.session, Update: u}
	b.queue(func(ctx context.Context) error {
		return b.conn.Send(ctx, methodUpdate, params)
	}, func() any { return params })
}

// latest queues an update of which only the newest matters. It is the first to be dropped.
func (b *outbox) latest(key string, u any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	if err := b.conn.Latest(b.session+"/"+key, methodUpdate, update{SessionID: b.session, Update: u}); err != nil {
		b.log.Debug("update dropped", "session", b.session, "err", err)
	}
}

// close drops what comes later. The turn's answer may follow.
func (b *outbox) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
}

// queue waits for room with send, and queues without waiting when the editor does not read. The lock
// is held meanwhile, which keeps the order.
func (b *outbox) queue(send func(ctx context.Context) error, params func() any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	limit := sendPatience
	if b.stuck {
		limit = sendImpatience
	}
	ctx, cancel := b.patience(limit)
	defer cancel()
	err := send(ctx)
	if b.stuck = err != nil && ctx.Err() != nil; b.stuck {
		err = b.conn.Notify(methodUpdate, params())
	}
	if err != nil {
		b.log.Warn("update not sent", "session", b.session, "err", err)
	}
}
