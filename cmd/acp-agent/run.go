package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"acp-agent/acp/headless"
	"acp-agent/internal/wire"
)

// runFlags are the flags of `run`.
type runFlags struct {
	cwd, mode, model string
	yes, json        bool
}

func (a *app) runCommand() *cobra.Command {
	var f runFlags
	c := &cobra.Command{
		Use:   "run [flags] PROMPT",
		Short: "Play one turn in this terminal, asking for each proposal",
		Long: `run drives the same server that editors start. Each proposal is shown as a diff with the errors it
would bring; answer y (once), n, a (this session), e (edit it first) or q (cancel).

Exit code: 0 the turn ended; 1 another error; 2 usage; 3 something was rejected; 4 model unreachable or
not signed in; 5 stopped by a limit or a refusal; 130 cancelled.`,
		Example: "  acp-agent run 'fix the failing test'\n  acp-agent run --yes --model ollama/qwen3-coder 'add a README'",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, words []string) error {
			return a.runPrompt(c, f, strings.Join(words, " "))
		},
	}
	c.Flags().StringVar(&f.cwd, "cwd", ".", "work in this folder")
	c.Flags().StringVar(&f.mode, "mode", "", "session mode: default, accept_edits, plan (dont_ask where allowed)")
	c.Flags().StringVar(&f.model, "model", "", "model, as provider/name")
	c.Flags().BoolVar(&f.yes, "yes", false, "allow everything once, but sensitive and outside targets")
	c.Flags().BoolVar(&f.json, "json", false, "print every ACP message, one a line")
	return c
}

func (a *app) runPrompt(c *cobra.Command, f runFlags, prompt string) error {
	cwd, err := absolute(f.cwd)
	if err != nil {
		return usageError{err}
	}
	if err := a.load(); err != nil {
		return err
	}
	defer a.closeLog()
	a.logWarnings()
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	runner := &headless.Runner{
		Version: version, Cwd: string(cwd), Prompt: prompt, Mode: f.mode, Model: f.model, Yes: f.yes, JSON: f.json,
		Logger: a.logger, Screen: screen(c, string(cwd)),
	}
	if term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd())) {
		runner.In, runner.Edit = os.Stdin, openEditor
	}
	language := a.language()
	runner.Serve = a.server(language, nil).Serve
	code, err := runner.Run(ctx)
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer done()
	language.Close(closing)
	if err != nil {
		fmt.Fprintf(os.Stderr, "acp-agent: %s\n", plain(err))
	}
	if code == exitOK && err == nil {
		return nil
	}
	return exitCode(max(code, exitError))
}

// plain is an error without the number that it has on the wire, which means nothing to a person.
func plain(err error) string {
	text := err.Error()
	var onWire *wire.Error
	if errors.As(err, &onWire) {
		text = strings.Replace(text, onWire.Error(), onWire.Message, 1)
	}
	return text
}

// screen writes to this terminal, in colour where it is one that wants it.
func screen(c *cobra.Command, cwd string) *headless.Screen {
	color := term.IsTerminal(int(os.Stdout.Fd())) && term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("NO_COLOR") == ""
	return &headless.Screen{Out: c.OutOrStdout(), Side: os.Stderr, Cwd: cwd, Color: headless.Palette{On: color}}
}

// openEditor lets the person change a text in $VISUAL or $EDITOR.
func openEditor(ctx context.Context, path, text string) (string, error) {
	program := os.Getenv("VISUAL")
	if program == "" {
		program = os.Getenv("EDITOR")
	}
	if program == "" {
		return "", errors.New("set VISUAL or EDITOR to edit a proposal")
	}
	dir, err := os.MkdirTemp("", "acp-agent-edit-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	name := filepath.Join(dir, filepath.Base(path))
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		return "", err
	}
	words := strings.Fields(program)
	cmd := exec.CommandContext(ctx, words[0], append(words[1:], name)...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stderr, os.Stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("%s: %w", program, err)
	}
	edited, err := os.ReadFile(name)
	return string(edited), err
}
