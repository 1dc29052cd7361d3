package lsp

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/aymanbagabas/go-udiff/lcs"
)

// diag is one diagnostic as a server gave it: 0-based lines, columns in the server's unit.
type diag struct {
	startLine, startChar int
	endLine, endChar     int
	severity             Severity
	code, source         string
	message              string
	unnecessary          bool // tagged as unused code: a hint, never an error
}

// lineMap carries line numbers from one text to another.
type lineMap struct {
	to   []int // line of the old text -> line of the new text, -1 where it is gone
	hunk []int // line of the old text -> number of the changed block it lies in, -1 for none
	in   []int // line of the new text -> number of the changed block
	old  *lines
	new  *lines
}

// mapLines compares two texts line by line.
func mapLines(old, now *lines) *lineMap {
	m := &lineMap{old: old, new: now, to: make([]int, old.count()), hunk: make([]int, old.count()), in: make([]int, now.count())}
	for i := range m.in {
		m.in[i] = -1
	}
	diffs := lcs.DiffLines(old.all(), now.all())
	i, j := 0, 0
	keep := func(until int) {
		for ; i < until; i, j = i+1, j+1 {
			m.to[i], m.hunk[i] = j, -1
		}
	}
	for n, d := range diffs {
		keep(d.Start)
		for ; i < d.End; i++ {
			m.to[i], m.hunk[i] = -1, n
		}
		for j = d.ReplStart; j < d.ReplEnd; j++ {
			m.in[j] = n
		}
	}
	keep(old.count())
	return m
}

// identity tells diagnostics apart: what is said, by whom, and where.
type identity struct {
	severity           Severity
	code, source, text string
	line, char         int
}

// at leaves the end of the range out: a complaint about a whole function is the same one when a line
// was added inside the function.
func (d diag) at(line int) identity {
	return identity{d.severity, d.code, d.source, d.message, line, d.startChar}
}

// loose tells diagnostics of a rewritten line apart: the same complaint about the same piece of code
// is the same, though columns moved.
type loose struct {
	severity           Severity
	code, source, text string
	place              string
}

var digits = regexp.MustCompile(`[0-9]+`)

func (d diag) loosely(place string) loose {
	return loose{d.severity, d.code, d.source, digits.ReplaceAllString(d.message, "#"), place}
}

// difference compares two verdicts on a file: fresh[i] is true for the diagnostics of now that were
// not there before, and mended counts the errors of before that are gone. It is a difference of
// multisets: two equal errors before do not excuse three now (case G-L03, requirement L7).
func difference(before, now []diag, m *lineMap) (fresh []bool, mended int) {
	fresh = make([]bool, len(now))
	for i := range fresh {
		fresh[i] = true
	}
	used := make([]bool, len(before))
	pair(before, now, used, fresh, func(d diag, old bool) (identity, bool) {
		line := d.startLine
		if old {
			line = m.shift(line)
		}
		return d.at(line), line >= 0
	})
	// Within one changed block, then for a line that was moved as a whole.
	pair(before, now, used, fresh, func(d diag, old bool) (loose, bool) {
		h := m.block(d.startLine, old)
		return d.loosely(strconv.Itoa(h)), h >= 0
	})
	pair(before, now, used, fresh, func(d diag, old bool) (loose, bool) {
		text := m.new
		if old {
			text = m.old
		}
		line := strings.TrimSpace(text.line(d.startLine))
		return d.loosely(line), line != "" && m.block(d.startLine, old) >= 0
	})
	for i, d := range before {
		if !used[i] && d.severity == SevError {
			mended++
		}
	}
	return fresh, mended
}

// pair marks diagnostics of before and now that have the same key, one for one.
func pair[K comparable](before, now []diag, used, fresh []bool, key func(d diag, old bool) (K, bool)) {
	left := map[K][]int{}
	for i, d := range before {
		if k, ok := key(d, true); ok && !used[i] {
			left[k] = append(left[k], i)
		}
	}
	if len(left) == 0 {
		return
	}
	for i, d := range now {
		if !fresh[i] {
			continue
		}
		k, ok := key(d, false)
		if !ok || len(left[k]) == 0 {
			continue
		}
		used[left[k][0]], fresh[i] = true, false
		left[k] = left[k][1:]
	}
}

// shift is the line's number in the new text, -1 when it was changed or is out of range.
func (m *lineMap) shift(line int) int {
	if line < 0 || line >= len(m.to) {
		return -1
	}
	return m.to[line]
}

// block is the number of the changed block that a line lies in, -1 for none.
func (m *lineMap) block(line int, old bool) int {
	list := m.in
	if old {
		list = m.hunk
	}
	if line < 0 || line >= len(list) {
		return -1
	}
	return list[line]
}
