package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// pathOfURI decodes what follows "file:" in a URI. A fragment such as #L10 is dropped; a question
// mark is part of the name, as models write names without encoding them.
func pathOfURI(rest string) (string, error) {
	host := ""
	if strings.HasPrefix(rest, "//") {
		host = rest[2:]
		slash := strings.IndexByte(host, '/')
		if slash < 0 {
			return "", errors.New("the file URI has no path")
		}
		host, rest = host[:slash], host[slash:]
	}
	rest, _, _ = strings.Cut(rest, "#")
	name, err := url.PathUnescape(rest)
	if err != nil {
		return "", fmt.Errorf("the file URI is not well encoded: %w", err)
	}
	if strings.ContainsRune(name, 0) {
		return "", errors.New("the file URI has a NUL byte")
	}
	local := host == "" || strings.EqualFold(host, "localhost")
	if runtime.GOOS != "windows" {
		if !local {
			return "", fmt.Errorf("the file URI names another machine (%s)", host)
		}
		return name, nil
	}
	if !local {
		return `\\` + host + filepath.FromSlash(name), nil
	}
	// "/C:/x" is C:\x
	if len(name) > 2 && name[0] == '/' && name[2] == ':' {
		name = name[1:]
	}
	return filepath.FromSlash(name), nil
}

// maxLinks bounds how many symlinks one path may lead through; Linux gives up after 40 as well.
const maxLinks = 40

// resolve follows every symlink of an absolute path. What does not exist is kept by name below the
// longest existing parent, for a dangling link below the place that it points at. link says that
// the last element of the path is a symlink.
func resolve(p string) (real string, link bool, err error) {
	volume := filepath.VolumeName(p)
	top := volume + string(filepath.Separator)
	pending := elements(p[len(volume):])
	own := len(pending) // elements of p itself that are still pending, at the end of the list
	real = top
	missing := false
	for hops := 0; len(pending) > 0; {
		isOwn := len(pending) == own
		elem := pending[0]
		pending = pending[1:]
		if isOwn {
			own--
		}
		if elem == ".." {
			if missing {
				return "", false, fmt.Errorf("resolve %s: a link leads through a folder that does not exist", p)
			}
			real = filepath.Dir(real)
			continue
		}
		next := filepath.Join(real, elem)
		if missing {
			real = next
			continue
		}
		info, err := os.Lstat(next)
		if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
			real, missing = next, true
			continue
		}
		if err != nil {
			return "", false, fmt.Errorf("resolve %s: %w", p, err)
		}
		if !isLink(info) {
			real = next
			continue
		}
		if hops++; hops > maxLinks {
			return "", false, fmt.Errorf("resolve %s: the symbolic links go in a circle", p)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", false, fmt.Errorf("resolve %s: %w", p, err)
		}
		link = link || isOwn && own == 0
		if v := filepath.VolumeName(target); filepath.IsAbs(target) {
			volume, top = v, v+string(filepath.Separator)
			real, target = top, target[len(v):]
		}
		pending = append(elements(target), pending...)
	}
	return real, link, nil
}

// elements splits a path and drops empty and "." elements.
func elements(p string) []string {
	var out []string
	for _, e := range strings.FieldsFunc(p, func(r rune) bool { return r < 0x80 && os.IsPathSeparator(uint8(r)) }) {
		if e != "." {
			out = append(out, e)
		}
	}
	return out
}

// isLink knows symlinks, and junctions of Windows, which the os package calls irregular.
func isLink(info fs.FileInfo) bool {
	if info.Mode()&fs.ModeSymlink != 0 {
		return true
	}
	return runtime.GOOS == "windows" && info.Mode()&fs.ModeIrregular != 0
}
