package procgroup

import "testing"

func TestParseStat(t *testing.T) {
	for stat, want := range map[string]process{
		"7 (sleep) S 1 2 3 0 -1":       {7, 1, 2, 3},
		"7 (a) b) (c d) R 1 2 3 0\n":   {7, 1, 2, 3},
		"7 (two\nlines) Z 5) S 1 2 3 ": {7, 1, 2, 3},
		"7 (dead) Z 1 2 3 0":           {},
		"7 (cut off) S 1 2":            {},
		"7 (no numbers) S a b c":       {},
		"":                             {},
	} {
		got, ok := parseStat(7, []byte(stat))
		if got != want || ok != (want.pid != 0) {
			t.Errorf("%q gives %+v %v, want %+v", stat, got, ok, want)
		}
	}
}
