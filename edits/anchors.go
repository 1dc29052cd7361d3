package edits

import (
	"fmt"
	"strings"
)

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
	for _, end := range ends { // both grow
		for len(spots) > 0 && spots[0].first+n <= end {
			spots = spots[1:]
		}
		if len(spots) > 0 && (len(out) == 0 || out[len(out)-1].first != spots[0].first) {
			out = append(out, spots[0])
		}
	}
	return out
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
		for len(at) > 0 && at[0] <= end {
			at = at[1:]
		}
		if len(at) > 0 && (len(out) == 0 || out[len(out)-1] != at[0]) {
			out = append(out, at[0])
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
