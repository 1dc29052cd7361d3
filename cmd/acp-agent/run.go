package main

import (
	"bufio"
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
	ctx, stop := signal.NotifyContext(c.Context(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()

	tty := term.IsTerminal(int(os.Stdin.Fd())) && term.IsTerminal(int(os.Stderr.Fd()))
	user := &headless.Terminal{
		Out: c.OutOrStdout(), Err: os.Stderr, Cwd: string(cwd), Yes: f.yes, Quiet: f.json, Quit: cancel,
		Color: term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "",
	}
	if tty && !f.yes {
		user.Line, user.Edit = lineReader(), openEditor
	}
	var tap func(bool, []byte)
	if f.json {
		tap = func(_ bool, msg []byte) { fmt.Fprintf(os.Stdout, "%s\n", strings.TrimRight(string(msg), "\n")) }
	}
	language := a.language()
	// The connection outlives an interrupt: the turn is cancelled the protocol's way and answered.
	client := headless.Start(context.WithoutCancel(ctx), a.server(language, nil), user, headless.Options{Version: version, Logger: a.logger, Tap: tap})
	reason, err := playTurn(ctx, client, f, string(cwd), prompt)
	user.End()
	closeErr := client.Close()
	closing, done := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer done()
	language.Close(closing)
	if err != nil {
		return runError(err)
	}
	if closeErr != nil {
		return closeErr
	}
	return stopCode(reason, user.Rejected())
}

// playTurn opens a session with the flags' options and prompts it once.
func playTurn(ctx context.Context, client *headless.Client, f runFlags, cwd, prompt string) (string, error) {
	if _, err := client.Initialize(ctx, version); err != nil {
		return "", err
	}
	session, err := client.NewSession(ctx, cwd)
	if err != nil {
		return "", err
	}
	for _, o := range []struct{ id, value string }{{"model", f.model}, {"mode", f.mode}} {
		if o.value == "" {
			continue
		}
		if err := client.SetOption(ctx, session, o.id, o.value); err != nil {
			return "", fmt.Errorf("--%s %s: %w", o.id, o.value, err)
		}
	}
	return client.Prompt(ctx, session, prompt)
}

// runError prints what the server answered and chooses the exit code.
func runError(err error) error {
	fmt.Fprintln(os.Stderr, "acp-agent: "+headless.Message(err))
	switch headless.ErrorKind(err) {
	case "auth", "unreachable", "rate_limit", "overloaded", "server", "idle":
		return exitCode(exitNoModel)
	}
	if errors.Is(err, context.Canceled) {
		return exitCode(exitCancelled)
	}
	return exitCode(exitError)
}

// stopCode maps a stop reason to the exit code of contract §1.
func stopCode(reason string, rejected bool) error {
	switch {
	case reason == "cancelled":
		return exitCode(exitCancelled)
	case reason == "max_tokens", reason == "max_turn_requests", reason == "refusal":
		fmt.Fprintln(os.Stderr, "acp-agent: the turn ended with "+reason)
		return exitCode(exitLimit)
	case rejected:
		return exitCode(exitRejected)
	}
	return nil
}

// lineReader reads stdin only when a line is wanted, so that the person's editor has the terminal
// for itself in between.
func lineReader() func(ctx context.Context) (string, bool) {
	want, lines := make(chan struct{}, 1), make(chan string, 1)
	// The goroutine ends with the input or the process: a read of a terminal cannot be taken back.
	go func() {
		defer close(lines)
		in := bufio.NewScanner(os.Stdin)
		for range want {
			if !in.Scan() {
				return
			}
			lines <- in.Text()
		}
	}()
	return func(ctx context.Context) (string, bool) {
		select {
		case want <- struct{}{}:
		default: // an earlier question was cancelled and its read is still waiting
		}
		select {
		case <-ctx.Done():
			return "", false
		case line, ok := <-lines:
			return line, ok
		}
	}
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
