package edits

import (
	"fmt"
	"slices"
	"strings"
)

// matches lists where old's lines stand in the file under a tolerance. With eof, only the place that
// ends with the file counts.
func matches(lines []textLine, old []string, tol tolerance, eof bool) []place {
	var list []place
	want := make([]string, len(old))
	for i, l := range old {
		want[i] = fold(l, tol)
	}
	first, last := 0, len(lines)-len(old)
	if eof {
		first = max(last, 0)
	}
	for at := first; at <= last; at++ {
		if p, ok := matchAt(lines[at:at+len(old)], want, tol); ok {
			p.at = at
			list = append(list, p)
		}
	}
	return list
}

// fold is a line in the form that is compared under a tolerance.
func fold(line string, tol tolerance) string {
	switch tol {
	case exact:
		return strings.TrimSuffix(line, "\r")
	case punctuation:
		line = strings.Map(straight, line)
	}
	return strings.TrimRight(line, " \t\r")
}

func matchAt(lines []textLine, want []string, tol tolerance) (place, bool) {
	if tol == uniformIndent {
		return matchIndent(lines, want)
	}
	for i, l := range lines {
		if fold(l.text, tol) != want[i] {
			return place{}, false
		}
	}
	return place{}, true
}

// matchIndent wants every line that is not blank to differ by the same added, or the same missing,
// indentation.
func matchIndent(lines []textLine, want []string) (place, bool) {
	var p place
	set := false
	for i, l := range lines {
		have := fold(l.text, uniformIndent)
		if strings.TrimSpace(have) == "" && strings.TrimSpace(want[i]) == "" {
			continue
		}
		indent, cut := strings.CutSuffix(have, want[i])
		if !cut {
			if indent, cut = strings.CutSuffix(want[i], have); !cut {
				return p, false
			}
			cut = true
		} else {
			cut = false
		}
		if strings.Trim(indent, " \t") != "" {
			return p, false
		}
		if !set {
			p.indent, p.cut, set = indent, cut, true
			continue
		}
		if p.indent != indent || p.cut != cut {
			return p, false
		}
	}
	return p, set && p.indent != ""
}

// nearestShown bounds what a refusal shows of the file.
const nearestShown = 3

// nearest shows the places of the file that come closest to lines that were not found, with line
// numbers and visible white space, so that the next attempt can copy them.
func nearest(lines []textLine, old []string) string {
	if len(lines) == 0 {
		return "the file is empty"
	}
	type candidate struct{ at, score int }
	grams := make([]map[string]bool, len(old))
	for i, l := range old {
		grams[i] = bigrams(l)
	}
	var list []candidate
	step := 1 + len(lines)*len(old)/2_000_000 // stay quick in huge files
	for at := 0; at < len(lines); at += step {
		score := 0
		for i := range old {
			if at+i < len(lines) {
				score += likeness(grams[i], lines[at+i].text)
			}
		}
		if score > 0 {
			list = append(list, candidate{at, score})
		}
	}
	slices.SortStableFunc(list, func(a, b candidate) int { return b.score - a.score })
	var out strings.Builder
	var shown []int
	for _, c := range list {
		if len(shown) == nearestShown || c.score*2 < list[0].score {
			break
		}
		if slices.ContainsFunc(shown, func(at int) bool { return max(at-c.at, c.at-at) < len(old) }) {
			continue
		}
		shown = append(shown, c.at)
		for i := c.at; i < min(c.at+max(len(old), 1), len(lines), c.at+12); i++ {
			fmt.Fprintf(&out, "%d: %s\n", i+1, showSpace(clip(lines[i].text)))
		}
	}
	return strings.TrimRight(out.String(), "\n")
}

// bigrams are the pairs of neighbouring letters of a line without its white space.
func bigrams(line string) map[string]bool {
	r := []rune(strings.Join(strings.Fields(line), " "))
	if len(r) > 200 {
		r = r[:200]
	}
	set := make(map[string]bool, len(r))
	for i := 0; i+1 < len(r); i++ {
		set[string(r[i:i+2])] = true
	}
	return set
}

// likeness is how much of a line's bigrams another line has, 0 to 100; below 30 it counts as none.
func likeness(grams map[string]bool, line string) int {
	if len(grams) == 0 {
		return 0
	}
	other := bigrams(line)
	both := 0
	for g := range grams {
		if other[g] {
			both++
		}
	}
	if n := 200 * both / (len(grams) + len(other)); n >= 30 {
		return n
	}
	return 0
}
