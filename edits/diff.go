package edits

import (
	"fmt"
	"strings"
	"sync"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// span is one changed place: old lines [oldFrom, oldTo) become new lines [newFrom, newTo).
type span struct{ oldFrom, oldTo, newFrom, newTo int }

// lineDiff is the difference of two texts by lines.
type lineDiff struct {
	old, new []string // with their line breaks
	spans    []span   // in order, never touching
}

// diffCache keeps the difference of one change: title, location, diff block and hunks all ask for it.
type diffCache struct {
	once sync.Once
	diff lineDiff
}

// diff is c's difference. Changes made by a constructor of this package compute it once.
func (c Change) diff() *lineDiff {
	if c.cache == nil {
		d := diffTexts(c.OldText, c.NewText)
		return &d
	}
	c.cache.once.Do(func() { c.cache.diff = diffTexts(c.OldText, c.NewText) })
	return &c.cache.diff
}

func diffTexts(old, new string) lineDiff {
	d := lineDiff{old: rawLines(old), new: rawLines(new)}
	if old != new {
		d.spans = diffLines(d.old, d.new)
	}
	return d
}

// diffLines compares what is left after equal lines at both ends are taken off. The library stops
// looking for a minimal answer after some hundred differences; then lines that occur once on both
// sides cut the problem into small ones.
func diffLines(a, b []string) []span {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < len(a)-head && tail < len(b)-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	a, b = a[head:len(a)-tail], b[head:len(b)-tail]
	spans := middle(a, b)
	for i := range spans {
		spans[i] = spans[i].shift(head, head)
	}
	return spans
}

func (s span) shift(old, new int) span {
	return span{s.oldFrom + old, s.oldTo + old, s.newFrom + new, s.newTo + new}
}

func middle(a, b []string) []span {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a) == 0 || len(b) == 0 {
		return []span{{0, len(a), 0, len(b)}}
	}
	spans := shortest(a, b)
	if size(spans) <= 2*lowerBound(a, b)+20 {
		return spans
	}
	if cut := cutAtUnique(a, b); len(cut) > 0 && size(cut) < size(spans) {
		return cut
	}
	return spans
}

func shortest(a, b []string) []span {
	var spans []span
	for _, d := range lcs.DiffLines(a, b) {
		s := span{d.Start, d.End, d.ReplStart, d.ReplEnd}
		if n := len(spans); n > 0 && spans[n-1].oldTo == s.oldFrom && spans[n-1].newTo == s.newFrom {
			spans[n-1].oldTo, spans[n-1].newTo = s.oldTo, s.newTo
			continue
		}
		spans = append(spans, s)
	}
	return spans
}

func size(spans []span) (n int) {
	for _, s := range spans {
		n += s.oldTo - s.oldFrom + s.newTo - s.newFrom
	}
	return n
}

// lowerBound is how many lines must change at least, whatever their order.
func lowerBound(a, b []string) int {
	count := make(map[string]int, len(a))
	for _, s := range a {
		count[s]++
	}
	n := 0
	for _, s := range b {
		if count[s] > 0 {
			count[s]--
		} else {
			n++
		}
	}
	return n + len(a) - (len(b) - n)
}

// cutAtUnique is patience diff: between the lines that both sides have exactly once, in the longest
// order common to both, the pieces are compared one by one.
func cutAtUnique(a, b []string) []span {
	pairs := uniquePairs(a, b)
	if len(pairs) == 0 {
		return nil
	}
	var spans []span
	fromA, fromB := 0, 0
	piece := func(toA, toB int) {
		for _, s := range diffPiece(a[fromA:toA], b[fromB:toB]) {
			s = s.shift(fromA, fromB)
			if n := len(spans); n > 0 && spans[n-1].oldTo == s.oldFrom && spans[n-1].newTo == s.newFrom {
				spans[n-1].oldTo, spans[n-1].newTo = s.oldTo, s.newTo
			} else {
				spans = append(spans, s)
			}
		}
	}
	for _, p := range pairs {
		piece(p[0], p[1])
		fromA, fromB = p[0]+1, p[1]+1
	}
	piece(len(a), len(b))
	return spans
}

// diffPiece is diffLines for a piece without unique lines in common.
func diffPiece(a, b []string) []span {
	head := 0
	for head < len(a) && head < len(b) && a[head] == b[head] {
		head++
	}
	a, b = a[head:], b[head:]
	var spans []span
	switch {
	case len(a) == 0 && len(b) == 0:
		return nil
	case len(a) == 0 || len(b) == 0:
		spans = []span{{0, len(a), 0, len(b)}}
	default:
		spans = shortest(a, b)
	}
	for i := range spans {
		spans[i] = spans[i].shift(head, head)
	}
	return spans
}

