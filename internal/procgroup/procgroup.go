// Package procgroup runs child processes that never outlive us. A [Group] is one command with all
// that it starts: ended together by [Group.Kill], swept when the command itself ends, and gone within
// moments when this process dies, even by SIGKILL. It knows no tool, no terminal and no language
// server, and it never reads or writes what the command prints.
package procgroup

import (
	"errors"
	"os/exec"
	"sync"
	"time"
)

// defaultWaitDelay is how long the output of a command that has ended may still be held open by what
// it left running, before that is ended too. A `tee` at the end of its work needs it.
const defaultWaitDelay = 300 * time.Millisecond

// Group is a started command and its descendants, those that left its process group included (but no
// daemons: what is in a session of its own and has lost its parent). Its owner calls [Group.Wait];
// [Group.Kill] may come from any goroutine.
type Group struct {
	cmd  *exec.Cmd
	wait func() error
	done chan struct{}

	mu    sync.Mutex
	ended bool // guarded by mu; the group must not be signalled any more, its number may be another's
	sys   system
}

// Start starts cmd in a group of its own without a controlling terminal, so that a password prompt
// fails at once instead of hanging. cmd must come from [exec.Command], not CommandContext, which
// would end only the leader. What cmd.SysProcAttr already says is kept.
func Start(cmd *exec.Cmd) (*Group, error) {
	if cmd.WaitDelay == 0 {
		cmd.WaitDelay = defaultWaitDelay
	}
	g := &Group{cmd: cmd, done: make(chan struct{})}
	if err := g.sys.start(cmd); err != nil {
		return nil, err
	}
	g.wait = sync.OnceValue(g.reap)
	return g, nil
}

// Pid is the process id of the command itself.
func (g *Group) Pid() int { return g.cmd.Process.Pid }

// Done is closed when the group has ended, which takes somebody in [Group.Wait].
func (g *Group) Done() <-chan struct{} { return g.done }

// Wait blocks until the command has ended and its output is copied, ends what it left running, and
// gives the error of [exec.Cmd.Wait]. It may be called more than once and from several goroutines.
// With cmd.StdoutPipe, read to the end first, as for exec.Cmd.
func (g *Group) Wait() error { return g.wait() }

// Kill asks the whole group to end, and ends it by force when it has not after grace (at once for
// 0). It returns when the group has ended or was ended by force; somebody must be in Wait, or call it
// afterwards. A group that has ended is left alone.
func (g *Group) Kill(grace time.Duration) {
	if grace > 0 && g.signal(g.sys.terminate) {
		t := time.NewTimer(grace)
		defer t.Stop()
		select {
		case <-g.done:
			return
		case <-t.C:
		}
	}
	g.signal(g.sys.kill)
}

// signal calls f unless the group has ended, and says whether f did something.
func (g *Group) signal(f func() bool) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return !g.ended && f()
}

func (g *Group) reap() error {
	err := g.cmd.Wait()
	g.mu.Lock()
	g.sys.kill() // what the command left running
	g.ended = true
	g.mu.Unlock()
	g.sys.release()
	close(g.done)
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // the command itself ended well
	}
	return err
}
