package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"time"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
	"golang.org/x/sync/errgroup"
)

// Codes with which a server says "not now" instead of answering.
const (
	codeMethodNotFound   = -32601
	codeRequestCancelled = -32800
	codeContentModified  = -32801
	codeServerCancelled  = -32802
)

// answer is what came of a question: a verdict, or the reason why there is none.
type answer struct {
	record
	reason string // "" for a verdict
	took   time.Duration
	known  bool // without asking
}

// ask gets a verdict on the text that the server has of d at this moment, in the way that the server
// offers: document pull, the synchronous command, or its publishes. The lease is held. A verdict that
// is known for this text in this state of the world is given at once.
func (in *instance) ask(ctx context.Context, c *client, d *document) answer {
	a := in.question(ctx, c, d)
	in.mu.Lock()
	defer in.mu.Unlock()
	in.note(a)
	if in.timeouts == hangs && a.reason == ReasonTimeout {
		in.m.spawn(func() { in.probe(c, d.uri) })
	}
	return a
}

// question is ask for work in the background, which may be cut short at any time: it says nothing of
// how quick the server is.
func (in *instance) question(ctx context.Context, c *client, d *document) answer {
	began := time.Now()
	in.mu.Lock()
	if d.client != c {
		in.mu.Unlock()
		return answer{reason: ReasonCrashed}
	}
	version, world, at, text := d.version, in.state(), in.world, d.sent
	if r, ok := in.recall(d, text, false); ok {
		in.mu.Unlock()
		return answer{record: r, known: true}
	}
	d.pinned++
	in.mu.Unlock()
	items, err := in.put(ctx, c, d, version)
	in.mu.Lock()
	defer in.mu.Unlock()
	d.pinned--
	a := answer{record: record{text: text, world: world, at: at, items: items}, took: time.Since(began)}
	switch {
	case err != nil:
		a.reason = in.reasonOf(ctx, c, err)
	case d.client != c || d.version != version:
		a.reason = ReasonChanged // another text was sent meanwhile: whose verdict it is cannot be known
	default:
		d.remember(a.record)
	}
	in.log.Debug("verdict", "file", string(d.path), "version", version, "findings", len(a.items), "reason", a.reason, "ms", a.took.Milliseconds())
	return a
}

// hangs is how many questions in a row may go by without an answer before the server is suspected.
const hangs = 3

// probe asks a server that has stopped answering something cheap, and ends it when that is not
// answered either; the next need starts it anew. Any answer, even an error, is a sign of life.
func (in *instance) probe(c *client, uri string) {
	ctx, cancel := context.WithTimeout(in.m.ctx, shutdownTimeout)
	defer cancel()
	err := c.conn.Call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": map[string]any{"uri": uri}}, nil)
	if err == nil || isPeerError(err) || in.m.ctx.Err() != nil {
		return
	}
	in.log.Warn("server does not answer any more, ending it", "timeouts", hangs)
	c.conn.Close()
}

// reasonOf names why a question stayed without an answer. in.mu is held.
func (in *instance) reasonOf(ctx context.Context, c *client, err error) string {
	var r *refusal
	switch {
	case errors.As(err, &r):
		return r.reason
	case !c.alive() || errors.Is(err, io.ErrClosedPipe):
		return ReasonCrashed
	case errors.Is(ctx.Err(), context.Canceled):
		return ReasonCancelled
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return ReasonTimeout
	}
	in.lastError = oneLine(err.Error(), maxMessage)
	return ReasonFailed
}

// put asks by the best way that the server offers now. A way may turn out not to exist, or a better
// one be registered in the middle; then the next one is taken.
func (in *instance) put(ctx context.Context, c *client, d *document, version int32) ([]diag, error) {
	for {
		sources, changed := c.sources()
		var items []diag
		var err error
		switch {
		case len(sources) > 0:
			items, err = in.pullAll(ctx, c, d, sources)
		case in.row.quirks.syncCommand && c.caps.commands[tsCommand]:
			items, err = in.tsDiagnostics(ctx, c, d)
		default:
			var again bool
			items, again, err = in.awaitPush(ctx, c, d, version, changed)
			if again {
				continue
			}
		}
		switch code(err) {
		case codeMethodNotFound:
			if len(sources) == 0 {
				return nil, err
			}
			c.mu.Lock()
			c.noPull = true
			c.mu.Unlock()
			continue
		case codeContentModified, codeServerCancelled, codeRequestCancelled:
			// pullAll gave up only because ctx ended
		}
		if err != nil {
			return nil, err
		}
		warming, changed := c.warming()
		if !warming || hasErrors(items) {
			return items, nil
		}
		// Nothing found, by a server that has not read the project yet: that means nothing.
		select {
		case <-changed:
		case <-c.conn.Done():
			return nil, &refusal{ReasonCrashed, "the server ended"}
		case <-ctx.Done():
			return nil, &refusal{ReasonWarming, "the server is still reading the project"}
		}
	}
}

