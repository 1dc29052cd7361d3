// Command acp-agent is an Agent Client Protocol server: editors start it and talk to it on stdio.
// This package is flags, wiring, printing and exit codes, one file a command; it has no domain logic.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes (contract §1).
const (
	exitOK        = 0
	exitError     = 1
	exitUsage     = 2
	exitRejected  = 3
	exitNoModel   = 4
	exitLimit     = 5
	exitCancelled = 130
)

// exitCode is an error that only carries the code to end with; what there was to say has been said.
type exitCode int

// Error is for logs; main prints nothing for it.
func (e exitCode) Error() string { return fmt.Sprintf("exit %d", int(e)) }

// usageError is a wrong call.
type usageError struct{ error }

func main() { os.Exit(execute(os.Args[1:])) }

// execute runs one command line and gives the exit code.
func execute(args []string) int {
	root := newRoot()
	root.SetArgs(args)
	err := root.Execute()
	var code exitCode
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, &usage):
		fmt.Fprintf(os.Stderr, "acp-agent: %v\nSee 'acp-agent --help'.\n", err)
		return exitUsage
	}
	fmt.Fprintf(os.Stderr, "acp-agent: %v\n", err)
	return exitError
}

// newRoot is the command tree. Without a command it serves when stdin is no terminal.
func newRoot() *cobra.Command {
	a := &app{}
	var root *cobra.Command
	root = &cobra.Command{
		Use:   "acp-agent",
		Short: "A coding agent for editors that speak the Agent Client Protocol",
		Long: `acp-agent serves the Agent Client Protocol on stdio: an editor starts it. Every edit that the model
wants is a proposal that you approve, shown with the errors it would bring; applied edits are
recorded and checked by your language server at once.`,
		Example:       "  acp-agent demo\n  acp-agent run 'fix the failing test'\n  acp-agent lsp check main.go",
		SilenceUsage:  true,
		SilenceErrors: true,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usageError{noCommand(root, args[0])}
			}
			return nil
		},
		RunE: a.runRoot,
	}
	root.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return usageError{err} })
	root.SetOut(os.Stdout)
	root.PersistentFlags().StringVarP(&a.profile, "profile", "p", "", "use the profile of this name")
	root.Flags().BoolVar(&a.check, "check", false, "run a handshake, a session and a scripted turn in this process; exit 0 or 1")
	root.Flags().BoolVar(&a.version, "version", false, "print the version")
	root.AddCommand(a.acpCommand(), a.runCommand(), a.demoCommand(), a.lspCommand(), a.provenanceCommand(),
		a.permissionsCommand(), a.configCommand(), a.doctorCommand(), a.versionCommand())
	exemplify(root)
	return root
}

// exemplify gives the commands that the library brings along an example, as all others have.
func exemplify(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			c.Example = "  acp-agent help lsp check"
		case "completion":
			c.Example = "  source <(acp-agent completion bash)"
			for _, shell := range c.Commands() {
				shell.Example = "  acp-agent completion " + shell.Name()
				if shell.Name() == "powershell" {
					shell.Aliases = []string{"pwsh"}
				}
			}
		}
	}
}

// args wraps a cobra argument check so that a wrong number of arguments is a usage error.
func args(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, list []string) error {
		err := check(c, list)
		switch {
		case err == nil:
			return nil
		case c.HasAvailableSubCommands():
			return usageError{noCommand(c, list[0])}
		}
		return usageError{fmt.Errorf("%w; usage: %s", err, c.UseLine())}
	}
}

// noCommand says that c has no such command, and which was perhaps meant.
func noCommand(c *cobra.Command, name string) error {
	c.SuggestionsMinimumDistance = 2
	mend := ""
	if like := c.SuggestionsFor(name); len(like) > 0 {
		mend = "; did you mean " + strings.Join(like, " or ") + "?"
	}
	full := strings.TrimPrefix(c.CommandPath()+" "+name, c.Root().Name()+" ")
	return fmt.Errorf("there is no command %q%s", full, mend)
}
