package main

import (
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"acp-agent/internal/config"
)

func (a *app) configCommand() *cobra.Command {
	c := &cobra.Command{
		Use:     "config",
		Short:   "Where the configuration is, whether it is right, and what it comes to",
		Example: "  acp-agent config path\n  acp-agent config check",
		Args:    args(cobra.NoArgs),
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(
		&cobra.Command{
			Use: "path", Short: "Print the path of config.yaml", Example: "  acp-agent config path", Args: args(cobra.NoArgs),
			RunE: func(c *cobra.Command, _ []string) error {
				if err := a.load(); err != nil {
					return err
				}
				fmt.Fprintln(c.OutOrStdout(), a.home.ConfigFile())
				return nil
			},
		},
		&cobra.Command{
			Use: "check", Short: "Check config.yaml; exit 1 with the first fault", Example: "  acp-agent config check", Args: args(cobra.NoArgs),
			RunE: func(c *cobra.Command, _ []string) error {
				if err := a.load(); err != nil {
					return err
				}
				if _, err := a.policy(); err != nil {
					return err
				}
				for _, w := range a.warnings() {
					fmt.Fprintf(c.OutOrStdout(), "warning: %s\n", w)
				}
				fmt.Fprintf(c.OutOrStdout(), "%s: ok\n", a.home.ConfigFile())
				return nil
			},
		},
		&cobra.Command{
			Use: "print", Short: "Print the configuration with every default, without API keys", Example: "  acp-agent config print", Args: args(cobra.NoArgs),
			RunE: func(c *cobra.Command, _ []string) error {
				if err := a.load(); err != nil {
					return err
				}
				shown := a.config
				shown.Providers = map[string]config.Provider{}
				for name, p := range a.config.Providers {
					if p.APIKey != "" {
						p.APIKey = "(set)"
					}
					shown.Providers[name] = p
				}
				return yaml.NewEncoder(c.OutOrStdout(), yaml.Indent(2)).Encode(shown)
			},
		},
	)
	return c
}
