package edits

import "strings"

// tolerance is one way to look at lines when they are not found as they are. Line breaks never
// count: every way compares lines.
type tolerance struct {
	trail   bool // spaces and tabs at the end of a line do not count
	indent  bool // all lines may be indented by the same more or less
	unicode bool // typographic quotes, dashes and spaces count as their ASCII forms
}

// tolerances in the order in which they are tried; the first that finds anything decides.
var tolerances = []tolerance{
	{},
	{trail: true},
	{trail: true, indent: true},
	{trail: true, unicode: true},
	{trail: true, indent: true, unicode: true},
}

// String names what was ignored, for the notes of a proposal.
func (t tolerance) String() string {
	switch {
	case t.indent && t.unicode:
		return "differences of indentation and of typographic quotes, dashes and spaces"
	case t.unicode:
		return "typographic quotes, dashes and spaces"
	case t.indent:
		return "a difference of indentation"
	case t.trail:
		return "trailing spaces"
	}
	return "line endings"
}

// folded is a line as a tolerance compares it.
type folded struct {
	text   string
	offset []int32 // for each byte of text and its end, the byte of the line; nil when they are the same
}

func (t tolerance) fold(s string) folded {
	f := folded{text: s}
	if t.unicode && !isASCII(s) {
		f = foldPunctuation(s)
	}
	if t.trail {
		f.text = strings.TrimRight(f.text, " \t")
	}
	return f
}

// at is the byte of the line that byte i of the folded text stands for.
func (f folded) at(i int) int {
	if f.offset == nil {
		return i
	}
	return int(f.offset[i])
}

func foldPunctuation(s string) folded {
	var b strings.Builder
	offset := make([]int32, 0, len(s)+1)
	for i, r := range s {
		n := b.Len()
		if ascii, ok := punctuation[r]; ok {
			b.WriteString(ascii)
		} else {
			b.WriteRune(r)
		}
		for ; n < b.Len(); n++ {
			offset = append(offset, int32(i))
		}
	}
	return folded{b.String(), append(offset, int32(len(s)))}
}

// punctuation is what models write as ASCII and editors of prose do not.
var punctuation = map[rune]string{
	'\u2018': "'", '\u2019': "'", '\u201A': "'", '\u201B': "'", '\u2032': "'",
	'\u201C': `"`, '\u201D': `"`, '\u201E': `"`, '\u201F': `"`, '\u2033': `"`,
	'\u2010': "-", '\u2011': "-", '\u2012': "-", '\u2013': "-", '\u2014': "-", '\u2015': "-", '\u2212': "-",
	'\u2026': "...",
	'\u00A0': " ", '\u2000': " ", '\u2001': " ", '\u2002': " ", '\u2003': " ", '\u2004': " ", '\u2005': " ",
	'\u2006': " ", '\u2007': " ", '\u2008': " ", '\u2009': " ", '\u200A': " ", '\u202F': " ", '\u205F': " ", '\u3000': " ",
}

// cutIndent splits a line into its leading spaces and tabs and the rest.
func cutIndent(s string) (indent, body string) {
	body = strings.TrimLeft(s, " \t")
	return s[:len(s)-len(body)], body
}

// reindent turns an indentation of the wanted text into the file's.
type reindent func(indent string) (string, bool)

// uniform finds the one rule that turns every wanted indentation into the file's: more of it, less
// of it, or tabs for spaces and the other way round. Pairs are of lines that are not blank.
func uniform(want, have []string) (reindent, bool) {
	if len(want) == 0 {
		return nil, false
	}
	for _, rule := range rules(want, have) {
		fits := true
		for i := range want {
			got, ok := rule(want[i])
			fits = fits && ok && got == have[i]
		}
		if fits {
			return rule, true
		}
	}
	return nil, false
}

// rules are the candidates that the first pair with a difference allows.
func rules(want, have []string) []reindent {
	w, h := want[0], have[0]
	for i := range want {
		if want[i] != have[i] {
			w, h = want[i], have[i]
			break
		}
	}
	var out []reindent
	if more, ok := strings.CutSuffix(h, w); ok {
		out = append(out, func(s string) (string, bool) { return more + s, true })
	}
	if less, ok := strings.CutSuffix(w, h); ok {
		out = append(out, func(s string) (string, bool) { return strings.CutPrefix(s, less) })
	}
	if n := len(h); n > 0 && h == strings.Repeat("\t", n) && w == strings.Repeat(" ", len(w)) && len(w)%n == 0 && len(w) > n {
		width := len(w) / n
		out = append(out, func(s string) (string, bool) {
			tabs := len(s) / width
			return strings.Repeat("\t", tabs) + s[tabs*width:], strings.Trim(s, " ") == ""
		})
	}
	if n := len(w); n > 0 && w == strings.Repeat("\t", n) && h == strings.Repeat(" ", len(h)) && len(h)%n == 0 {
		width := strings.Repeat(" ", len(h)/n)
		out = append(out, func(s string) (string, bool) { return strings.ReplaceAll(s, "\t", width), true })
	}
	return out
}
