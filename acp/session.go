package acp

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"

	"acp-agent/internal/model"
	"acp-agent/internal/tool"
	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/permissions"
)

// session is one conversation: where it may work, what it may do, and what the model has seen.
type session struct {
	id       string
	srv      *Server
	client   *editorInfo
	roots    *workspace.Roots
	files    *workspace.Files
	policy   *permissions.Session
	env      *tool.Env
	tools    *tool.Set
	lang     *lsp.Session // nil when the language-server layer is off
	commands *spawner
	seen     watchlist // files that the model knows, to notice changes by others

	unmet  []string // MCP servers that were asked for and not started
	system string   // the system prompt, made by the first turn; used by the running turn only

	mu          sync.Mutex
	last        *turn                 // guarded by mu; the newest prompt, whose done the next one waits for
	waiting     map[*turn]bool        // guarded by mu; turns that are not answered, the running one included
	running     *turn                 // guarded by mu; nil when no turn runs
	turns       int                   // guarded by mu; prompts so far
	closed      bool                  // guarded by mu
	model       string                // guarded by mu; chosen in this session, "" for the default
	inUse       string                // guarded by mu; the model of the last turn
	shown       string                // guarded by mu; the model that the editor was told
	thought     string                // guarded by mu; thought level, "" for the model's default
	diagnostics string                // guarded by mu; inline, turn_end or off
	history     []model.Message       // guarded by mu; only the running turn appends
	callIDs     map[string]bool       // guarded by mu; tool call ids that were used
	edited      map[string]*shownEdit // guarded by mu; applied edits by tool call, for late verdicts
	titled      bool                  // guarded by mu; a title was sent
	toldOff     bool                  // guarded by mu; the user knows that there are no language servers here
	greeted     bool                  // guarded by mu; the first prompt was served
}

type newSessionParams struct {
	Cwd        string          `json:"cwd"`
	Additional []string        `json:"additionalDirectories"`
	MCPServers json.RawMessage `json:"mcpServers"`
}

type newSessionResult struct {
	SessionID string         `json:"sessionId"`
	Modes     modeState      `json:"modes"`
	Options   []configOption `json:"configOptions"`
	Meta      any            `json:"_meta,omitempty"`
}

// newSession makes a session without starting anything: no process, no model, no network.
func (s *Server) newSession(ctx context.Context, req *wire.Request) {
	p, err := decode[newSessionParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	s.inBackground(ctx, req, func(ctx context.Context) error {
		one, err := s.openSession(p)
		if err != nil {
			return err
		}
		// Nothing may be sent for a session before its id is on the wire, so the answer goes first.
		req.Reply(newSessionResult{
			SessionID: one.id,
			Modes:     one.modes(),
			Options:   one.options(ctx),
			Meta:      one.provenanceMeta(),
		})
		one.tellCommands(ctx)
		s.repairRoots(ctx, one.roots)
		return nil
	})
}

// openSession validates everything first, so that a refused request leaves nothing behind.
func (s *Server) openSession(p newSessionParams) (*session, error) {
	cwd, err := editorPath("cwd", p.Cwd)
	if err != nil {
		return nil, err
	}
	additional := make([]workspace.Path, 0, len(p.Additional))
	for i, dir := range p.Additional {
		path, err := editorPath("additionalDirectories["+strconv.Itoa(i)+"]", dir)
		if err != nil {
			return nil, err
		}
		additional = append(additional, path)
	}
	servers, err := checkServers(p.MCPServers)
	if err != nil {
		return nil, err
	}
	roots, err := workspace.NewRoots(cwd, s.o.UserHome, additional...)
	if err != nil {
		return nil, invalidParams("%v", err)
	}
	one := s.buildSession(uuid.NewString(), roots)
	one.unmet = append(servers, slices.Sorted(maps.Keys(s.o.Config.MCPServers))...)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return nil, invalidRequest("%v", errClosing)
	}
	s.sessions[one.id] = one
	return one, nil
}

