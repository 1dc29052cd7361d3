package headless

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"

	"acp-agent/edits"
)

// Terminal shows a session to a person in a terminal and asks there; it is a [User].
type Terminal struct {
	Out   io.Writer // what the model says, and proposals
	Err   io.Writer // questions and progress
	Color bool
	Cwd   string // paths are shown relative to it
	// Line reads one line of the person's; ok is false at the end of input. nil answers no to everything.
	Line func(ctx context.Context) (line string, ok bool)
	// Yes answers allow_once to everything but sensitive and outside targets, which are rejected.
	Yes bool
	// Edit opens a text for the person to change and gives it back; nil when that cannot be.
	Edit func(ctx context.Context, path, text string) (string, error)
	// Quiet drops all output but questions (`run --json`).
	Quiet bool
	// Quit is called when the person wants to cancel the turn.
	Quit func()

	mu       sync.Mutex
	midLine  bool            // guarded by mu; the last output did not end a line
	shown    map[string]bool // guarded by mu; tool calls whose title was shown
	rejected bool            // guarded by mu

	asking sync.Mutex // one question at a time
}

// Rejected says whether anything was rejected so far.
func (t *Terminal) Rejected() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.rejected
}

// Update shows one update.
func (t *Terminal) Update(_ string, u Update) {
	if t.Quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	switch u.Kind {
	case "agent_message_chunk":
		t.print(visible(u.Text()))
	case "agent_thought_chunk":
		t.print(t.paint(dim, u.Text()))
	case "tool_call":
		if t.shown == nil {
			t.shown = map[string]bool{}
		}
		t.shown[u.ToolCallID] = true
		t.line(t.paint(bold, "● "+u.Title))
	case "tool_call_update":
		t.toolUpdate(u)
	case "plan":
		for _, e := range u.Entries {
			mark := map[string]string{"completed": "✓", "in_progress": "▸"}[e.Status]
			if mark == "" {
				mark = "·"
			}
			t.line("  " + mark + " " + visible(e.Content))
		}
	}
}

// toolUpdate shows how a tool call ended: its text for the editor, not the diff, which was shown when asked.
func (t *Terminal) toolUpdate(u Update) {
	if u.Status != "completed" && u.Status != "failed" {
		return
	}
	mark := t.paint(green, "✓")
	if u.Status == "failed" {
		mark = t.paint(red, "✗")
	}
	text := ""
	for _, b := range u.Blocks() {
		if b.Type == "content" {
			text += b.Content.Text + "\n"
		}
	}
	text = strings.TrimSpace(text)
	if lines := strings.Split(text, "\n"); len(lines) > 20 {
		text = strings.Join(lines[:20], "\n") + fmt.Sprintf("\n… %d more lines", len(lines)-20)
	}
	t.line("  " + mark + " " + strings.ReplaceAll(visible(text), "\n", "\n    "))
}

// Permission shows a question with its diffs and waits for the person.
func (t *Terminal) Permission(ctx context.Context, _ string, q Question) Answer {
	t.asking.Lock()
	defer t.asking.Unlock()
	t.Show(q)
	if t.Yes {
		if q.Meta.Agent.Ask.Sensitive || q.Meta.Agent.Ask.Outside {
			t.note("rejected: --yes does not reach sensitive or outside targets")
			return t.reject(q)
		}
		return Answer{OptionID: q.Find("allow_once")}
	}
	if t.Line == nil {
		t.note("rejected: there is no terminal to ask on (--yes allows)")
		return t.reject(q)
	}
	return t.ask(ctx, q)
}

// ask loops until the person gave an answer that is one.
func (t *Terminal) ask(ctx context.Context, q Question) Answer {
	editable := t.Edit != nil && len(diffs(q.ToolCall)) > 0 && !q.Meta.Agent.Edit.Partial && !q.ToolCall.Meta.Agent.Edit.Partial
	always := q.Find("allow_always")
	for {
		prompt := "[y]es  [n]o"
		if always != "" {
			prompt += "  [a]lways (this session)"
		}
		if editable {
			prompt += "  [e]dit"
		}
		fmt.Fprint(t.Err, prompt+"  [q]uit > ")
		line, ok := t.Line(ctx)
		if ctx.Err() != nil {
			return Answer{}
		}
		if !ok {
			return t.reject(q)
		}
		switch strings.ToLower(strings.TrimSpace(line)) {
		case "y", "yes":
			return Answer{OptionID: q.Find("allow_once")}
		case "n", "no":
			return t.reject(q)
		case "a", "always":
			if always != "" {
				return Answer{OptionID: always}
			}
		case "e", "edit":
			if editable {
				if edited, err := t.edit(ctx, q); err == nil {
					return Answer{OptionID: q.Find("allow_once"), Edited: edited}
				} else {
					t.note("editing: " + err.Error())
				}
			}
		case "q", "quit":
			if t.Quit != nil {
				t.Quit()
			}
			return Answer{}
		}
	}
}

// edit hands each proposed text to the person's editor.
func (t *Terminal) edit(ctx context.Context, q Question) (map[string]string, error) {
	edited := map[string]string{}
	for _, d := range diffs(q.ToolCall) {
		text, err := t.Edit(ctx, d.Path, d.NewText)
		if err != nil {
			return nil, err
		}
		if text != d.NewText {
			edited[d.Path] = text
		}
	}
	return edited, nil
}

func (t *Terminal) reject(q Question) Answer {
	t.mu.Lock()
	t.rejected = true
	t.mu.Unlock()
	return Answer{OptionID: q.Find("reject_once")}
}

// Show prints a question's title, its diffs and the errors foreseen.
func (t *Terminal) Show(q Question) {
	if t.Quiet {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.line(t.paint(bold, "? "+q.ToolCall.Title))
	for _, b := range q.ToolCall.Blocks() {
		switch {
		case b.Type == "diff":
			t.line(t.diff(b))
		case b.Type == "content" && b.Content.Text != "":
			t.line(t.paint(yellow, b.Content.Text))
		}
	}
}

// diff renders one diff block as a coloured unified diff.
func (t *Terminal) diff(b Block) string {
	name := b.Path
	if rel, err := filepath.Rel(t.Cwd, b.Path); err == nil && !strings.HasPrefix(rel, "..") {
		name = rel
	}
	c := edits.Change{NewText: b.NewText}
	from := "/dev/null"
	if b.OldText != nil {
		c.OldText = *b.OldText
		from = "a/" + name
	}
	lines := strings.Split(strings.TrimRight(c.Unified(from, "b/"+name), "\n"), "\n")
	for i, l := range lines {
		switch {
		case strings.HasPrefix(l, "+"):
			lines[i] = t.paint(green, l)
		case strings.HasPrefix(l, "-"):
			lines[i] = t.paint(red, l)
		case strings.HasPrefix(l, "@@"):
			lines[i] = t.paint(cyan, l)
		default:
			lines[i] = visible(l)
		}
	}
	return strings.Join(lines, "\n")
}

func diffs(u Update) []Block {
	var list []Block
	for _, b := range u.Blocks() {
		if b.Type == "diff" {
			list = append(list, b)
		}
	}
	return list
}
