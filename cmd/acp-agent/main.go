// Command acp-agent is an Agent Client Protocol server.
package main

func main() {}
