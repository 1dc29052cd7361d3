package edits

import (
	"slices"
	"sort"
)

// longestIncreasing keeps, of pairs of places, the longest run in which both places grow.
func longestIncreasing(pairs [][2]int) [][2]int {
	slices.SortFunc(pairs, func(x, y [2]int) int { return x[0] - y[0] })
	var tails []int // tails[n] is the pair that ends the best run of n+1 pairs
	before := make([]int, len(pairs))
	for i, p := range pairs {
		n := sort.Search(len(tails), func(n int) bool { return pairs[tails[n]][1] >= p[1] })
		before[i] = -1
		if n > 0 {
			before[i] = tails[n-1]
		}
		if n == len(tails) {
			tails = append(tails, i)
		} else {
			tails[n] = i
		}
	}
	run := make([][2]int, len(tails))
	for i, n := len(tails)-1, -1; i >= 0; i-- {
		if n < 0 {
			n = tails[i]
		}
		run[i] = pairs[n]
		n = before[n]
	}
	return run
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
