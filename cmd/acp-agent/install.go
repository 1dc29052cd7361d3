package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"acp-agent/acp"
	"acp-agent/internal/config"
	"acp-agent/lsp"
)

func (a *app) lspInstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "install ID",
		Short:   "Install a language server into <home>/lsp (gopls)",
		Example: "  acp-agent lsp install gopls",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, list []string) error {
			if err := a.load(); err != nil {
				return err
			}
			defer a.closeLog()
			exe, err := a.install(c.Context(), list[0])
			if err != nil {
				return err
			}
			fmt.Fprintln(c.OutOrStdout(), exe)
			return nil
		},
	}
}

// install fetches a server and shows how far it is: a moving line on a terminal, else one line for
// every fifty steps.
func (a *app) install(ctx context.Context, id string) (string, error) {
	if ctx == nil {
		ctx = context.Background()
	}
	if !term.IsTerminal(int(os.Stderr.Fd())) {
		steps := 0
		return lsp.Install(ctx, a.languageOptions(a.config.LSP), id, func(line string) {
			if steps++; steps%50 == 1 {
				fmt.Fprintf(os.Stderr, "%s: step %d: %s\n", id, steps, line)
			}
		})
	}
	bars := mpb.NewWithContext(ctx, mpb.WithOutput(os.Stderr), mpb.WithWidth(16))
	bar := bars.AddSpinner(0, mpb.PrependDecorators(decor.Name(id)),
		mpb.AppendDecorators(decor.Elapsed(decor.ET_STYLE_GO), decor.CurrentNoUnit(" step %d ")),
		mpb.BarRemoveOnComplete())
	exe, err := lsp.Install(ctx, a.languageOptions(a.config.LSP), id, func(string) { bar.Increment() })
	bar.SetTotal(-1, true)
	bars.Wait()
	return exe, err
}

// languageOptions are the layer's options for a configuration.
func (a *app) languageOptions(c config.LSP) lsp.Options {
	return lsp.Options{
		Home: a.home.Dir, UserHome: a.userHome, Environ: os.Environ(),
		Settings: acp.LanguageSettings(c), Logger: a.logger,
	}
}

// languageFor makes the layer with other settings than the user's.
func (a *app) languageFor(c config.LSP) *lsp.Manager { return lsp.NewManager(a.languageOptions(c)) }
