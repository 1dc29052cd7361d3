package provenance

import (
	"fmt"
	"os"
	"strconv"
	"testing"

	"go.uber.org/goleak"

	"acp-agent/internal/workspace"
)

// childEnv makes the test binary append to a log instead of running tests: two real processes are
// the only honest test of a file lock.
const childEnv = "PROVENANCE_TEST_CHILD"

func TestMain(m *testing.M) {
	if job := os.Getenv(childEnv); job != "" {
		if err := child(job, os.Args[1:]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func child(job string, args []string) error {
	l, err := Open(args[0], workspace.Path(args[1]))
	if err != nil {
		return err
	}
	switch job {
	case "append":
		n, err := strconv.Atoi(args[3])
		if err != nil {
			return err
		}
		for i := range n {
			if _, err := l.Append(Record{Kind: Applied, Session: args[2], Turn: i}); err != nil {
				return err
			}
		}
	case "intent":
		if _, err := l.Append(Record{Kind: Intent, Session: args[2], Proposal: args[2]}); err != nil {
			return err
		}
		fmt.Println("begun")
		_, err := os.Stdin.Read(make([]byte, 1)) // until the test ends or kills us
		return err
	}
	return nil
}
