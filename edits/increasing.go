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
