//go:build unix

package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// openFlags keep an open from following a symlink that appeared meanwhile and from waiting for the
// other end of a FIFO.
const openFlags = syscall.O_NOFOLLOW | noWait

// noWait keeps an open from waiting for the other end of a FIFO.
const noWait = syscall.O_NONBLOCK

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

// isNoLink says that a file system has no hard links (or none for us).
func isNoLink(err error) bool {
	for _, e := range []error{syscall.EPERM, syscall.ENOTSUP, syscall.EOPNOTSUPP, syscall.ENOSYS, syscall.EMLINK, syscall.EACCES} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// isUnwritable says that a folder does not take new files.
func isUnwritable(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// owner is what a rename would change of a file: its links, owner and group.
func statOwner(info fs.FileInfo) (links uint64, uid, gid int, ok bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, 0, 0, false
	}
	return uint64(st.Nlink), int(st.Uid), int(st.Gid), true
}

func syncDir(f *os.File) error {
	err := f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		return nil // some file systems have nothing to flush for a folder
	}
	return err
}

// alive says whether there is a process of that number. One that we may not signal is one.
func alive(pid int) bool { return !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
