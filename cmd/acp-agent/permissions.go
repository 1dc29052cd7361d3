package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"acp-agent/internal/workspace"
	"acp-agent/permissions"
)

func (a *app) permissionsCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "permissions",
		Short:   "Ask the permission rules",
		Example: "  acp-agent permissions explain 'git push origin main'",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	var asJSON bool
	explain := &cobra.Command{
		Use:     "explain 'COMMAND'",
		Short:   "Say which rule decides on a shell command here, and why",
		Example: "  acp-agent permissions explain 'make test && rm -rf build'",
		Args:    args(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, words []string) error {
			return a.explain(c, strings.Join(words, " "), asJSON)
		},
	}
	explain.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	c.AddCommand(explain)
	return c
}

// explained is what `permissions explain --json` prints.
type explained struct {
	Verdict  permissions.Verdict `json:"verdict"`
	By       permissions.By      `json:"by"`
	Rule     string              `json:"rule,omitempty"`
	Reason   string              `json:"reason"`
	Commands []explainedCommand  `json:"commands"` // what the line was parsed into
}

type explainedCommand struct {
	Argv    []string            `json:"argv"`
	Writes  []string            `json:"writes,omitempty"`
	Verdict permissions.Verdict `json:"verdict"`
	Rule    string              `json:"rule,omitempty"`
	Why     string              `json:"why,omitempty"`
}

// explain prints the decision and what the line was parsed into.
func (a *app) explain(c *cobra.Command, line string, asJSON bool) error {
	if err := a.load(); err != nil {
		return err
	}
	cwd, err := absolute(".")
	if err != nil {
		return err
	}
	roots, err := workspace.NewRoots(cwd, a.userHome)
	if err != nil {
		return err
	}
	policy, err := a.policy()
	if err != nil {
		return err
	}
	e := policy.NewSession(roots).Explain(line, cwd)
	if asJSON {
		out := explained{Verdict: e.Decision.Verdict, By: e.Decision.By, Rule: e.Decision.Rule, Reason: e.Decision.Reason, Commands: []explainedCommand{}}
		for _, s := range e.Simple {
			out.Commands = append(out.Commands, explainedCommand{s.Argv, s.Writes, s.Verdict, s.Rule, s.Why})
		}
		return json.NewEncoder(c.OutOrStdout()).Encode(out)
	}
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%s: %s\n", e.Decision.Verdict, e.Decision.Reason)
	fmt.Fprintf(out, "  decided by %s", e.Decision.By)
	if e.Decision.Rule != "" {
		fmt.Fprintf(out, " (%s)", e.Decision.Rule)
	}
	fmt.Fprintln(out)
	if len(e.Simple) == 1 && len(e.Simple[0].Writes) == 0 {
		return nil // the line is one command, and all of it is said
	}
	for _, s := range e.Simple {
		fmt.Fprintf(out, "  %-5s %s\n", s.Verdict, strings.Join(s.Argv, " "))
		for _, w := range s.Writes {
			fmt.Fprintf(out, "        writes %s\n", w)
		}
		if s.Why != "" {
			fmt.Fprintf(out, "        %s\n", s.Why)
		}
	}
	return nil
}
