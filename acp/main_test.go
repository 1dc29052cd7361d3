package acp

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/lspserver"
)

func TestMain(m *testing.M) {
	lspserver.Main()
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		acptest.Cleanup() // the built program
		os.Exit(code)
	}))
}
