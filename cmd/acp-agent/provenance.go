package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/internal/workspace"
	"acp-agent/provenance"
)

func (a *app) provenanceCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "provenance",
		Short:   "Who and what changed the files",
		Example: "  acp-agent provenance log\n  acp-agent provenance blame main.go\n  acp-agent provenance verify",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(a.provenanceLogCommand(), a.provenanceBlameCommand(), a.provenanceVerifyCommand())
	return c
}

// openLog opens the log of the folder that holds p: the nearest parent that has one, else cwd's.
func (a *app) openLog(p workspace.Path) (*provenance.Log, error) {
	if err := a.load(); err != nil {
		return nil, err
	}
	dir := string(a.home.Dir.Join("provenance"))
	for root := p; ; root = root.Dir() {
		log, err := provenance.Open(dir, root)
		if err != nil {
			return nil, err
		}
		records, err := log.Records()
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, err
		}
		if len(records) > 0 {
			return log, nil
		}
		if root.Dir() == root {
			return nil, fmt.Errorf("no edits are recorded for %s or a folder above it (looked in %s)", p, dir)
		}
	}
}

func (a *app) provenanceLogCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "log [PATH]",
		Short:   "List the recorded changes of this folder, or of one path",
		Example: "  acp-agent provenance log src/app.go --json",
		Args:    args(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, list []string) error {
			name := "."
			if len(list) > 0 {
				name = list[0]
			}
			p, err := absolute(name)
			if err != nil {
				return err
			}
			log, err := a.openLog(p)
			if err != nil {
				return err
			}
			records, err := log.Records()
			if err != nil {
				return err
			}
			here, err := absolute(".")
			if err != nil {
				return err
			}
			return printRecords(c, records, p, here, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON record a line")
	return c
}

// printRecords prints the records that touch p or something below it, with paths as seen from here.
func printRecords(c *cobra.Command, records []provenance.Record, p, here workspace.Path, asJSON bool) error {
	enc := json.NewEncoder(c.OutOrStdout())
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, r := range records {
		touches := false
		var files []string
		for _, f := range r.Files {
			touches = touches || p.Contains(f.Path) || (f.To != "" && p.Contains(f.To))
			name := f.Op + " " + f.Path.Rel(here)
			if f.To != "" {
				name += " → " + f.To.Rel(here)
			}
			files = append(files, name)
		}
		if !touches {
			continue
		}
		if asJSON {
			if err := enc.Encode(r); err != nil {
				return err
			}
			continue
		}
		allowed := ""
		if d := r.Decision; d != nil {
			allowed = d.By + " " + d.Option
		}
		fmt.Fprintf(w, "%d\t%s\t%s\t%s\t%s\t%s\n", r.Seq, r.Time.Local().Format(time.DateTime), r.Kind, r.Model, allowed, strings.Join(files, ", "))
	}
	return w.Flush()
}

// blamed is one line of `provenance blame --json`; Seq is 0 for a line that nobody recorded.
type blamed struct {
	Line     int        `json:"line"`
	Text     string     `json:"text"`
	Seq      int64      `json:"seq,omitempty"`
	Time     *time.Time `json:"ts,omitempty"`
	Model    string     `json:"model,omitempty"`
	Session  string     `json:"session,omitempty"`
	ToolCall string     `json:"tool_call,omitempty"`
}

func (a *app) provenanceBlameCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "blame PATH",
		Short:   "Show which recorded change brought in each line",
		Example: "  acp-agent provenance blame main.go",
		Args:    args(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, list []string) error {
			p, err := absolute(list[0])
			if err != nil {
				return err
			}
			log, err := a.openLog(p)
			if err != nil {
				return err
			}
			file, err := a.readFile(p)
			if err != nil {
				return err
			}
			lines, err := provenance.Blame(log, a.blobs(), p, file.Text)
			if err != nil {
				return err
			}
			return printBlame(c, lines, asJSON)
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a line")
	return c
}

func printBlame(c *cobra.Command, lines []provenance.Line, asJSON bool) error {
	enc := json.NewEncoder(c.OutOrStdout())
	w := tabwriter.NewWriter(c.OutOrStdout(), 0, 0, 2, ' ', 0)
	for _, l := range lines {
		b, who := blamed{Line: l.Number, Text: strings.TrimRight(l.Text, "\r\n")}, "-\t\t"
		if r := l.Record; r != nil {
			b.Seq, b.Time, b.Model, b.Session, b.ToolCall = r.Seq, &r.Time, r.Model, r.Session, r.ToolCall
			who = fmt.Sprintf("%d\t%s\t%s", r.Seq, r.Time.Local().Format(time.DateTime), r.Model)
		}
		if !asJSON {
			fmt.Fprintf(w, "%s\t%d\t%s\n", who, b.Line, b.Text)
		} else if err := enc.Encode(b); err != nil {
			return err
		}
	}
	return w.Flush()
}

// verified is one log of `provenance verify --json`.
type verified struct {
	Path     string   `json:"path"`
	Root     string   `json:"root"`
	Records  int      `json:"records"`
	BadSeq   int64    `json:"bad_seq,omitempty"`
	Problem  string   `json:"problem,omitempty"`
	Warnings []string `json:"warnings"`
}

func (a *app) provenanceVerifyCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "verify",
		Short:   "Check the hash chain of every log; exit 1 with the first bad record",
		Example: "  acp-agent provenance verify",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := a.load(); err != nil {
				return err
			}
			logs, err := provenance.Logs(string(a.home.Dir.Join("provenance")))
			if err != nil {
				return err
			}
			bad := false
			for _, path := range logs {
				r, err := provenance.Verify(path)
				if err != nil {
					return err
				}
				bad = bad || !r.OK()
				if err := printReport(c, r, asJSON); err != nil {
					return err
				}
			}
			if len(logs) == 0 {
				fmt.Fprintln(os.Stderr, "no edits are recorded yet")
			}
			if bad {
				return exitCode(exitError)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object a log")
	return c
}

func printReport(c *cobra.Command, r provenance.Report, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(c.OutOrStdout()).Encode(verified{r.Path, r.Root, r.Records, r.BadSeq, r.Problem, append([]string{}, r.Warnings...)})
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(os.Stderr, "%s: warning: %s\n", r.Path, warning)
	}
	if !r.OK() {
		fmt.Fprintf(c.OutOrStdout(), "%s: record %d: %s\n", r.Path, r.BadSeq, r.Problem)
		return nil
	}
	fmt.Fprintf(c.OutOrStdout(), "%s: %d records, chain intact\n", r.Path, r.Records)
	return nil
}
