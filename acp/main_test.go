package acp

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"acp-agent/internal/acptest"
)

func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		acptest.Cleanup() // the built program
		os.Exit(code)
	}))
}
