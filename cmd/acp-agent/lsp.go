package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

func (a *app) lspCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "lsp",
		Short:   "Language servers: status, check, install",
		Example: "  acp-agent lsp status\n  acp-agent lsp check main.go",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.lspStatusCommand(), a.lspCheckCommand(), a.lspInstallCommand())
	return c
}

func (a *app) lspStatusCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "status",
		Short:   "Show the language servers: what is run, and what is missing",
		Example: "  acp-agent lsp status --json",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			session, language, err := a.languageSession(".")
			if err != nil {
				return err
			}
			defer closeLanguage(session, language)
			rows := language.Status()
			if asJSON {
				return json.NewEncoder(c.OutOrStdout()).Encode(rows)
			}
			w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "SERVER\tSTATE\tCOMMAND\tNOTE")
			for _, r := range rows {
				state := r.State
				if state == "absent" && len(r.Command) > 0 {
					state = "installed" // absent is the process; no server starts for this list
				}
				fmt.Fprintf(w, "%s\t%s\t%s\t%s\n", r.ID, state, strings.Join(r.Command, " "), r.Reason)
			}
			return w.Flush()
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func (a *app) lspCheckCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "check FILE...",
		Short:   "Print the diagnostics of files; exit 1 when there are errors",
		Example: "  acp-agent lsp check main.go internal/app.go",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, files []string) error {
			return a.checkFiles(c, files, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// checked is one file of `lsp check --json`.
type checked struct {
	Path   string        `json:"path"`
	Notice string        `json:"notice,omitempty"`
	Items  []checkedItem `json:"items"`
}

// checkedItem is one finding of it; lines and characters count from 1.
type checkedItem struct {
	Line         int    `json:"line"`
	Character    int    `json:"character"`
	EndLine      int    `json:"end_line"`
	EndCharacter int    `json:"end_character"`
	Severity     string `json:"severity"`
	Code         string `json:"code,omitempty"`
	Source       string `json:"source,omitempty"`
	Message      string `json:"message"`
	Server       string `json:"server"`
}

func checkedItems(items []lsp.Finding) []checkedItem {
	list := []checkedItem{}
	for _, f := range items {
		list = append(list, checkedItem{f.Line, f.Column, f.EndLine, f.EndCol, f.Severity.String(), f.Code, f.Source, f.Message, f.Server})
	}
	return list
}

// checkFiles asks each file's servers. A file that cannot be served is told on stderr and makes the
// exit code 1 as well: "no verdict" is not "no errors".
func (a *app) checkFiles(c *cobra.Command, files []string, asJSON bool) error {
	session, language, err := a.languageSession(".")
	if err != nil {
		return err
	}
	defer closeLanguage(session, language)
	failed := false
	var all []checked
	for _, name := range files {
		p, err := absolute(name)
		if err != nil {
			return err
		}
		file, err := a.readFile(p)
		if err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(c.Context(), 2*time.Minute)
		items, notice, err := session.Diagnostics(ctx, p, file.Text)
		cancel()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, it := range items {
			failed = failed || it.Severity == lsp.SevError
		}
		failed = failed || notice != ""
		all = append(all, checked{string(p), notice, checkedItems(items)})
		if asJSON {
			continue
		}
		switch {
		case notice != "":
			fmt.Fprintf(os.Stderr, "%s: %s\n", name, notice)
		case len(items) == 0:
			fmt.Fprintf(c.OutOrStdout(), "no diagnostics for %s.\n", name)
		default:
			fmt.Fprintln(c.OutOrStdout(), lsp.FindingsText(items, 1<<20))
		}
	}
	if asJSON {
		if err := json.NewEncoder(c.OutOrStdout()).Encode(all); err != nil {
			return err
		}
	}
	if failed {
		return exitCode(exitError)
	}
	return nil
}

// languageSession opens the language-server layer for a folder that the user chose by being in it.
func (a *app) languageSession(dir string) (*lsp.Session, *lsp.Manager, error) {
	if err := a.load(); err != nil {
		return nil, nil, err
	}
	cwd, err := absolute(dir)
	if err != nil {
		return nil, nil, err
	}
	roots, err := workspace.NewRoots(cwd, a.userHome)
	if err != nil {
		return nil, nil, err
	}
	m := a.language()
	return m.Session("cli", roots), m, nil
}

func closeLanguage(s *lsp.Session, m *lsp.Manager) {
	ctx, cancel := context.WithTimeout(context.Background(), closeLimit)
	defer cancel()
	s.Close(ctx)
	m.Close(ctx)
}
