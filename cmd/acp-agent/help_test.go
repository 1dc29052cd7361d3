package main

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestEveryCommandHasItsExample walks the command tree: each command does something, and has an
// example that names it and whose flags it knows.
func TestEveryCommandHasItsExample(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if !c.Runnable() && !c.HasAvailableSubCommands() {
			t.Errorf("%s does nothing", c.CommandPath())
		}
		if !strings.Contains(c.Example, c.CommandPath()) {
			t.Errorf("%s has the example %q", c.CommandPath(), c.Example)
		}
		for line := range strings.Lines(c.Example) {
			_, words, _ := strings.Cut(strings.TrimRight(line, ")\n"), "acp-agent ")
			found, rest, err := c.Root().Find(strings.Fields(words))
			if err != nil {
				t.Errorf("%s: the example %q: %v", c.CommandPath(), line, err)
				continue
			}
			for _, word := range rest {
				if name, ok := strings.CutPrefix(word, "--"); ok && found.Flag(name) == nil {
					t.Errorf("%s: the example %q has a flag that is not there", c.CommandPath(), line)
				}
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(newRoot())
}
