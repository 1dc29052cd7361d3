package lsp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"acp-agent/internal/procgroup"
	"acp-agent/internal/workspace"
)

// installLimit bounds one installation; a cold build of gopls takes minutes on a small machine.
const installLimit = 15 * time.Minute

// Install fetches the pinned version of a built-in server into <home>/lsp/bin, with all caches below
// <home>/cache, and gives the path of the executable. progress gets one line at a time. Only one
// process installs a server at a time; another waits and then finds it there. What the installer said
// is kept in <home>/lsp/logs. The error of a failed download names the command to run by hand.
func Install(ctx context.Context, o Options, id string, progress func(line string)) (string, error) {
	row := builtinRow(id)
	if row == nil {
		return "", fmt.Errorf("there is no language server %q", id)
	}
	if row.install.goTool == "" {
		return "", fmt.Errorf("%s is not installed by acp-agent: %s", row.id, byHand(row))
	}
	bin := o.Home.Join("lsp", "bin")
	logs := o.Home.Join("lsp", "logs")
	for _, dir := range []workspace.Path{bin, logs} {
		if err := os.MkdirAll(string(dir), 0o700); err != nil {
			return "", err
		}
	}
	lock := flock.New(string(o.Home.Join("lsp", "."+row.id+".lock")))
	if _, err := lock.TryLockContext(ctx, 200*time.Millisecond); err != nil {
		return "", fmt.Errorf("another installation of %s is running: %w", row.id, err)
	}
	defer lock.Unlock()

	log, err := os.OpenFile(string(logs.Join(row.id+".log")), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return "", err
	}
	defer log.Close()
	if err := goInstall(ctx, o, row.install.goTool, bin, log, progress); err != nil {
		return "", fmt.Errorf("install %s: %w; to do it by hand: %s", row.id, err, byHand(row))
	}
	exe := filepath.Join(string(bin), row.command[0])
	if runtime.GOOS == "windows" {
		exe += ".exe"
	}
	if _, err := os.Stat(exe); err != nil {
		return "", fmt.Errorf("install %s: the installer ended well but left no %s", row.id, exe)
	}
	return exe, nil
}

// builtinRow finds a row of the table by its id or its command's name.
func builtinRow(id string) *spec {
	for i := range builtin {
		if row := &builtin[i]; row.id == id || (row.alias != "" && row.alias == id) {
			return row
		}
	}
	return nil
}

// byHand is the command that a person would run.
func byHand(row *spec) string {
	switch {
	case row.install.goTool != "":
		return "go install " + row.install.goTool
	case len(row.install.npm) > 0:
		return "npm install -g " + strings.Join(row.install.npm, " ")
	case row.install.manual != "":
		return row.install.manual
	}
	return "see its own documentation"
}

// goInstall runs `go install` with everything that it writes below our home. The module cache is made
// writable so that a person can delete the home.
func goInstall(ctx context.Context, o Options, tool string, bin workspace.Path, log io.Writer, progress func(string)) error {
	environ := scrub(o.Environ, string(o.Home.Join("cache")))
	goExe := finder{home: o.Home, user: o.UserHome, path: lookup(environ, "PATH"), pathext: lookup(o.Environ, "PATHEXT")}.find("go", "")
	if goExe == "" {
		return errors.New("the Go tool is not on PATH (https://go.dev/dl)")
	}
	cache := o.Home.Join("cache")
	environ = append(environ, "GOBIN="+string(bin), "GOFLAGS=-mod=mod -modcacherw", "GOWORK=off", "GO111MODULE=on",
		"GOMODCACHE="+string(cache.Join("go-mod")), "GOCACHE="+string(cache.Join("go-build")), "CGO_ENABLED=0")
	cmd := exec.Command(goExe, "install", "-v", tool)
	cmd.Env = environ
	cmd.Dir = string(o.Home.Join("lsp"))
	return runInstaller(ctx, cmd, log, progress)
}

// runInstaller runs cmd in a group of its own and gives its output to log and progress by lines. The
// error carries the last lines, which say what went wrong.
func runInstaller(ctx context.Context, cmd *exec.Cmd, log io.Writer, progress func(string)) error {
	ctx, cancel := context.WithTimeout(ctx, installLimit)
	defer cancel()
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	cmd.Stdout, cmd.Stderr = w, w
	group, err := procgroup.Start(cmd)
	w.Close()
	if err != nil {
		r.Close()
		return err
	}
	var tail []string
	var reading sync.WaitGroup
	reading.Go(func() {
		defer r.Close()
		in := bufio.NewScanner(r)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			line := in.Text()
			fmt.Fprintln(log, line)
			progress(line)
			if tail = append(tail, line); len(tail) > 5 {
				tail = tail[1:]
			}
		}
		_, _ = io.Copy(io.Discard, r) // a line that is too long must not stall the installer
	})
	stop := context.AfterFunc(ctx, func() { group.Kill(time.Second) })
	defer stop()
	err = group.Wait()
	reading.Wait()
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		return fmt.Errorf("%w: %s", err, strings.Join(tail, " / "))
	}
	return nil
}
