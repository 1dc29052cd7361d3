package acptest

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// RealClient begins a test that drives a real client: it is left out when ACP_TEST_WITHOUT names the
// client (a list of words), which scripts/test repeats at its end. Whatever else is missing fails.
func RealClient(t testing.TB, name string) {
	t.Helper()
	if slices.Contains(strings.Fields(os.Getenv("ACP_TEST_WITHOUT")), name) {
		t.Skipf("left out by ACP_TEST_WITHOUT: %s", name)
	}
}

// Node is the Node.js among the test parts. The clients need version 24, which systems seldom have.
func Node(t testing.TB) string {
	t.Helper()
	arch := runtime.GOARCH
	if arch == "amd64" {
		arch = "x64"
	}
	return Part(t, "npm", "node_modules", "node-"+runtime.GOOS+"-"+arch, "bin", "node")
}
