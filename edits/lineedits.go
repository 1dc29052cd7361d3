package edits

// lineEdit replaces file lines [from, to) by new ones.
type lineEdit struct {
	from, to int
	new      []string
	hunk     int
}

// edits turns a placed hunk into line edits: context stays as the file has it.
func (pl *placer) edits(h hunk, s spot) ([]lineEdit, bool) {
	var out []lineEdit
	w := weaver{t: s.t, indent: s.indent}
	at := s.first
	for i := 0; i < len(h.lines); {
		if h.lines[i].sign == ' ' {
			at++
			i++
			continue
		}
		e := lineEdit{from: at, hunk: h.number}
		var removed, added []string
		for ; i < len(h.lines) && h.lines[i].sign != ' '; i++ {
			if h.lines[i].sign == '-' {
				removed = append(removed, h.lines[i].text)
				at++
			} else {
				added = append(added, h.lines[i].text)
			}
		}
		e.to = at
		for j, text := range added {
			ok := true
			if len(added) == len(removed) {
				text, ok = w.merge(pl.lines[e.from+j].text, removed[j], text)
			} else {
				text, ok = w.adapt(text)
			}
			if !ok {
				return nil, false
			}
			e.new = append(e.new, text)
		}
		out = append(out, e)
	}
	return out, true
}

// applyLines makes the edits, which are in order. New lines take the line break of the line that
// they replace or follow; a file without a final line break keeps none.
func applyLines(lines []line, edits []lineEdit) []line {
	out := make([]line, 0, len(lines)+8)
	closed := len(lines) == 0 || lines[len(lines)-1].eol != ""
	at := 0
	for _, e := range edits {
		out = append(out, lines[at:e.from]...)
		for i, text := range e.new {
			out = append(out, line{text, breakFor(lines, e, i)})
		}
		at = e.to
	}
	out = append(out, lines[at:]...)
	for i := range out {
		if last := i == len(out)-1; !last && out[i].eol == "" {
			out[i].eol = breakFor(lines, lineEdit{from: len(lines), to: len(lines)}, 0)
		} else if last && !closed {
			out[i].eol = ""
		}
	}
	return out
}

// breakFor is the line break of the i-th new line of an edit.
func breakFor(lines []line, e lineEdit, i int) string {
	try := []int{e.from + i, e.from - 1, e.from}
	if e.from+i >= e.to {
		try = []int{e.to - 1, e.from - 1, e.from}
	}
	for _, n := range try {
		if n >= 0 && n < len(lines) && lines[n].eol != "" {
			return lines[n].eol
		}
	}
	if len(lines) > 1 {
		return lines[0].eol
	}
	return "\n"
}
