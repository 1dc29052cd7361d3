package workspace

import (
	"fmt"
	"path/filepath"
	"strings"
)

// Path is an absolute, clean path of this machine. Paths of an editor become a Path at the edge
// (package acp) and turn back there; nothing inside uses the process's working directory.
type Path string

// ParsePath takes an absolute path of this machine and cleans it.
func ParsePath(s string) (Path, error) {
	if !filepath.IsAbs(s) || strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("%q: %w", s, ErrNotAbsolute)
	}
	return Path(filepath.Clean(s)), nil
}

// String is the path as the operating system spells it.
func (p Path) String() string { return string(p) }

// Base is the last element of the path.
func (p Path) Base() string { return filepath.Base(string(p)) }

// Dir is the folder that holds the path.
func (p Path) Dir() Path { return Path(filepath.Dir(string(p))) }

// Join adds elements below the path.
func (p Path) Join(elem ...string) Path {
	return Path(filepath.Join(append([]string{string(p)}, elem...)...))
}

// Contains says whether q is p or lies below it, by name only (no symlinks are followed).
func (p Path) Contains(q Path) bool {
	if p == q {
		return true
	}
	prefix := string(p)
	if !strings.HasSuffix(prefix, string(filepath.Separator)) {
		prefix += string(filepath.Separator)
	}
	return strings.HasPrefix(string(q), prefix)
}

// Rel is the path relative to base with forward slashes when it lies below base, else the whole
// path: the form that titles and messages show.
func (p Path) Rel(base Path) string {
	if !base.Contains(p) {
		return string(p)
	}
	rel, err := filepath.Rel(string(base), string(p))
	if err != nil {
		return string(p)
	}
	return filepath.ToSlash(rel)
}
