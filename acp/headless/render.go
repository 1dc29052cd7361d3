package headless

import (
	"fmt"
	"html"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"unicode"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// Palette colours a piece of text. The zero value leaves everything as it is.
type Palette struct{ On bool }

func (p Palette) paint(code, s string) string {
	if !p.On || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}

func (p Palette) red(s string) string   { return p.paint("31", s) }
func (p Palette) green(s string) string { return p.paint("32", s) }
func (p Palette) cyan(s string) string  { return p.paint("36", s) }
func (p Palette) bold(s string) string  { return p.paint("1", s) }
func (p Palette) dim(s string) string   { return p.paint("2", s) }

// Screen writes a session for people: the agent's text as it comes to out, everything about tool calls
// to the side. It is safe for several goroutines.
type Screen struct {
	Out   io.Writer // the agent's words: the result
	Side  io.Writer // tool calls, proposals, notices: messages
	Cwd   string    // paths below it are shown relative
	Color Palette   // of both
	Quiet bool      // the agent's words only

	mu     sync.Mutex
	midway bool              // guarded by mu; Out is in the middle of a line
	titles map[string]string // guarded by mu; of tool calls by id
	shown  map[string]bool   // guarded by mu; proposals that a question has shown
}

// Update shows one update.
func (s *Screen) Update(u Update) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch u.Kind {
	case "agent_message_chunk":
		text := clean(u.Text)
		io.WriteString(s.Out, text)
		if text != "" {
			s.midway = !strings.HasSuffix(text, "\n")
		}
	case "agent_thought_chunk", "usage_update", "session_info_update", "available_commands_update", "config_option_update":
	case "notice":
		s.side(s.Color.dim("! " + clean(u.Text)))
	case "current_mode_update":
		s.side(s.Color.dim("mode: " + clean(u.Mode)))
	case "plan":
		s.plan(u.Plan)
	case "tool_call", "tool_call_update":
		s.toolCall(u.Call)
	}
}

// EndTurn ends the agent's last line.
func (s *Screen) EndTurn() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.endLine()
}

func (s *Screen) endLine() {
	if s.midway {
		io.WriteString(s.Out, "\n")
		s.midway = false
	}
}

// side writes a line that is not the agent's. The caller holds mu.
func (s *Screen) side(line string) {
	if s.Quiet {
		return
	}
	s.endLine()
	fmt.Fprintln(s.Side, line)
}

func (s *Screen) plan(entries []PlanEntry) {
	marks := map[string]string{"completed": "x", "in_progress": ">"}
	for _, e := range entries {
		mark := marks[e.Status]
		if mark == "" {
			mark = " "
		}
		s.side(s.Color.dim(fmt.Sprintf("  [%s] %s", mark, clean(e.Content))))
	}
}

// toolCall shows a call when it begins and when it ends. An edit is shown when it is asked for, or at
// its end when nobody was asked.
func (s *Screen) toolCall(c ToolCall) {
	if s.titles == nil {
		s.titles, s.shown = map[string]string{}, map[string]bool{}
	}
	if c.Title != "" {
		s.titles[c.ID] = clean(c.Title)
	}
	title := s.titles[c.ID]
	switch c.Status {
	case "":
		if d := c.Meta.Agent.Diagnostics; d != nil && d.Late {
			s.side(s.Color.cyan("~ ") + title)
			s.results(c)
		}
	case "pending":
	case "in_progress":
		s.side(s.Color.cyan("* ") + title)
	case "completed":
		s.side(s.Color.green("✓ ") + title)
		if c.Meta.Agent.Edit != nil && !s.shown[c.ID] {
			s.side(s.diffs(c))
		}
		s.results(c)
	case "failed":
		s.side(s.Color.red("✗ ") + title)
		s.results(c)
	}
}

