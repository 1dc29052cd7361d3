package edits

import (
	"fmt"
	"regexp"
	"strings"
)

// This file is the one parser of V4A patches (the format of the apply_patch tool):
//
//	*** Begin Patch
//	*** Update File: path        or Add File, Delete File
//	*** Move to: other/path      only below Update
//	@@ anchor                    any number; each narrows the search
//	 context / -old / +new
//	*** End of File              the hunk ends where the file does
//	*** End Patch
//
// A marker counts only at the very start of a line: content always begins with a space, + or -, so
// markers inside content are content (case G-E13).

// opKind is what a section of a patch does to its file.
type opKind int

const (
	opAdd opKind = iota
	opDelete
	opUpdate
)

// operation is one section of a patch.
type operation struct {
	kind    opKind
	path    string // as written
	moveTo  string // Update only; "" for no move
	content string // Add: the whole file
	hunks   []hunk // Update
	line    int    // of the patch, for messages
}

// hunk is one changed place. Its anchors are lines that come before it, outermost first.
type hunk struct {
	anchors []string
	lines   []hunkLine
	eof     bool
	line    int
}

// hunkLine is a line of a hunk without its line break; op is ' ', '-' or '+'.
type hunkLine struct {
	op   byte
	text string
}

const (
	beginMark = "*** Begin Patch"
	endMark   = "*** End Patch"
	eofMark   = "*** End of File"
	addMark   = "*** Add File:"
	delMark   = "*** Delete File:"
	updMark   = "*** Update File:"
	moveMark  = "*** Move to:"
)

// unifiedRange is a hunk header of a unified diff; its numbers are not to be trusted and not needed.
var unifiedRange = regexp.MustCompile(`^@@ -\d+(,\d+)? \+\d+(,\d+)? @@`)

// heredoc is the shell wrapping that models put around a patch.
var heredoc = regexp.MustCompile(`^(?:apply_patch\s+|cat\s+)?<<-?\s*['"]?(\w+)['"]?\s*$`)

// patchParser walks the lines of a patch.
type patchParser struct {
	lines []string
	next  int
}

// parsePatch reads a patch. A Refusal has the code invalid_patch and the patch's line.
func parsePatch(text string) ([]operation, *Refusal) {
	p := &patchParser{lines: unwrap(text)}
	if len(p.lines) == 0 {
		return nil, p.refuse(0, "the patch is empty: begin it with %q", beginMark)
	}
	if r := p.begin(); r != nil {
		return nil, r
	}
	var ops []operation
	for {
		if p.next >= len(p.lines) {
			return nil, p.refuse(p.next, "there is no %q: the patch may have been cut off; send it whole", endMark)
		}
		line := strings.TrimRight(p.lines[p.next], " \t")
		switch {
		case line == endMark:
			p.next++
			p.skipBlank()
			if p.next < len(p.lines) {
				return nil, p.refuse(p.next+1, "there is text after %q; content lines begin with +, - or a space", endMark)
			}
			if len(ops) == 0 {
				return nil, p.refuse(0, "the patch has no file section: add %q, %q or %q", updMark, addMark, delMark)
			}
			return ops, nil
		case line == "":
			p.next++
		default:
			op, r := p.section(line)
			if r != nil {
				return nil, r
			}
			ops = append(ops, op)
		}
	}
}

func (p *patchParser) refuse(line int, format string, args ...any) *Refusal {
	message := fmt.Sprintf(format, args...)
	if line > 0 {
		message = fmt.Sprintf("line %d of the patch: %s", line, message)
	}
	return &Refusal{Code: CodeInvalidPatch, Message: message}
}

// begin wants the first marker, and says what a unified diff should have been.
func (p *patchParser) begin() *Refusal {
	first := strings.TrimRight(p.lines[0], " \t")
	if first == beginMark {
		p.next = 1
		return nil
	}
	if strings.HasPrefix(first, "diff --git ") || strings.HasPrefix(first, "--- ") || unifiedRange.MatchString(first) {
		return p.refuse(1, "this is a unified diff; send a V4A patch: %q, %q and hunks that begin with @@, then %q", beginMark, updMark+" PATH", endMark)
	}
	return p.refuse(1, "a patch begins with %q, not with %q", beginMark, clip(first))
}

// section reads one file section, whose first line is given.
func (p *patchParser) section(line string) (operation, *Refusal) {
	op := operation{line: p.next + 1}
	var r *Refusal
	name := func(mark string) string { return strings.TrimSpace(line[len(mark):]) }
	switch {
	case strings.HasPrefix(line, addMark):
		op.kind, op.path = opAdd, name(addMark)
		p.next++
		op.content, r = p.added()
	case strings.HasPrefix(line, delMark):
		op.kind, op.path = opDelete, name(delMark)
		p.next++
	case strings.HasPrefix(line, updMark):
		op.kind, op.path = opUpdate, name(updMark)
		p.next++
		r = p.update(&op)
	default:
		return op, p.refuse(op.line, "expected a file section (%q, %q, %q) or %q, found %q", updMark, addMark, delMark, endMark, clip(line))
	}
	if r == nil && op.path == "" {
		r = p.refuse(op.line, "the path is missing")
	}
	return op, r
}

