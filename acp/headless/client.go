// Package headless is an ACP client in this process: it drives the same server that editors start,
// over in-memory pipes, for `run`, `demo` and `--check`. Its main type is [Client]. It has no file
// system and no terminals of its own, so the disk is the truth; what a proposal shows and asks goes to
// the [User]. It must never decide on a permission by itself.
package headless

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"acp-agent/internal/wire"
)

// User is who sees a session and answers its questions. Update is called in wire order and must not
// wait; Permission may, on a goroutine of its own, until ctx ends (a cancelled turn).
type User interface {
	Update(session string, u Update)
	Permission(ctx context.Context, session string, q Question) Answer
}

// Server serves ACP on a pair of streams; *acp.Server is one.
type Server interface {
	Serve(ctx context.Context, r io.Reader, w io.Writer) error
}

// Options of a client.
type Options struct {
	Version string
	Logger  *slog.Logger
	Tap     func(out bool, msg []byte) // every message, as the client sees it; may be nil
}

// Client is the client's end of one connection. Its goroutines end with [Client.Close].
type Client struct {
	user   User
	conn   *wire.Conn
	in     *io.PipeWriter // to the server
	cancel context.CancelFunc
	ctx    context.Context
	wg     sync.WaitGroup
	served error // guarded by wg: read after Close
}

// Start runs server behind a new client. ctx ends the server when it ends.
func Start(ctx context.Context, server Server, user User, o Options) *Client {
	toServerR, toServerW := io.Pipe()
	toClientR, toClientW := io.Pipe()
	c := &Client{user: user, in: toServerW}
	c.ctx, c.cancel = context.WithCancel(ctx)
	c.conn = wire.NewConn(toClientR, toServerW, c.handle, wire.Options{
		Framing: wire.Lines, Cancel: "$/cancel_request", CancelKey: "requestId", Logger: o.Logger, Tap: o.Tap,
	})
	c.wg.Go(func() {
		c.served = server.Serve(ctx, toServerR, toClientW)
		toClientW.Close()
		toServerR.Close()
	})
	c.wg.Go(func() { _ = c.conn.Run(c.ctx) })
	return c
}

// Close ends the input, which makes the server stop its turns and children, and waits for both ends.
func (c *Client) Close() error {
	c.in.Close()
	<-c.conn.Done()
	c.cancel()
	c.wg.Wait()
	return c.served
}

// handle takes what the server sends, on the read loop.
func (c *Client) handle(req *wire.Request) {
	switch req.Method {
	case "session/update":
		var p struct {
			SessionID string `json:"sessionId"`
			Update    Update `json:"update"`
		}
		if json.Unmarshal(req.Params, &p) == nil {
			c.user.Update(p.SessionID, p.Update)
		}
	case "session/request_permission":
		var p struct {
			SessionID string `json:"sessionId"`
			Question
		}
		if err := json.Unmarshal(req.Params, &p); err != nil {
			req.ReplyError(&wire.Error{Code: wire.CodeInvalidParams, Message: err.Error()})
			return
		}
		c.wg.Go(func() {
			a := c.user.Permission(c.ctx, p.SessionID, p.Question)
			outcome := map[string]any{"outcome": "cancelled"}
			if a.OptionID != "" {
				outcome = map[string]any{"outcome": "selected", "optionId": a.OptionID}
			}
			result := map[string]any{"outcome": outcome}
			if len(a.Edited) > 0 {
				result["_meta"] = map[string]any{"acpAgent": map[string]any{"edited": a.Edited}}
			}
			req.Reply(result)
		})
	default:
		if !req.IsNotification() {
			req.ReplyError(&wire.Error{Code: wire.CodeMethodNotFound, Message: "method " + req.Method + " is not offered by this client"})
		}
	}
}

// Initialize does the handshake and gives the agent's answer.
func (c *Client) Initialize(ctx context.Context, version string) (json.RawMessage, error) {
	var result json.RawMessage
	err := c.conn.Call(ctx, "initialize", map[string]any{
		"protocolVersion":    1,
		"clientInfo":         map[string]any{"name": "acp-agent-run", "version": version},
		"clientCapabilities": map[string]any{},
	}, &result)
	return result, err
}

// NewSession opens a session in cwd, an absolute path.
func (c *Client) NewSession(ctx context.Context, cwd string) (string, error) {
	var result struct {
		SessionID string `json:"sessionId"`
	}
	err := c.conn.Call(ctx, "session/new", map[string]any{"cwd": cwd, "mcpServers": []any{}}, &result)
	return result.SessionID, err
}

// SetOption sets a config option of a session (mode, model).
func (c *Client) SetOption(ctx context.Context, session, option, value string) error {
	return c.conn.Call(ctx, "session/set_config_option", map[string]any{"sessionId": session, "configId": option, "value": value}, nil)
}

// Prompt plays one turn and gives its stop reason. When ctx ends, the turn is cancelled the ACP way
// (session/cancel) and the stop reason awaited.
func (c *Client) Prompt(ctx context.Context, session, text string) (string, error) {
	stop := context.AfterFunc(ctx, func() { _ = c.Cancel(session) })
	defer stop()
	var result struct {
		StopReason string `json:"stopReason"`
	}
	err := c.conn.Call(context.WithoutCancel(ctx), "session/prompt", map[string]any{
		"sessionId": session, "prompt": []any{map[string]any{"type": "text", "text": text}},
	}, &result)
	return result.StopReason, err
}

// Cancel asks the server to end the session's turn.
func (c *Client) Cancel(session string) error {
	return c.conn.Notify("session/cancel", map[string]any{"sessionId": session})
}

// ErrorKind is the kind of model failure that an answer carries in its data ("auth", "unreachable", …),
// "" for other errors.
func ErrorKind(err error) string {
	var we *wire.Error
	if !errors.As(err, &we) {
		return ""
	}
	if we.Code == codeAuthRequired {
		return "auth"
	}
	var data struct {
		Kind string `json:"kind"`
	}
	_ = json.Unmarshal(we.Data, &data)
	return data.Kind
}

// codeAuthRequired is ACP's error for a prompt without a usable model.
const codeAuthRequired = -32000

// Message is the text of an answer's error without its code.
func Message(err error) string {
	var we *wire.Error
	if errors.As(err, &we) {
		return we.Message
	}
	return fmt.Sprint(err)
}
