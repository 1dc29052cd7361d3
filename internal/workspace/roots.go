package workspace

import (
	"errors"
	"fmt"
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
