package acptest

import (
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// Row is one line of the table that `make bench` prints: what was measured, what it is held against
// in the same run, and what we want. Nothing is asserted: machines differ, and busy ones lie.
type Row struct {
	Name   string  // what was measured
	Value  float64 // in Unit
	Unit   string  // "ms", "MB"
	Than   string  // what the value is held against; "" for nothing
	Ref    float64 // the yardstick's own value, in Unit
	Ratio  bool    // held against it by dividing; else by taking away
	Target float64 // of the comparison, or of the value when there is none; 0 for none
}

// beyond is what the target speaks of.
func (r Row) beyond() float64 {
	switch {
	case r.Than == "":
		return r.Value
	case r.Ratio:
		return r.Value / r.Ref
	}
	return r.Value - r.Ref
}

// String is the row as the table has it, its cells apart by "|".
func (r Row) String() string {
	ref, beyond, target, mark := "-", "-", "-", ""
	if r.Than != "" {
		ref = fmt.Sprintf("%s: %s", r.Than, amount(r.Ref, r.Unit))
		beyond = "+" + amount(r.beyond(), r.Unit)
		if r.beyond() < 0 {
			beyond = "−" + amount(-r.beyond(), r.Unit)
		}
		if r.Ratio {
			beyond = fmt.Sprintf("%.2f ×", r.beyond())
		}
	}
	if r.Target > 0 {
		target = "< " + amount(r.Target, r.Unit)
		if r.Ratio {
			target = fmt.Sprintf("< %g ×", r.Target)
		}
		if r.beyond() >= r.Target {
			mark = "over"
		}
	}
	return strings.Join([]string{r.Name, amount(r.Value, r.Unit), ref, beyond, target, mark}, "|")
}

// amount is a number with three figures that matter.
func amount(v float64, unit string) string {
	digits := 0
	if a := math.Abs(v); a < 9.995 {
		digits = 2
	} else if a < 99.95 {
		digits = 1
	}
	return fmt.Sprintf("%.*f %s", digits, v, unit)
}

// Report adds the row to the file that ACP_BENCH_TABLE names, when it names one, and to what the
// benchmark prints.
func (r Row) Report(b *testing.B) {
	b.Helper()
	b.ReportMetric(r.Value, strings.ReplaceAll(r.Name, " ", "_")+"-"+r.Unit)
	name := os.Getenv("ACP_BENCH_TABLE")
	if name == "" {
		return
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err == nil {
		_, err = f.WriteString(r.String() + "\n")
		f.Close()
	}
	if err != nil {
		b.Error(err)
	}
}

// Times are measured durations.
type Times []time.Duration

// At is the p-th hundredth of the times, in milliseconds: 50 is the median.
func (t Times) At(p int) float64 {
	if len(t) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(t))
	i := (len(sorted)*p+99)/100 - 1
	return float64(sorted[max(i, 0)].Nanoseconds()) / 1e6
}

// And adds two rows of times pair by pair.
func (t Times) And(o Times) Times {
	sum := make(Times, len(t))
	for i := range t {
		sum[i] = t[i] + o[i]
	}
	return sum
}
