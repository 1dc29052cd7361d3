//go:build unix

package tool

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// Pipes and devices may stand where an ignore file or a source file is expected. Opening a pipe waits
// for its other end, which nobody may ever open.
func TestSearchesDoNotWaitForPipes(t *testing.T) {
	env := newEnv(t, "-- app.go --\nneedle\n-- sub/b.go --\nneedle\n")
	for _, name := range []string{".gitignore", "sub/.ignore", ".git/info/exclude", "sub/pipe.go"} {
		if err := os.MkdirAll(filepath.Dir(env.at(name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(env.at(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for tool, args := range map[string]string{
		"search_files": `{"pattern":"needle"}`, "find_files": `{"pattern":"**/*.go"}`, "list_directory": `{"path":".","depth":2}`,
	} {
		done := make(chan Result, 1)
		go func() { done <- call(t, env, tool, args) }()
		select {
		case res := <-done:
			if res.IsError || !strings.Contains(res.Text, "app.go") {
				t.Errorf("%s: %s", tool, res.Text)
			}
		case <-time.After(10 * time.Second):
			t.Fatalf("%s waits for a pipe", tool)
		}
	}
}
