package procgroup

import (
	"fmt"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// system is a job object that ends its processes when its last handle is closed, which our death
// does as well.
type system struct {
	job windows.Handle
}

func (s *system) start(cmd *exec.Cmd) error {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return fmt.Errorf("create job object: %w", err)
	}
	s.job = job
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE
	if _, err := windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info))); err != nil {
		s.release()
		return fmt.Errorf("set up job object: %w", err)
	}
	attr := syscall.SysProcAttr{}
	if cmd.SysProcAttr != nil {
		attr = *cmd.SysProcAttr
	}
	attr.HideWindow = true
	attr.CreationFlags |= windows.CREATE_NEW_PROCESS_GROUP
	cmd.SysProcAttr = &attr
	if err := cmd.Start(); err != nil {
		s.release()
		return err
	}
	if err := s.adopt(cmd.Process.Pid); err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		s.release()
		return fmt.Errorf("put %s into its job object: %w", cmd.Path, err)
	}
	return nil
}

// adopt puts a process into the job. What it starts later belongs to the job by itself; what it could
// start before this call does not, a window of microseconds.
func (s *system) adopt(pid int) error {
	h, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(pid))
	if err != nil {
		return err
	}
	defer windows.CloseHandle(h)
	return windows.AssignProcessToJobObject(s.job, h)
}

// terminate does nothing: Windows has no polite end that reaches processes without a window or our
// console.
func (s *system) terminate() bool { return false }

func (s *system) kill() bool { return windows.TerminateJobObject(s.job, 1) == nil }

func (s *system) release() { windows.CloseHandle(s.job) }
