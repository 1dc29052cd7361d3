package edits

import (
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
