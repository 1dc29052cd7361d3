package edits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// lineEdit replaces file lines [from, to) by new ones.
type lineEdit struct {
	from, to int
	new      []string
	hunk     int
}

// placer finds where the hunks of one update go. All hunks are looked for in the text before the
// update, so their order does not matter unless it is needed to tell equal places apart.
type placer struct {
	name  string // of the file, for messages
	lines []line
	hunks []hunk
	notes []string
}

// spot is one place where a hunk could go.
type spot struct {
	found
	t tolerance
}

// place gives the line edits of all hunks, in order of place.
func (pl *placer) place() ([]lineEdit, *Refusal) {
	spots := make([][]spot, len(pl.hunks))
	for i, h := range pl.hunks {
		var refusal *Refusal
		if spots[i], refusal = pl.spots(h); refusal != nil {
			return nil, refusal
		}
	}
	chosen, refusal := pl.choose(spots)
	if refusal != nil {
		return nil, refusal
	}
	var edits []lineEdit
	for i, h := range pl.hunks {
		made, ok := pl.edits(h, chosen[i])
		if !ok {
			return nil, pl.noMatch(h)
		}
		edits = append(edits, made...)
		if chosen[i].t != (tolerance{}) {
			pl.notes = append(pl.notes, fmt.Sprintf("%s: hunk %d matched at line %d after ignoring %s", pl.name, h.number, chosen[i].first+1, chosen[i].t))
		}
	}
	slices.SortStableFunc(edits, func(a, b lineEdit) int {
		return cmp.Or(a.from-b.from, a.to-b.to)
	})
	for i := 1; i < len(edits); i++ {
		a, b := edits[i-1], edits[i]
		if b.from < a.to || b.from == a.from && b.to == a.to && b.hunk != a.hunk {
			return nil, &Refusal{Code: CodeInvalidPatch, Hunk: b.hunk, Lines: []int{b.from + 1}, Message: fmt.Sprintf(
				"Hunks %d and %d of the patch both change %s at line %d. Make them one hunk.", a.hunk, b.hunk, pl.name, b.from+1)}
		}
	}
	return edits, nil
}

// spots are all places of one hunk, by the first tolerance that finds any.
func (pl *placer) spots(h hunk) ([]spot, *Refusal) {
	ends, refusal := pl.anchors(h)
	if refusal != nil {
		return nil, refusal
	}
	old := h.old()
	if len(old) == 0 {
		return pl.insertions(h, ends)
	}
	for _, t := range tolerances {
		all := search{lines: pl.lines, want: old, whole: true}.run(t)
		if len(all) == 0 {
			continue
		}
		spots := make([]spot, len(all))
		for i, f := range all {
			spots[i] = spot{f, t}
		}
		spots = pl.atEnd(h, spots)
		if len(h.anchors) > 0 {
			if spots = below(spots, ends, len(old)); len(spots) == 0 {
				return nil, &Refusal{Code: CodeNoMatch, Hunk: h.number, Lines: placesOf(all), Message: fmt.Sprintf(
					"Hunk %d for %s does not apply: its lines are at line %s, which is not below its anchor %s. Correct the anchor or leave it out.",
					h.number, pl.name, numbers(placesOf(all)), quote(h.anchors[len(h.anchors)-1]))}
			}
		}
		return hinted(h, spots), nil
	}
	return nil, pl.noMatch(h)
}

func placesOf(all []found) []int {
	var at []int
	for _, f := range all {
		at = append(at, f.first+1)
	}
	return at
}

// atEnd keeps, for a hunk marked "*** End of File", the place at the end where there is one.
func (pl *placer) atEnd(h hunk, spots []spot) []spot {
	if !h.eof {
		return spots
	}
	if last := spots[len(spots)-1]; last.first+len(h.old()) == len(pl.lines) {
		return []spot{last}
	}
	return spots
}

// hinted lets the line number of a unified diff's header choose among several places, never make
// one up.
func hinted(h hunk, spots []spot) []spot {
	for _, s := range spots {
		if s.first+1 == h.hint {
			return []spot{s}
		}
	}
	return spots
}

// below keeps, for each place where the anchors end, the first place that is not above it. The
// anchor line itself may be repeated in the hunk.
func below(spots []spot, ends []int, n int) []spot {
	var out []spot
	for _, end := range ends {
		for _, s := range spots {
			if s.first+n > end {
				if len(out) == 0 || out[len(out)-1].first != s.first {
					out = append(out, s)
				}
				break
			}
		}
	}
	return out
}

// insertions are the places of a hunk that only adds lines: right below its anchor, or at the end
// of the file where it says so.
func (pl *placer) insertions(h hunk, ends []int) ([]spot, *Refusal) {
	if len(h.anchors) > 0 {
		var out []spot
		for _, end := range ends {
			out = append(out, spot{found: found{first: end + 1}})
		}
		return out, nil
	}
	if h.eof || len(pl.lines) == 0 {
		return []spot{{found: found{first: len(pl.lines)}}}, nil
	}
	return nil, &Refusal{Code: CodeInvalidPatch, Hunk: h.number, Message: fmt.Sprintf(
		"Hunk %d for %s only adds lines and does not say where. Add context lines around them, an anchor (@@ followed by the line above), or *** End of File.",
		h.number, pl.name)}
}

