package acptest

import (
	"math"
	"testing"
	"time"
)

func TestRow(t *testing.T) {
	for want, row := range map[string]Row{
		"a|4.00 ms|-|-|< 5.00 ms|":                    {Name: "a", Value: 4, Unit: "ms", Target: 5},
		"a|5.00 ms|-|-|< 5.00 ms|over":                {Name: "a", Value: 5, Unit: "ms", Target: 5},
		"a|123 MB|-|-|-|":                             {Name: "a", Value: 123.4, Unit: "MB"},
		"a|12.0 ms|bare: 9.00 ms|+3.00 ms|< 5.00 ms|": {Name: "a", Value: 12, Unit: "ms", Than: "bare", Ref: 9, Target: 5},
		"a|12.0 ms|bare: 14.5 ms|−2.50 ms|< 5.00 ms|": {Name: "a", Value: 12, Unit: "ms", Than: "bare", Ref: 14.5, Target: 5},
		"a|12.0 ms|bare: 3.00 ms|4.00 ×|< 3 ×|over":   {Name: "a", Value: 12, Unit: "ms", Than: "bare", Ref: 3, Ratio: true, Target: 3},
	} {
		if got := row.String(); got != want {
			t.Errorf("row %q, want %q", got, want)
		}
	}
}

func TestTimes(t *testing.T) {
	var times Times
	for n := range 100 {
		times = append(times, time.Duration(100-n)*time.Millisecond)
	}
	for p, want := range map[int]float64{1: 1, 50: 50, 95: 95, 100: 100} {
		if got := times.At(p); got != want {
			t.Errorf("At(%d) is %v, want %v", p, got, want)
		}
	}
	if got := times.And(times).At(50); got != 100 {
		t.Errorf("the sum's median is %v", got)
	}
	if got := (Times{}).At(50); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}
