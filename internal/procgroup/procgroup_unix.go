//go:build unix

package procgroup

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
)

// watchdogScript ends a group when we are gone. It reads the group's number and then waits for the
// end of its input, which only our death brings: as long as we live, we hold the other end, and a
// group that has ended takes its watchdog with it. Pdeathsig would not do: it reaches the leader only,
// and exists on Linux only.
const watchdogScript = `trap '' HUP INT QUIT TERM; read -r g || exit 0; read -r _; kill -KILL "-$g"`

// system is a session of its own (whose leader is the command) and the watchdog beside it.
type system struct {
	pgid     int
	watchdog *exec.Cmd
	lifeline *os.File // the watchdog's input
}

func (s *system) start(cmd *exec.Cmd) error {
	if err := s.watch(); err != nil {
		return err
	}
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.Setsid, attr.Setpgid, attr.Pgid = true, false, 0
	cmd.SysProcAttr = &attr
	if err := cmd.Start(); err != nil {
		s.release()
		return err
	}
	s.pgid = cmd.Process.Pid
	if _, err := fmt.Fprintln(s.lifeline, s.pgid); err != nil {
		s.kill()
		_ = cmd.Wait()
		s.release()
		return fmt.Errorf("watchdog of %s: %w", cmd.Path, err)
	}
	return nil
}

// watch starts the watchdog before the command, so that between the command's start and its being
// watched lies one write to a pipe.
func (s *system) watch() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	dog := exec.Command("/bin/sh", "-c", watchdogScript)
	dog.Dir, dog.Env, dog.Stdin = "/", []string{}, r
	dog.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := dog.Start(); err != nil {
		w.Close()
		return fmt.Errorf("start watchdog: %w", err)
	}
	s.watchdog, s.lifeline = dog, w
	return nil
}

func (s *system) terminate() bool { return syscall.Kill(-s.pgid, syscall.SIGTERM) == nil }

func (s *system) kill() bool { return syscall.Kill(-s.pgid, syscall.SIGKILL) == nil }

func (s *system) release() {
	_ = s.watchdog.Process.Kill()
	_ = s.watchdog.Wait()
	s.lifeline.Close()
}
