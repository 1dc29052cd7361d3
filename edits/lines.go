package edits

import "strings"

// line is one line of a file: its text, and its line break as it is ("" for a last line without).
type line struct{ text, eol string }

// breaksAtCR says that a lone \r ends a line, as in files of the old Macintosh. Where there is any
// \n, a lone \r is a character of its line.
func breaksAtCR(text string) bool {
	return strings.IndexByte(text, '\n') < 0 && strings.IndexByte(text, '\r') >= 0
}

// rawLines cuts text after each line break.
func rawLines(text string) []string {
	if text == "" {
		return nil
	}
	sep := "\n"
	if breaksAtCR(text) {
		sep = "\r"
	}
	lines := strings.SplitAfter(text, sep)
	if lines[len(lines)-1] == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// splitLines is rawLines with text and break apart.
func splitLines(text string) []line {
	raw := rawLines(text)
	out := make([]line, len(raw))
	for i, s := range raw {
		out[i] = splitBreak(s)
	}
	return out
}

func splitBreak(s string) line {
	switch {
	case strings.HasSuffix(s, "\r\n"):
		return line{s[:len(s)-2], "\r\n"}
	case strings.HasSuffix(s, "\n"):
		return line{s[:len(s)-1], "\n"}
	case strings.HasSuffix(s, "\r") && breaksAtCR(s):
		return line{s[:len(s)-1], "\r"}
	}
	return line{s, ""}
}

func joinLines(lines []line) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(l.eol)
	}
	return b.String()
}

// splitAny cuts s at line breaks of any kind; a break at the end gives an empty last element, so that
// strings.Join(splitAny(s), "\n") is s with \n for every break.
func splitAny(s string) []string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	return strings.Split(strings.ReplaceAll(s, "\r", "\n"), "\n")
}

// lineCounter gives the 1-based lines of growing byte offsets in a text.
type lineCounter struct {
	text, sep  string
	line, from int
}

func countLines(text string) *lineCounter {
	sep := "\n"
	if breaksAtCR(text) {
		sep = "\r"
	}
	return &lineCounter{text: text, sep: sep, line: 1}
}

func (c *lineCounter) at(offset int) int {
	c.line += strings.Count(c.text[c.from:offset], c.sep)
	c.from = offset
	return c.line
}

// breakNear is the line break to use for new lines put at text[start:end]: that of the replaced
// text, else of the line that holds its end, else of the line before; "\n" where there is none.
func breakNear(text string, start, end int) string {
	if strings.IndexByte(text, '\r') < 0 {
		return "\n"
	}
	sep := byte('\n')
	if breaksAtCR(text) {
		sep = '\r'
	}
	at := func(i int) string {
		if sep == '\n' && i > 0 && text[i-1] == '\r' {
			return "\r\n"
		}
		return string(sep)
	}
	if i := strings.IndexByte(text[start:end], sep); i >= 0 {
		return at(start + i)
	}
	if i := strings.IndexByte(text[end:], sep); i >= 0 {
		return at(end + i)
	}
	if i := strings.LastIndexByte(text[:start], sep); i >= 0 {
		return at(i)
	}
	return "\n"
}

// withBreaks gives s the line break br where it has bare \n. Text that spells \r out means it.
func withBreaks(s, br string) string {
	if br == "\n" || strings.IndexByte(s, '\r') >= 0 {
		return s
	}
	return strings.ReplaceAll(s, "\n", br)
}

func isASCII(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
