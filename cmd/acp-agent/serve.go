package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"
)

func (a *app) acpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "acp",
		Short:   "Serve ACP on stdin and stdout, always",
		Example: "  acp-agent acp",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return a.serve(c.Context()) },
	}
}

// runRoot is acp-agent without a command: --version, --check, the welcome screen on a terminal, else
// the server.
func (a *app) runRoot(c *cobra.Command, _ []string) error {
	switch {
	case a.version:
		printVersion(c)
		return nil
	case a.check:
		return a.selfCheck(c)
	case term.IsTerminal(int(os.Stdin.Fd())):
		welcome(c)
		return nil
	}
	return a.serve(c.Context())
}

// closeLimit bounds how long the language servers are given after the connection ended; with the
// server's own limit the process is gone within 2 s of the end of input.
const closeLimit = 1500 * time.Millisecond

// serve speaks ACP on stdio until the input ends or a signal asks to stop.
func (a *app) serve(ctx context.Context) error {
	// A write to a closed stdout must be an error, not the end of the process with children left
	// behind. An interrupt goes to the whole foreground group of a terminal; the editor's client
	// decides what it means (acpx sends a cancel), so it does not end us while stdin is open.
	signal.Ignore(syscall.SIGPIPE, os.Interrupt)
	in, out, err := takeStdio()
	if err != nil {
		return err
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := a.load(); err != nil {
		return err
	}
	defer a.closeLog()
	a.logWarnings()
	language := a.language()
	err = a.server(language, nil).Serve(ctx, in, out)
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	language.Close(closing)
	a.models().Close()
	if err != nil && ctx.Err() == nil {
		a.logger.Error("serving ended", "err", err)
		return err
	}
	return nil
}
