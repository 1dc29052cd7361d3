package edits

import (
	"fmt"
	"strings"
)

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
