package edits

import "strings"

// found is one place that matches wanted lines: file lines first .. first+n-1, where n is the number
// of wanted lines. The first may match from a byte on, the last up to one.
type found struct {
	first  int
	from   int // byte of the first line where the match starts
	to     int // byte of the last line where it ends
	indent reindent
	twice  bool // there is another one in the same line
}

// search is for the places of wanted lines in a file.
type search struct {
	lines []line
	want  []string
	// whole lines only, as patches have them; else the first wanted line may be the end of a line
	// and the last one the start of a line, as pieces of text have them.
	whole bool
}

// run gives all places that one tolerance finds, in order.
func (s search) run(t tolerance) []found {
	k := len(s.want)
	if k == 0 || k > len(s.lines)+1 || t.trail && blank(s.want) {
		return nil
	}
	want := make([]folded, k)
	for i, w := range s.want {
		want[i] = t.fold(w)
	}
	// The longest wanted line is compared first: it rules most places out.
	key := 0
	for i := range want {
		if len(want[i].text) > len(want[key].text) && (s.whole || i > 0 && i < k-1) {
			key = i
		}
	}
	var out []found
	at := s.folding(t)
	for first := 0; first+k <= len(s.lines)+1; first++ {
		if first+k > len(s.lines) && (s.whole || s.want[k-1] != "") {
			break
		}
		if (s.whole || key > 0 && key < k-1) && !sameBody(t, at(first+key).text, want[key].text) {
			continue
		}
		if f, ok := s.try(t, first, at, want); ok {
			out = append(out, f)
			if f.twice {
				out = append(out, f)
			}
		}
	}
	return out
}

// folding gives the file's lines as t compares them, each folded once.
func (s search) folding(t tolerance) func(i int) folded {
	if t == (tolerance{}) {
		return func(i int) folded {
			if i >= len(s.lines) {
				return folded{} // the empty line after a final line break
			}
			return folded{text: s.lines[i].text}
		}
	}
	fold := make([]folded, len(s.lines)+1)
	done := make([]bool, len(s.lines)+1)
	done[len(s.lines)] = true
	return func(i int) folded {
		if !done[i] {
			fold[i], done[i] = t.fold(s.lines[i].text), true
		}
		return fold[i]
	}
}

func blank(lines []string) bool {
	for _, l := range lines {
		if strings.TrimSpace(l) != "" {
			return false
		}
	}
	return true
}

func sameBody(t tolerance, have, want string) bool {
	if !t.indent {
		return have == want
	}
	return strings.TrimLeft(have, " \t") == strings.TrimLeft(want, " \t")
}

// try compares the lines from first on.
func (s search) try(t tolerance, first int, at func(int) folded, want []folded) (found, bool) {
	f := found{first: first}
	last := len(want) - 1
	var wantIndent, haveIndent []string
	for i := range want {
		have, w := at(first+i), want[i]
		start, end, ok := 0, len(have.text), false
		switch {
		case s.whole || t.indent && !(i == last && s.want[i] == ""):
			ok = sameBody(t, have.text, w.text)
		case i == last && i == 0:
			start, end, ok = within(t, have.text, w.text, s.want[i])
			f.twice = ok && start+1 <= len(have.text) && w.text != "" && strings.Contains(have.text[start+1:], w.text)
		case i == 0:
			start, ok = len(have.text)-len(w.text), strings.HasSuffix(have.text, w.text)
		case i == last:
			end, ok = len(w.text), strings.HasPrefix(have.text, w.text) && (w.text == have.text || !trimmed(t, s.want[i]))
		default:
			ok = have.text == w.text
		}
		if !ok {
			return found{}, false
		}
		if i == 0 {
			f.from = have.at(start)
		}
		if i == last {
			f.to = s.endOf(t, first+i, have, end, s.want[i])
		}
		if t.indent && strings.TrimSpace(w.text) != "" {
			wi, _ := cutIndent(w.text)
			hi, _ := cutIndent(have.text)
			wantIndent, haveIndent = append(wantIndent, wi), append(haveIndent, hi)
		}
	}
	if t.indent {
		rule, ok := uniform(wantIndent, haveIndent)
		if !ok {
			return found{}, false
		}
		f.indent = rule
	}
	return f, true
}

// trimmed says that a wanted line has trailing spaces that the tolerance leaves out: then it must
// end where the file's line does.
func trimmed(t tolerance, want string) bool {
	return t.trail && strings.TrimRight(want, " \t") != want
}

// within looks for one wanted line inside one line of the file.
func within(t tolerance, have, want, raw string) (start, end int, ok bool) {
	if trimmed(t, raw) {
		return len(have) - len(want), len(have), want != "" && strings.HasSuffix(have, want)
	}
	start = strings.Index(have, want)
	return start, start + len(want), want != "" && start >= 0
}

// endOf is the byte where the match ends: wanted trailing spaces take the file's with them.
func (s search) endOf(t tolerance, i int, have folded, end int, want string) int {
	if i >= len(s.lines) {
		return 0
	}
	if trimmed(t, want) || s.whole {
		return len(s.lines[i].text)
	}
	return have.at(end)
}
