package lsp

import (
	"sort"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// encoding is the unit in which a server counts columns.
type encoding int

const (
	utf16Units encoding = iota // the protocol's default
	utf8Bytes
	utf32Points
)

func encodingOf(name string) encoding {
	switch name {
	case "utf-8":
		return utf8Bytes
	case "utf-32":
		return utf32Points
	}
	return utf16Units
}

// lines is a text cut at the protocol's line breaks (\n, \r\n, \r and no other), for turning columns
// from one unit to another. It must be made of the very text that a position speaks of (case G-L05).
type lines struct {
	text   string
	starts []int
}

func newLines(text string) *lines {
	l := &lines{text: text, starts: make([]int, 1, 16+len(text)/32)}
	for i := 0; i < len(text); {
		j := strings.IndexAny(text[i:], "\r\n")
		if j < 0 {
			break
		}
		i += j + 1
		if text[i-1] == '\r' && i < len(text) && text[i] == '\n' {
			i++
		}
		l.starts = append(l.starts, i)
	}
	return l
}

func (l *lines) count() int { return len(l.starts) }

// line is the text of a 0-based line without its break; "" beyond the end.
func (l *lines) line(n int) string {
	if n < 0 || n >= len(l.starts) {
		return ""
	}
	end := len(l.text)
	if n+1 < len(l.starts) {
		end = l.starts[n+1]
	}
	return strings.TrimRight(l.text[l.starts[n]:end], "\r\n")
}

// all cuts the text into its lines without their breaks.
func (l *lines) all() []string {
	out := make([]string, l.count())
	for i := range out {
		out[i] = l.line(i)
	}
	return out
}

// column turns a server's 0-based position into our 1-based line and column in code points. What lies
// outside the text is moved to its nearest end.
func (l *lines) column(line, char int, enc encoding) (int, int) {
	if line < 0 {
		return 1, 1
	}
	if line >= l.count() {
		line = l.count() - 1
		char = 1 << 30
	}
	text := l.line(line)
	units, col := 0, 1
	for _, r := range text {
		if units >= char {
			break
		}
		units += unitsOf(r, enc)
		if units > char {
			break // inside a surrogate pair or a multi-byte character
		}
		col++
	}
	return line + 1, col
}

// position turns a 1-based line and column in code points into the server's 0-based position.
func (l *lines) position(line, col int, enc encoding) (int, int) {
	line = min(max(line-1, 0), l.count()-1)
	units, n := 0, 1
	for _, r := range l.line(line) {
		if n >= col {
			break
		}
		units += unitsOf(r, enc)
		n++
	}
	return line, units
}

// at is the position of a byte offset.
func (l *lines) at(offset int, enc encoding) (int, int) {
	offset = min(max(offset, 0), len(l.text))
	line := sort.SearchInts(l.starts, offset+1) - 1
	units := 0
	for _, r := range l.text[l.starts[line]:offset] {
		units += unitsOf(r, enc)
	}
	return line, units
}

func unitsOf(r rune, enc encoding) int {
	switch enc {
	case utf8Bytes:
		if n := utf8.RuneLen(r); n > 0 {
			return n
		}
		return 3
	case utf32Points:
		return 1
	}
	if n := utf16.RuneLen(r); n > 0 {
		return n
	}
	return 1
}
