package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"acp-agent/internal/acptest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"acp-agent": main})
}

// TestCLI plays testdata/cli/*.txtar: what a person types, what is printed where, and the exit code.
// Every script has a home of its own and no key in its environment.
func TestCLI(t *testing.T) {
	parts := acptest.Parts(t)
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("testdata", "cli"),
		RequireExplicitExec: true,
		Setup: func(env *testscript.Env) error {
			home := filepath.Join(env.WorkDir, "home")
			for _, dir := range []string{home, filepath.Join(env.WorkDir, "w", ".git")} {
				if err := os.MkdirAll(dir, 0o755); err != nil {
					return err
				}
			}
			env.Setenv("HOME", home)
			env.Setenv("ACP_AGENT_HOME", filepath.Join(env.WorkDir, "agent"))
			env.Setenv("PATH", filepath.Join(parts, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"))
			env.Setenv("W", filepath.Join(env.WorkDir, "w"))
			for _, name := range []string{"GOMODCACHE", "GOCACHE", "GOFLAGS", "GOPATH"} {
				if v := goEnv(name); v != "" {
					env.Setenv(name, v)
				}
			}
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"code": exitCodeIs,
		},
	})
}
