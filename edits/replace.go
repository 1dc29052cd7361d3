package edits

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/workspace"
)

// applyReplacements applies a list of replacements in order, each seeing the text of the ones before.
// New text is literal: nothing in it is a template (case G-E06).
func applyReplacements(path workspace.Path, text string, list []Replacement) (string, []string, *Refusal) {
	if len(list) == 0 {
		return "", nil, &Refusal{Code: CodeInvalidArguments, Path: path, Message: "there is nothing to replace: give old_string and new_string"}
	}
	var notes []string
	for i, rep := range list {
		next, note, r := replaceOne(text, rep)
		if r != nil {
			r.Path = path
			where := string(path)
			if len(list) > 1 {
				r.Hunk = i + 1
				where = fmt.Sprintf("%s: edit %d of %d (none was applied)", path, i+1, len(list))
			}
			r.Message = where + ": " + r.Message
			return "", nil, r
		}
		if note != "" {
			notes = append(notes, note)
		}
		text = next
	}
	return text, notes, nil
}

// replaceOne replaces one old text. Exact matching comes first; a tolerance counts only where exact
// finds nothing and one place alone fits.
func replaceOne(text string, rep Replacement) (string, string, *Refusal) {
	switch {
	case rep.Old == "":
		return "", "", &Refusal{Code: CodeInvalidArguments, Message: "old_string is empty; give the text to replace, or use write_file for a whole file"}
	case rep.Old == rep.New:
		return "", "", &Refusal{Code: CodeInvalidArguments, Message: "old_string and new_string are the same; nothing would change"}
	}
	switch n := strings.Count(text, rep.Old); {
	case n == 1, n > 1 && rep.ReplaceAll:
		if strings.Contains(rep.Old, "\r") { // whoever writes \r knows about line breaks
			return strings.ReplaceAll(text, rep.Old, rep.New), "", nil
		}
		return splice(text, places(text, rep.Old), len(rep.Old), rep.New), "", nil
	case n > 1:
		return "", "", ambiguous(text, places(text, rep.Old))
	}
	for _, tol := range []struct {
		fold foldedBy
		note string
	}{
		{foldEOL, "line endings"}, {foldTrailing, "trailing spaces"}, {foldPunctuation, "look-alike quotes, dashes and spaces"},
	} {
		f := folded(text, tol.fold)
		old := folded(rep.Old, tol.fold).text
		if old == "" {
			continue
		}
		found := places(f.text, old)
		switch {
		case len(found) == 0:
			continue
		case len(found) > 1 && !(rep.ReplaceAll && tol.note == "line endings"):
			for i := range found {
				found[i] = f.at[found[i]]
			}
			return "", "", ambiguous(text, found)
		}
		var b strings.Builder
		next, eol := 0, commonEOL(splitText(text))
		for _, at := range found {
			from, to := f.at[at], f.at[at+len(old)]
			b.WriteString(text[next:from])
			b.WriteString(takeEOL(eol, text[from:to], rep.New))
			next = to
		}
		b.WriteString(text[next:])
		note := fmt.Sprintf("matched at line %d after ignoring %s", lineAt(text, f.at[found[0]]), tol.note)
		if tol.note == "line endings" {
			note = "" // models only ever send \n: nothing to tell
		}
		return b.String(), note, nil
	}
	return replaceIndented(text, rep)
}

// replaceIndented is the last tolerance: whole lines whose indentation differs uniformly. When that
// fails too it says what stands in the file.
func replaceIndented(text string, rep Replacement) (string, string, *Refusal) {
	lines := splitText(text)
	trimmed := strings.TrimSuffix(rep.Old, "\n")
	old := strings.Split(strings.ReplaceAll(trimmed, "\r\n", "\n"), "\n")
	if found := matches(lines, old, uniformIndent, false); len(found) == 1 {
		h := hunk{}
		for _, l := range old {
			h.lines = append(h.lines, hunkLine{'-', l})
		}
		for _, l := range strings.Split(strings.ReplaceAll(strings.TrimSuffix(rep.New, "\n"), "\r\n", "\n"), "\n") {
			if rep.New != "" {
				h.lines = append(h.lines, hunkLine{'+', l})
			}
		}
		p := found[0]
		out := append(append(append([]textLine{}, lines[:p.at]...), render(lines, h, p)...), lines[p.at+len(old):]...)
		return joinText(finish(lines, out)), fmt.Sprintf("matched at line %d %s", p.at+1, uniformIndent), nil
	}
	const telling = 12 // characters: below that a text may stand anywhere by chance
	if strings.Count(text, rep.New) == 1 && utf8.RuneCountInString(strings.TrimSpace(rep.New)) >= telling {
		at := lineAt(text, strings.Index(text, rep.New))
		return "", "", &Refusal{Code: CodeAlreadyApplied, Message: fmt.Sprintf("the new text stands at line %d already and the old text is gone; nothing was changed", at), Lines: []int{at}}
	}
	return "", "", &Refusal{
		Code:    CodeNoMatch,
		Message: "old_string is not in the file; read the file again and copy the text exactly, white space included",
		Nearest: nearest(lines, old),
	}
}

