package lsp

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

func e(line, char int, message string) diag {
	return diag{startLine: line, startChar: char, endLine: line, endChar: char + 1, severity: SevError, source: "s", message: message}
}

func TestDifference(t *testing.T) {
	const ten = "l0\nl1\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\n"
	warning := e(1, 0, "w")
	warning.severity = SevWarning
	tests := []struct {
		name        string
		old, now    string
		before      []diag
		after       []diag
		fresh       string // one letter a diagnostic of after: N new, o old
		mended      int
		description string
	}{
		{name: "case G-L03: shifted by a line, one new", old: ten, now: "l0\nl1\nadded\nl2\nl3\nl4\nl5\nl6\nl7\nl8\nl9\n",
			before: []diag{e(1, 0, "P1"), e(8, 2, "P2")}, after: []diag{e(1, 0, "P1"), e(9, 2, "P2"), e(2, 0, "N1")}, fresh: "ooN"},
		{name: "the same error twice does not excuse a third", old: ten, now: ten + "x\n",
			before: []diag{e(1, 0, "P"), e(1, 0, "P")}, after: []diag{e(1, 0, "P"), e(1, 0, "P"), e(1, 0, "P")}, fresh: "ooN"},
		{name: "gone", old: ten, now: ten, before: []diag{e(1, 0, "P"), warning}, after: nil, mended: 1},
		{name: "on a rewritten line, columns moved", old: ten, now: strings.Replace(ten, "l3", "    l3 // more", 1),
			before: []diag{e(3, 0, "undefined: l3")}, after: []diag{e(3, 4, "undefined: l3")}, fresh: "o"},
		{name: "another name on a rewritten line", old: ten, now: strings.Replace(ten, "l3", "k3", 1),
			before: []diag{e(3, 0, "undefined: foo")}, after: []diag{e(3, 0, "undefined: bar")}, fresh: "N", mended: 1},
		{name: "a line number inside the message", old: ten, now: strings.Replace(ten, "l3", "l3!", 1),
			before: []diag{e(3, 0, "redeclared, see line 12")}, after: []diag{e(3, 0, "redeclared, see line 15")}, fresh: "o"},
		{name: "a line that was moved", old: "a\nbad line\nb\nc\nd\ne\nf\ng\n", now: "a\nb\nc\nd\ne\nf\ng\nbad line\n",
			before: []diag{e(1, 0, "P")}, after: []diag{e(7, 0, "P")}, fresh: "o"},
		{name: "another severity is another finding", old: ten, now: ten, before: []diag{warning}, after: []diag{e(1, 0, "w")}, fresh: "N"},
		{name: "the end of the range moved", old: ten, now: "l0\nl1\nl2\nadded\nl3\nl4\nl5\nl6\nl7\nl8\nl9\n",
			before: []diag{{startLine: 1, endLine: 8, severity: SevError, message: "too long"}},
			after:  []diag{{startLine: 1, endLine: 9, severity: SevError, message: "too long"}}, fresh: "o"},
		{name: "a deleted line takes its error along", old: ten, now: strings.Replace(ten, "l3\n", "", 1), before: []diag{e(3, 0, "P")}, mended: 1},
		{name: "out of range", old: "a\n", now: "b\n", before: []diag{e(99, 0, "P"), e(-1, 0, "Q")}, after: []diag{e(99, 0, "P"), e(-1, 0, "Q")}, fresh: "NN", mended: 2},
		{name: "line endings changed", old: "a\nb\nc\n", now: "a\r\nb\r\nc\r\n", before: []diag{e(2, 0, "P")}, after: []diag{e(2, 0, "P")}, fresh: "o"},
	}
	for _, tt := range tests {
		fresh, mended := difference(tt.before, tt.after, mapLines(newLines(tt.old), newLines(tt.now)))
		got := ""
		for _, f := range fresh {
			got += map[bool]string{true: "N", false: "o"}[f]
		}
		if got != tt.fresh || mended != tt.mended {
			t.Errorf("%s: %q, mended %d; want %q, %d", tt.name, got, mended, tt.fresh, tt.mended)
		}
	}
}

// Inserting and deleting whole lines elsewhere never makes an error new, whatever else is there.
func TestShiftedErrorsAreNeverNew(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "lines")
		var old []string
		for i := range n {
			old = append(old, fmt.Sprintf("line %d", i))
		}
		var before, after []diag
		var now []string
		for i, line := range old {
			for range rapid.IntRange(0, 2).Draw(t, "added") {
				now = append(now, "added")
			}
			bad := rapid.Bool().Draw(t, "bad")
			if !bad && rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
				continue
			}
			if bad {
				before = append(before, e(i, 3, "P"))
				after = append(after, e(len(now), 3, "P"))
			}
			now = append(now, line)
		}
		fresh, mended := difference(before, after, mapLines(newLines(strings.Join(old, "\n")), newLines(strings.Join(now, "\n"))))
		for i, f := range fresh {
			if f {
				t.Fatalf("error %d is called new\nold %q\nnow %q", i, old, now)
			}
		}
		if mended != 0 {
			t.Fatalf("mended %d", mended)
		}
	})
}

func TestJudgeCountsAndMarks(t *testing.T) {
	row := &spec{id: "srv"}
	base := baseline{known: true, text: "a\nb\n", items: []diag{e(0, 0, "old"), e(1, 0, "gone")}}
	a := answer{record: record{text: "a\nc 😀d\n", items: []diag{e(0, 0, "old"), e(1, 4, "new")}}, took: 1600 * time.Microsecond}
	o := judge(row, "/w/f", utf16Units, base, a)
	if o.server.State != Findings || o.server.MS != 2 || o.before != 2 || o.after != 2 || o.mended != 1 || !o.baseKnown {
		t.Errorf("%+v", o)
	}
	if f := o.findings[1]; !f.New || f.Line != 2 || f.Column != 4 || f.Server != "srv" || o.findings[0].New {
		t.Errorf("%+v", o.findings)
	}
	if o := judge(row, "/w/f", utf16Units, base, answer{reason: ReasonTimeout}); o.server.State != NoVerdict || o.server.Reason != ReasonTimeout {
		t.Errorf("%+v", o)
	}
}

func TestOverallState(t *testing.T) {
	s := func(state State, reason string) ServerVerdict { return ServerVerdict{State: state, Reason: reason} }
	tests := []struct {
		servers []ServerVerdict
		state   State
		reason  string
	}{
		{nil, Off, ""},
		{[]ServerVerdict{s(Clean, "")}, Clean, ""},
		{[]ServerVerdict{s(Clean, ""), s(NoVerdict, "timeout")}, NoVerdict, "timeout"},
		{[]ServerVerdict{s(NoVerdict, "timeout"), s(Findings, "")}, Findings, ""},
		{[]ServerVerdict{s(Off, "no_git")}, Off, "no_git"},
	}
	for _, tt := range tests {
		if state, reason := overall(tt.servers); state != tt.state || reason != tt.reason {
			t.Errorf("%+v: %s %s", tt.servers, state, reason)
		}
	}
}
