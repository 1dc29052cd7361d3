// Package acp is the Agent Client Protocol adapter: it serves one editor on one pair of streams,
// keeps its sessions, and joins the turn loop to tools, proposals, permissions, provenance and
// language servers. Its main type is [Server]. The one path by which an edit changes a file is in
// edit.go. Types of the protocol never leave this package.
package acp

import (
	"context"
	"io"
	"log/slog"

	"acp-agent/internal/config"
	"acp-agent/internal/model"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
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
	// Tap sees every message (`run --json`, tests); may be nil.
	Tap func(out bool, msg []byte)
}

// Server serves one accepted connection, not a listener: one editor, any number of sessions.
type Server struct {
	o Options
	// TODO(acp): unexported fields
}

// NewServer prepares a server; it starts nothing and reads nothing.
func NewServer(o Options) *Server { return &Server{o: o} }

// Serve speaks ACP until r ends or ctx does: turns are stopped, children ended, and Serve returns
// when all its goroutines have (within 2 s). The error is nil at the end of input.
func (s *Server) Serve(ctx context.Context, r io.Reader, w io.Writer) error { panic("TODO(acp)") }
