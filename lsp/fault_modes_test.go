package lsp

import (
	"context"
	"strings"
	"testing"
	"time"
)

// faultModes are the ways in which a server goes wrong, and what must come of it: the last word on an
// edit that brings in an error.
var faultModes = []struct {
	modes  string // separated by spaces
	state  State
	reason string
}{
	{"", Findings, ""},
	{"silent", NoVerdict, ReasonTimeout},
	{"pull silent", NoVerdict, ReasonTimeout},
	{"slow=150ms", Findings, ""},
	{"slow=150ms coalesce", Findings, ""},
	{"slow=150ms coalesce unversioned", Findings, ""},
	{"slow=150ms serial", Findings, ""},
	{"slow=9s", NoVerdict, ReasonSilent},
	{"stale slow=150ms", Findings, ""},
	{"unversioned", Findings, ""},
	{"silent-clean", Findings, ""},
	{"silent-clean unversioned", Findings, ""},
	{"silent-identical", Findings, ""},
	{"silent-identical unversioned", Findings, ""},
	{"late-second=300ms", Findings, ""},
	{"stderr=8000000", Findings, ""},
	{"stray", Findings, ""},
	{"split", Findings, ""},
	{"multibyte", Findings, ""},
	{"multibyte split stray pull", Findings, ""},
	{"odd-items", Findings, ""},
	{"odd-items pull", Findings, ""},
	{"odd-uri", Findings, ""},
	{"encoding=utf-8", Findings, ""},
	{"encoding=utf-32", Findings, ""},
	{"incremental", Findings, ""},
	{"asks-first", Findings, ""},
	{"pull", Findings, ""},
	{"pull slow=150ms", Findings, ""},
	{"pull-dynamic", Findings, ""},
	{"identifiers", Findings, ""},
	{"pull kind=", Findings, ""},
	{"pull kind=unchanged", NoVerdict, ReasonFailed},
	{"pull content-modified=3", Findings, ""},
	{"pull server-cancelled=3", Findings, ""},
	{"pull refresh-storm=50", Findings, ""},
	{"refresh-storm=50", Findings, ""},
	{"lies-pull=error", NoVerdict, ReasonFailed},
	{"lies-pull=missing", Findings, ""},
	{"lies-pull=never", NoVerdict, ReasonTimeout},
	{"crash-init", NoVerdict, ReasonBackoff},
	{"crash=1", NoVerdict, ReasonBackoff},
	{"crash=2", NoVerdict, ReasonBackoff},
	{"crash=2 lives=1", Findings, ""},
	{"crash=2 lives=1 pull", Findings, ""},
	{"stubborn grandchild", Findings, ""},
	{"stubborn grandchild silent", NoVerdict, ReasonTimeout},
	{"hang=initialize", NoVerdict, ReasonStarting},
	{"refuse=initialize", NoVerdict, ReasonBackoff},
	{"hang=textDocument/documentSymbol pull", Findings, ""},
	{"refuse=textDocument/references pull", Findings, ""},
	{"dependents", Findings, ""},
	{"garbage", Findings, ""},
	{"garbage pull", Findings, ""},
	{"garbage split stray", Findings, ""},
	{"deaf", NoVerdict, ReasonTimeout},
	{"deaf pull stubborn", NoVerdict, ReasonTimeout},
	{"hangup=1", NoVerdict, ReasonBackoff},
	{"hangup=2 lives=1", Findings, ""},
	{"hangup=2 lives=1 pull", Findings, ""},
}

// Every word is about this very text or is no verdict with a reason, whatever the server does; the
// server is asked in time, and no process is left (requirements L4, L15).
func TestL15_EveryModeIsHonest(t *testing.T) {
	for _, m := range faultModes {
		name := m.modes
		if name == "" {
			name = "good"
		}
		t.Run(strings.ReplaceAll(name, " ", ","), func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, strings.Fields(m.modes), map[string]string{"a.fk": "one\nERROR(old)\n"}, func(s *Settings) {
				if m.state == NoVerdict {
					s.WaitTimeout = 400 * time.Millisecond // nothing comes of waiting
				}
			})
			first := f.story("e1", "a.fk", "one\nERROR(old)\nERROR(first)\n")
			f.story("e2", "a.fk", "nothing\n")
			f.foreseen("a.fk", "nothing\nERROR(never)\n") // refused by the user
			words := f.story("e3", "a.fk", "nothing\n\nERROR(second)\n")
			v := last(words)
			if v.State != m.state || (m.reason != "" && v.Reason != m.reason) {
				t.Errorf("the last edit got %s (%s), want %s (%s)\n%+v\nthe first: %+v", v.State, v.Reason, m.state, m.reason, words, first)
			}
			if v.State == Findings {
				f.server.Until("an answer to everything", func() bool { return len(f.server.Unanswered()) == 0 })
			}
			f.ended()
		})
	}
}

// A server that reads nothing holds nobody up, however much there is to tell it.
func TestL04_ServerThatReadsNothing(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"deaf", "stubborn"}, map[string]string{"a.fk": "\n", "b.fk": "\n"}, func(s *Settings) { s.WaitTimeout = 400 * time.Millisecond })
	big := strings.Repeat("a line of some length\n", 50_000) // 1.1 MB, far more than a pipe holds
	for i, name := range []string{"a.fk", "b.fk", "a.fk", "b.fk"} {
		v := last(f.story("e", name, big+given(string(rune('a'+i)))))
		if v.State != NoVerdict {
			t.Errorf("%s (%s)", v.State, v.Reason)
		}
		f.foreseen(name, big)
	}
	f.ended()
}

// foreseen asks about a proposal within 300 ms, and holds that the word is about its text.
func (f *faulty) foreseen(name, text string) Verdict {
	f.t.Helper()
	const budget = 300 * time.Millisecond
	ctx, cancel := context.WithTimeout(context.Background(), budget)
	defer cancel()
	began := time.Now()
	v := f.s.Foresee(ctx, []Change{f.change(name, text)})
	if took := time.Since(began); took > budget+slack {
		f.t.Errorf("foresight took %v", took)
	}
	if wrong := dishonest(v, text); wrong != "" {
		f.t.Errorf("foreseen: %s\n%+v", wrong, v)
	}
	return v
}
