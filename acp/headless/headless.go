// Package headless is the other side of package acp for programs without an editor: `run`, `demo` and
// `--check` drive the same server through it, over pipes in one process. Its main types are [Client],
// which speaks the protocol, and [Runner], one prompt in a terminal. It must never reach around the
// protocol: what it shows is what an editor would be told.
package headless

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"

	"acp-agent/internal/wire"
)

// Serve is the agent's side, acp.Server.Serve.
type Serve func(ctx context.Context, r io.Reader, w io.Writer) error

// Options of a client.
type Options struct {
	Version string // our version, for clientInfo
	// Update gets every session/update, in order, on the connection's reader: it must not wait.
	Update func(u Update)
	// Permission answers a question. It may take as long as it likes; ctx ends when the turn was
	// cancelled. nil rejects everything.
	Permission func(ctx context.Context, q Question) Answer
	// Tap sees every message both ways; may be nil.
	Tap    func(out bool, msg []byte)
	Logger *slog.Logger
}

// Client is one connection to a server in this process. Its methods may be called from any goroutine.
type Client struct {
	o    Options
	conn *wire.Conn
	stop context.CancelFunc // ends the open questions
	done chan struct{}      // closed when the server and the connection have ended
	err  error              // the server's; read after done

	agentVersion string

	asked     sync.WaitGroup
	mu        sync.Mutex
	questions map[string]context.CancelFunc // guarded by mu; open ones by request id
}

// Start connects to serve and shakes hands. [Client.Close] must be called in the end.
func Start(ctx context.Context, serve Serve, o Options) (*Client, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	toAgent, in := io.Pipe()
	out, fromAgent := io.Pipe()
	c := &Client{o: o, done: make(chan struct{}), questions: map[string]context.CancelFunc{}}
	var asking context.Context
	asking, c.stop = context.WithCancel(ctx)
	c.conn = wire.NewConn(out, in, func(req *wire.Request) { c.handle(asking, req) }, wire.Options{
		Framing: wire.Lines, Tap: o.Tap, Logger: o.Logger,
	})
	served := make(chan error, 1)
	go func() {
		err := serve(ctx, toAgent, fromAgent)
		fromAgent.Close()
		toAgent.CloseWithError(io.ErrClosedPipe)
		served <- err
	}()
	go func() {
		defer close(c.done)
		// The connection outlives ctx: a cancelled turn still answers.
		err := c.conn.Run(context.WithoutCancel(ctx))
		c.err = errors.Join(<-served, err)
	}()
	if err := c.initialize(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

// Close ends the server's input and returns when the server has ended everything.
func (c *Client) Close() error {
	c.conn.Close()
	c.stop()
	<-c.done
	c.asked.Wait()
	if errors.Is(c.err, context.Canceled) {
		return nil
	}
	return c.err
}

// AgentVersion is the version that the server gave.
func (c *Client) AgentVersion() string { return c.agentVersion }

func (c *Client) initialize(ctx context.Context) error {
	var result struct {
		ProtocolVersion int `json:"protocolVersion"`
		AgentInfo       struct {
			Version string `json:"version"`
		} `json:"agentInfo"`
	}
	err := c.conn.Call(ctx, "initialize", map[string]any{
		"protocolVersion":    1,
		"clientCapabilities": map[string]any{"session": map[string]any{"notices": struct{}{}}},
		"clientInfo":         map[string]any{"name": "acp-agent-headless", "version": c.o.Version},
	}, &result)
	c.agentVersion = result.AgentInfo.Version
	return err
}

// Session is a session as session/new answered it.
type Session struct {
	ID    string `json:"sessionId"`
	Modes struct {
		Current string `json:"currentModeId"`
	} `json:"modes"`
	Options []struct {
		ID      string `json:"id"`
		Current string `json:"currentValue"`
	} `json:"configOptions"`
}

// Option is the present value of a config option, "" when the session has none of that id.
func (s *Session) Option(id string) string {
	for _, o := range s.Options {
		if o.ID == id {
			return o.Current
		}
	}
	return ""
}

// NewSession opens a session in cwd, an absolute path.
func (c *Client) NewSession(ctx context.Context, cwd string) (*Session, error) {
	s := &Session{}
	err := c.conn.Call(ctx, "session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, s)
	return s, err
}

// SetMode sets a session's mode.
func (c *Client) SetMode(ctx context.Context, session, mode string) error {
	return c.conn.Call(ctx, "session/set_mode", map[string]any{"sessionId": session, "modeId": mode}, nil)
}

// SetOption sets a session's config option.
func (c *Client) SetOption(ctx context.Context, session, id, value string) error {
	return c.conn.Call(ctx, "session/set_config_option",
		map[string]any{"sessionId": session, "configId": id, "value": value}, nil)
}

// Prompt plays one turn and gives its stop reason. When ctx ends, the turn is cancelled and its answer
// is waited for all the same: updates come before it.
func (c *Client) Prompt(ctx context.Context, session, text string) (stop string, err error) {
	unhook := context.AfterFunc(ctx, func() { c.Cancel(session) })
	defer unhook()
	var result struct {
		StopReason string `json:"stopReason"`
	}
	err = c.conn.Call(context.WithoutCancel(ctx), "session/prompt", map[string]any{
		"sessionId": session,
		"prompt":    []any{map[string]any{"type": "text", "text": text}},
	}, &result)
	return result.StopReason, err
}

// Cancel ends the session's running turn.
func (c *Client) Cancel(session string) {
	if err := c.conn.Notify("session/cancel", map[string]any{"sessionId": session}); err != nil {
		c.o.Logger.Debug("cancel not sent", "err", err)
	}
}

// handle serves the agent's messages on the reader.
func (c *Client) handle(ctx context.Context, req *wire.Request) {
	switch req.Method {
	case "session/update":
		var note struct {
			SessionID string          `json:"sessionId"`
			Update    json.RawMessage `json:"update"`
		}
		if json.Unmarshal(req.Params, &note) != nil || c.o.Update == nil {
			return
		}
		if u, err := parseUpdate(note.SessionID, note.Update); err == nil {
			c.o.Update(u)
		}
	case "session/request_permission":
		c.ask(ctx, req)
	case "$/cancel_request":
		c.endQuestion(req)
	default:
		if !req.IsNotification() {
			req.ReplyError(&wire.Error{Code: wire.CodeMethodNotFound, Message: "not offered: " + req.Method})
		}
	}
}
