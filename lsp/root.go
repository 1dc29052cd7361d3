package lsp

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/workspace"
)

// maxClimb bounds every walk towards the root of the file system.
const maxClimb = 64

// worktreeOf finds the top of the git worktree that holds p: the nearest folder with a .git folder,
// or with a .git file that points to an existing one. A .git file that points nowhere means "no
// repository": what lies above it is another project's.
func worktreeOf(p workspace.Path) (workspace.Path, bool) {
	dir := p
	if st, err := os.Stat(string(p)); err != nil || !st.IsDir() {
		dir = p.Dir()
	}
	for range maxClimb {
		git := dir.Join(".git")
		if st, err := os.Stat(string(git)); err == nil {
			if st.IsDir() {
				return dir, true
			}
			return dir, gitfileAlive(git)
		}
		up := dir.Dir()
		if up == dir {
			break
		}
		dir = up
	}
	return "", false
}

// gitfileAlive reads a .git file ("gitdir: PATH") and says whether what it names exists.
func gitfileAlive(git workspace.Path) bool {
	data, err := workspace.ReadRegular(git, 64<<10)
	if err != nil {
		return false
	}
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
	if !ok {
		return false
	}
	target = strings.TrimSpace(target)
	if !filepath.IsAbs(target) {
		target = filepath.Join(string(git.Dir()), target)
	}
	st, err := os.Stat(target)
	return err == nil && st.IsDir()
}

// projectRoot is the nearest folder above the file, and not above top, that holds one of the markers
// and none of the row's vetoes (T6); top when there is none.
func projectRoot(row *spec, file, top workspace.Path) workspace.Path {
	for dir := file.Dir(); top.Contains(dir); dir = dir.Dir() {
		if holdsAny(dir, row.roots) && !holdsAny(dir, row.notRoot) {
			return dir
		}
		if dir == top {
			break
		}
	}
	return top
}

func holdsAny(dir workspace.Path, names []string) bool {
	for _, n := range names {
		if strings.ContainsAny(n, "*?[") {
			if m, err := doublestar.Glob(os.DirFS(string(dir)), n); err == nil && len(m) > 0 {
				return true
			}
			continue
		}
		if _, err := os.Stat(string(dir.Join(filepath.FromSlash(n)))); err == nil {
			return true
		}
	}
	return false
}

// excluded says whether a project root is shut out by lsp.exclude_roots (L14). A pattern is a glob
// against the whole path; "~" is the user's home; a match of a folder covers everything beneath.
func excluded(root workspace.Path, patterns []string, home workspace.Path) bool {
	path := filepath.ToSlash(string(root))
	for _, pattern := range patterns {
		pattern = strings.TrimRight(filepath.ToSlash(expandHome(pattern, home)), "/")
		if pattern == "" {
			continue
		}
		for _, p := range []string{pattern, pattern + "/**"} {
			if ok, err := doublestar.Match(p, path); ok && err == nil {
				return true
			}
		}
		if path == pattern || strings.HasPrefix(path, pattern+"/") {
			return true // a path whose name has glob characters
		}
	}
	return false
}

// expandHome replaces a leading "~".
func expandHome(p string, home workspace.Path) string {
	if home == "" || (p != "~" && !strings.HasPrefix(p, "~/") && !strings.HasPrefix(p, `~\`)) {
		return p
	}
	return filepath.Join(string(home), p[1:])
}

// realPath resolves symlinks of the longest part of p that exists.
func realPath(p workspace.Path) workspace.Path {
	rest := ""
	for dir := string(p); ; {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return workspace.Path(filepath.Join(real, rest))
		}
		up := filepath.Dir(dir)
		if up == dir {
			return p
		}
		rest = filepath.Join(filepath.Base(dir), rest)
		dir = up
	}
}
