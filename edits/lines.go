package edits

import "strings"

// textLine is a line with its line break, which is "" at the end of a text without a final newline.
type textLine struct {
	text string
	eol  string
}

// splitText cuts a text into lines at \n and \r\n. A lone \r is a line break only in a text without any
// \n (old Mac files); elsewhere it is content.
func splitText(text string) []textLine {
	breaks := "\n"
	if !strings.Contains(text, "\n") {
		breaks = "\r"
	}
	var lines []textLine
	for text != "" {
		i := strings.Index(text, breaks)
		if i < 0 {
			lines = append(lines, textLine{text, ""})
			break
		}
		l := textLine{text[:i], breaks}
		if breaks == "\n" && strings.HasSuffix(l.text, "\r") {
			l = textLine{l.text[:i-1], "\r\n"}
		}
		lines = append(lines, l)
		text = text[i+1:]
	}
	return lines
}

// joinText is the inverse of splitText.
func joinText(lines []textLine) string {
	var b strings.Builder
	for _, l := range lines {
		b.WriteString(l.text)
		b.WriteString(l.eol)
	}
	return b.String()
}

// commonEOL is the line break that most lines have, "\n" for a text without any.
func commonEOL(lines []textLine) string {
	counts := map[string]int{}
	best := "\n"
	for _, l := range lines {
		if l.eol == "" {
			continue
		}
		if counts[l.eol]++; counts[l.eol] > counts[best] {
			best = l.eol
		}
	}
	return best
}

// straight maps look-alike punctuation to ASCII, one rune for one rune.
func straight(r rune) rune {
	switch r {
	case '\u2018', '\u2019', '\u201a', '\u201b', '\u2032':
		return '\''
	case '\u201c', '\u201d', '\u201e', '\u201f', '\u2033':
		return '"'
	case '\u2010', '\u2011', '\u2012', '\u2013', '\u2014', '\u2015', '\u2212':
		return '-'
	case '\u00a0', '\u2002', '\u2003', '\u2009', '\u200a', '\u202f', '\u205f', '\u3000':
		return ' '
	}
	return r
}

// showSpace makes white space visible for messages: → is a tab, · a trailing space, ␍ a carriage return.
func showSpace(s string) string {
	body := strings.TrimRight(s, " \t\r")
	tail := strings.NewReplacer(" ", "·", "\t", "→", "\r", "␍").Replace(s[len(body):])
	return strings.ReplaceAll(body, "\t", "→") + tail
}
