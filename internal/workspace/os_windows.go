package workspace

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

const openFlags = 0

func isNotDir(err error) bool { return errors.Is(err, syscall.ENOTDIR) }

func isNoLink(err error) bool { return !errors.Is(err, fs.ErrExist) }

func isUnwritable(err error) bool { return errors.Is(err, fs.ErrPermission) }

func statOwner(fs.FileInfo) (links uint64, uid, gid int, ok bool) { return 0, 0, 0, false }

// syncDir does nothing: Windows flushes folders itself and refuses to be asked.
func syncDir(*os.File) error { return nil }