// results are the texts of a finished call, shortened: the model has the whole.
func (s *Screen) results(c ToolCall) {
	const most = 12
	for _, item := range c.Content {
		if item.Type != "content" || item.Content.Text == "" {
			continue
		}
		text := clean(item.Content.Text)
		if c.Meta.Agent.Edit != nil {
			text = s.untagged(text)
		}
		lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
		rest := len(lines) - most
		if rest > 0 {
			lines = lines[:most]
		}
		for _, line := range lines {
			s.side(s.Color.dim("  " + line))
		}
		if rest > 0 {
			s.side(s.Color.dim(fmt.Sprintf("  … %d more lines", rest)))
		}
	}
	if p := c.Meta.Agent.Provenance; p != nil && c.Status == "completed" {
		s.side(s.Color.dim(fmt.Sprintf("  recorded as #%d, allowed by %s", p.Seq, p.Decision.By)))
	}
}

// Proposal shows what a question asks for: the title, the unified diff and what is foreseen.
func (s *Screen) Proposal(q Question) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.titles == nil {
		s.titles, s.shown = map[string]string{}, map[string]bool{}
	}
	s.shown[q.Call.ID] = true
	s.side("")
	s.side(s.Color.bold(clean(q.Call.Title)))
	if d := s.diffs(q.Call); d != "" {
		s.side(d)
	}
	for _, item := range q.Call.Content {
		if item.Type == "content" && item.Content.Text != "" {
			s.side(s.foreseen(clean(item.Content.Text)))
		}
	}
	if reason := q.Meta.Agent.Reason; reason != "" {
		s.side(s.Color.dim(clean(reason)))
	}
}

// untagged gives the tags that tell a model where a file's diagnostics begin and end as a person would
// write them.
func (s *Screen) untagged(text string) string {
	var lines []string
	for _, line := range strings.Split(text, "\n") {
		if line == "</diagnostics>" {
			continue
		}
		if path, ok := strings.CutPrefix(line, `<diagnostics file="`); ok {
			line = s.name(html.UnescapeString(strings.TrimSuffix(path, `">`))) + ":"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// foreseen colours the lines of diagnostics.
func (s *Screen) foreseen(text string) string {
	lines := strings.Split(s.untagged(text), "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "ERROR") {
			lines[i] = s.Color.red(line)
		}
	}
	return strings.Join(lines, "\n")
}

// diffs are the call's diff blocks as one coloured unified diff.
func (s *Screen) diffs(c ToolCall) string {
	var parts []string
	for _, item := range c.Content {
		if item.Type != "diff" {
			continue
		}
		name := s.name(item.Path)
		old, change := "a/"+name, edits.Change{Op: edits.Update, Path: workspace.Path(item.Path), NewText: item.NewText}
		if item.OldText == nil {
			old, change.Op = "/dev/null", edits.Create
		} else {
			change.OldText = *item.OldText
		}
		parts = append(parts, s.colour(clean(change.Unified(old, "b/"+name))))
	}
	return strings.Join(parts, "\n")
}

func (s *Screen) colour(diff string) string {
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
			lines[i] = s.Color.bold(line)
		case strings.HasPrefix(line, "@@"):
			lines[i] = s.Color.cyan(line)
		case strings.HasPrefix(line, "+"):
			lines[i] = s.Color.green(line)
		case strings.HasPrefix(line, "-"):
			lines[i] = s.Color.red(line)
		}
	}
	return strings.Join(lines, "\n")
}

// name is a path as it is shown.
func (s *Screen) name(path string) string {
	if rel, err := filepath.Rel(s.Cwd, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// clean keeps what comes from a model or from a file from steering the terminal: control characters
// but tab and newline are shown as what they are.
func clean(s string) string {
	if strings.IndexFunc(s, steers) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if steers(r) {
			fmt.Fprintf(&b, "\\u%04x", r)
			continue
		}
		b.WriteRune(r)
	}
	return b.String()
}

func steers(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || r >= '\u202a' && r <= '\u202e' || r >= '\u2066' && r <= '\u2069'
}
