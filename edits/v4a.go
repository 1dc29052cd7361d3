package edits

import (
	"regexp"
	"sync"
)

// patchOp is one operation of a V4A patch as written; paths are not resolved yet.
type patchOp struct {
	op    Op
	path  string
	to    string   // Move to, with or without hunks
	lines []string // Create: the content
	open  bool     // Create: no line break after the last line
	hunks []hunk
	at    int // line of the patch, 1-based
}

// hunk is one changed place of a file.
type hunk struct {
	number  int // 1-based within its operation
	anchors []string
	lines   []hunkLine
	eof     bool // "*** End of File" follows
	hint    int  // old line number of a "@@ -12,3 +12,4 @@" header, 0 for none
	at      int  // line of the patch
}

// hunkLine is a context (' '), removed ('-') or added ('+') line.
type hunkLine struct {
	sign byte
	text string
}

// old are the lines that the file must have, new those that it would have.
func (h hunk) old() []string { return h.side('-') }
func (h hunk) new() []string { return h.side('+') }

func (h hunk) side(sign byte) []string {
	var out []string
	for _, l := range h.lines {
		if l.sign == ' ' || l.sign == sign {
			out = append(out, l.text)
		}
	}
	return out
}

func (h hunk) changes() bool {
	for _, l := range h.lines {
		if l.sign != ' ' {
			return true
		}
	}
	return false
}

// onlyAdds says that the hunk adds lines, not only blank ones, and removes none: it can be applied
// again and again.
func (h hunk) onlyAdds() bool {
	var added []string
	for _, l := range h.lines {
		switch l.sign {
		case '-':
			return false
		case '+':
			added = append(added, l.text)
		}
	}
	return !blank(added)
}

// Marker lines stand at the very start of a line. Content lines always begin with a sign, so a
// marker inside content is content (case G-E13).
var (
	markerBegin  = lazily(`^\*\*\* ?Begin Patch\s*$`)
	markerEnd    = lazily(`^\*\*\* ?End Patch\s*$`)
	markerEOF    = lazily(`^\*\*\* ?End of File\s*$`)
	markerFile   = lazily(`^\*\*\* ?(Add|Update|Delete) File:\s*(.*?)\s*$`)
	markerMoveTo = lazily(`^\*\*\* ?Move to:\s*(.*?)\s*$`)
	markerMove   = lazily(`^\*\*\* ?Move File:\s*(.*?)\s+->\s+(.*?)\s*$`)
	hunkNumbers  = lazily(`^@@ -(\d+)(?:,\d+)? \+\d+(?:,\d+)? @@`)
	// What may stand around a patch: a here-document's or a code block's own lines.
	wrapper = lazily("^(```.*|~~~.*|['\"`)};]*|[A-Za-z_]{1,20}['\"`);]*)$")
)

// pattern is a regular expression that is compiled when it is first used: no start of the program
// pays for patches that may never come.
type pattern struct{ compiled func() *regexp.Regexp }

func lazily(expr string) *pattern {
	return &pattern{sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expr) })}
}

func (p *pattern) MatchString(s string) bool { return p.compiled().MatchString(s) }

func (p *pattern) FindStringSubmatch(s string) []string { return p.compiled().FindStringSubmatch(s) }
