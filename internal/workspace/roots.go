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

// Roots are the directories that one session may touch without asking: its cwd, the editor's
// additional directories, and the operator's configured roots. The value is immutable.
type Roots struct {
	cwd   Path
	named []Path // as given; named[0] is cwd
	real  []Path // the same with symlinks resolved
	home  Path   // the user's home folder, for "~"; empty when unknown
}

// NewRoots resolves cwd and the further directories. home serves "~" in tool arguments. A directory
// that does not exist is an error that names it.
func NewRoots(cwd, home Path, additional ...Path) (*Roots, error) {
	r := &Roots{cwd: cwd, home: home}
	seen := map[Path]bool{}
	for _, dir := range append([]Path{cwd}, additional...) {
		if !filepath.IsAbs(string(dir)) {
			return nil, fmt.Errorf("root %q: %w", dir, ErrNotAbsolute)
		}
		dir = Path(filepath.Clean(string(dir)))
		if seen[dir] {
			continue
		}
		seen[dir] = true
		real, _, err := resolve(string(dir))
		if err != nil {
			return nil, fmt.Errorf("root %s: %w", dir, err)
		}
		info, err := os.Stat(real)
		if err != nil {
			return nil, fmt.Errorf("root %s: %w", dir, err)
		}
		if !info.IsDir() {
			return nil, fmt.Errorf("root %s: not a folder", dir)
		}
		r.named = append(r.named, dir)
		r.real = append(r.real, Path(real))
	}
	r.cwd = r.named[0]
	return r, nil
}

// Cwd is the base of relative tool paths.
func (r *Roots) Cwd() Path { return r.cwd }

// Named lists the roots as they were given, cwd first.
func (r *Roots) Named() []Path { return append([]Path(nil), r.named...) }

// Real lists the roots with symlinks resolved, in the order of [Roots.Named].
func (r *Roots) Real() []Path { return append([]Path(nil), r.real...) }

// Home is the user's home folder, empty when unknown.
func (r *Roots) Home() Path { return r.home }

// Resolve turns a path from a tool argument into a [Path]: absolute as it is, "~" expanded, a file:
// URI decoded, anything else below cwd. It refuses the empty path and NUL bytes.
func (r *Roots) Resolve(arg string) (Path, error) {
	if strings.TrimSpace(arg) == "" {
		return "", errors.New("the path is empty: give an absolute path, or one relative to " + string(r.cwd))
	}
	if strings.ContainsRune(arg, 0) {
		return "", fmt.Errorf("path %q has a NUL byte", arg)
	}
	if len(arg) > len("file:/") && strings.EqualFold(arg[:len("file:")], "file:") && arg[len("file:")] == '/' {
		p, err := pathOfURI(arg[len("file:"):])
		if err != nil {
			return "", fmt.Errorf("path %q: %w", arg, err)
		}
		return ParsePath(p)
	}
	if arg == "~" || strings.HasPrefix(arg, "~/") || strings.HasPrefix(arg, `~\`) && runtime.GOOS == "windows" {
		if r.home == "" {
			return "", fmt.Errorf("path %q: the home folder is not known; give an absolute path", arg)
		}
		return r.home.Join(arg[1:]), nil
	}
	if filepath.IsAbs(arg) {
		return ParsePath(arg)
	}
	return r.cwd.Join(arg), nil
}

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

// Location is where a path really leads.
type Location struct {
	Path   Path // as asked for
	Real   Path // with all symlinks resolved; for a path that does not exist, those of its longest existing parent
	Root   Path // the named root that really contains Real; empty when outside
	Inside bool // Real lies inside a root's real path
	Link   bool // the last element exists and is a symlink
}

// Locate follows symlinks and says whether the real target lies within a root. It never fails: a
// path that cannot be resolved (loop, permission) is outside.
func (r *Roots) Locate(p Path) Location {
	loc, _ := r.locate(p)
	return loc
}

// LocateEntry is Locate for the directory entry itself: the folder's symlinks are followed, a
// symlink at the last element is not. Deleting and moving act on entries.
func (r *Roots) LocateEntry(p Path) Location {
	loc := Location{Path: p, Real: p}
	dir, _, err := resolve(string(p.Dir()))
	if err != nil {
		return loc
	}
	loc.Real = Path(dir).Join(p.Base())
	if info, err := os.Lstat(string(loc.Real)); err == nil {
		loc.Link = isLink(info)
	}
	loc.Root, _, loc.Inside = r.owner(loc.Real)
	return loc
}

func (r *Roots) locate(p Path) (Location, error) {
	loc := Location{Path: p, Real: p}
	real, link, err := resolve(string(p))
	if err != nil {
		return loc, err
	}
	loc.Real, loc.Link = Path(real), link
	loc.Root, _, loc.Inside = r.owner(loc.Real)
	return loc, nil
}

// owner is the innermost root that contains real: its given name and its real path.
func (r *Roots) owner(real Path) (named, realRoot Path, ok bool) {
	for i, root := range r.real {
		if root.Contains(real) && (!ok || realRoot.Contains(root)) {
			named, realRoot, ok = r.named[i], root, true
		}
	}
	if ok || runtime.GOOS != "darwin" && runtime.GOOS != "windows" {
		return named, realRoot, ok
	}
	return r.ownerByIdentity(real)
}

// ownerByIdentity finds the root where names differ but the folder is the same one, as on file
// systems that ignore case.
func (r *Roots) ownerByIdentity(real Path) (named, realRoot Path, ok bool) {
	for dir := real; ; dir = dir.Dir() {
		if info, err := os.Stat(string(dir)); err == nil {
			for i, root := range r.real {
				if other, err := os.Stat(string(root)); err == nil && os.SameFile(info, other) {
					return r.named[i], root, true
				}
			}
		}
		if dir.Dir() == dir {
			return "", "", false
		}
	}
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
