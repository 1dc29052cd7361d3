package provenance

import "strings"

// lineEnds turns all line endings into one.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// splitLines cuts text into lines without their endings, so that a changed line ending, a BOM or a
// missing final newline does not make a line new.
func splitLines(text string) []string {
	text = lineEnds.Replace(strings.TrimPrefix(text, "\ufeff"))
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// maxEdits bounds the work of one comparison between two anchors; beyond it the stretch counts as
// rewritten.
const maxEdits = 1000

// matches gives for each line of b the index of the same line in a, or -1 when the line is new. The
// matched lines keep their order.
func matches(a, b []string) []int {
	m := make([]int, len(b))
	for i := range m {
		m[i] = -1
	}
	match(a, b, 0, 0, m)
	return m
}

// match fills m for b, whose first line is number atB of the whole, against a, which begins at atA.
func match(a, b []string, atA, atB int, m []int) {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		m[atB] = atA
		a, b, atA, atB = a[1:], b[1:], atA+1, atB+1
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		m[atB+len(b)-1] = atA + len(a) - 1
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if len(a) == 0 || len(b) == 0 {
		return
	}
	pairs := anchors(a, b)
	if len(pairs) == 0 {
		myers(a, b, atA, atB, m)
		return
	}
	i, j := 0, 0
	for _, p := range pairs {
		match(a[i:p.a], b[j:p.b], atA+i, atB+j, m)
		m[atB+p.b] = atA + p.a
		i, j = p.a+1, p.b+1
	}
	match(a[i:], b[j:], atA+i, atB+j, m)
}

type pair struct{ a, b int }

// anchors are the lines that stand exactly once on both sides, the longest run of them that is in
// order on both (patience diff): what people see as the same line even in a much rewritten file.
func anchors(a, b []string) []pair {
	type count struct{ inA, inB, at int }
	seen := make(map[string]*count, len(a))
	for i, line := range a {
		if c := seen[line]; c != nil {
			c.inA++
		} else {
			seen[line] = &count{inA: 1, at: i}
		}
	}
	for _, line := range b {
		if c := seen[line]; c != nil {
			c.inB++
		}
	}
	// The longest increasing subsequence by patience sorting: piles end in the smallest a so far.
	type card struct {
		pair
		below *card
	}
	var piles []*card
	for j, line := range b {
		c := seen[line]
		if c == nil || c.inA != 1 || c.inB != 1 {
			continue
		}
		lo, hi := 0, len(piles)
		for lo < hi {
			if mid := (lo + hi) / 2; piles[mid].a < c.at {
				lo = mid + 1
			} else {
				hi = mid
			}
		}
		next := &card{pair: pair{c.at, j}}
		if lo > 0 {
			next.below = piles[lo-1]
		}
		if lo == len(piles) {
			piles = append(piles, next)
		} else {
			piles[lo] = next
		}
	}
	if len(piles) == 0 {
		return nil
	}
	run := make([]pair, len(piles))
	for c, i := piles[len(piles)-1], len(piles)-1; c != nil; c, i = c.below, i-1 {
		run[i] = c.pair
	}
	return run
}

// myers is the greedy shortest-edit-script search on a stretch without anchors.
func myers(a, b []string, atA, atB int, m []int) {
	limit := min(len(a)+len(b), maxEdits)
	v := make([]int, 2*limit+2) // v[limit+k]: the furthest x on diagonal k
	var trace [][]int
	for d := 0; d <= limit; d++ {
		trace = append(trace, append([]int(nil), v[limit-d:limit+d+1]...))
		for k := -d; k <= d; k += 2 {
			x := 0
			switch {
			case d == 0:
			case k == -d || k != d && v[limit+k-1] < v[limit+k+1]:
				x = v[limit+k+1]
			default:
				x = v[limit+k-1] + 1
			}
			y := x - k
			for x < len(a) && y < len(b) && a[x] == b[y] {
				x, y = x+1, y+1
			}
			v[limit+k] = x
			if x >= len(a) && y >= len(b) {
				walkBack(trace, k, len(a), len(b), atA, atB, m)
				return
			}
		}
	}
}

// walkBack retraces the path that the search found and notes its diagonal steps. trace[d] holds the
// diagonals -d..d as they stood before round d.
func walkBack(trace [][]int, k, x, y, atA, atB int, m []int) {
	for d := len(trace) - 1; d >= 0; d-- {
		prevX, prevK := 0, 0
		if d > 0 {
			before := trace[d] // before[i] is diagonal i-d
			if k == -d || k != d && before[k-1+d] < before[k+1+d] {
				prevK, prevX = k+1, before[k+1+d]
			} else {
				prevK, prevX = k-1, before[k-1+d]
			}
		}
		prevY := prevX - prevK
		for x > prevX && y > prevY {
			x, y = x-1, y-1
			m[atB+y] = atA + x
		}
		x, y, k = prevX, prevY, prevK
	}
}
