// Package acptest has the other sides of what the agent talks to, for tests only: a fake editor with
// the profiles of real ones, a language server that misbehaves on demand, a model server that speaks
// the real wire formats, and the scenario runner. Product code never imports it.
package acptest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Parts is the folder where the test command put real clients and servers: bin/ (Go tools), npm/
// (node_modules). ACP_TEST_PARTS names it, else .cache at the top of the checkout, or of the
// repository's main checkout for a linked worktree.
func Parts(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv("ACP_TEST_PARTS"); dir != "" {
		return dir
	}
	for _, args := range [][]string{{"rev-parse", "--show-toplevel"}, {"rev-parse", "--path-format=absolute", "--git-common-dir"}} {
		out, err := exec.Command("git", args...).Output()
		if err != nil {
			continue
		}
		top := strings.TrimSuffix(strings.TrimSpace(string(out)), string(filepath.Separator)+".git")
		dir := filepath.Join(top, ".cache")
		if _, err := os.Stat(filepath.Join(dir, "bin")); err == nil {
			return dir
		}
	}
	t.Fatal("no test parts: run scripts/test once, or set ACP_TEST_PARTS")
	return ""
}

// Part is the path of one file below [Parts]; a part that is not there fails the test.
func Part(t testing.TB, elem ...string) string {
	t.Helper()
	p := filepath.Join(append([]string{Parts(t)}, elem...)...)
	if _, err := os.Stat(p); err != nil {
		t.Fatalf("test part is missing: %v (scripts/test installs it)", err)
	}
	return p
}
