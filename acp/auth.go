package acp

import (
	"context"
	"os"

	"acp-agent/internal/wire"
)

// Ids of the authentication methods.
const (
	authEnv   = "env"
	authSetup = "setup"
)

// authMethods is never empty: registries ask for at least one method that needs no terminal.
func (s *Server) authMethods(e *editorInfo) []authMethod {
	list := []authMethod{{
		ID:          authEnv,
		Name:        "Use configured keys",
		Description: "API keys of the environment or of config.yaml, or a model server on this machine",
	}}
	if e.terminalAuth && s.o.TerminalSetup {
		setup := authMethod{
			ID:          authSetup,
			Name:        "Set up in a terminal",
			Description: "Choose a model and store its key",
			Type:        "terminal",
			Args:        []string{"--setup"},
		}
		// Editors of before the stable terminal type look for the whole command here.
		if exe, err := os.Executable(); err == nil {
			setup.Meta = map[string]any{"terminal-auth": map[string]any{
				"label": "Set up acp-agent", "command": exe, "args": setup.Args,
			}}
		}
		list = append(list, setup)
	}
	return list
}

type authenticateParams struct {
	MethodID string `json:"methodId"`
}

// authenticate answers {} when a model resolves. It contacts nobody but local model servers.
func (s *Server) authenticate(ctx context.Context, req *wire.Request) {
	p, err := decode[authenticateParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	switch {
	case p.MethodID == authEnv:
	case p.MethodID == authSetup && s.o.TerminalSetup:
		req.ReplyError(invalidParams("method %q runs in a terminal: start `acp-agent --setup`, then use %q", authSetup, authEnv))
		return
	default:
		req.ReplyError(invalidParams("no authentication method %q", p.MethodID))
		return
	}
	s.inBackground(ctx, req, func(ctx context.Context) error {
		if _, err := s.o.Models.Default(ctx); err != nil {
			return modelError(err)
		}
		s.setLoggedOut(false)
		req.Reply(struct{}{})
		return nil
	})
}

// logout makes prompts answer "authentication required" until authenticate succeeds. Keys belong to
// the environment or to the operator's files and stay where they are.
func (s *Server) logout(_ context.Context, req *wire.Request) {
	if _, err := decode[struct{}](req); err != nil {
		req.ReplyError(err)
		return
	}
	s.setLoggedOut(true)
	req.Reply(struct{}{})
}

func (s *Server) setLoggedOut(out bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.loggedOut = out
}

// checkSignedIn is an error after logout.
func (s *Server) checkSignedIn() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loggedOut {
		return authRequired("signed out: authenticate with method %q first", authEnv)
	}
	return nil
}
