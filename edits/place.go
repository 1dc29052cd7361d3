package edits

import (
	"cmp"
	"fmt"
	"slices"
)

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
	for _, f := range all[:min(len(all), maxPlaces)] {
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
