package acp_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"acp-agent/internal/acptest"
)

// These tests run on Linux: the Node.js that the clients need comes with the test parts for Linux
// only, and /proc tells what is left behind.

// patience bounds what a real client may take on a busy machine.
const patience = 2 * time.Minute

// outside is the world of one test around the built program: an empty home, a workspace and a
// scripted model.
type outside struct {
	home, agentHome string
	cwd             string
	model           string // the script's file
	agent           string // the program
}

// newOutside makes the world with a model that plays script; processes that a test leaves behind
// fail it.
func newOutside(t *testing.T, script string) *outside {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	o := &outside{
		home: filepath.Join(dir, "home"), agentHome: filepath.Join(dir, "agent"),
		cwd: filepath.Join(dir, "work"), model: filepath.Join(dir, "model.yaml"), agent: acptest.Binary(t),
	}
	for _, folder := range []string{o.home, o.cwd} {
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, o.model, script)
	t.Cleanup(func() { o.gone(t, 10*time.Second) })
	return o
}

// environ is what everything is started with. HOME is seen by all that is started below, language
// servers too, and so tells whose a process is.
func (o *outside) environ(path ...string) []string {
	path = append(path, os.Getenv("PATH"))
	return []string{
		"PATH=" + strings.Join(path, string(filepath.ListSeparator)), "HOME=" + o.home, "TMPDIR=" + os.TempDir(), "LANG=C.UTF-8",
		"TERM=dumb", "ACP_AGENT_HOME=" + o.agentHome, "ACP_AGENT_MODEL=scripted/" + o.model,
	}
}

// file is a path in the workspace.
func (o *outside) file(name string) string { return filepath.Join(o.cwd, name) }

// holds checks a file of the workspace; "" for content wants no such file.
func (o *outside) holds(t *testing.T, name, want string) {
	t.Helper()
	got, err := os.ReadFile(o.file(name))
	if want == "" && errors.Is(err, os.ErrNotExist) {
		return
	}
	if err != nil || string(got) != want {
		t.Errorf("%s holds %q (%v), want %q", name, got, err, want)
	}
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// processes are the living processes of this world, by id, with what they run.
func (o *outside) processes() map[int]string {
	found := map[int]string{}
	entries, _ := os.ReadDir("/proc")
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		// A process that ends meanwhile, or is another user's, cannot be read and is none of ours.
		environ, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "environ"))
		if !bytes.Contains(append([]byte{0}, environ...), []byte("\x00HOME="+o.home+"\x00")) {
			continue
		}
		args, _ := os.ReadFile(filepath.Join("/proc", entry.Name(), "cmdline"))
		found[pid] = strings.ReplaceAll(strings.TrimRight(string(args), "\x00"), "\x00", " ")
	}
	return found
}

// running gives the ids of this world's processes whose program has this name.
func (o *outside) running(program string) []int {
	var ids []int
	for pid, command := range o.processes() {
		if first, _, _ := strings.Cut(command, " "); filepath.Base(first) == program {
			ids = append(ids, pid)
		}
	}
	return ids
}

// gone wants all processes of this world to end within a time, and ends by force what does not.
func (o *outside) gone(t *testing.T, within time.Duration) {
	t.Helper()
	deadline := time.Now().Add(within)
	for pid, command := range o.processes() {
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			continue // it ended since
		}
		if !ended(handle, deadline) {
			t.Errorf("after %v there is still %d: %s", within, pid, command)
			_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
			ended(handle, time.Now().Add(time.Minute))
		}
		unix.Close(handle)
	}
	for pid, command := range o.processes() {
		t.Errorf("meanwhile %d was started: %s", pid, command)
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}

// ended waits until the process behind a descriptor has ended.
func ended(handle int, deadline time.Time) bool {
	for {
		left := max(0, time.Until(deadline))
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}, int(left.Milliseconds()))
		if !errors.Is(err, unix.EINTR) {
			return n > 0
		}
	}
}

// call runs a program to its end with nothing on its input, and gives what it printed and its exit
// code.
func (o *outside) call(t *testing.T, program string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = o.cwd, o.environ()
	var out, complaints strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &complaints
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) || ctx.Err() != nil {
		t.Fatalf("%s %q: %v (%v)\n%s%s", filepath.Base(program), args, err, ctx.Err(), out.String(), complaints.String())
	}
	return out.String(), complaints.String(), cmd.ProcessState.ExitCode()
}
