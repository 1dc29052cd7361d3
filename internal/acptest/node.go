package acptest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Needs skips a test of a real program that ACP_TEST_WITHOUT names; the test command says so at its
// end. Without that variable a missing part fails the test.
func Needs(t testing.TB, part string) {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv("ACP_TEST_WITHOUT")), part) {
		t.Skipf("not tested: ACP_TEST_WITHOUT names %s", part)
	}
}

// Node gives a Node.js of version 22 or newer: the one among the test parts, else the system's.
func Node(t testing.TB) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(Parts(t), "npm", "node_modules", "node-*", "bin", "node"))
	if err != nil {
		t.Fatal(err)
	}
	if system, err := exec.LookPath("node"); err == nil {
		found = append(found, system)
	}
	var seen []string
	for _, path := range found {
		out, err := exec.Command(path, "--version").Output()
		version := strings.TrimSpace(string(out))
		seen = append(seen, fmt.Sprintf("%s is %s", path, version))
		var major int
		if _, scanErr := fmt.Sscanf(version, "v%d.", &major); err == nil && scanErr == nil && major >= 22 {
			return path
		}
	}
	t.Fatalf("no Node.js of version 22 or newer (%s): scripts/test installs one", strings.Join(seen, ", "))
	return ""
}