func ambiguous(text string, at []int) *Refusal {
	r := &Refusal{Code: CodeAmbiguous}
	for _, i := range at {
		r.Lines = append(r.Lines, lineAt(text, i))
	}
	shown := fmt.Sprint(r.Lines)
	if len(r.Lines) > 20 {
		shown = fmt.Sprint(r.Lines[:20]) + "…"
	}
	r.Message = fmt.Sprintf("old_string is found at %d places (lines %s); add lines around it so that it is unique, or set replace_all", len(at), shown)
	return r
}

// places lists the offsets where part stands in text, without overlaps.
func places(text, part string) []int {
	var list []int
	for from := 0; ; {
		i := strings.Index(text[from:], part)
		if i < 0 {
			return list
		}
		list = append(list, from+i)
		from += i + len(part)
	}
}

// lineAt is the 1-based line of an offset.
func lineAt(text string, offset int) int {
	before := text[:offset]
	if !strings.Contains(text, "\n") {
		return 1 + strings.Count(before, "\r")
	}
	return 1 + strings.Count(before, "\n")
}

// splice replaces n bytes at each offset by now, with the line breaks of the place.
func splice(text string, at []int, n int, now string) string {
	eol := "\n"
	if strings.Contains(now, "\n") {
		eol = commonEOL(splitText(text))
	}
	var b strings.Builder
	next := 0
	for _, i := range at {
		b.WriteString(text[next:i])
		b.WriteString(takeEOL(eol, text[i:i+n], now))
		next = i + n
	}
	b.WriteString(text[next:])
	return b.String()
}

// takeEOL gives the new text with the line breaks of the text that it replaces, else the file's.
func takeEOL(eol, was, now string) string {
	if !strings.ContainsAny(now, "\r\n") {
		return now
	}
	if strings.ContainsAny(was, "\r\n") {
		eol = commonEOL(splitText(was))
	}
	now = strings.ReplaceAll(now, "\r\n", "\n")
	if eol == "\n" {
		return now
	}
	return strings.ReplaceAll(now, "\n", eol)
}

// foldedBy reduces the text at an offset to a rune to compare: how many bytes it takes, and whether
// it is dropped.
type foldedBy func(text string, i int) (r rune, size int, drop bool)

// foldedText is a text in comparable form; at[i] is the original offset of its byte i.
type foldedText struct {
	text string
	at   []int
}

func folded(text string, by foldedBy) foldedText {
	var f foldedText
	var b strings.Builder
	for i := 0; i < len(text); {
		r, size, drop := by(text, i)
		if !drop {
			n := b.Len()
			if r == utf8.RuneError && size == 1 {
				b.WriteByte(text[i])
			} else {
				b.WriteRune(r)
			}
			for range b.Len() - n {
				f.at = append(f.at, i)
			}
		}
		i += size
	}
	f.text = b.String()
	f.at = append(f.at, len(text))
	return f
}

// foldEOL takes \r\n and a lone \r as \n.
func foldEOL(text string, i int) (rune, int, bool) {
	if text[i] == '\r' {
		if i+1 < len(text) && text[i+1] == '\n' {
			return '\n', 2, false
		}
		return '\n', 1, false
	}
	r, size := utf8.DecodeRuneInString(text[i:])
	return r, size, false
}

// foldTrailing also drops spaces and tabs before a line break and at the end.
func foldTrailing(text string, i int) (rune, int, bool) {
	if c := text[i]; c == ' ' || c == '\t' {
		const longest = 4096 // of a run of spaces that is looked at: hostile runs must not cost the square
		window := text[i:min(i+longest, len(text))]
		rest := strings.TrimLeft(window, " \t")
		run := len(window) - len(rest)
		if i+run == len(text) || rest != "" && (rest[0] == '\n' || rest[0] == '\r') {
			return 0, run, true
		}
	}
	return foldEOL(text, i)
}

// foldPunctuation also takes look-alike punctuation as ASCII.
func foldPunctuation(text string, i int) (rune, int, bool) {
	r, size, drop := foldTrailing(text, i)
	return straight(r), size, drop
}
