package acp_test

import (
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/acptest"
)

// richTurns make the agent say nearly everything that it can say.
const richTurns = `
turns:
  - thought: "Let me see."
    text: "Reading."
    tool_calls:
      - {name: read_file, arguments: {path: a.go}}
      - {name: search_files, arguments: {pattern: "package"}}
      - {name: list_directory, arguments: {path: .}}
    usage: {input: 100, output: 20, cached: 10}
  - tool_calls: [{name: update_plan, arguments: {entries: [{content: "edit", priority: high, status: in_progress}]}}]
  - tool_calls: [{name: write_file, arguments: {path: a.go, content: "package a\n\nvar x = 1\n"}}]
  - tool_calls: [{name: apply_patch, arguments: {patch: "*** Begin Patch\n*** Add File: sub/b.go\n+package sub\n*** Update File: a.go\n@@\n-var x = 1\n+var x = 2\n*** End Patch\n"}}]
  - tool_calls: [{name: edit_file, arguments: {path: a.go, old_string: nowhere, new_string: x}}]
  - tool_calls: [{name: terminal, arguments: {command: "echo hello"}}]
  - tool_calls: [{name: write_file, raw: "{"}]
  - tool_calls: [{name: no_such_tool, arguments: {}}]
  - {text: "All **done** – grüße.", usage: {input: 300, output: 30}}
`

// rich caches what the checker said of the rich conversation: six tests look at it.
var rich struct {
	once       sync.Once
	complaints map[string][]string // profile -> complaints
	lines      map[string]int      // profile -> lines of the agent
}

// playRich plays one turn of everything with each profile.
func playRich(t *testing.T) {
	t.Helper()
	rich.once.Do(func() {
		rich.complaints, rich.lines = map[string][]string{}, map[string]int{}
		for _, profile := range acptest.ProfileNames() {
			f := start(t, richTurns, acptest.EditorOptions{Profile: profile, Unchecked: true, Answer: "allow_once"})
			f.write(t, "a.go", "package a\n")
			session := f.open()
			if stop := f.Prompt(session, "go on").StopReason(); stop != "end_turn" {
				t.Errorf("%s: stop reason %q", profile, stop)
			}
			f.Call("session/set_mode", map[string]any{"sessionId": session, "modeId": "plan"})
			f.Go("no/such", nil).Error()
			f.Call("session/close", map[string]any{"sessionId": session})
			f.Close()
			rich.complaints[profile] = f.Complaints()
			for _, m := range f.Messages() {
				if m.Agent {
					rich.lines[profile]++
				}
			}
		}
	})
}

// noComplaint wants no broken rule of a kind in the rich conversation, with any profile.
func noComplaint(t *testing.T, rule string) {
	t.Helper()
	playRich(t)
	for profile, complaints := range rich.complaints {
		if rich.lines[profile] < 25 {
			t.Errorf("%s: the agent wrote %d lines, so nearly nothing was checked", profile, rich.lines[profile])
		}
		for _, c := range complaints {
			if strings.HasPrefix(c, rule) {
				t.Errorf("%s: %s", profile, c)
			}
		}
	}
}

func TestACP_001_OneObjectALine(t *testing.T)            { noComplaint(t, "G1") }
func TestACP_002_OneShapeOfMessage(t *testing.T)         { noComplaint(t, "G2") }
func TestACP_003_ValidAgainstTheSchema(t *testing.T)     { noComplaint(t, "G3") }
func TestACP_004_RequestIDsUnique(t *testing.T)          { noComplaint(t, "G4") }
func TestACP_005_PathsAbsoluteLinesFromOne(t *testing.T) { noComplaint(t, "G5") }
func TestACP_006_OnlyWhatWasOffered(t *testing.T)        { noComplaint(t, "G6") }

// TestRichTurnInOrder wants no complaint of the rules on order either.
func TestRichTurnInOrder(t *testing.T) { noComplaint(t, "") }
