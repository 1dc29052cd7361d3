package lsp

import (
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestL02_AsleepOutsideAGitWorkspace(t *testing.T) {
	for name, tc := range map[string]struct {
		git     func(f *faulty) // makes what stands in place of the .git folder
		require bool
		state   State
	}{
		"none":                 {func(*faulty) {}, true, Off},
		"none, not required":   {func(*faulty) {}, false, Findings},
		"dangling file":        {func(f *faulty) { f.write(".git", "gitdir: ../nowhere\n") }, true, Off},
		"file that leads":      {func(f *faulty) { f.write("elsewhere/HEAD", ""); f.write(".git", "gitdir: elsewhere\n") }, true, Findings},
		"file without a sense": {func(f *faulty) { f.write(".git", "whatever") }, true, Off},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, nil, map[string]string{"a.fk": "\n"}, func(s *Settings) { s.RequireGit = tc.require })
			if err := os.Remove(string(f.path(".git"))); err != nil {
				t.Fatal(err)
			}
			tc.git(f)
			for _, v := range []Verdict{
				f.s.Foresee(context.Background(), []Change{f.change("a.fk", given("one"))}),
				f.apply("a.fk", given("one")),
			} {
				if v.State != tc.state || (v.State == Off && v.Reason != ReasonNoGit) {
					t.Errorf("%s (%s), want %s", v.State, v.Reason, tc.state)
				}
			}
			if n := len(f.server.Pids("server")); (n > 0) != (tc.state != Off) {
				t.Errorf("%d servers were started", n)
			}
		})
	}
}

func TestL19_SwitchedOff(t *testing.T) {
	for name, change := range map[string]func(*Settings){
		"the layer":  func(s *Settings) { s.Enabled = false },
		"the server": func(s *Settings) { set := s.Servers["fake"]; set.Disabled = true; s.Servers["fake"] = set },
		"by enabled": func(s *Settings) {
			set, no := s.Servers["fake"], false
			set.Enabled = &no
			s.Servers["fake"] = set
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFaulty(t, nil, map[string]string{"a.fk": "\n"}, change)
			if v := f.apply("a.fk", given("one")); v.State != Off || v.Reason == "" {
				t.Errorf("%s (%s)", v.State, v.Reason)
			}
			if _, notice, err := f.s.Diagnostics(context.Background(), f.path("a.fk"), given("one")); err != nil || notice == "" {
				t.Errorf("the tool says %q, %v", notice, err)
			}
			if n := len(f.server.Pids("server")); n > 0 {
				t.Errorf("%d servers were started", n)
			}
		})
	}
}

// A built-in server's command, environment and initialization options can be changed; the options are
// laid over its own, member by member.
func TestL19_BuiltInServerConfigured(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, nil, map[string]string{"go.mod": "module x\n", "a.go": "package x\n"}, func(s *Settings) {
		s.Servers = map[string]ServerSettings{"gopls": {
			Command: s.Servers["fake"].Command, Env: map[string]string{"GOFLAGS": "-tags=x", "LD_PRELOAD": "/evil.so"},
			InitializationOptions: map[string]any{"build": map[string]any{"directoryFilters": []any{"-out"}}, "staticcheck": true},
		}}
	})
	wantMessages(t, "introduced", f.apply("a.go", "package x\n\n// ERROR(one)\n").Introduced, "one")
	var sent map[string]any
	if err := json.Unmarshal([]byte(f.server.Received("initialize")[0].Param("initializationOptions")), &sent); err != nil {
		t.Fatal(err)
	}
	if sent["pullDiagnostics"] != true || sent["staticcheck"] != true || sent["build"] == nil {
		t.Errorf("initialization options: %v", sent)
	}
	if !strings.Contains(f.log.String(), "LD_PRELOAD") {
		t.Error("nobody was told that LD_PRELOAD was refused")
	}
}