// buildSession joins the parts of a session.
func (s *Server) buildSession(id string, roots *workspace.Roots) *session {
	one := &session{
		id:          id,
		srv:         s,
		client:      s.client(),
		roots:       roots,
		policy:      s.policy.NewSession(roots),
		waiting:     map[*turn]bool{},
		callIDs:     map[string]bool{},
		edited:      map[string]*shownEdit{},
		diagnostics: diagnosticsInline,
	}
	one.files = &workspace.Files{
		Roots:   roots,
		Editor:  newEditorFiles(one),
		Charset: s.charset(roots),
		MaxSize: s.o.Config.Limits.EditBytes,
	}
	// Servers run outside of any sandbox, so a sandboxed session has neither their word nor their tools.
	if s.o.Language != nil && s.o.Config.LSP.Enabled && !s.o.Config.Sandbox {
		one.lang = s.o.Language.Session(id, roots)
		one.lang.OnLate(one.showLate)
	}
	one.commands = &spawner{o: one, env: map[tool.Command][]string{}}
	limits := s.o.Config.Limits
	one.env = &tool.Env{
		Files: one.files,
		Limits: tool.Limits{
			ReadLines:     limits.ReadLines,
			ReadBytes:     limits.ReadBytes,
			OutputBytes:   limits.ToolOutputBytes,
			TerminalBytes: limits.TerminalBytes,
		},
		Terminals: tool.NewTerminals(one.commands),
		Language:  one.language(),
		Plan:      one.showPlan,
		Sensitive: func(p workspace.Path) bool { return one.policy.Read([]workspace.Path{p}).Sensitive },
	}
	one.tools = tool.NewSet(one.env, tool.Selection{Enabled: s.o.Config.Tools.Enabled, Disabled: s.o.Config.Tools.Disabled})
	return one
}

// cancel ends the running turn and those that wait, each of which still answers once.
func (o *session) cancel() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for t := range o.waiting {
		t.stop()
	}
}

// close cancels what runs, waits at most limit for the answers, and ends the session's children.
func (o *session) close(ctx context.Context, limit time.Duration) {
	o.mu.Lock()
	o.closed = true
	last := o.last
	o.mu.Unlock()
	o.cancel()
	if last != nil && !waitDone(last.done, limit) {
		o.srv.log.Warn("a turn did not end in time", "session", o.id)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	var wg sync.WaitGroup
	wg.Go(func() { o.env.Terminals.Close(ctx) })
	if o.lang != nil {
		wg.Go(func() { o.lang.Close(ctx) })
	}
	wg.Wait()
}

type sessionParams struct {
	SessionID string `json:"sessionId"`
}

// closeSession answers after the cancelled prompts have answered. The session is unknown from here on.
func (s *Server) closeSession(ctx context.Context, req *wire.Request) {
	p, err := decode[sessionParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	one, err := s.session(p.SessionID)
	if err != nil {
		req.ReplyError(err)
		return
	}
	s.mu.Lock()
	delete(s.sessions, one.id)
	s.mu.Unlock()
	one.cancel()
	s.inBackground(ctx, req, func(ctx context.Context) error {
		one.close(ctx, cancelLimit)
		req.Reply(struct{}{})
		return nil
	})
}

// cancelSession is session/cancel: silent for a session without a turn and for an unknown one.
func (s *Server) cancelSession(_ context.Context, req *wire.Request) {
	p, err := decode[sessionParams](req)
	if err != nil {
		s.log.Warn("session/cancel ignored", "error", err)
		return
	}
	if one, err := s.session(p.SessionID); err == nil {
		one.cancel()
	}
}

// cancelRequest is $/cancel_request: only prompts run long enough to be ended by it. An unknown id is
// ignored, as the protocol asks.
func (s *Server) cancelRequest(_ context.Context, req *wire.Request) {
	p, err := decode[struct {
		ID json.RawMessage `json:"requestId"`
	}](req)
	if err != nil || p.ID == nil {
		return
	}
	s.mu.Lock()
	t := s.requests[string(p.ID)]
	s.mu.Unlock()
	if t != nil {
		t.stop()
	}
}

// current is the running turn; nil when none runs.
func (o *session) current() *turn {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.running
}

// lineage is what session answers say of where the session comes from.
type lineage struct {
	V               int    `json:"v"`
	Session         string `json:"session"`
	Root            string `json:"root"`
	Parent          string `json:"parent,omitempty"`
	Continuation    int    `json:"continuation"`
	CompactionDepth int    `json:"compactionDepth"`
	Record          string `json:"record"`
}

// provenanceMeta is the _meta of a session's answers (contract §5).
func (o *session) provenanceMeta() any {
	return map[string]any{"acpAgent": map[string]any{
		"v": 1,
		"sessionProvenance": lineage{
			V: 1, Session: o.id, Root: o.id, Record: wirePath(o.srv.recordDir()),
		},
	}}
}
