package acptest

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
)

// ownGroup starts the command in a process group of its own.
func ownGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// killGroup kills the command; its children are not reached on Windows, where no test runs commands.
func killGroup(cmd *exec.Cmd) { _ = cmd.Process.Kill() }

// signalOf is always "": Windows has no signals.
func signalOf(*os.ProcessState) string { return "" }

func isBrokenPipe(err error) bool { return errors.Is(err, syscall.ERROR_BROKEN_PIPE) }
