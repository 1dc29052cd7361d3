package acptest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// built is the program under test, built once for a test process.
var built struct {
	once sync.Once
	dir  string
	err  error
}

// Binary builds cmd/acp-agent as it is released and gives its path. [Cleanup] removes it.
func Binary(t testing.TB) string {
	t.Helper()
	built.once.Do(func() {
		if built.dir, built.err = os.MkdirTemp("", "acp-agent-test-"); built.err != nil {
			return
		}
		cmd := exec.Command("go", "build", "-o", built.dir+string(filepath.Separator), "acp-agent/cmd/acp-agent")
		cmd.Env = append(cmd.Environ(), "CGO_ENABLED=0")
		if out, err := cmd.CombinedOutput(); err != nil {
			built.err = fmt.Errorf("%w\n%s", err, out)
		}
	})
	if built.err != nil {
		t.Fatalf("build the program: %v", built.err)
	}
	name := "acp-agent"
	if filepath.Separator == '\\' {
		name += ".exe"
	}
	return filepath.Join(built.dir, name)
}

// Cleanup removes what [Binary] built. TestMain calls it last.
func Cleanup() {
	if built.dir != "" {
		os.RemoveAll(built.dir)
	}
}

// Process is the built program with an editor on its stdin and stdout.
type Process struct {
	*Editor
	Cmd    *exec.Cmd
	Home   string // ACP_AGENT_HOME
	stderr *lockedBuffer
	stdout *os.File      // our end
	exited chan struct{} // closed when the process has ended
}

// ProcessOptions choose how the program is started.
type ProcessOptions struct {
	Dir  string   // working directory of the process; a fresh one by default
	Home string   // ACP_AGENT_HOME; a fresh one by default
	Args []string // "acp" by default
	Env  []string // added to a small environment
}

// StartProcess builds and starts the program. At the end of the test its stdin is closed; a process
// that is still there after patience is killed and fails the test.
func StartProcess(t testing.TB, o EditorOptions, p ProcessOptions) *Process {
	t.Helper()
	if p.Dir == "" {
		p.Dir = t.TempDir()
	}
	if p.Home == "" {
		p.Home = filepath.Join(t.TempDir(), "home")
	}
	if p.Args == nil {
		p.Args = []string{"acp"}
	}
	cmd := exec.Command(Binary(t), p.Args...)
	cmd.Dir = p.Dir
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "TMPDIR=" + t.TempDir(), "TERM=dumb", "ACP_AGENT_HOME=" + p.Home,
	}, p.Env...)
	proc := startCommand(t, cmd, o)
	proc.Home = p.Home
	return proc
}

// startCommand runs cmd with an editor at its streams.
func startCommand(t testing.TB, cmd *exec.Cmd, o EditorOptions) *Process {
	t.Helper()
	proc := &Process{Cmd: cmd, stderr: &lockedBuffer{}, exited: make(chan struct{})}
	cmd.Stderr = proc.stderr
	// Pipes of our own: those of exec are closed by Wait, maybe before all is read.
	stdout, agentOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	agentIn, stdin, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout = agentIn, agentOut
	ownGroup(cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	agentIn.Close()
	agentOut.Close()
	go func() {
		defer close(proc.exited)
		_ = cmd.Wait() // the exit code is read from ProcessState
	}()
	t.Cleanup(func() {
		stdin.Close()
		proc.awaitExit(t, 60*time.Second)
		stdout.Close()
		if t.Failed() {
			t.Logf("the program's stderr:\n%s", proc.Stderr())
		}
	})
	proc.stdout = stdout
	proc.Editor = NewEditor(t, stdout, stdin, o)
	return proc
}

// CloseOutput stops listening: the program's next write fails.
func (p *Process) CloseOutput() { p.stdout.Close() }

// Output runs the built program to its end and gives its stdout.
func Output(t testing.TB, args ...string) (string, error) {
	t.Helper()
	cmd := exec.Command(Binary(t), args...)
	cmd.Env = append(cmd.Environ(), "ACP_AGENT_HOME="+t.TempDir())
	out, err := cmd.Output()
	return string(out), err
}

// AwaitExit waits for the process to end and gives its exit code; -1 after a signal.
func (p *Process) AwaitExit(within time.Duration) int {
	p.t.Helper()
	p.awaitExit(p.t, within)
	return p.Cmd.ProcessState.ExitCode()
}

func (p *Process) awaitExit(t testing.TB, within time.Duration) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	select {
	case <-p.exited:
	case <-deadline.C:
		t.Errorf("the program still runs after %v", within)
		killGroup(p.Cmd)
		<-p.exited
	}
}

// Stderr is what the program wrote there so far.
func (p *Process) Stderr() string { return p.stderr.String() }

// RSS is the most memory that the process has used at once, in bytes (Linux; 0 elsewhere).
func (p *Process) RSS() int64 {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid))
	if err != nil {
		return 0
	}
	_, after, _ := strings.Cut(string(data), "VmHWM:")
	fields := strings.Fields(after)
	if len(fields) == 0 {
		return 0
	}
	kb, _ := strconv.ParseInt(fields[0], 10, 64)
	return kb << 10
}

// lockedBuffer collects output that is read while it grows.
type lockedBuffer struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

// Write appends.
func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.Write(p)
}

// String is what was written so far.
func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buf.String()
}

// take is what was written since the last call.
func (b *lockedBuffer) take() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	text := b.buf.String()
	b.buf.Reset()
	return text
}

func (b *lockedBuffer) printf(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	fmt.Fprintf(&b.buf, format, args...)
}
