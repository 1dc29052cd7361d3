package edits

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// likeness compares two strings by the pairs of bytes that they share: 0 for nothing, 1 for equal.
func likeness(a, b string) float64 {
	c := &pairCounter{}
	c.set(a)
	return c.likeness(b)
}

// pairCounter compares one string with many.
type pairCounter struct {
	count [1 << 16]uint16
	n     int
	taken []uint16
}

func (c *pairCounter) set(s string) {
	c.n = max(0, len(s)-1)
	for i := 0; i < c.n; i++ {
		c.count[pair(s, i)]++
	}
}

func pair(s string, i int) uint16 { return uint16(s[i])<<8 | uint16(s[i+1]) }

func (c *pairCounter) likeness(s string) float64 {
	n := len(s) - 1
	// Lengths alone rule most lines out: this is below 0.4 whatever they hold.
	if n < 1 || c.n < 1 || 5*min(n, c.n) < n+c.n {
		return 0
	}
	c.taken = c.taken[:0]
	for i := 0; i < n; i++ {
		if p := pair(s, i); c.count[p] > 0 {
			c.count[p]--
			c.taken = append(c.taken, p)
		}
	}
	for _, p := range c.taken {
		c.count[p]++
	}
	return 2 * float64(len(c.taken)) / float64(c.n+n)
}

const (
	nearestPlaces = 3
	nearestLines  = 8   // shown of each place
	nearestWidth  = 160 // characters shown of a line
	nearestSearch = 50_000
)

// nearest shows the places of a file that look most like what was searched for, with line numbers
// and visible white space, and gives the first lines of them. The most telling line of the wanted
// text, its longest, is compared with every line of the file.
func nearest(lines []line, want []string) (shown string, at []int) {
	key, longest := -1, 2
	for i, w := range want {
		if n := len(strings.TrimSpace(w)); n > longest {
			key, longest = i, n
		}
	}
	if key < 0 {
		return "", nil
	}
	c := &pairCounter{}
	c.set(strings.TrimSpace(want[key]))
	type scored struct {
		line  int
		score float64
	}
	var best []scored
	for i := 0; i < len(lines) && i < nearestSearch; i++ {
		score := c.likeness(strings.TrimSpace(lines[i].text))
		if score < 0.4 || len(best) == nearestPlaces && score <= best[len(best)-1].score {
			continue
		}
		best = append(best, scored{i, score})
		slices.SortStableFunc(best, func(a, b scored) int {
			switch {
			case a.score > b.score:
				return -1
			case a.score < b.score:
				return 1
			}
			return 0
		})
		best = best[:min(len(best), nearestPlaces)]
	}
	var b strings.Builder
	end := 0
	slices.SortFunc(best, func(a, b scored) int { return a.line - b.line })
	for _, s := range best {
		from := max(end, s.line-key)
		to := min(len(lines), max(s.line-key+len(want), s.line+1), from+max(nearestLines, key+1))
		if from >= to {
			continue
		}
		if b.Len() > 0 {
			b.WriteString("…\n")
		}
		at = append(at, from+1)
		for ; from < to; from++ {
			fmt.Fprintf(&b, "%d| %s\n", from+1, visible(lines[from].text))
		}
		end = to
	}
	return b.String(), at
}

// visible shows white space that a model cannot see: leading and trailing spaces, tabs, carriage
// returns, unusual spaces and invisible characters.
func visible(s string) string {
	cut := ""
	if utf8.RuneCountInString(s) > nearestWidth {
		s = string([]rune(s)[:nearestWidth])
		cut = "…"
	}
	head := len(s) - len(strings.TrimLeft(s, " \t"))
	tail := len(strings.TrimRight(s, " \t"))
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == '\t':
			b.WriteString("→")
		case r == ' ' && (i < head || i >= tail):
			b.WriteString("·")
		case r == '\r':
			b.WriteString("␍")
		case r != ' ' && (unicode.IsSpace(r) || unicode.In(r, unicode.Cf, unicode.Cc)):
			fmt.Fprintf(&b, "<U+%04X>", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + cut
}
