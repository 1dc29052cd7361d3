package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const (
	openFlags = 0
	noWait    = 0
)

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func isNoLink(err error) bool { return !errors.Is(err, fs.ErrExist) }

func isUnwritable(err error) bool { return errors.Is(err, fs.ErrPermission) }

func statOwner(fs.FileInfo) (links uint64, uid, gid int, ok bool) { return 0, 0, 0, false }

// syncDir does nothing: Windows flushes folders itself and refuses to be asked.
func syncDir(*os.File) error { return nil }

// alive says whether there is a process of that number. One that we may not look at is one.
func alive(pid int) bool {
	const queryLimited, stillActive, invalidParameter = 0x1000, 259, syscall.Errno(87)
	h, err := syscall.OpenProcess(queryLimited, false, uint32(pid))
	if err != nil {
		return !errors.Is(err, invalidParameter)
	}
	defer syscall.CloseHandle(h)
	var code uint32
	return syscall.GetExitCodeProcess(h, &code) != nil || code == stillActive
}