// added reads the lines of a new file, each behind a +. An empty line in between is an empty line.
func (p *patchParser) added() (string, *Refusal) {
	var b strings.Builder
	blanks := 0
	for ; p.next < len(p.lines) && !isMarker(p.lines[p.next]); p.next++ {
		line := p.lines[p.next]
		switch {
		case strings.HasPrefix(line, "+"):
			b.WriteString(strings.Repeat("\n", blanks))
			blanks = 0
			b.WriteString(line[1:] + "\n")
		case strings.TrimSpace(line) == "":
			blanks++
		default:
			return "", p.refuse(p.next+1, "every line of an added file begins with +, found %q", clip(line))
		}
	}
	return b.String(), nil
}

// update reads the optional move and the hunks of one file.
func (p *patchParser) update(op *operation) *Refusal {
	if p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], moveMark) {
		op.moveTo = strings.TrimSpace(p.lines[p.next][len(moveMark):])
		if op.moveTo == "" {
			return p.refuse(p.next+1, "the path to move to is missing")
		}
		p.next++
	}
	if p.blankUntilMarker() {
		p.skipBlank()
	}
	for p.next < len(p.lines) && !isMarker(p.lines[p.next]) {
		h, r := p.hunk()
		if r != nil {
			return r
		}
		op.hunks = append(op.hunks, h)
	}
	if len(op.hunks) == 0 && op.moveTo == "" {
		return p.refuse(op.line, "the update of %s has no hunk: nothing would change", op.path)
	}
	return nil
}

// hunk reads anchors and lines up to the next @@ or marker.
func (p *patchParser) hunk() (hunk, *Refusal) {
	h := hunk{line: p.next + 1}
	for p.next < len(p.lines) && strings.HasPrefix(p.lines[p.next], "@@") {
		if anchor := anchorOf(p.lines[p.next]); anchor != "" {
			h.anchors = append(h.anchors, anchor)
		}
		p.next++
	}
	for p.next < len(p.lines) {
		line := p.lines[p.next]
		if strings.HasPrefix(line, "@@") || isMarker(line) {
			break
		}
		switch {
		case strings.TrimRight(line, " \t") == eofMark:
			h.eof = true
			p.next++
			return h.checked(p)
		case line == "" && p.blankUntilMarker():
			p.skipBlank()
			return h.checked(p)
		case line == "":
			h.lines = append(h.lines, hunkLine{' ', ""}) // models leave out the space of an empty context line
		case line[0] == ' ' || line[0] == '+' || line[0] == '-':
			h.lines = append(h.lines, hunkLine{line[0], line[1:]})
		case strings.HasPrefix(line, `\ No newline`):
			// a unified diff's remark; the file's own final newline is kept anyway
		default:
			return h, p.refuse(p.next+1, "a line of a hunk begins with a space, + or -, found %q", clip(line))
		}
		p.next++
	}
	return h.checked(p)
}

func (h hunk) checked(p *patchParser) (hunk, *Refusal) {
	if len(h.lines) == 0 {
		return h, p.refuse(h.line, "the hunk has no lines")
	}
	return h, nil
}

// anchorOf is the text of an @@ line; the numbers of a unified diff's header are no anchor.
func anchorOf(line string) string {
	if unifiedRange.MatchString(line) {
		return ""
	}
	anchor := strings.TrimSpace(strings.TrimPrefix(line, "@@"))
	return strings.TrimSpace(strings.TrimSuffix(anchor, "@@"))
}

// isMarker says whether a line begins a section or ends the patch.
func isMarker(line string) bool {
	return strings.TrimRight(line, " \t") == endMark || strings.HasPrefix(line, addMark) ||
		strings.HasPrefix(line, delMark) || strings.HasPrefix(line, updMark)
}

// blankUntilMarker says whether nothing but blank lines comes before the next hunk or section: they
// only separate. As context lines they would add nothing.
func (p *patchParser) blankUntilMarker() bool {
	for _, line := range p.lines[p.next:] {
		if strings.TrimSpace(line) != "" {
			return isMarker(line) || strings.HasPrefix(line, "@@")
		}
	}
	return true
}

func (p *patchParser) skipBlank() {
	for p.next < len(p.lines) && strings.TrimSpace(p.lines[p.next]) == "" {
		p.next++
	}
}

// unwrap gives the patch's lines without what models wrap around it: blank lines, a code fence, a
// here-document, and CRLF line breaks when every line has them.
func unwrap(text string) []string {
	text = strings.TrimPrefix(text, "\ufeff")
	if n := strings.Count(text, "\n"); n > 0 && strings.Count(text, "\r\n") == n {
		text = strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\r")
	}
	lines := strings.Split(text, "\n")
	trim := func() {
		for len(lines) > 0 && strings.TrimSpace(lines[0]) == "" {
			lines = lines[1:]
		}
		for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1]) == "" {
			lines = lines[:len(lines)-1]
		}
	}
	trim()
	for range 2 { // a fence around a here-document
		if len(lines) < 2 {
			return lines
		}
		first, last := strings.TrimSpace(lines[0]), strings.TrimSpace(lines[len(lines)-1])
		if m := heredoc.FindStringSubmatch(first); strings.HasPrefix(first, "```") && last == "```" || m != nil && last == m[1] {
			lines = lines[1 : len(lines)-1]
			trim()
		}
	}
	return lines
}

// clip shortens a line for a message.
func clip(s string) string {
	const most = 80
	if r := []rune(s); len(r) > most {
		return string(r[:most]) + "…"
	}
	return s
}
