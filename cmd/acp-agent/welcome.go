package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
)

// welcome is the one screen for a person who starts the agent on a terminal.
func welcome(c *cobra.Command) {
	self, err := os.Executable()
	if err != nil {
		self = "/path/to/acp-agent"
	}
	fmt.Fprintf(c.OutOrStdout(), `acp-agent %[2]s serves the Agent Client Protocol; an editor starts it.

  See it work:     acp-agent demo
  In a terminal:   acp-agent run 'what does this project do?'
  Check the setup: acp-agent doctor

Zed (settings.json)
  "agent_servers": { "acp-agent": { "type": "custom", "command": "%[1]s", "args": [], "env": {} } }
VS Code, ACP Client (settings.json; no spaces in the path)
  "acp.agents": { "acp-agent": { "command": "%[1]s", "args": [], "env": {} } }
JetBrains (~/.jetbrains/acp.json; restart the IDE)
  { "agent_servers": { "acp-agent": { "command": "%[1]s", "args": [], "env": {} } } }
Neovim, CodeCompanion (an adapter of type "acp")
  commands = { default = { "%[1]s" } }
Emacs, acp.el
  (acp-make-client :context-buffer (current-buffer) :command "%[1]s" :command-params '())
acpx (~/.acpx/config.json)
  { "agents": { "acp-agent": { "command": "%[1]s", "args": [] } } }
`, self, version)
}