// uniquePairs are the places of lines that occur once in each, as the longest increasing sequence.
func uniquePairs(a, b []string) [][2]int {
	const many = -1
	index := func(lines []string) map[string]int {
		m := make(map[string]int, len(lines))
		for i, s := range lines {
			if _, ok := m[s]; ok {
				m[s] = many
			} else {
				m[s] = i
			}
		}
		return m
	}
	inB := index(b)
	var pairs [][2]int
	for s, i := range index(a) {
		if j, ok := inB[s]; ok && i != many && j != many {
			pairs = append(pairs, [2]int{i, j})
		}
	}
	return longestIncreasing(pairs)
}

// Counts are the added and removed lines of the whole proposal, as a unified diff counts them.
func (p *Proposal) Counts() (added, removed int) {
	for _, c := range p.Changes {
		for _, s := range c.diff().spans {
			added += s.newTo - s.newFrom
			removed += s.oldTo - s.oldFrom
		}
	}
	return added, removed
}

// FirstChangedLine is the 1-based line of c's first difference in the new text (1 for new files).
func (c Change) FirstChangedLine() int {
	d := c.diff()
	if len(d.spans) == 0 || len(d.new) == 0 {
		return 1
	}
	return min(d.spans[0].newFrom+1, len(d.new))
}

// Hunk is a piece of a file's change with context, for diffs of files that are too large to show.
type Hunk struct {
	OldLine, NewLine int // 1-based first lines
	Old, New         string
}

// group is one hunk: changed places and the lines around them.
type group struct {
	span
	spans []span
}

// groups puts changes that are at most 2n lines apart into one hunk with n lines of context.
func (d *lineDiff) groups(n int) []group {
	var out []group
	for _, s := range d.spans {
		before := min(n, s.oldFrom)
		after := min(n, len(d.old)-s.oldTo)
		wide := span{s.oldFrom - before, s.oldTo + after, s.newFrom - before, s.newTo + after}
		if last := len(out) - 1; last >= 0 && wide.oldFrom <= out[last].oldTo {
			out[last].oldTo, out[last].newTo = wide.oldTo, wide.newTo
			out[last].spans = append(out[last].spans, s)
			continue
		}
		out = append(out, group{wide, []span{s}})
	}
	return out
}

// Hunks are c's changed places with n lines of context, in order.
func (c Change) Hunks(n int) []Hunk {
	d := c.diff()
	var out []Hunk
	for _, g := range d.groups(n) {
		out = append(out, Hunk{
			OldLine: g.oldFrom + 1, NewLine: g.newFrom + 1,
			Old: strings.Join(d.old[g.oldFrom:g.oldTo], ""), New: strings.Join(d.new[g.newFrom:g.newTo], ""),
		})
	}
	return out
}

// Unified is c as a unified diff with three lines of context and the given names. It is empty when
// the text does not change, as in a plain move.
func (c Change) Unified(oldName, newName string) string {
	return c.diff().unified(oldName, newName, 3)
}

func (d *lineDiff) unified(oldName, newName string, context int) string {
	if len(d.spans) == 0 {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "--- %s\n+++ %s\n", oldName, newName)
	for _, g := range d.groups(context) {
		fmt.Fprintf(&b, "@@ -%s +%s @@\n", extent(g.oldFrom, g.oldTo), extent(g.newFrom, g.newTo))
		at := g.oldFrom
		for _, s := range g.spans {
			d.put(&b, ' ', d.old, at, s.oldFrom)
			d.put(&b, '-', d.old, s.oldFrom, s.oldTo)
			d.put(&b, '+', d.new, s.newFrom, s.newTo)
			at = s.oldTo
		}
		d.put(&b, ' ', d.old, at, g.oldTo)
	}
	return b.String()
}

// extent is a range of lines as diff writes it: an empty one names the line before.
func extent(from, to int) string {
	switch to - from {
	case 0:
		return fmt.Sprintf("%d,0", from)
	case 1:
		return fmt.Sprint(from + 1)
	}
	return fmt.Sprintf("%d,%d", from+1, to-from)
}

func (d *lineDiff) put(b *strings.Builder, sign byte, lines []string, from, to int) {
	for i := from; i < to; i++ {
		b.WriteByte(sign)
		b.WriteString(lines[i])
		switch {
		case strings.HasSuffix(lines[i], "\n"):
		case i < len(lines)-1:
			b.WriteByte('\n')
		default:
			b.WriteString("\n\\ No newline at end of file\n")
		}
	}
}
