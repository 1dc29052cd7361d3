package lsp

import (
	"context"
	"strings"
	"testing"
	"time"
)

// A project that lsp.exclude_roots covers has no server, no verdict and one sentence for the tools (L14).
func TestL14_ExcludedRootsAreLeftAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		set   func(*Settings)
		state State
	}{
		"everything":     {func(s *Settings) { s.ExcludeRoots = []string{"**"} }, Off},
		"no list at all": {func(s *Settings) { s.ExcludeAll = true }, Off},
		"another place":  {func(s *Settings) { s.ExcludeRoots = []string{"/nowhere/**"} }, Findings},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, []string{"pull"}, map[string]string{"a.fk": "\n"}, tc.set)
			v := f.apply("a.fk", given("one"))
			if v.State != tc.state || tc.state == Off && v.Reason != ReasonExcluded {
				t.Errorf("%s (%s)", v.State, v.Reason)
			}
			_, notice, err := f.s.Diagnostics(context.Background(), f.path("a.fk"), given("one"))
			if err != nil || (notice != "") != (tc.state == Off) || tc.state == Off && !strings.Contains(notice, "lsp.exclude_roots") {
				t.Errorf("the tool says %q, %v", notice, err)
			}
			if n := len(f.server.Pids("server")); (n > 0) != (tc.state != Off) {
				t.Errorf("%d servers were started", n)
			}
		})
	}
}

// The first check of a cold server may take lsp.warmup_timeout, later ones lsp.wait_timeout (L12).
func TestL12_WarmupIsForTheFirstCheck(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, []string{"pull", "slow=1s"}, map[string]string{"a.fk": "\n"}, func(s *Settings) {
		s.WaitTimeout, s.WarmupTimeout = 300*time.Millisecond, 20*time.Second
	})
	if v := f.apply("a.fk", given("one")); v.State != Findings {
		t.Errorf("the first check: %s (%s)", v.State, v.Reason)
	}
	if v := f.apply("a.fk", given("two")); v.State != NoVerdict || v.Reason != ReasonTimeout {
		t.Errorf("the second check: %s (%s)", v.State, v.Reason)
	}
}
