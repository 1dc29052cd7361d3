package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/acp/headless"
	"acp-agent/internal/config"
	"acp-agent/internal/workspace"
)

// checkLimit bounds --check: whoever asks wants an answer.
const checkLimit = 30 * time.Second

// checkModel edits one file, so that the check goes the whole way of an edit.
const checkModel = `turns:
  - tool_calls: [{id: c1, name: write_file, arguments: {path: check.txt, content: "checked\n"}}]
  - text: done
`

// selfCheck plays a handshake, a session and a scripted turn in this process and a temporary folder.
func (a *app) selfCheck(c *cobra.Command) error {
	dir, err := os.MkdirTemp("", "acp-agent-check-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := a.load(); err != nil {
		return err
	}
	defer a.closeLog()
	if err := os.WriteFile(filepath.Join(dir, "model.yaml"), []byte(checkModel), 0o600); err != nil {
		return err
	}
	a.config = config.Default()
	a.config.LSP.Enabled = false
	a.config.Model = "scripted/" + filepath.Join(dir, "model.yaml")
	if a.home.Dir, err = workspace.ParsePath(filepath.Join(dir, "home")); err != nil {
		return err
	}
	if err := a.openLogFile(); err != nil { // in the temporary home
		return err
	}
	ctx, cancel := context.WithTimeout(c.Context(), checkLimit)
	defer cancel()
	reason, err := a.checkTurn(ctx, dir)
	if err != nil {
		return fmt.Errorf("check: %w", err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "check.txt"))
	if err != nil || string(data) != "checked\n" || reason != "end_turn" {
		return fmt.Errorf("check: the turn ended with %s and left %q (%v)", reason, data, err)
	}
	fmt.Fprintf(c.OutOrStdout(), "acp-agent %s: ok (ACP %s, a session, a turn, an applied edit)\n", version, spoken())
	return nil
}

// checkTurn is the client's side of the check: it allows the one edit.
func (a *app) checkTurn(ctx context.Context, dir string) (string, error) {
	client, err := headless.Start(ctx, a.server(nil, nil).Serve, headless.Options{
		Version: version, Logger: a.logger,
		Permission: func(context.Context, headless.Question) headless.Answer {
			return headless.Answer{Option: headless.AllowOnce}
		},
	})
	if err != nil {
		return "", err
	}
	session, err := client.NewSession(ctx, dir)
	if err != nil {
		return "", errors.Join(err, client.Close())
	}
	stop, err := client.Prompt(ctx, session.ID, "check")
	return stop, errors.Join(err, client.Close())
}
