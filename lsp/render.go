package lsp

import (
	"fmt"
	"html"
	"slices"
	"strings"
	"unicode"

	"acp-agent/internal/workspace"
)

// What one finding and one file may take of the model's attention. The text comes from programs that
// read files of strangers: a message may carry anything, so it is shortened and cleaned.
const (
	maxPerFile  = 20
	maxMessage  = 300
	maxCode     = 80
	maxSource   = 80
	maxFiles    = 5 // other files
	defaultChar = 4000
)

// baselineNote is said when the difference could not be taken.
const baselineNote = "(The state before the edit is not known: older problems may be among these.)"

// ForModel renders what the edit brought in, as the contract's lsp_diagnostics text (§4): errors
// only, capped at PerFile a file and max characters, sanitised. heading is the first line, without its
// colon. It is "" when there is nothing to say.
func (v Verdict) ForModel(heading string, max int) string {
	if max <= 0 {
		max = defaultChar
	}
	perFile := v.PerFile
	if perFile <= 0 {
		perFile = maxPerFile
	}
	var parts []string
	if len(v.Introduced) > 0 {
		note := ""
		if !v.BaselineKnown {
			note = baselineNote
		}
		parts = append(parts, section(heading, note, byFile(v.Introduced, perFile, 0), max))
	}
	if len(v.Other) > 0 {
		used := 0
		for _, p := range parts {
			used += len([]rune(p)) + 1
		}
		if left := max - used; left > 200 || len(parts) == 0 {
			parts = append(parts, section(heading+" in other files", "", byFile(v.Other, perFile, maxFiles), left))
		}
	}
	return strings.Join(parts, "\n")
}

// fileFindings are the findings of one file, errors first, with how many there are in all.
type fileFindings struct {
	path  workspace.Path
	items []Finding
	total int
}

// byFile groups findings in the order in which their files first appear, at most perFile of each; files
// beyond limit (0: none) keep only their number.
func byFile(items []Finding, perFile, limit int) []fileFindings {
	var out []fileFindings
	index := map[workspace.Path]int{}
	for _, f := range sorted(items) {
		i, ok := index[f.Path]
		if !ok {
			i = len(out)
			index[f.Path] = i
			out = append(out, fileFindings{path: f.Path})
		}
		out[i].total++
		if len(out[i].items) < perFile && (limit == 0 || i < limit) {
			out[i].items = append(out[i].items, f)
		}
	}
	return out
}

// section renders one heading with its files. Whatever does not fit in max characters is counted in
// a last line instead, so that nothing is silently lost.
func section(heading, note string, files []fileFindings, max int) string {
	var b budgeted
	b.left = max
	b.must(oneLine(heading, 1000) + ":")
	if note != "" {
		b.must(note)
	}
	hidden := 0
	for _, f := range files {
		open := `<diagnostics file="` + html.EscapeString(oneLine(string(f.path), 4096)) + `">`
		const closing = "</diagnostics>"
		shown := 0
		for _, item := range f.items {
			line := modelLine(item)
			need := len([]rune(line)) + 1
			if shown == 0 {
				need += len([]rune(open)) + len(closing) + 2
			}
			if !b.fits(need + len("… 9999 more") + 1) {
				break
			}
			if shown == 0 {
				b.must(open)
				b.left -= len(closing) + 1
			}
			b.must(line)
			shown++
		}
		rest := f.total - shown
		if shown == 0 {
			hidden += rest
			continue
		}
		if rest > 0 {
			b.must(fmt.Sprintf("… %d more", rest))
		}
		b.left += len(closing) + 1
		b.must(closing)
	}
	if hidden > 0 {
		b.must(fmt.Sprintf("… %d more", hidden))
	}
	return strings.Join(b.lines, "\n")
}

// budgeted collects lines and counts the characters that are left.
type budgeted struct {
	lines []string
	left  int
}

func (b *budgeted) fits(n int) bool { return b.left >= n }

func (b *budgeted) must(line string) {
	b.lines = append(b.lines, line)
	b.left -= len([]rune(line)) + 1
}

func modelLine(f Finding) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s [%d:%d] %s", strings.ToUpper(f.Severity.String()), f.Line, f.Column, html.EscapeString(oneLine(f.Message, maxMessage)))
	if f.Code != "" {
		b.WriteString(" [" + html.EscapeString(oneLine(f.Code, maxCode)) + "]")
	}
	if by := f.label(); by != "" {
		b.WriteString(" (" + html.EscapeString(oneLine(by, maxSource)) + ")")
	}
	return b.String()
}

// label names who says it: the server, in the spelling that it uses for itself ("Pyright").
func (f Finding) label() string {
	if f.Server == "" || strings.EqualFold(f.Source, f.Server) {
		return f.Source
	}
	return f.Server
}

// FindingsText renders findings one a line as `path:line:col severity message` (T1, T2), errors
// first, capped at max characters with "… N more".
func FindingsText(items []Finding, max int) string {
	if max <= 0 {
		max = defaultChar
	}
	items = sorted(items)
	b := budgeted{left: max}
	for i, f := range items {
		line := fmt.Sprintf("%s:%d:%d %s %s", oneLine(string(f.Path), 4096), f.Line, f.Column, f.Severity, oneLine(f.Message, maxMessage))
		reserve := 0
		if i < len(items)-1 {
			reserve = len("… 9999 more") + 1
		}
		if !b.fits(len([]rune(line))+1+reserve) && i > 0 {
			b.must(fmt.Sprintf("… %d more", len(items)-i))
			break
		}
		b.must(line)
	}
	return strings.Join(b.lines, "\n")
}

// sorted puts errors first and keeps the rest in reading order.
func sorted(items []Finding) []Finding {
	out := slices.Clone(items)
	slices.SortStableFunc(out, func(a, b Finding) int {
		if a.Severity != b.Severity {
			return int(a.Severity) - int(b.Severity)
		}
		if c := strings.Compare(string(a.Path), string(b.Path)); c != 0 {
			return c
		}
		if a.Line != b.Line {
			return a.Line - b.Line
		}
		return a.Column - b.Column
	})
	return out
}

// oneLine cleans text that a stranger may have written: line breaks and control characters become
// spaces, characters that reorder or hide text go, runs of spaces shrink to one, and what is longer
// than max code points ends in an ellipsis.
func oneLine(s string, max int) string {
	var b strings.Builder
	n, space := 0, false
	for _, r := range s {
		if unicode.IsControl(r) || unicode.IsSpace(r) || r == '\u2028' || r == '\u2029' {
			space = b.Len() > 0
			continue
		}
		if unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) || r == unicode.ReplacementChar {
			continue
		}
		if space {
			b.WriteByte(' ')
			n++
			space = false
		}
		if n >= max {
			return strings.TrimRight(b.String(), " ") + "…"
		}
		b.WriteRune(r)
		n++
	}
	return b.String()
}
