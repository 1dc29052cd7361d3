package permissions

import (
	"slices"
	"strings"
)

// gitCall is a git command line taken apart.
type gitCall struct {
	dirs []string // values of -C, in order
	sub  string
	args []string
}

// parseGit finds the subcommand. ok is false when global options other than harmless ones come
// before it: -c and --exec-path, for one, make git run any program.
func parseGit(argv []string) (g gitCall, ok bool) {
	args := argv[1:]
	for len(args) > 0 && strings.HasPrefix(args[0], "-") {
		switch args[0] {
		case "-C":
			if len(args) < 2 {
				return g, false
			}
			g.dirs = append(g.dirs, args[1])
			args = args[1:]
		case "--no-pager", "-P", "--no-optional-locks", "--literal-pathspecs", "--no-replace-objects", "--no-advice":
		default:
			return g, false
		}
		args = args[1:]
	}
	if len(args) == 0 {
		return g, false
	}
	g.sub, g.args = args[0], args[1:]
	return g, true
}

// gitForm is what a subcommand may be given and still only read.
type gitForm struct {
	letters string // short options, in clusters
	values  string // those of them that take what is attached as their value
	longs   words
}

// allows checks every option before "--". Long options count only in full: git also takes their
// beginnings, and --out would be --output=FILE.
func (f *gitForm) allows(args []string) bool {
	for _, a := range args {
		if a == "--" {
			return true
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			continue
		}
		if strings.Contains(a, "%G") {
			return false // a format that makes git start gpg
		}
		if strings.HasPrefix(a, "--") {
			name, _, _ := strings.Cut(a, "=")
			if !f.longs.has(name) {
				return false
			}
			continue
		}
		if a[1] >= '0' && a[1] <= '9' {
			continue // -5
		}
		for _, c := range a[1:] {
			if !strings.ContainsRune(f.letters, c) && (c < '0' || c > '9') {
				return false
			}
			if strings.ContainsRune(f.values, c) {
				break
			}
		}
	}
	return true
}

var (
	diffLongs = []string{
		"--patch", "--no-patch", "--unified", "--raw", "--patch-with-raw", "--patch-with-stat", "--stat", "--compact-summary",
		"--numstat", "--shortstat", "--dirstat", "--summary", "--name-only", "--name-status", "--color", "--no-color",
		"--color-words", "--color-moved", "--word-diff", "--word-diff-regex", "--no-renames", "--renames", "--check",
		"--full-index", "--binary", "--abbrev", "--find-renames", "--find-copies", "--find-copies-harder", "--diff-filter",
		"--pickaxe-all", "--pickaxe-regex", "--relative", "--no-relative", "--text", "--ignore-cr-at-eol",
		"--ignore-space-at-eol", "--ignore-space-change", "--ignore-all-space", "--ignore-blank-lines", "--inter-hunk-context",
		"--function-context", "--exit-code", "--quiet", "--no-ext-diff", "--no-textconv", "--ignore-submodules", "--submodule",
		"--src-prefix", "--dst-prefix", "--no-prefix", "--minimal", "--patience", "--histogram", "--diff-algorithm",
		"--cached", "--staged", "--merge-base", "--ita-invisible-in-index",
	}
	logLongs = []string{
		"--oneline", "--graph", "--decorate", "--no-decorate", "--all", "--branches", "--tags", "--remotes", "--glob",
		"--no-merges", "--merges", "--first-parent", "--reverse", "--follow", "--since", "--until", "--after", "--before",
		"--author", "--committer", "--grep", "--all-match", "--invert-grep", "--regexp-ignore-case", "--extended-regexp",
		"--fixed-strings", "--perl-regexp", "--max-count", "--skip", "--pretty", "--format", "--abbrev-commit",
		"--no-abbrev-commit", "--date", "--relative-date", "--topo-order", "--date-order", "--author-date-order", "--parents",
		"--children", "--left-right", "--cherry", "--cherry-pick", "--cherry-mark", "--boundary", "--no-walk", "--source",
		"--use-mailmap", "--no-notes", "--full-history", "--simplify-merges", "--simplify-by-decoration", "--ancestry-path",
		"--min-parents", "--max-parents", "--cc", "--root", "--log-size",
		"--clear-decorations", "--decorate-refs", "--decorate-refs-exclude", "--encoding", "--expand-tabs", "--no-expand-tabs",
	}
	gitReads = map[string]*gitForm{
		"status": {"sbvuzM", "uM", set(
			"--short", "--branch", "--show-stash", "--porcelain", "--long", "--verbose", "--untracked-files", "--ignore-submodules",
			"--ignored", "--column", "--no-column", "--ahead-behind", "--no-ahead-behind", "--renames", "--no-renames", "--find-renames",
		)},
		"diff": {"pusUzBMCDlSGRabwWIqt", "UBMClSGI", set(diffLongs...)},
		"log":  {"pusUzBMCDlSGRabwWIqtLniEFPgcmr", "UBMClSGILn", set(slices.Concat(diffLongs, logLongs)...)},
		"show": {"pusUzBMCDlSGRabwWIqtLniEFPgcmr", "UBMClSGILn", set(slices.Concat(diffLongs, logLongs)...)},
		"rev-parse": {"q", "", set(
			"--verify", "--quiet", "--short", "--abbrev-ref", "--symbolic", "--symbolic-full-name", "--show-toplevel", "--show-prefix",
			"--show-cdup", "--git-dir", "--absolute-git-dir", "--git-common-dir", "--is-inside-work-tree", "--is-inside-git-dir",
			"--is-bare-repository", "--is-shallow-repository", "--show-superproject-working-tree", "--all", "--branches", "--tags",
			"--remotes", "--revs-only", "--no-revs", "--flags", "--no-flags", "--show-object-format", "--path-format", "--since", "--until",
		)},
		"ls-files": {"zcdosiukmtvfx", "x", set(
			"--cached", "--deleted", "--modified", "--others", "--ignored", "--stage", "--directory", "--no-empty-directory",
			"--unmerged", "--killed", "--exclude", "--exclude-standard", "--error-unmatch", "--full-name", "--recurse-submodules",
			"--abbrev", "--deduplicate", "--eol", "--format", "--resolve-undo",
		)},
	}
)

// gitEnv makes a read-only git command one: no hook, no file-system monitor, no pager, no lock taken
// to refresh the index, no question on the terminal.
var gitEnv = []string{
	"GIT_CONFIG_COUNT=2",
	"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
	"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
	"GIT_OPTIONAL_LOCKS=0", "GIT_PAGER=cat", "GIT_TERMINAL_PROMPT=0",
}

// gitPaths are the files that the words of a git command may name: a word itself, and what follows
// the colon of a revision (HEAD:.env) or of a pathspec (:(top).env).
func gitPaths(w word) []word {
	out := []word{w}
	rest := w.text
	for {
		i := strings.IndexByte(rest, ':')
		if i < 0 {
			return out
		}
		rest = rest[i+1:]
		tail := rest
		if strings.HasPrefix(tail, "(") {
			_, tail, _ = strings.Cut(tail, ")")
		}
		tail = strings.TrimLeft(tail, "/!^")
		out = append(out, word{text: tail, static: w.static, glob: w.glob, raw: w.raw})
	}
}
