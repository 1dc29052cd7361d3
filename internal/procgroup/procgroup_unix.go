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
// and exists on Linux only. Whom it kills is what [members] says, in the shell's words: it begins with
// the group's number, adds what belongs to that, kills it, and looks again until nothing is new.
const watchdogScript = `trap '' HUP INT QUIT TERM
read -r g || exit 0
read -r _
table() {
	if [ -r /proc/self/stat ]; then
		for f in /proc/[0-9]*/stat; do
			{ read -r line <"$f"; } 2>/dev/null || continue
			set -- ${line##*) }
			f=${f#/proc/}
			echo "${f%/stat} $2 $3 $4"
		done
	else
		ps -A -o pid= -o ppid= -o pgid=
	fi
}
all=" $g "
new=1
while [ -n "$new" ]; do
	new=
	grown=1
	t=$(table)
	while [ -n "$grown" ]; do
		grown=
		while read -r pid parent group session; do
			case "$all" in *" $pid "*) continue;; esac
			for of in $parent $group $session; do
				case "$all" in *" $of "*) grown=1; new="$new$pid "; all="$all$pid "; break;; esac
			done
		done <<-END
		$t
		END
	done
	kill -KILL "-$g" $new
done`

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

func (s *system) terminate() bool { return signalAll(s.pgid, syscall.SIGTERM) }

func (s *system) kill() bool { return signalAll(s.pgid, syscall.SIGKILL) }

func (s *system) release() {
	_ = s.watchdog.Process.Kill()
	_ = s.watchdog.Wait()
	s.lifeline.Close()
}
