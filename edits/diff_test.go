package edits

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var hunkHead = regexp.MustCompile(`^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@$`)

// applyUnified applies a unified diff strictly: every line and count must fit.
func applyUnified(t testing.TB, old, diff string) string {
	t.Helper()
	if diff == "" {
		return old
	}
	lines := rawLines(old)
	var out []string
	at, left := 0, [2]int{}
	body := strings.SplitAfter(diff, "\n")
	number := func(s string) int {
		if s == "" {
			return 1
		}
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	for i := 2; i < len(body); i++ {
		l := body[i]
		if l == "" || strings.HasPrefix(l, `\`) {
			continue
		}
		if i+1 < len(body) && strings.HasPrefix(body[i+1], `\`) || breaksAtCR(old) {
			l = strings.TrimSuffix(l, "\n")
		}
		if m := hunkHead.FindStringSubmatch(strings.TrimSuffix(l, "\n")); m != nil {
			if left != [2]int{} {
				t.Fatalf("a hunk lacks lines: %v\n%s", left, diff)
			}
			start := number(m[1]) - 1
			left = [2]int{number(m[2]), number(m[4])}
			if left[0] == 0 {
				start++
			}
			out = append(out, lines[at:start]...)
			at = start
			if to := number(m[3]) - 1; left[1] > 0 && to != len(out) || left[1] == 0 && to+1 != len(out) {
				t.Fatalf("new line number %d, want %d\n%s", to+1, len(out)+1, diff)
			}
			continue
		}
		if l[0] != '+' {
			if at >= len(lines) || lines[at] != l[1:] {
				t.Fatalf("line %d of the diff is %q, file has %q\n%s", i, l, lines[min(at, len(lines)-1)], diff)
			}
			at++
			left[0]--
		}
		if l[0] != '-' {
			out = append(out, l[1:])
			left[1]--
		}
	}
	if left != [2]int{} {
		t.Fatalf("the last hunk lacks lines: %v\n%s", left, diff)
	}
	return strings.Join(append(out, lines[at:]...), "")
}

// textGen draws texts of few different lines, so that there is much to confuse.
func textGen() *rapid.Generator[string] {
	part := rapid.SampledFrom([]string{"a\n", "b\n", "c\n", "}\n", "\n", "a\r\n", "x", "\t y\n", "é “q”\n"})
	return rapid.Map(rapid.SliceOfN(part, 0, 30), func(s []string) string { return strings.Join(s, "") })
}

func TestDiffGivesNewText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		c := Change{OldText: textGen().Draw(rt, "old"), NewText: textGen().Draw(rt, "new")}
		if got := applyUnified(t, c.OldText, c.Unified("a", "b")); got != c.NewText {
			rt.Fatalf("got %q, want %q", got, c.NewText)
		}
		old := rawLines(c.OldText)
		var out strings.Builder
		at := 0
		for _, h := range c.Hunks(rapid.IntRange(0, 4).Draw(rt, "context")) {
			for ; at < h.OldLine-1; at++ {
				out.WriteString(old[at])
			}
			if n := strings.Count(out.String(), "\n"); h.NewLine != n+1 && !strings.Contains(out.String(), "x") {
				rt.Fatalf("hunk begins at new line %d, want %d", h.NewLine, n+1)
			}
			at += len(rawLines(h.Old))
			out.WriteString(h.New)
		}
		out.WriteString(strings.Join(old[min(at, len(old)):], ""))
		if out.String() != c.NewText {
			rt.Fatalf("hunks give %q, want %q", out.String(), c.NewText)
		}
	})
}

func TestDiffOfKnownTexts(t *testing.T) {
	cases := []struct {
		name, old, new string
		unified        string
		first          int
	}{
		{"change", "a\nb\nc\n", "a\nB\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", 2},
		{"new file", "", "n\n", "@@ -0,0 +1 @@\n+n\n", 1},
		{"deleted", "d\n", "", "@@ -1 +0,0 @@\n-d\n", 1},
		{"no final newline", "a", "b", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", 1},
		{"final newline added", "a", "a\n", "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", 1},
		{"appended", "1\n2\n3\n4\n5\n", "1\n2\n3\n4\n5\n6\n", "@@ -3,3 +3,4 @@\n 3\n 4\n 5\n+6\n", 6},
		{"last line removed", "1\n2\n", "1\n", "@@ -1,2 +1 @@\n 1\n-2\n", 1},
		{"two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n", "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
			"@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n", 1},
		{"contexts that touch are one hunk", "1\n2\n3\n4\n5\n6\n7\n8\n", "x\n2\n3\n4\n5\n6\n7\ny\n",
			"@@ -1,8 +1,8 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n 7\n-8\n+y\n", 1},
		{"equal", "a\n", "a\n", "", 1},
	}
	for _, c := range cases {
		ch := Change{OldText: c.old, NewText: c.new}
		want := c.unified
		if want != "" {
			want = "--- old\n+++ new\n" + want
		}
		if got := ch.Unified("old", "new"); got != want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, want)
		}
		if got := ch.FirstChangedLine(); got != c.first {
			t.Errorf("%s: first changed line %d, want %d", c.name, got, c.first)
		}
	}
}

// scattered gives a text of n lines and the same with k edits all over it.
func scattered(n, k int) (string, string) {
	r := rand.New(rand.NewPCG(1, 2))
	var a, b []string
	for i := range n {
		l := fmt.Sprintf("\tline %d of the file, value %d\n", i%200, r.IntN(50))
		if i%7 == 0 {
			l = "}\n"
		}
		a = append(a, l)
	}
	b = append(b, a...)
	for i := range k {
		switch at := r.IntN(len(b)); r.IntN(3) {
		case 0:
			b[at] = fmt.Sprintf("changed %d\n", i)
		case 1:
			b = append(b[:at], b[at+1:]...)
		default:
			b = append(b[:at], append([]string{fmt.Sprintf("new %d\n", i)}, b[at:]...)...)
		}
	}
	return strings.Join(a, ""), strings.Join(b, "")
}

// Scattered edits in a large file stay scattered edits, as in case A.14 of what users see: a diff
// that replaces the whole file hides the change.
func TestDiffStaysSmall(t *testing.T) {
	for _, c := range [][2]int{{1000, 30}, {1000, 300}, {5000, 150}, {10000, 300}} {
		old, new := scattered(c[0], c[1])
		p := Proposal{Changes: []Change{{OldText: old, NewText: new}}}
		added, removed := p.Counts()
		if least := lowerBound(rawLines(old), rawLines(new)); added+removed > least+least/2+20 {
			t.Errorf("%d lines, %d edits: +%d -%d, at least %d needed", c[0], c[1], added, removed, least)
		}
		if got := applyUnified(t, old, p.Changes[0].Unified("a", "b")); got != new {
			t.Errorf("%d lines, %d edits: the diff gives another text", c[0], c[1])
		}
	}
}

func BenchmarkDiff(b *testing.B) {
	for _, c := range [][2]int{{1000, 1}, {1000, 30}, {1000, 300}, {5000, 150}, {10000, 20}, {10000, 300}, {200000, 5}} {
		old, new := scattered(c[0], c[1])
		b.Run(fmt.Sprintf("lines=%d/edits=%d", c[0], c[1]), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				diffTexts(old, new)
			}
		})
	}
}
