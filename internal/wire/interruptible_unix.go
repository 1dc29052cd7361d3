//go:build unix

package wire

import (
	"os"

	"golang.org/x/sys/unix"
)

// Interruptible gives a copy of f, if that is a pipe or a socket, whose Close ends a Read or Write
// that waits. Standard input is inherited as a blocking descriptor, and closing that leaves its
// Read waiting for ever. Only the copy may be read or written from then on. That the descriptor no
// longer blocks is seen by whoever else holds this end of the pipe, which for the standard input
// and output of an agent is nobody who reads or writes.
func Interruptible(f *os.File) *os.File {
	info, err := f.Stat()
	if err != nil || info.Mode()&(os.ModeNamedPipe|os.ModeSocket) == 0 {
		return f
	}
	fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return f
	}
	if err := unix.SetNonblock(fd, true); err != nil {
		_ = unix.Close(fd)
		return f
	}
	return os.NewFile(uintptr(fd), f.Name())
}
