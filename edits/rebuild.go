package edits

import "strings"

// rebuild is the replacement of a place that was found with a tolerance: lines that the edit leaves
// alone stay as the file has them, the others come from the new text in the file's manner.
func rebuild(text string, lines []line, starts []int, f found, t tolerance, want, new []string) (region, bool) {
	last := f.first + len(want) - 1
	r := region{start: starts[f.first] + f.from, end: starts[last] + f.to}
	pieces := make([]line, len(want))
	for i := range want {
		if n := f.first + i; n < len(lines) {
			pieces[i] = lines[n]
		}
		if i == len(want)-1 {
			pieces[i] = line{text: pieces[i].text[:f.to]}
		}
		if i == 0 {
			pieces[i].text = pieces[i].text[f.from:]
		}
	}
	w := weaver{t: t, indent: f.indent, br: breakNear(text, r.start, r.end)}
	out, ok := w.weave(pieces, want, new)
	r.new = out
	return r, ok
}

// weaver puts a region together from the file's lines and the edit's.
type weaver struct {
	t      tolerance
	indent reindent
	br     string // line break for lines that have none of their own
}

func (w weaver) weave(pieces []line, want, new []string) (string, bool) {
	var out []line
	at := 0
	emit := func(s string, eol string) { out = append(out, line{s, eol}) }
	for _, s := range append(diffLines(want, new), span{len(want), len(want), len(new), len(new)}) {
		for ; at < s.oldFrom; at++ {
			emit(pieces[at].text, pieces[at].eol)
		}
		paired := s.oldTo-s.oldFrom == s.newTo-s.newFrom
		for j := s.newFrom; j < s.newTo; j++ {
			if paired {
				i := s.oldFrom + j - s.newFrom
				merged, ok := w.merge(pieces[i].text, want[i], new[j])
				if !ok {
					return "", false
				}
				emit(merged, pieces[i].eol)
				continue
			}
			added, ok := w.adapt(new[j])
			if !ok {
				return "", false
			}
			emit(added, w.br)
		}
		at = s.oldTo
	}
	var b strings.Builder
	// "a\n" was found as the last line of a file without a final line break: the file stays so.
	open := len(pieces) > 1 && want[len(want)-1] == "" && pieces[len(pieces)-2].eol == ""
	for i, l := range out {
		b.WriteString(l.text)
		switch {
		case i == len(out)-1, open && i == len(out)-2 && out[i+1].text == "":
		case l.eol == "":
			b.WriteString(w.br)
		default:
			b.WriteString(l.eol)
		}
	}
	return b.String(), true
}

// adapt gives a new line the file's indentation.
func (w weaver) adapt(s string) (string, bool) {
	if w.indent == nil || strings.TrimSpace(s) == "" {
		return s, true
	}
	indent, body := cutIndent(s)
	indent, ok := w.indent(indent)
	return indent + body, ok
}

// merge changes one line of the file as the edit changes its wanted form: what stands before and
// after the difference stays as the file has it.
func (w weaver) merge(have, want, new string) (string, bool) {
	if want == new {
		return have, true
	}
	if !w.t.unicode {
		return w.adapt(new)
	}
	haveIndent, haveBody := cutIndent(have)
	wantIndent, wantBody := cutIndent(want)
	newIndent, newBody := cutIndent(new)
	indent := haveIndent
	if newIndent != wantIndent {
		adapted, ok := w.adapt(newIndent + "x")
		if !ok {
			return "", false
		}
		indent = strings.TrimSuffix(adapted, "x")
	}
	return indent + mergeBody(haveBody, wantBody, newBody), true
}

// mergeBody keeps the file's own characters where the edit changes nothing.
func mergeBody(have, want, new string) string {
	h, w := foldPunctuation(have), foldPunctuation(want)
	head := commonPrefix(want, new)
	tail := commonPrefix(reverse(want[head:]), reverse(new[head:]))
	from, ok := across(w, h, head)
	for ; !ok && head > 0; from, ok = across(w, h, head) {
		head = runeBefore(want, head)
	}
	to, ok := across(w, h, len(want)-tail)
	for ; !ok && tail > 0; to, ok = across(w, h, len(want)-tail) {
		tail -= runeAt(want, len(want)-tail)
	}
	if tail == 0 {
		to = len(have)
	}
	return have[:from] + new[head:len(new)-tail] + have[to:]
}

// across turns a byte of one line into that of another with the same folded text; false when it
// would fall within one character there.
func across(from, to folded, at int) (int, bool) {
	for i, o := range from.offset {
		if int(o) == at {
			if i >= len(to.offset) {
				return 0, false
			}
			return int(to.offset[i]), i == 0 || i == len(to.offset)-1 || to.offset[i] != to.offset[i-1]
		}
	}
	return 0, false
}

func commonPrefix(a, b string) int {
	n := 0
	for i, r := range a {
		if i >= len(b) || !strings.HasPrefix(b[i:], string(r)) {
			break
		}
		n = i + len(string(r))
	}
	return n
}

func reverse(s string) string {
	r := []rune(s)
	for i, j := 0, len(r)-1; i < j; i, j = i+1, j-1 {
		r[i], r[j] = r[j], r[i]
	}
	return string(r)
}

func runeBefore(s string, at int) int {
	r := []rune(s[:at])
	return at - len(string(r[len(r)-1]))
}

func runeAt(s string, at int) int {
	for _, r := range s[at:] {
		return len(string(r))
	}
	return 0
}