func TestL20_CustomServer(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, nil, map[string]string{
		"sub/fake.toml": "", "sub/deep/Fakefile": "\n", "sub/deep/a.tar.fk": "\n", "b.go": "package b\n", "go.mod": "module x\n",
	}, func(s *Settings) {
		s.Servers = map[string]ServerSettings{
			"fake": {
				Command: s.Servers["fake"].Command, Extensions: []string{".fk", "Fakefile", "go"}, RootMarkers: []string{"fake.toml"},
				LanguageID: "fakish", InitializationOptions: map[string]any{"deep": map[string]any{"x": 1}},
			},
			"no-command":    {Extensions: []string{".fk"}},
			"no-extensions": {Command: []string{"x"}},
			"Bad Id":        {Command: []string{"x"}, Extensions: []string{".fk"}},
		}
	})
	for _, name := range []string{"sub/deep/Fakefile", "sub/deep/a.tar.fk", "b.go"} {
		v := f.apply(name, given("one"))
		if len(v.Servers) != 1 || v.Servers[0].ID != "fake" { // before the built-in one
			t.Errorf("%s is served by %+v", name, v.Servers)
		}
		wantMessages(t, name, v.Introduced, "one")
	}
	roots := map[string]bool{}
	for _, e := range f.server.Received("initialize") {
		roots[e.Param("rootUri")] = true
		if e.Param("initializationOptions", "deep", "x") != "1" {
			t.Errorf("initialization options %s", e.Param("initializationOptions"))
		}
	}
	if len(roots) != 2 || !roots[toURI(f.path("sub"))] || !roots[toURI(f.dir)] {
		t.Errorf("roots %v", roots)
	}
	for _, e := range f.server.Received("textDocument/didOpen") {
		if id := e.Param("textDocument", "languageId"); id != "fakish" {
			t.Errorf("language id %q", id)
		}
	}
	for _, bad := range []string{"no-command", "no-extensions", "Bad Id"} {
		if !strings.Contains(f.log.String(), bad) {
			t.Errorf("nobody was told that the entry %q was skipped", bad)
		}
	}
}

func TestL16_OneLazyProcessStoppedWhenIdle(t *testing.T) {
	t.Parallel()
	f := newFaulty(t, nil, map[string]string{"a.fk": "\n", "b.fk": "\n"})
	if n := len(f.server.Pids("server")); n != 0 {
		t.Fatalf("%d servers run before the first need", n)
	}
	f.apply("a.fk", given("one"))
	f.apply("b.fk", given("two"))
	other := f.session("s2")
	items, notice, err := other.Diagnostics(context.Background(), f.path("b.fk"), given("two"))
	if err != nil || notice != "" {
		t.Fatal(notice, err)
	}
	wantMessages(t, "another session", items, "two")
	if n := len(f.server.Pids("server")); n != 1 {
		t.Fatalf("%d servers for one root", n)
	}
	f.s.Close(context.Background()) // ends its listening to second words
	f.m.idle = 50 * time.Millisecond
	if _, _, err := other.Diagnostics(context.Background(), f.path("b.fk"), given("two")); err != nil {
		t.Fatal(err)
	}
	f.server.WantGone(10 * time.Second)
	items, notice, err = other.Diagnostics(context.Background(), f.path("a.fk"), given("one"))
	if err != nil || notice != "" {
		t.Fatal(notice, err)
	}
	wantMessages(t, "started again", items, "one")
	if n := len(f.server.Pids("server")); n != 2 {
		t.Errorf("%d servers in all", n)
	}
}

func TestL13_SetAsideAndTriedAgain(t *testing.T) {
	t.Run("after a while", func(t *testing.T) {
		t.Parallel()
		f := newFaulty(t, []string{"crash-init", "lives=1"}, map[string]string{"a.fk": "\n"}, func(s *Settings) { s.BrokenRetry = 200 * time.Millisecond })
		f.apply("a.fk", given("one"))
		for range 3 {
			f.apply("a.fk", given("two"))
		}
		if n := strings.Count(f.log.String(), "set aside"); n != 1 {
			t.Errorf("it was said %d times that the server is set aside", n)
		}
		if s := f.m.Status()[0]; s.State == "backoff" && !strings.Contains(s.Reason+s.LastError, "giving up") {
			t.Errorf("the status does not say why: %+v", s)
		}
		f.server.Until("the second start", func() bool {
			f.apply("a.fk", given("three"))
			v := f.apply("a.fk", given("four"))
			return v.State == Findings && slices.Equal(messages(v.Introduced), []string{"four"})
		})
		if n := len(f.server.Pids("server")); n != 2 {
			t.Errorf("%d starts", n)
		}
	})
	t.Run("until restart", func(t *testing.T) {
		t.Parallel()
		f := newFaulty(t, []string{"crash-init", "lives=1"}, map[string]string{"a.fk": "\n"}, func(s *Settings) { s.BrokenRetry = 0 })
		f.apply("a.fk", given("one"))
		if v := f.apply("a.fk", given("two")); v.State != NoVerdict || v.Reason != ReasonBackoff {
			t.Errorf("%s (%s)", v.State, v.Reason)
		}
		if n := len(f.server.Pids("server")); n != 1 {
			t.Errorf("%d starts", n)
		}
	})
}
