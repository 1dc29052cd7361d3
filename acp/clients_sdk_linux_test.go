package acp_test

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
)

// sdkScript answers the prompts of testing/npm/sdk-driver.mjs.
var sdkScript = `turns:
  - thought: "A typo."
    text: "I will mend it."
    tool_calls: [{id: c1, name: edit_file, arguments: {path: a.txt, old_string: teh, new_string: the}}]
    usage: {input: 10, output: 5}
  - text: "Mended."
  - tool_calls: [{id: c0, name: edit_file, arguments: {path: a.txt, old_string: the, new_string: teh}}]
  - text: "As you like."
  - tool_calls: [{id: c2, name: write_file, arguments: {path: plan.txt, content: "no\n"}}]
  - text: "In plan mode I may not."
  - {text: "` + strings.Repeat("On and on. ", 500) + `", chunk: 5, delay_ms: 50}
  - tool_calls: [{id: c3, name: write_file, arguments: {path: mind.txt, content: "no\n"}}]
  - text: "Yes."
`

// sdkTurn is what the driver saw of one prompt.
type sdkTurn struct {
	StopReason string
	Updates    []json.RawMessage
}

// statuses are the states of a tool call in their order.
func (s sdkTurn) statuses(id string) []string {
	var list []string
	for _, u := range s.Updates {
		if status := acptest.Get[string](u, "status"); status != "" && acptest.Get[string](u, "toolCallId") == id {
			list = append(list, status)
		}
	}
	return list
}

// has says whether an update of this kind came.
func (s sdkTurn) has(kind string) bool {
	return slices.ContainsFunc(s.Updates, func(u json.RawMessage) bool { return acptest.Get[string](u, "sessionUpdate") == kind })
}

// text is what the agent said.
func (s sdkTurn) text() string {
	var text strings.Builder
	for _, u := range s.Updates {
		if acptest.Get[string](u, "sessionUpdate") == "agent_message_chunk" {
			text.WriteString(acptest.Get[string](u, "content", "text"))
		}
	}
	return text.String()
}

// optionKinds are the kinds of what a permission request offers, in order.
func optionKinds(request json.RawMessage) []string {
	var list []string
	for _, option := range acptest.Get[[]json.RawMessage](request, "options") {
		list = append(list, acptest.Get[string](option, "kind"))
	}
	return list
}

// TestSDK drives the built program with the protocol's own TypeScript library, which checks what it
// receives and complains on its stderr.
func TestSDK(t *testing.T) {
	acptest.Needs(t, "sdk")
	o := newOutside(t, sdkScript)
	put(t, o.file("a.txt"), "teh fox\n")
	driver, err := filepath.Abs("../testing/npm/sdk-driver.mjs")
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, code := o.call(t, acptest.Node(t), driver, acptest.Parts(t), o.cwd, o.agent)
	if code != 0 || stderr != "" {
		t.Fatalf("the driver ends with %d and says:\n%s", code, stderr)
	}
	var seen struct {
		Initialize, Session json.RawMessage
		Permissions, Writes []json.RawMessage
		Reads               []string
		Turns               []sdkTurn
		UnknownMode         int
		AfterClose          any
		Configured          []json.RawMessage
		Exit                struct{ Code *int }
	}
	if err := json.Unmarshal([]byte(stdout), &seen); err != nil {
		t.Fatalf("%v in %s", err, stdout)
	}
	check := func(what string, got, want any) {
		t.Helper()
		if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
			t.Errorf("%s: %s, want %s", what, g, w)
		}
	}
	check("protocol version", acptest.Get[int](seen.Initialize, "protocolVersion"), 1)
	check("mode at first", acptest.Get[string](seen.Session, "modes", "currentModeId"), "default")
	var stops []string
	for _, turn := range seen.Turns {
		stops = append(stops, turn.StopReason)
	}
	check("stop reasons", stops, "[end_turn end_turn end_turn cancelled cancelled end_turn]")
	if len(stops) != 6 || len(seen.Permissions) != 3 || len(seen.Writes) != 1 || len(seen.Configured) != 2 {
		t.Fatalf("%d turns, %d permission requests, %d writes, %d options set", len(stops), len(seen.Permissions), len(seen.Writes), len(seen.Configured))
	}

	// The edit is one of the text in the editor, and goes to the editor.
	asked := seen.Permissions[0]
	check("asked about", acptest.Get[string](asked, "toolCall", "toolCallId"), "c1")
	check("title", acptest.Get[string](asked, "toolCall", "title"), "Edit a.txt (+1 −1), on top of unsaved text")
	check("options", optionKinds(asked), "[allow_once allow_always reject_once]")
	check("shown before", acptest.Get[string](asked, "toolCall", "content", 0, "oldText"), "teh fox, not saved yet\n")
	check("states of the edit", seen.Turns[0].statuses("c1"), "[pending in_progress completed]")
	check("said with the edit", seen.Turns[0].text(), "I will mend it.Mended.")
	for _, kind := range []string{"agent_thought_chunk", "usage_update", "session_info_update"} {
		if !seen.Turns[0].has(kind) {
			t.Errorf("the first turn has no %s", kind)
		}
	}
	check("written", acptest.Get[string](seen.Writes[0], "path"), o.file("a.txt"))
	if !slices.Contains(seen.Reads, o.file("a.txt")) {
		t.Errorf("the editor was asked for %v", seen.Reads)
	}
	check("states of the refused edit", seen.Turns[1].statuses("c0"), "[pending failed]")
	check("said of the refusal", seen.Turns[1].text(), "As you like.")
	o.holds(t, "a.txt", "the fox, not saved yet\n")

	// Modes and options.
	check("states in plan mode", seen.Turns[2].statuses("c2"), "[pending failed]")
	check("said in plan mode", seen.Turns[2].text(), "In plan mode I may not.")
	o.holds(t, "plan.txt", "")
	check("an unknown mode", seen.UnknownMode, -32602)
	for i, want := range []string{"default", "off"} {
		values := map[string]string{}
		for _, option := range acptest.Get[[]json.RawMessage](seen.Configured[i], "configOptions") {
			values[acptest.Get[string](option, "id")] = acptest.Get[string](option, "currentValue")
		}
		check("option set", values[[]string{"mode", "diagnostics"}[i]], want)
		check("number of options", len(values), 3)
	}

	// Cancelling.
	if said := seen.Turns[3].text(); said == "" || len(said) > 3000 {
		t.Errorf("before and after the cancel the agent said %d characters", len(said))
	}
	check("asked when the mind changed", acptest.Get[string](seen.Permissions[2], "toolCall", "toolCallId"), "c3")
	check("states of the cancelled edit", seen.Turns[4].statuses("c3"), "[pending failed]")
	o.holds(t, "mind.txt", "")
	check("said after that", seen.Turns[5].text(), "Yes.")

	check("a closed session", seen.AfterClose, -32002)
	if seen.Exit.Code == nil || *seen.Exit.Code != 0 {
		t.Errorf("the agent ends with %v", seen.Exit)
	}
}
