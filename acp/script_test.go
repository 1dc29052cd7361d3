package acp_test

import (
	"flag"
	"path/filepath"
	"testing"

	"acp-agent/internal/acptest"
)

var update = flag.Bool("update", false, "rewrite the expected output in scenario files")

// TestScript plays the scenarios; see acptest.RunScripts for their language.
func TestScript(t *testing.T) {
	acptest.RunScripts(t, filepath.Join("..", "testdata", "script"), newAgent, *update)
}
