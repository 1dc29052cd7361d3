//go:build unix

package tool

import (
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// shell runs line as the system's shell does.
func shell(line string) *exec.Cmd { return exec.Command("/bin/sh", "-c", line) }

// signalName is the signal that ended a command, "" for none.
func signalName(exit *exec.ExitError) string {
	if status, ok := exit.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		if name := unix.SignalName(status.Signal()); name != "" {
			return name
		}
		return status.Signal().String()
	}
	return ""
}
