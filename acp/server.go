package acp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime/debug"
	"sync"
	"time"

	"acp-agent/internal/wire"
	"acp-agent/permissions"
)

// Serve speaks ACP until r ends or ctx does: turns are stopped, children ended, and Serve returns
// when all its goroutines have (within 2 s). The error is nil at the end of input.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error {
	policy, err := permissions.Compile(s.rules(), s.o.Home.Dir)
	if err != nil {
		return fmt.Errorf("permissions in config.yaml: %w", err)
	}
	s.policy = policy

	// Turns are ended by shutdown, which lets them answer, and not by ctx itself.
	base, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	limits := s.o.Config.Limits
	s.in = newIntake(r)
	s.conn = wire.NewConn(s.in, w, func(req *wire.Request) { s.handle(base, req) }, wire.Options{
		Framing:   wire.Lines,
		MaxIn:     int64(limits.LineInBytes),
		MaxOut:    int64(limits.LineOutBytes),
		Cancel:    methodCancelRequest,
		CancelKey: "requestId",
		Coalesce:  textGathered,
		Flush:     flushLimit,
		Logger:    s.log,
		Tap:       s.o.Tap,
		Drain:     func() { s.shutdown(base) },
	})
	err = s.conn.Run(ctx)
	s.shutdown(base) // a connection that broke was not drained
	stop()
	if !waitFor(&s.wg, closeLimit) {
		s.log.Error("goroutines of the connection did not end in time")
	}
	return err
}

// rules are the operator's permission rules as package permissions takes them.
func (s *Server) rules() permissions.Rules {
	p := s.o.Config.Permissions
	return permissions.Rules{
		Mode:         permissions.Mode(p.Mode),
		AllowDontAsk: p.AllowDontAsk,
		ReadOnly:     p.ReadOnly,
		Allow:        p.Allow,
		Ask:          p.Ask,
		Deny:         p.Deny,
	}
}

// shutdown cancels every turn, lets each answer, and closes the sessions. It is safe to call again.
func (s *Server) shutdown(ctx context.Context) {
	s.downOnce.Do(func() {
		s.mu.Lock()
		s.closing = true
		sessions := make([]*session, 0, len(s.sessions))
		for _, one := range s.sessions {
			sessions = append(sessions, one)
		}
		s.sessions = map[string]*session{}
		s.mu.Unlock()

		var wg sync.WaitGroup
		for _, one := range sessions {
			one.cancel()
			wg.Go(func() { one.close(ctx, answerLimit) })
		}
		wg.Wait()
	})
}

// waitFor waits for wg, at most limit, and says whether it is done.
func waitFor(wg *sync.WaitGroup, limit time.Duration) bool {
	done := make(chan struct{})
	go func() {
		wg.Wait()
		close(done)
	}()
	return waitDone(done, limit)
}

// waitDone waits until done is closed, at most limit, and says whether it is.
func waitDone(done <-chan struct{}, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
		return true
	case <-timer.C:
		return false
	}
}

// handler serves one method. It runs on the read loop and must not wait.
type handler func(s *Server, ctx context.Context, req *wire.Request)

// handlers are the methods that we serve; what is not here is not advertised.
var handlers = map[string]handler{
	methodInitialize:    (*Server).initialize,
	methodAuthenticate:  (*Server).authenticate,
	methodLogout:        (*Server).logout,
	methodNewSession:    (*Server).newSession,
	methodCloseSession:  (*Server).closeSession,
	methodPrompt:        (*Server).prompt,
	methodCancel:        (*Server).cancelSession,
	methodSetMode:       (*Server).setMode,
	methodSetOption:     (*Server).setOption,
	methodCancelRequest: (*Server).cancelRequest,
}

// handle is called on the read loop, in the order in which messages came.
func (s *Server) handle(ctx context.Context, req *wire.Request) {
	h, known := handlers[req.Method]
	switch {
	case !known && req.IsNotification():
		s.log.Debug("notification ignored", "method", req.Method)
		return
	case !known:
		req.ReplyError(methodNotFound(req.Method))
		return
	case req.Method != methodInitialize && s.client() == nil:
		if !req.IsNotification() {
			req.ReplyError(invalidRequest("initialize must come first"))
		}
		return
	case notifications[req.Method] != req.IsNotification():
		// A request by a notification's name still needs its answer; the other way round none is wanted.
		if !req.IsNotification() {
			h(s, ctx, &wire.Request{Method: req.Method, Params: req.Params})
			req.Reply(struct{}{})
		}
		return
	}
	h(s, ctx, req)
}

// inBackground runs f outside the read loop. f answers req itself when all is well; its error, and a
// panic in it, are answered here and end nothing else.
func (s *Server) inBackground(ctx context.Context, req *wire.Request, f func(ctx context.Context) error) {
	started := s.spawn(ctx, func(ctx context.Context) {
		defer func() {
			if p := recover(); p != nil {
				s.log.Error("panic in a request", "method", req.Method, "panic", p, "stack", string(debug.Stack()))
				req.ReplyError(internalError("%s: internal fault, see the log", req.Method))
			}
		}()
		if err := f(ctx); err != nil {
			req.ReplyError(err)
		}
	})
	if !started {
		req.ReplyError(invalidRequest("%v", errClosing))
	}
}

// client is what initialize told; nil before it.
func (s *Server) client() *editorInfo {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.editor
}

// session finds a session by the id in a request.
func (s *Server) session(id string) (*session, error) {
	if id == "" {
		return nil, invalidParams("sessionId is missing")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	one, ok := s.sessions[id]
	if !ok {
		return nil, notFound("no session %q", id)
	}
	return one, nil
}

// decode reads a request's params as a T. Absent and null params are an empty object; anything but
// an object is invalid. Unknown fields are ignored, as the protocol asks.
func decode[T any](req *wire.Request) (T, error) {
	var v T
	raw := req.Params
	if isNull(raw) {
		raw = json.RawMessage("{}")
	}
	if !isObject(raw) {
		return v, invalidParams("%s: params must be an object", req.Method)
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return v, invalidParams("%s: %v", req.Method, err)
	}
	return v, nil
}