// anchors are the lines where the hunk's anchors can end: each anchor is looked for below the one
// before it.
func (pl *placer) anchors(h hunk) ([]int, *Refusal) {
	var ends []int
	for i, a := range h.anchors {
		at := pl.anchor(a)
		if i > 0 {
			at = nextBelow(ends, at)
		}
		if len(at) == 0 {
			shown, near := nearest(pl.lines, []string{a})
			msg := fmt.Sprintf("Hunk %d for %s does not apply: its anchor %s is not in the file", h.number, pl.name, quote(a))
			if i > 0 {
				msg += " below the anchor before it"
			}
			if shown != "" {
				msg += fmt.Sprintf("; the nearest text is at line %s", numbers(near))
			}
			return nil, &Refusal{Code: CodeNoMatch, Hunk: h.number, Nearest: shown, Message: msg + ". Copy a whole line of the file as the anchor."}
		}
		ends = at
	}
	return ends, nil
}

func nextBelow(ends, at []int) []int {
	var out []int
	for _, end := range ends {
		for _, i := range at {
			if i > end {
				if len(out) == 0 || out[len(out)-1] != i {
					out = append(out, i)
				}
				break
			}
		}
	}
	return out
}

// anchor finds the lines that an anchor can mean: the whole line, the line without outer spaces,
// the beginning of a line, or a part of one. The first kind that finds anything counts.
func (pl *placer) anchor(a string) []int {
	trimmed := strings.TrimSpace(a)
	folded := foldPunctuation(trimmed).text
	kinds := []func(l string) bool{
		func(l string) bool { return l == a },
		func(l string) bool { return strings.TrimSpace(l) == trimmed },
		func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), trimmed) },
		func(l string) bool { return strings.Contains(l, trimmed) },
		func(l string) bool { return strings.Contains(foldPunctuation(l).text, folded) },
	}
	for _, is := range kinds {
		var at []int
		for i, l := range pl.lines {
			if is(l.text) {
				at = append(at, i)
			}
		}
		if len(at) > 0 {
			return at
		}
	}
	return nil
}

// choose takes one place for each hunk. Where a hunk has several, the order of the hunks decides if
// it leaves one way only; else the place is not known and nothing is guessed.
func (pl *placer) choose(spots [][]spot) ([]spot, *Refusal) {
	chosen := make([]spot, len(spots))
	several := -1
	for i, s := range spots {
		chosen[i] = s[0]
		if len(s) > 1 && several < 0 {
			several = i
		}
	}
	if several < 0 {
		return chosen, nil
	}
	if inOrder := onlyOrder(spots); inOrder != nil {
		for i, s := range spots {
			if len(s) > 1 {
				pl.notes = append(pl.notes, fmt.Sprintf("%s: hunk %d fits in %d places; the order of the hunks tells that line %d is meant",
					pl.name, pl.hunks[i].number, len(s), inOrder[i].first+1))
			}
		}
		return inOrder, nil
	}
	h := pl.hunks[several]
	var at []int
	for _, s := range spots[several] {
		at = append(at, s.first+1)
	}
	return nil, &Refusal{Code: CodeAmbiguous, Hunk: h.number, Lines: at, Message: fmt.Sprintf(
		"Hunk %d for %s fits in %d places (line %s). Add context lines, or an anchor (@@ followed by a line above), until it is unique.",
		h.number, pl.name, len(at), numbers(at))}
}

// onlyOrder gives the choice in which the places grow from hunk to hunk, nil when there is none or
// more than one.
func onlyOrder(spots [][]spot) []spot {
	ways := make([][]int, len(spots)) // ways[i][j]: how hunks i… can go on with spot j of hunk i; 2 is many
	for i := len(spots) - 1; i >= 0; i-- {
		ways[i] = make([]int, len(spots[i]))
		for j, s := range spots[i] {
			if i == len(spots)-1 {
				ways[i][j] = 1
				continue
			}
			for k, next := range spots[i+1] {
				if next.first > s.first {
					ways[i][j] = min(2, ways[i][j]+ways[i+1][k])
				}
			}
		}
	}
	total := 0
	for _, n := range ways[0] {
		total += n
	}
	if total != 1 {
		return nil
	}
	chosen := make([]spot, len(spots))
	at := -1
	for i := range spots {
		for j, s := range spots[i] {
			if ways[i][j] > 0 && s.first > at {
				chosen[i], at = s, s.first
				break
			}
		}
	}
	return chosen
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

func (pl *placer) noMatch(h hunk) *Refusal {
	shown, at := nearest(pl.lines, h.old())
	msg := fmt.Sprintf("Hunk %d for %s (line %d of the patch) does not apply: its context and removed lines are not in the file.", h.number, pl.name, h.at)
	if pl.alreadyIn(h) {
		msg += " Its new lines are there already; leave the hunk out if it was applied before."
	}
	if shown != "" {
		msg += fmt.Sprintf(" The nearest text is at line %s (see nearest; · is a space, → a tab). Copy the lines from the file exactly.", numbers(at))
	} else {
		msg += " Nothing in the file looks like them. Read the file again."
	}
	return &Refusal{Code: CodeNoMatch, Hunk: h.number, Message: msg, Nearest: shown}
}

// alreadyIn says that a hunk was applied before: its new lines stand in the file at one place, and
// nothing of what it removes does.
func (pl *placer) alreadyIn(h hunk) bool {
	want, old := h.new(), h.old()
	if blank(want) || !h.changes() {
		return false
	}
	places := search{lines: pl.lines, want: want, whole: true}.run(tolerance{})
	if len(places) != 1 {
		return false
	}
	if len(old) == 0 {
		ends, refusal := pl.anchors(h)
		return refusal == nil && slices.Contains(ends, places[0].first-1)
	}
	if h.onlyAdds() {
		return true
	}
	return len(search{lines: pl.lines, want: old, whole: true}.run(tolerance{})) == 0
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
