//go:build !windows

package permissions

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// corpus reads testdata/commands.txt: the wanted verdict by mode, for each line.
func corpus(t testing.TB) (lines []string, want map[string]map[Mode]string) {
	t.Helper()
	f, err := os.Open("testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	want = map[string]map[Mode]string{}
	rows := bufio.NewScanner(f)
	for n := 1; rows.Scan(); n++ {
		row := rows.Text()
		if row == "" || strings.HasPrefix(row, "#") {
			continue
		}
		head, quoted, ok := strings.Cut(row, ` "`)
		columns := strings.Fields(head)
		line, err := strconv.Unquote(`"` + quoted)
		if !ok || err != nil || len(columns) != 3 {
			t.Fatalf("testdata/commands.txt:%d: %q: %v", n, row, err)
		}
		if want[line] != nil {
			t.Fatalf("testdata/commands.txt:%d: %q stands there twice", n, line)
		}
		want[line] = map[Mode]string{ModeDefault: columns[0], ModeAcceptEdits: columns[0], ModeDontAsk: columns[1], ModePlan: columns[2]}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return lines, want
}

func TestCommandCorpus(t *testing.T) {
	p := newPlace(t)
	sessions := map[Mode]*Session{}
	for _, m := range modes {
		sessions[m] = p.session(Rules{Mode: m, AllowDontAsk: true})
	}
	lines, want := corpus(t)
	if len(lines) < 400 {
		t.Fatalf("only %d lines", len(lines))
	}
	for _, line := range lines {
		for _, m := range modes {
			x := sessions[m].Explain(p.fill(line), p.w)
			d := x.Decision
			if got := letter(d); got != want[line][m] {
				t.Errorf("%-12s %q: %s, want %s (%s: %s)", m, line, got, want[line][m], d.Rule, d.Reason)
			}
			checkDecision(t, line, d)
			for _, sc := range x.Simple {
				if sc.Verdict.rank() > d.Verdict.rank() {
					t.Errorf("%q: the whole is laxer than its part %q", line, sc.Argv)
				}
			}
		}
	}
}

// checkDecision holds what is true of every decision.
func checkDecision(t *testing.T, line string, d Decision) {
	t.Helper()
	switch {
	case d.Rule == "" || d.Reason == "" || d.By != ByRule && d.By != ByMode:
		t.Errorf("%q: incomplete decision %+v", line, d)
	case (d.Sensitive || d.Outside) && d.Verdict == Allow:
		t.Errorf("%q: allowed though special: %+v", line, d)
	case d.AlwaysPrefix != nil && (d.Verdict != Ask || d.Sensitive || d.Outside):
		t.Errorf("%q: offers %q for ever: %+v", line, d.AlwaysPrefix, d)
	case d.Env != nil && d.Verdict != Allow:
		t.Errorf("%q: an environment for what is not allowed", line)
	case strings.ContainsAny(d.Reason, "\n\r"):
		t.Errorf("%q: the reason is not one line: %q", line, d.Reason)
	}
}
