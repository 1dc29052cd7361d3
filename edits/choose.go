package edits

import "fmt"

// choose takes one place for each hunk. Where a hunk has several, the order of the hunks decides if
// it leaves one way only; else the place is not known and nothing is guessed.
func (pl *placer) choose(spots [][]spot) ([]spot, *Refusal) {
	chosen := make([]spot, len(spots))
	several := -1
	for i, s := range spots {
		chosen[i] = s[0]
		if len(s) > 1 && several < 0 {
			several = i
		}
	}
	if several < 0 {
		return chosen, nil
	}
	if inOrder := onlyOrder(spots); inOrder != nil {
		for i, s := range spots {
			if len(s) > 1 {
				pl.notes = append(pl.notes, fmt.Sprintf("%s: hunk %d fits in %d places; the order of the hunks tells that line %d is meant",
					pl.name, pl.hunks[i].number, len(s), inOrder[i].first+1))
			}
		}
		return inOrder, nil
	}
	h := pl.hunks[several]
	var at []int
	for _, s := range spots[several][:min(len(spots[several]), maxPlaces)] {
		at = append(at, s.first+1)
	}
	return nil, &Refusal{Code: CodeAmbiguous, Hunk: h.number, Lines: at, Message: fmt.Sprintf(
		"Hunk %d for %s fits in %d places (line %s). Add context lines, or an anchor (@@ followed by a line above), until it is unique.",
		h.number, pl.name, len(spots[several]), numbers(at))}
}

// maxInOrder bounds how many places a hunk may have for its order to be looked at.
const maxInOrder = 500

// onlyOrder gives the choice in which the places grow from hunk to hunk, nil when there is none or
// more than one.
func onlyOrder(spots [][]spot) []spot {
	for _, s := range spots {
		if len(s) > maxInOrder {
			return nil
		}
	}
	ways := make([][]int, len(spots)) // ways[i][j]: how hunks i… can go on with spot j of hunk i; 2 is many
	for i := len(spots) - 1; i >= 0; i-- {
		ways[i] = make([]int, len(spots[i]))
		for j, s := range spots[i] {
			if i == len(spots)-1 {
				ways[i][j] = 1
				continue
			}
			for k, next := range spots[i+1] {
				if next.first > s.first {
					ways[i][j] = min(2, ways[i][j]+ways[i+1][k])
				}
			}
		}
	}
	total := 0
	for _, n := range ways[0] {
		total += n
	}
	if total != 1 {
		return nil
	}
	chosen := make([]spot, len(spots))
	at := -1
	for i := range spots {
		for j, s := range spots[i] {
			if ways[i][j] > 0 && s.first > at {
				chosen[i], at = s, s.first
				break
			}
		}
	}
	return chosen
}
