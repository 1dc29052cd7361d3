//go:build unix

package procgroup

import (
	"bufio"
	"errors"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"
)

// parentEnv makes the test binary play a process that starts a group and is then killed.
const parentEnv = "PROCGROUP_TEST_PARENT"

func TestMain(m *testing.M) {
	if how := os.Getenv(leaveEnv); how != "" {
		leave(how)
	}
	if line := os.Getenv(parentEnv); line != "" {
		parent(line)
	}
	goleak.VerifyTestMain(m)
}

// parent starts line with our descriptor 3, says so on stdout, and waits to be killed.
func parent(line string) {
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.ExtraFiles = []*os.File{os.NewFile(3, "held")}
	g, err := Start(cmd)
	if err != nil {
		panic(err)
	}
	os.Stdout.WriteString("started\n")
	_ = g.Wait()
	os.Exit(0)
}

// leaveEnv makes the test binary play a program that leaves its process group, as timeout(1) and
// shells with job control do, or even its session, as setsid(1) does.
const leaveEnv = "PROCGROUP_TEST_LEAVE"

// leave says on descriptor 3 that it has left, and sleeps.
func leave(how string) {
	var err error
	if how == "session" {
		_, err = unix.Setsid()
	} else {
		err = unix.Setpgid(0, 0)
	}
	if err != nil {
		panic(err)
	}
	if _, err := os.NewFile(3, "held").WriteString("up\n"); err != nil {
		panic(err)
	}
	panic(unix.Exec("/bin/sh", []string{"sh", "-c", "sleep 100 & sleep 100"}, []string{}))
}

// leaver is a command line whose last program leaves.
func leaver(how string) string {
	return "unset " + parentEnv + "; " + leaveEnv + "=" + how + " '" + os.Args[0] + "'; true"
}

// held is a pipe whose write end goes to the processes under test: its end is reached when the last
// of them has ended, however deep it is in the tree.
type held struct{ r, w *os.File }

func newHeld(t *testing.T) *held {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close(); w.Close() })
	return &held{r, w}
}

// wantFree checks that every holder has ended within limit.
func (h *held) wantFree(t *testing.T, limit time.Duration) {
	t.Helper()
	h.w.Close()
	if err := h.r.SetReadDeadline(time.Now().Add(limit)); err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, h.r); err != nil {
		t.Fatalf("processes still run after %s: %v", limit, err)
	}
}

// wantLine waits until the processes have written line to the pipe.
func (h *held) wantLine(t *testing.T, line string) {
	t.Helper()
	_ = h.r.SetReadDeadline(time.Now().Add(10 * time.Second))
	buf := make([]byte, len(line)+1)
	if _, err := io.ReadFull(h.r, buf); err != nil || string(buf) != line+"\n" {
		t.Fatalf("got %q, %v; want line %q", buf, err, line)
	}
}

func start(t *testing.T, h *held, line string) *Group {
	t.Helper()
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.ExtraFiles = []*os.File{h.w}
	g, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func TestNothingOutlivesAKilledParent(t *testing.T) {
	for _, line := range []string{
		"sleep 100 & sleep 100",
		"trap '' TERM HUP; sleep 100 & (sleep 100 & sleep 100) & wait",
		"(sleep 100 &) ; exec sleep 100",
		leaver("group"), leaver("session"),
	} {
		t.Run(line, func(t *testing.T) {
			h := newHeld(t)
			p := exec.Command(os.Args[0])
			p.Env = append(os.Environ(), parentEnv+"="+line)
			p.ExtraFiles = []*os.File{h.w}
			out, err := p.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(); err != nil {
				t.Fatal(err)
			}
			if s, err := bufio.NewReader(out).ReadString('\n'); s != "started\n" {
				t.Fatalf("parent said %q, %v", s, err)
			}
			if strings.Contains(line, leaveEnv) {
				h.wantLine(t, "up")
			}
			if err := p.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			_ = p.Wait()
			h.wantFree(t, 2*time.Second)
		})
	}
}

func TestKillEndsTheWholeGroup(t *testing.T) {
	for name, tc := range map[string]struct {
		line  string
		grace time.Duration
		want  string // part of Wait's error
	}{
		"polite":   {"(sleep 100 & sleep 100) & echo up >&3; sleep 100", 10 * time.Second, "terminated"},
		"stubborn": {"trap '' TERM; (sleep 100 & sleep 100) & echo up >&3; while :; do sleep 100; done", 50 * time.Millisecond, "killed"},
		"at once":  {"echo up >&3; sleep 100", 0, "killed"},
		// What has left the group is still a part of the command.
		"left its group":        {leaver("group"), 0, "killed"},
		"left its session":      {leaver("session"), 0, "killed"},
		"left and asked to end": {leaver("group"), 10 * time.Second, "terminated"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHeld(t)
			g := start(t, h, tc.line)
			waited := make(chan error, 1)
			go func() { waited <- g.Wait() }()
			h.wantLine(t, "up")
			g.Kill(tc.grace)
			if err := <-waited; err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("Wait gave %v, want %q", err, tc.want)
			}
			h.wantFree(t, 2*time.Second)
			g.Kill(time.Second) // of an ended group: nothing
		})
	}
}

func TestWaitSweepsWhatTheCommandLeft(t *testing.T) {
	t.Run("in its group", func(t *testing.T) { wantSwept(t, "sleep 100 & echo out", "") })
	t.Run("in a group of its own", func(t *testing.T) {
		wantSwept(t, "("+leaver("group")+") & read -r go; echo out", "go\n")
	})
}

// wantSwept runs a line that leaves something running. With an input, the line reads it once what it
// leaves is up.
func wantSwept(t *testing.T, line, input string) {
	h := newHeld(t)
	cmd := exec.Command("/bin/sh", "-c", line)
	cmd.ExtraFiles = []*os.File{h.w}
	var out strings.Builder
	cmd.Stdout = &out
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	g, err := Start(cmd)
	if err != nil {
		t.Fatal(err)
	}
	if input != "" {
		h.wantLine(t, "up")
	}
	if _, err := io.WriteString(in, input); err != nil {
		t.Fatal(err)
	}
	if err := g.Wait(); err != nil {
		t.Errorf("Wait: %v", err)
	}
	if out.String() != "out\n" {
		t.Errorf("output %q", out.String())
	}
	h.wantFree(t, 2*time.Second)
	select {
	case <-g.Done():
	default:
		t.Error("Done is still open after Wait")
	}
}

func TestExitCodeAndMissingCommand(t *testing.T) {
	g := start(t, newHeld(t), "exit 7")
	var exit *exec.ExitError
	if err := g.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("Wait gave %v, want exit status 7", err)
	}
	if _, err := Start(exec.Command("/nowhere/at/all")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Start of a missing command gave %v", err)
	}
}

// TestOwnSession holds that a command has no controlling terminal to ask on, wherever we were started.
func TestOwnSession(t *testing.T) {
	h := newHeld(t)
	g := start(t, h, "echo up >&3; sleep 100")
	h.wantLine(t, "up")
	if sid, err := unix.Getsid(g.Pid()); err != nil || sid != g.Pid() {
		t.Errorf("session of %d is %d, %v", g.Pid(), sid, err)
	}
	g.Kill(0)
	if err := g.Wait(); err == nil {
		t.Error("Wait of a killed command gave no error")
	}
}
