package lspserver

import (
	"regexp"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// rule finds ERROR(text), WARN(text), HINT(text), LATE(text), USES(name) and DEFINES(name) in a line.
var rule = regexp.MustCompile(`\b(ERROR|WARN|HINT|LATE|USES|DEFINES)\(([^()\n]*)\)`)

// mark is one place in a text that a rule speaks of. Columns are bytes of the line.
type mark struct {
	word, arg  string
	line       int
	start, end int
	text       string // the line
}

// marks lists the places of a text, line by line as LSP counts lines: \n, \r\n and \r end one.
func marks(text string) []mark {
	var out []mark
	for n, line := range splitLines(text) {
		if !strings.Contains(line, "(") {
			continue // the expression is slow, and tests have texts of megabytes
		}
		for _, m := range rule.FindAllStringSubmatchIndex(line, -1) {
			out = append(out, mark{line[m[2]:m[3]], line[m[4]:m[5]], n, m[0], m[1], line})
		}
	}
	return out
}

func splitLines(text string) []string {
	return strings.Split(strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\r", "\n"), "\n")
}

// Errors are the messages of the errors in a text by the server's rules, in order: ERROR(text) is the
// error "text" and USES(name) the error "name is not defined", unless another file or the text itself
// holds DEFINES(name); defined says so. A test holds verdicts against this.
func Errors(text string, defined func(name string) bool) []string {
	var out []string
	for _, m := range marks(text) {
		if f, ok := m.finding(text, defined); ok && f.severity == 1 && m.word != "LATE" {
			out = append(out, f.message)
		}
	}
	return out
}

// finding is one diagnostic before it is put into the protocol's form.
type finding struct {
	mark
	severity int
	message  string
}

func (m mark) finding(text string, defined func(string) bool) (finding, bool) {
	f := finding{mark: m, severity: 1, message: m.arg}
	switch m.word {
	case "WARN":
		f.severity = 2
	case "HINT":
		f.severity = 4
	case "USES":
		if strings.Contains(text, "DEFINES("+m.arg+")") || (defined != nil && defined(m.arg)) {
			return f, false
		}
		f.message = m.arg + " is not defined"
	case "DEFINES":
		return f, false
	}
	return f, true
}

// column is a byte offset of a line in the units of a position encoding.
func column(line string, offset int, encoding string) int {
	switch encoding {
	case "utf-8":
		return offset
	case "utf-32":
		return utf8.RuneCountInString(line[:offset])
	}
	return len(utf16.Encode([]rune(line[:offset])))
}

// offset is the byte of a line at a column.
func offset(line string, column int, encoding string) int {
	units := 0
	for i, r := range line {
		if units >= column {
			return i
		}
		switch encoding {
		case "utf-8":
			units += utf8.RuneLen(r)
		case "utf-32":
			units++
		default:
			units += utf16.RuneLen(r)
		}
	}
	return len(line)
}

// apply makes the text after a change by range.
func apply(text string, startLine, startChar, endLine, endChar int, with, encoding string) string {
	at := func(line, char int) int {
		pos := 0
		for ; line > 0; line-- {
			i := strings.IndexByte(text[pos:], '\n')
			if i < 0 {
				return len(text)
			}
			pos += i + 1
		}
		rest, _, _ := strings.Cut(text[pos:], "\n")
		return pos + offset(rest, char, encoding)
	}
	return text[:at(startLine, startChar)] + with + text[at(endLine, endChar):]
}

// object is any JSON object that is sent.
type object = map[string]any

// diagnostic puts a finding into the protocol's form.
func (f finding) diagnostic(encoding string, multibyte bool) object {
	message := f.message
	if multibyte {
		message += " · 漢字 😀"
	}
	return object{
		"range": object{
			"start": object{"line": f.line, "character": column(f.text, f.start, encoding)},
			"end":   object{"line": f.line, "character": column(f.text, f.end, encoding)},
		},
		"severity": f.severity, "code": f.word, "source": "fake", "message": message,
	}
}

// oddItems stand among the good findings in mode odd-items: a client must not lose the rest by them.
func oddItems() []any {
	return []any{
		"no object", 7, nil,
		object{"range": object{"start": "nowhere"}, "message": "a range of words"},
		object{"severity": 2, "message": object{"kind": "markdown", "value": "no range, a warning"}, "code": object{"value": 5}},
		object{"range": object{"start": object{"line": 99999, "character": -5}, "end": object{"line": -1, "character": 0}}, "severity": 3, "message": "far away", "severityX": true, "tags": "none"},
	}
}
