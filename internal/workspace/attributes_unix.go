//go:build linux || darwin

package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// carryAttributes gives dst the group, extended attributes and ACL of src (an ACL is an extended
// attribute on Linux). What the system alone may set is left to it.
func carryAttributes(src, dst *os.File) error {
	from, err := src.Stat()
	if err != nil {
		return err
	}
	to, err := dst.Stat()
	if err != nil {
		return err
	}
	_, _, gid, ok := statOwner(from)
	if _, _, now, ok2 := statOwner(to); ok && ok2 && gid != now {
		if err := dst.Chown(-1, gid); err != nil {
			return fmt.Errorf("group: %w", errNotCarried)
		}
	}
	want, err := attributes(src)
	if err != nil {
		return err
	}
	have, err := attributes(dst)
	if err != nil {
		return err
	}
	for name, value := range want {
		if bytes.Equal(have[name], value) {
			continue
		}
		if err := unix.Fsetxattr(int(dst.Fd()), name, value, 0); err != nil && mustCarry(name) {
			return fmt.Errorf("%s: %w", name, errNotCarried)
		}
	}
	for name := range have { // a folder's default ACL gives new files what the old one may not have
		if _, ok := want[name]; !ok && mustCarry(name) {
			if err := unix.Fremovexattr(int(dst.Fd()), name); err != nil {
				return fmt.Errorf("%s: %w", name, errNotCarried)
			}
		}
	}
	return nil
}

// mustCarry tells the user's attributes from labels that the system sets by itself.
func mustCarry(name string) bool {
	return strings.HasPrefix(name, "user.") || name == "system.posix_acl_access"
}

func attributes(f *os.File) (map[string][]byte, error) {
	fd := int(f.Fd())
	size, err := unix.Flistxattr(fd, nil)
	if errors.Is(err, unix.ENOTSUP) || errors.Is(err, unix.ENOSYS) || err == nil && size == 0 {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("attributes of %s: %v: %w", f.Name(), err, errNotCarried)
	}
	list := make([]byte, size)
	if size, err = unix.Flistxattr(fd, list); err != nil {
		return nil, fmt.Errorf("attributes of %s: %v: %w", f.Name(), err, errNotCarried)
	}
	out := map[string][]byte{}
	for name := range strings.SplitSeq(strings.TrimRight(string(list[:size]), "\x00"), "\x00") {
		if name == "security.capability" || name == "security.ima" || name == "security.evm" {
			continue // void once the content is another
		}
		n, err := unix.Fgetxattr(fd, name, nil)
		if err != nil {
			continue
		}
		value := make([]byte, n)
		if n, err = unix.Fgetxattr(fd, name, value); err == nil {
			out[name] = value[:n]
		}
	}
	return out, nil
}
