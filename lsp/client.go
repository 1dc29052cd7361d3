package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
)

// Limits of talking to a server.
const (
	initializeTimeout = 45 * time.Second // some read a whole project first
	requestTimeout    = 5 * time.Second  // each request that is not an edit's check (T4)
	shutdownTimeout   = 2 * time.Second
	exitGrace         = time.Second
)

// client is one running server: its connection, what it said of itself, and what it registered. When
// its process or its connection ends it is finished for good, and the instance makes the next one.
type client struct {
	row     *spec
	root    workspace.Path
	log     *slog.Logger
	conn    *wire.Conn
	caps    capabilities   // set before the client is shared
	answers map[string]any // what workspace/configuration is answered from
	events  serverEvents
	done    chan struct{} // closed when connection and process are gone
	err     error         // why; written before done is closed

	mu       sync.Mutex
	pulls    map[string]pullSource // guarded by mu; dynamic registrations of textDocument/diagnostic
	watchers map[string][]watcher  // guarded by mu; registered file watchers
	noPull   bool                  // guarded by mu; it answered that it knows no pull
	work     map[string]string     // guarded by mu; running progress by token, with its title
	changed  chan struct{}         // guarded by mu; closed and replaced when one of the above changes
}

// serverEvents is where the read loop hands over what a server says. The functions must not wait.
type serverEvents struct {
	published func(c *client, p published)
	refreshed func(c *client) // the server's findings may have changed
}

// newClient prepares a client over a server's output and input.
func newClient(row *spec, root workspace.Path, r io.Reader, w io.Writer, ev serverEvents, log *slog.Logger) *client {
	c := &client{
		row: row, root: root, log: log, events: ev,
		pulls: map[string]pullSource{}, watchers: map[string][]watcher{}, work: map[string]string{},
		changed: make(chan struct{}), done: make(chan struct{}),
	}
	c.conn = wire.NewConn(r, w, c.handle, wire.Options{Framing: wire.ContentLength, Cancel: "$/cancelRequest", CancelKey: "id", Logger: log})
	return c
}

// initialize shakes hands. Handlers are in place before: servers ask things in the middle of it.
func (c *client) initialize(ctx context.Context, l launch) error {
	ctx, cancel := context.WithTimeout(ctx, initializeTimeout)
	defer cancel()
	options := map[string]any{}
	if c.row.options != nil {
		options = c.row.options(l)
	}
	options = merged(options, c.row.override)
	c.answers = map[string]any{}
	if c.row.settings != nil {
		c.answers = c.row.settings(l)
	}
	c.answers = merged(c.answers, c.row.override)
	params := map[string]any{
		"processId":             os.Getpid(),
		"clientInfo":            map[string]any{"name": "acp-agent"},
		"rootUri":               toURI(c.root),
		"rootPath":              string(c.root),
		"workspaceFolders":      c.folders(),
		"capabilities":          clientCapabilities(),
		"initializationOptions": options,
		"trace":                 "off",
	}
	var result json.RawMessage
	if err := c.conn.Call(ctx, "initialize", params, &result); err != nil {
		return fmt.Errorf("initialize: %w", err)
	}
	caps, err := readCapabilities(result, c.row.quirks)
	if err != nil {
		return fmt.Errorf("initialize: answer of the server: %w", err)
	}
	c.caps = caps
	if err := c.conn.Notify("initialized", struct{}{}); err != nil {
		return err
	}
	if c.row.settings != nil {
		return c.conn.Notify("workspace/didChangeConfiguration", map[string]any{"settings": c.answers})
	}
	return nil
}

// shutdown ends the server politely, as far as it takes part; the caller ends the process.
func (c *client) shutdown(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
	defer cancel()
	if err := c.conn.Call(ctx, "shutdown", nil, nil); err == nil || isPeerError(err) {
		_ = c.conn.Notify("exit", nil) // a connection that is gone needs no goodbye
	}
}

func (c *client) folders() []map[string]any {
	return []map[string]any{{"uri": toURI(c.root), "name": c.root.Base()}}
}

// alive says whether the client can still be asked.
func (c *client) alive() bool {
	select {
	case <-c.done:
		return false
	case <-c.conn.Done():
		return false
	default:
		return true
	}
}

// sources lists the registrations to pull from, static and dynamic; none means that it does not pull.
func (c *client) sources() (list []pullSource, changed <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.noPull || c.row.quirks.noPull {
		return nil, c.changed
	}
	if c.caps.pull != nil {
		list = append(list, *c.caps.pull)
	}
	seen := map[string]bool{}
	for _, s := range list {
		seen[s.identifier] = true
	}
	for _, s := range c.pulls {
		if !seen[s.identifier] {
			seen[s.identifier] = true
			list = append(list, s)
		}
	}
	return list, c.changed
}

// interFile says whether an edit of one file may change the findings of another.
func (c *client) interFile() bool {
	list, _ := c.sources()
	for _, s := range list {
		if s.interFile {
			return true
		}
	}
	return len(list) == 0
}

// bump wakes those who wait for a change of registrations or progress. c.mu is held.
func (c *client) bump() {
	close(c.changed)
	c.changed = make(chan struct{})
}

// warming says whether the work runs that must end before an empty verdict means anything.
func (c *client) warming() (bool, <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.row.quirks.ready != "" {
		for _, title := range c.work {
			if title == c.row.quirks.ready {
				return true, c.changed
			}
		}
	}
	return false, c.changed
}

// isPeerError says that the server answered, if only with an error.
func isPeerError(err error) bool {
	_, ok := errors.AsType[*wire.Error](err)
	return ok
}

// code is the number of a server's error answer, 0 for none.
func code(err error) int {
	if e, ok := errors.AsType[*wire.Error](err); ok {
		return e.Code
	}
	return 0
}

// merged lays b over a, objects member by member.
func merged(a, b map[string]any) map[string]any {
	out := make(map[string]any, len(a)+len(b))
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		below, ok1 := out[k].(map[string]any)
		above, ok2 := v.(map[string]any)
		if ok1 && ok2 {
			out[k] = merged(below, above)
		} else {
			out[k] = v
		}
	}
	return out
}
