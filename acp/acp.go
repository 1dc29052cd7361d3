// Package acp is the Agent Client Protocol adapter: it serves one editor on one pair of streams,
// keeps its sessions, and joins the turn loop to tools, proposals, permissions, provenance and
// language servers. Its main type is [Server]. The one path by which an edit changes a file is in
// edit.go. Types of the protocol never leave this package.
package acp

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"acp-agent/internal/config"
	"acp-agent/internal/model"
	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/permissions"
	"acp-agent/provenance"
)

// Options are what a server needs from its program. Nothing here does I/O before it is used.
type Options struct {
	Version  string // our version, as `--version` prints it
	Config   config.Config
	Home     config.Home
	UserHome workspace.Path
	Environ  []string // environment of the process: commands get it, language servers a scrubbed one
	Models   model.Resolver
	// Language is the process's language-server layer; nil switches it off. The server does not close it.
	Language *lsp.Manager
	Logger   *slog.Logger
	// TerminalSetup says that the program sets up models and keys in a terminal when it is started with
	// --setup. Without it that is no way to sign in that editors are told of.
	TerminalSetup bool
	// Tap sees every message (`run --json`, tests); may be nil.
	Tap func(out bool, msg []byte)
}

// Server serves one accepted connection, not a listener: one editor, any number of sessions. Its
// methods are called by the connection's read loop and by the goroutines that it started with go.
type Server struct {
	o      Options
	log    *slog.Logger
	in     *intake
	conn   *wire.Conn
	policy *permissions.Policy
	blobs  *provenance.Blobs
	repair repairs
	logs   journals
	locks  pathLocks

	wg sync.WaitGroup // every goroutine that go started

	mu        sync.Mutex
	editor    *editorInfo         // guarded by mu; nil before initialize
	loggedOut bool                // guarded by mu
	closing   bool                // guarded by mu; nothing new is started
	sessions  map[string]*session // guarded by mu
	requests  map[string]*turn    // guarded by mu; prompts that are not answered, by the request's id as it was sent
	downOnce  sync.Once
}

// Times that bound the end of a connection; together they stay under two seconds.
const (
	answerLimit = 800 * time.Millisecond // for cancelled turns to answer
	closeLimit  = 700 * time.Millisecond // for children to end
	flushLimit  = 200 * time.Millisecond // for what is queued to be written, and for the streams to close
)

// errClosing answers what comes in after the end has begun.
var errClosing = errors.New("the agent is shutting down")

// NewServer prepares a server; it starts nothing and reads nothing.
func NewServer(o Options) *Server {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Server{
		o:        o,
		log:      log,
		blobs:    provenance.NewBlobs(o.Home.Dir.Join("checkpoints").String()),
		sessions: map[string]*session{},
		requests: map[string]*turn{},
	}
}

// spawn runs f in a goroutine that Serve waits for. It answers false, without running f, when the
// server is closing.
func (s *Server) spawn(ctx context.Context, f func(ctx context.Context)) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closing {
		return false
	}
	s.wg.Add(1)
	go func() {
		defer s.wg.Done()
		f(ctx)
	}()
	return true
}
