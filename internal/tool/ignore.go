package tool

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/workspace"
)

// maxIgnoreFile bounds what is read of one ignore file.
const maxIgnoreFile = 1 << 20

// ignoreRules are the ignore files of one folder, with those of the folders above it behind them. A
// nil value ignores nothing. It is immutable.
type ignoreRules struct {
	above *ignoreRules
	dir   workspace.Path
	rules []ignoreRule // in the order of the files; the last that matches decides
}

// ignoreRule is one line of an ignore file, as gitignore(5) has it.
type ignoreRule struct {
	glob     string
	negate   bool // "!": taken in again
	dirOnly  bool
	anchored bool // matched against the path below its folder, else against the name alone
	plain    bool // no wildcards: compared as it is
}

// ignoreRulesFor gives the rules that hold inside dir. They come from the git work tree's top, or
// from the session's root where there is none. When dir itself is ignored, whoever named it wants it:
// then only what lies inside it can ignore more.
func ignoreRulesFor(roots *workspace.Roots, dir workspace.Path) *ignoreRules {
	top := ignoreTop(roots, dir)
	var r *ignoreRules
	for at, rest := top, strings.Split(dir.Rel(top), "/"); ; rest = rest[1:] {
		r = r.enter(at)
		if at == dir || len(rest) == 0 {
			return r
		}
		at = at.Join(rest[0])
		if r.ignores(at, true) {
			r = nil
		}
	}
}

// gitIgnores says whether git would ignore a file or folder, for the titles of calls that touch it anyway.
func gitIgnores(roots *workspace.Roots, p workspace.Path) bool {
	top := ignoreTop(roots, p.Dir())
	if p == top || !top.Contains(p) {
		return false
	}
	info, err := os.Lstat(p.String())
	isDir := err == nil && info.IsDir()
	var r *ignoreRules
	at := top
	parts := strings.Split(p.Rel(top), "/")
	for i, part := range parts {
		r = r.enter(at)
		at = at.Join(part)
		if r.ignores(at, i < len(parts)-1 || isDir) {
			return true
		}
	}
	return false
}

// ignoreTop is the folder whose ignore files come first.
func ignoreTop(roots *workspace.Roots, dir workspace.Path) workspace.Path {
	for at := dir; ; at = at.Dir() {
		if _, err := os.Lstat(at.Join(".git").String()); err == nil {
			return at
		}
		if at == at.Dir() {
			break
		}
	}
	for _, root := range roots.Named() {
		if root.Contains(dir) {
			return root
		}
	}
	return dir
}

// enter adds the ignore files of a folder, the weakest first.
func (r *ignoreRules) enter(dir workspace.Path) *ignoreRules {
	var rules []ignoreRule
	for _, name := range []string{".git/info/exclude", ".gitignore", ".ignore"} {
		rules = append(rules, readIgnoreFile(dir.Join(filepath.FromSlash(name)))...)
	}
	if len(rules) == 0 {
		return r
	}
	return &ignoreRules{above: r, dir: dir, rules: rules}
}

// ignores says whether p, an entry of a folder that is not ignored itself, is ignored.
func (r *ignoreRules) ignores(p workspace.Path, isDir bool) bool {
	for ; r != nil; r = r.above {
		rel := p.Rel(r.dir)
		for i := len(r.rules) - 1; i >= 0; i-- {
			if r.rules[i].matches(rel, isDir) {
				return !r.rules[i].negate
			}
		}
	}
	return false
}

func (r *ignoreRule) matches(rel string, isDir bool) bool {
	if r.dirOnly && !isDir {
		return false
	}
	if !r.anchored {
		rel = path.Base(rel)
	}
	if r.plain {
		return r.glob == rel
	}
	ok, err := doublestar.Match(r.glob, rel)
	return ok && err == nil
}

func readIgnoreFile(p workspace.Path) []ignoreRule {
	f, _, err := workspace.OpenRegular(p)
	if err != nil {
		return nil
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxIgnoreFile))
	if err != nil {
		return nil
	}
	var rules []ignoreRule
	for line := range strings.Lines(strings.TrimPrefix(string(data), "\ufeff")) {
		if r, ok := parseIgnoreRule(line); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseIgnoreRule(line string) (ignoreRule, bool) {
	line = strings.TrimRight(line, "\r\n")
	for strings.HasSuffix(line, " ") && !strings.HasSuffix(line, `\ `) {
		line = line[:len(line)-1]
	}
	var r ignoreRule
	if strings.HasPrefix(line, "#") {
		return r, false
	}
	line, r.negate = strings.CutPrefix(line, "!")
	line, r.dirOnly = strings.CutSuffix(line, "/")
	r.anchored = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.plain = !strings.ContainsAny(line, `*?[\`)
	if !r.plain {
		line = strings.NewReplacer(`\\`, `\\`, `\{`, `\{`, `\}`, `\}`, "{", `\{`, "}", `\}`).Replace(line) // no alternatives in git
		if strings.HasSuffix(line, "/**") {
			line += "/*" // what is inside, not the folder itself
		}
	}
	r.glob = line
	return r, true
}
