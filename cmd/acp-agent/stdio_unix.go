//go:build unix

package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// takeStdio takes the protocol's two streams away from the rest of the process: the returned files
// are private duplicates that no child inherits, descriptor 0 becomes the null device and 1 becomes
// stderr. A stray print, here or in a child, can then never reach the editor (invariant 7).
func takeStdio() (in, out *os.File, err error) {
	inFD, err := unix.FcntlInt(0, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	outFD, err := unix.FcntlInt(1, unix.F_DUPFD_CLOEXEC, 3)
	if err != nil {
		return nil, nil, err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer null.Close()
	if err := dup2(int(null.Fd()), 0); err != nil {
		return nil, nil, err
	}
	if err := dup2(2, 1); err != nil {
		return nil, nil, err
	}
	os.Stdout = os.Stderr
	return pollable(inFD, "stdin"), pollable(outFD, "stdout"), nil
}

// pollable wraps fd so that Close ends a pending Read or Write, where it is a pipe or socket. A
// terminal is left blocking: the flag would stay on it for the shell.
func pollable(fd int, name string) *os.File {
	var st unix.Stat_t
	if unix.Fstat(fd, &st) == nil && (st.Mode&unix.S_IFMT == unix.S_IFIFO || st.Mode&unix.S_IFMT == unix.S_IFSOCK) {
		_ = unix.SetNonblock(fd, true)
	}
	return os.NewFile(uintptr(fd), name)
}
