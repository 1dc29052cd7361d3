package tool

import (
	"os/exec"
	"syscall"
)

// shell runs line as the system's shell does. cmd.exe takes its line as it is: /S makes it drop just
// the outer quotes, and the usual quoting of arguments would spoil it.
func shell(line string) *exec.Cmd {
	cmd := exec.Command("cmd.exe")
	cmd.SysProcAttr = &syscall.SysProcAttr{CmdLine: `cmd.exe /D /S /C "` + line + `"`}
	return cmd
}

// signalName is "": Windows ends processes with a code.
func signalName(*exec.ExitError) string { return "" }