func hasErrors(items []diag) bool {
	for _, d := range items {
		if d.severity == SevError {
			return true
		}
	}
	return false
}

// pullAll asks every registration at the same time; each has findings of its own.
func (in *instance) pullAll(ctx context.Context, c *client, d *document, sources []pullSource) ([]diag, error) {
	if len(sources) == 1 {
		return in.pull(ctx, c, d, sources[0])
	}
	parts := make([][]diag, len(sources))
	g, gctx := errgroup.WithContext(ctx)
	for i, s := range sources {
		g.Go(func() (err error) {
			parts[i], err = in.pull(gctx, c, d, s)
			return err
		})
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	var all []diag
	for _, p := range parts {
		all = append(all, p...)
	}
	return all, nil
}

// pull asks for a document's findings. A server that says "not now" is asked again until ctx ends.
func (in *instance) pull(ctx context.Context, c *client, d *document, s pullSource) ([]diag, error) {
	params := protocol.DocumentDiagnosticParams{TextDocument: protocol.TextDocumentIdentifier{URI: uri.URI(d.uri)}}
	if s.identifier != "" {
		params.Identifier = &s.identifier
	}
	body := encode(&params)
	for wait := 5 * time.Millisecond; ; wait = min(2*wait, 200*time.Millisecond) {
		var result json.RawMessage
		err := c.conn.Call(ctx, "textDocument/diagnostic", body, &result)
		if err == nil {
			return in.readReport(result)
		}
		switch code(err) {
		case codeContentModified, codeServerCancelled, codeRequestCancelled:
			if !pause(ctx, wait) {
				return nil, ctx.Err()
			}
		default:
			return nil, err
		}
	}
}

// readReport reads a pull's answer. We never name an earlier result, so "unchanged" is no answer; an
// unknown or empty kind with items is a full report (gopls sends kind "").
func (in *instance) readReport(result json.RawMessage) ([]diag, error) {
	var r report
	if len(result) == 0 || string(result) == "null" {
		return nil, errors.New("the server answered a diagnostics request with null")
	}
	if err := decode(result, &r); err != nil {
		return nil, err
	}
	if r.Kind == "unchanged" {
		return nil, errors.New("the server answered \"unchanged\" to a request that names no earlier result")
	}
	items, bad := diagnostics(r.Items, in.row.quirks.skipCodes)
	if bad > 0 {
		in.log.Warn("findings that cannot be read", "count", bad)
	}
	return items, nil
}

// pause waits for d, or less when ctx ends first, which it says by false.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitPush waits for the publish of exactly this version. again says that the server has registered
// another way in the meantime.
func (in *instance) awaitPush(ctx context.Context, c *client, d *document, version int32, changed <-chan struct{}) (items []diag, again bool, err error) {
	var settle <-chan time.Time
	for {
		in.mu.Lock()
		p, wake, mine := d.push, d.wake, d.client == c && d.version == version
		in.mu.Unlock()
		switch {
		case !mine:
			return nil, false, nil // the caller sees that the text is another
		case p.version == version && p.settled:
			return p.items, false, nil
		case p.version == version:
			t := time.NewTimer(time.Until(p.when.Add(p.silence)))
			defer t.Stop()
			settle = t.C
		}
		select {
		case <-wake:
		case <-settle:
			in.mu.Lock()
			if d.push.version == version && d.push.when.Equal(p.when) && !d.push.settled {
				in.settle(d)
			}
			in.mu.Unlock()
		case <-changed:
			return nil, true, nil
		case <-c.conn.Done():
			return nil, false, &refusal{ReasonCrashed, "the server ended"}
		case <-ctx.Done():
			if errors.Is(ctx.Err(), context.Canceled) {
				return nil, false, ctx.Err()
			}
			in.mu.Lock()
			spoke := in.pushes
			in.mu.Unlock()
			if spoke {
				return nil, false, &refusal{ReasonSilent, "the server said nothing of this text"}
			}
			return nil, false, &refusal{ReasonTimeout, "the server said nothing in time"}
		}
	}
}
