package acptest

import (
	"fmt"
	"strings"
	"testing"
)

// complaints is a testing.TB that collects what a test would fail with.
type complaints struct {
	testing.TB
	list []string
}

// Errorf collects.
func (c *complaints) Errorf(format string, args ...any) {
	c.list = append(c.list, fmt.Sprintf(format, args...))
}

// Helper does nothing.
func (c *complaints) Helper() {}

const opening = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":1,"clientCapabilities":{"fs":{"readTextFile":true}}}}
{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1}}
{"jsonrpc":"2.0","id":1,"method":"session/new","params":{"cwd":"/w","mcpServers":[]}}
{"jsonrpc":"2.0","id":1,"result":{"sessionId":"s"}}
{"jsonrpc":"2.0","id":2,"method":"session/prompt","params":{"sessionId":"s","prompt":[]}}
`

// TestTranscript wants the sides told apart, above all where both use one id, and the agent's faults
// found.
func TestTranscript(t *testing.T) {
	cases := []struct {
		what, lines string
		sides       string   // a letter for each line after the opening: agent, editor
		complaints  []string // parts of them, in order
	}{
		{"one id on both sides", `{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}
{"jsonrpc":"2.0","id":2,"result":{"content":"text"}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}}
`, "aea", nil},
		{"a turn that ends while its id is asked", `{"jsonrpc":"2.0","id":2,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}
{"jsonrpc":"2.0","id":2,"result":{"stopReason":"cancelled"}}
`, "aa", nil},
		{"a call is withdrawn", `{"jsonrpc":"2.0","id":7,"method":"fs/read_text_file","params":{"sessionId":"s","path":"/w/a"}}
{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":7}}
{"jsonrpc":"2.0","id":7,"error":{"code":-32800,"message":"cancelled"}}
{"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":2}}
{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s"}}
`, "aaeee", nil},
		{"not as the schema has it", `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"plan","entries":null}}}
`, "a", []string{"SessionNotification"}},
		{"never offered", `{"jsonrpc":"2.0","id":3,"method":"terminal/create","params":{"sessionId":"s","command":"ls"}}
`, "a", []string{"never offered terminal/create"}},
		{"an answer to nothing", `{"jsonrpc":"2.0","id":9,"result":{}}
`, "a", []string{"id 9"}},
		{"no JSON", "hello\n", "a", []string{"no JSON object"}},
	}
	for _, c := range cases {
		t.Run(c.what, func(t *testing.T) {
			said := &complaints{TB: t}
			log := Transcript(said, []byte(opening+c.lines))
			var sides strings.Builder
			for _, m := range log[5:] {
				sides.WriteByte("ea"[map[bool]int{true: 1}[m.Agent]])
			}
			if sides.String() != c.sides {
				t.Errorf("sides %s, want %s", sides.String(), c.sides)
			}
			if len(said.list) != len(c.complaints) {
				t.Fatalf("complaints %q, want %q", said.list, c.complaints)
			}
			for i, part := range c.complaints {
				if !strings.Contains(said.list[i], part) {
					t.Errorf("complaint %q, want one about %q", said.list[i], part)
				}
			}
		})
	}
}
