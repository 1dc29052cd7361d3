// Package lspserver is a language server that misbehaves on demand, for tests only. It runs as a
// process of its own, by starting the test binary once more: [Main] in TestMain makes a binary able
// to be it, [New] gives a test the command line, and what the processes received and sent is read
// back through [Server]. Its findings follow from the text by simple rules (see [Errors]), so that a
// test can tell a verdict on this very text from one on any other. It shares no code with package
// lsp or its wire.
package lspserver

import (
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// First arguments by which the test binary knows that it is to play a part.
const (
	argServer = "acptest-lspserver"
	argChild  = "acptest-lspserver-child"
)

// lifetime ends every process of this package, whatever a test forgot.
const lifetime = 3 * time.Minute

// Main plays the language server, and does not return, when the arguments say so. Each TestMain of a
// package that uses [New] calls it first.
func Main() {
	if len(os.Args) < 3 {
		return
	}
	switch os.Args[1] {
	case argChild:
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
		<-time.After(lifetime)
		exit(0)
	case argServer:
		exit(run(os.Args[2], os.Args[3:]))
	}
}

// run is the process: dir is where it keeps its record, modes are those of the table in modes.go.
func run(dir string, modes []string) int {
	time.AfterFunc(lifetime, func() { exit(9) })
	o, err := parseModes(modes)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lspserver:", err)
		return 2
	}
	rec, err := openRecord(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, "lspserver:", err)
		return 2
	}
	life := rec.lives()
	rec.pid("server", os.Getpid())
	if o.stubborn {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	if o.grandchild {
		if err := rec.fork(dir); err != nil {
			fmt.Fprintln(os.Stderr, "lspserver:", err)
			return 2
		}
	}
	if o.stderr > 0 {
		shout(o.stderr)
	}
	s := newServer(o, rec, life)
	return s.run()
}

// shout fills the standard error: first a line without an end, then many lines.
func shout(bytes int) {
	long := strings.Repeat("x", 4096)
	for range bytes / 2 / len(long) {
		_, _ = os.Stderr.WriteString(long)
	}
	line := "\n" + strings.Repeat("noise ", 10)
	for range bytes / 2 / len(line) {
		_, _ = os.Stderr.WriteString(line)
	}
	_, _ = os.Stderr.WriteString("\nthe last words\n")
}

// self is the running program.
func self() string {
	exe, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	if real, err := filepath.EvalSymlinks(exe); err == nil {
		return real
	}
	return exe
}

// exit ends the process at once: os.Exit waits a second in a binary built with the race detector.
func exit(code int) { syscall.Exit(code) }
