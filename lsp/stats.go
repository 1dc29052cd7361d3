package lsp

import (
	"slices"
	"time"
)

// stats are an instance's figures. The instance's mu guards them.
type stats struct {
	ring      []time.Duration // the last verdicts' times
	at        int             // next place in ring
	verdicts  int
	none      map[string]int // no verdict, by reason
	average   time.Duration  // moving, of warm verdicts; 0 for unknown
	cold      bool           // the next verdict is the first of its process
	timeouts  int            // in a row
	stale     int            // publishes for older texts
	refreshes int
}

// Shape of the figures: how many verdicts the percentiles speak of, and how fast the average follows.
// One slow answer counts for no more than cap, so that it is forgotten after a few quick ones.
const (
	ringSize   = 256
	averageCap = time.Second
)

func (s *stats) init() { s.none = map[string]int{} }

// note counts one question's outcome.
func (s *stats) note(a answer) {
	if a.known {
		return
	}
	if a.reason != "" {
		s.none[a.reason]++
		if a.reason == ReasonTimeout {
			s.timeouts++
			s.blend(a.took)
		}
		return
	}
	s.timeouts = 0
	s.verdicts++
	if len(s.ring) < ringSize {
		s.ring = append(s.ring, a.took)
	} else {
		s.ring[s.at%ringSize] = a.took
	}
	s.at++
	if s.cold {
		s.cold = false // says nothing of the next one
		return
	}
	s.blend(a.took)
}

func (s *stats) blend(took time.Duration) {
	took = min(took, averageCap)
	if s.average == 0 {
		s.average = took
		return
	}
	s.average = (s.average + took) / 2
}

// percentile is the p-th hundredth of the last verdicts in milliseconds.
func (s *stats) percentile(p int) float64 {
	if len(s.ring) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s.ring))
	i := (len(sorted)*p + 99) / 100
	return float64(sorted[max(i-1, 0)].Microseconds()) / 1000
}
