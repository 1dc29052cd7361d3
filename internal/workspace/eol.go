package workspace

import "strings"

// EOL names a file's line ending.
type EOL string

// Line endings. A file without a line break has EOLNone.
const (
	EOLNone  EOL = "none"
	LF       EOL = "lf"
	CRLF     EOL = "crlf"
	CR       EOL = "cr"
	EOLMixed EOL = "mixed"
)

// DetectEOL looks at text's line breaks (\n, \r\n, \r).
func DetectEOL(text string) EOL {
	lf, crlf, cr := countEOL(text)
	switch {
	case lf+crlf+cr == 0:
		return EOLNone
	case crlf+cr == 0:
		return LF
	case lf+cr == 0:
		return CRLF
	case lf+crlf == 0:
		return CR
	}
	return EOLMixed
}

func countEOL(text string) (lf, crlf, cr int) {
	if strings.IndexByte(text, '\r') < 0 {
		return strings.Count(text, "\n"), 0, 0
	}
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\n':
			lf++
		case text[i] == '\r' && i+1 < len(text) && text[i+1] == '\n':
			crlf++
			i++
		case text[i] == '\r':
			cr++
		}
	}
	return lf, crlf, cr
}

// Break is the line break of a uniform line ending; "" for none and mixed.
func (e EOL) Break() string {
	switch e {
	case LF:
		return "\n"
	case CRLF:
		return "\r\n"
	case CR:
		return "\r"
	}
	return ""
}

// WithEOL gives text the line break of a uniform line ending in place of every line break that it
// has; text comes back as it is for EOLNone and EOLMixed.
func WithEOL(text string, e EOL) string {
	br := e.Break()
	if br == "" || DetectEOL(text) == e {
		return text
	}
	return strings.ReplaceAll(normalizeEOL(text), "\n", br)
}

// normalizeEOL makes every line break \n.
func normalizeEOL(text string) string {
	if strings.IndexByte(text, '\r') < 0 {
		return text
	}
	text = strings.ReplaceAll(text, "\r\n", "\n")
	return strings.ReplaceAll(text, "\r", "\n")
}
