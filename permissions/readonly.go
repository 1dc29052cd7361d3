package permissions

import (
	"errors"
	"path"
	"slices"
	"strings"
)

// builtinReadOnly is permissions.read_only when config.yaml does not set it (contract §6).
var builtinReadOnly = []string{
	"ls", "cat", "head", "tail", "wc", "pwd", "echo", "grep", "rg", "find",
	"git status", "git log", "git diff", "git show", "git rev-parse", "git ls-files",
}

// readOnlyEntry is one line of permissions.read_only: the first words of a command. For the commands
// of the built-in list only their harmless forms count; for others the operator vouches.
type readOnlyEntry struct {
	text  string
	words []string
}

func parseReadOnly(text string) (readOnlyEntry, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return readOnlyEntry{}, errors.New("it is empty")
	}
	if strings.ContainsAny(text, "|&;<>()$`\\\"'*?[]{}~\n") {
		return readOnlyEntry{}, errors.New("an entry is the first words of a command, without shell characters")
	}
	return readOnlyEntry{text: text, words: words}, nil
}

// harmless are shell builtins that change nothing outside the shell; they need no entry.
var harmless = set("cd", "pushd", "true", "false", ":", "exit", "return", "break", "continue", "set")

// readOnlyRule says by which entry the part only reads; ok is false when it may do more. The files
// that it names are judged apart.
func (e *evaluation) readOnlyRule(p *part) (rule string, ok bool) {
	if p.more || len(p.opaque) > 0 || !undecorated(p) {
		return "", false
	}
	if len(p.argv) == 0 {
		return "read_only", true // "< file" and "LC_ALL=C" alone
	}
	if slices.ContainsFunc(p.argv, func(w word) bool { return !w.static }) {
		return "", false
	}
	argv := texts(p.argv)
	if argv[0] != "echo" && optionFile(p.cwds, p.argv[1:]) != "" {
		return "", false
	}
	if p.wrapper {
		return "it starts the next command", quietWrapper(argv)
	}
	if harmless.has(argv[0]) {
		return "shell builtin " + argv[0], true
	}
	for _, entry := range e.s.policy.readOnly {
		if e.entryCovers(entry, argv) {
			return "read_only: " + entry.text, true
		}
	}
	return "", false
}

func (e *evaluation) entryCovers(entry readOnlyEntry, argv []string) bool {
	// The name must be the bare one: ./ls is a program of the workspace.
	if argv[0] != entry.words[0] {
		return false
	}
	if argv[0] == "git" {
		g, ok := parseGit(argv)
		if !ok || len(entry.words) > 1 && entry.words[1] != g.sub {
			return false
		}
		if safe := gitReads[g.sub]; safe != nil {
			return len(entry.words) <= 2 && safe.allows(g.args)
		}
		return len(entry.words) > 1 && slices.Equal(entry.words, argv[:min(len(argv), len(entry.words))])
	}
	if check := safeForms[argv[0]]; check != nil && !check(argv[1:]) {
		return false
	}
	return len(argv) >= len(entry.words) && slices.Equal(entry.words, argv[:len(entry.words)])
}

// undecorated says that neither a redirection nor a variable makes more of the part than its words.
func undecorated(p *part) bool {
	return !slices.ContainsFunc(p.redirs, writesFile) && !slices.ContainsFunc(p.assigns, func(a assign) bool { return !harmlessVariable(a) })
}

// quietWrapper says whether a wrapper adds nothing to what it starts, which is judged apart. (nohup
// may write nohup.out.)
func quietWrapper(argv []string) bool {
	name := commandName(argv[0])
	if argv[0] != name && !systemPrograms.has(path.Dir(argv[0])) {
		return false
	}
	switch name {
	case "time":
		return !anyPrefix(argv[1:], "-o") && !anyPrefix(argv[1:], "--o")
	case "env", "nice", "ionice", "timeout", "gtimeout", "setsid", "stdbuf", "command", "builtin", "exec", "eval", "sh", "bash", "dash":
		return true
	}
	return false
}

func writesFile(r redirect) bool { return r.write && !(r.target.static && devices.has(r.target.text)) }

// harmlessVariable is an assignment that only changes how output looks.
func harmlessVariable(a assign) bool {
	switch a.name {
	case "LC_ALL", "LANG", "LC_CTYPE", "LC_COLLATE", "LC_MESSAGES", "NO_COLOR", "CLICOLOR", "COLUMNS", "LINES":
		return a.value.static && !strings.ContainsAny(a.value.text, "/%")
	}
	return false
}

// safeForms say which arguments of a built-in read-only command keep it one.
var safeForms = map[string]func(args []string) bool{
	"ls": anyArgs, "cat": anyArgs, "head": anyArgs, "tail": anyArgs, "pwd": anyArgs, "echo": anyArgs,
	// --files0-from (and what getopt takes for it) reads the names of further files from a file.
	"wc":   func(args []string) bool { return !anyPrefix(args, "--f") },
	"grep": anyArgs,
	"rg":   safeRipgrep,
	"find": safeFind,
}

func anyArgs([]string) bool { return true }

func anyPrefix(args []string, prefix string) bool {
	return slices.ContainsFunc(args, func(a string) bool { return strings.HasPrefix(a, prefix) })
}

// safeRipgrep refuses the options by which rg starts other programs.
func safeRipgrep(args []string) bool {
	for i, a := range args {
		switch {
		case a == "--":
			return !anyPrefix(args[:i], "--pre") && !anyPrefix(args[:i], "--hostname-bin")
		case strings.HasPrefix(a, "--pre") && !strings.HasPrefix(a, "--pretty"), strings.HasPrefix(a, "--hostname-bin"), a == "--search-zip":
			return false
		case strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "--") && strings.Contains(flagLetters(a, ripgrepValues), "z"):
			return false
		}
	}
	return true
}

// flagLetters are the letters of a short-option cluster up to the first one that takes a value.
func flagLetters(cluster, values string) string {
	letters := strings.TrimPrefix(cluster, "-")
	if i := strings.IndexAny(letters, values); i >= 0 {
		return letters[:i]
	}
	return letters
}

const (
	ripgrepValues = "efgtTABCmMjdEr"
	grepValues    = "efABCmdD"
)

// findWords are the words of find that start with a dash (or are its operators) and only test or
// print. -L and -follow are missing on purpose: they lead out of the roots.
var findWords = set(
	"-H", "-P", "-O0", "-O1", "-O2", "-O3", "-amin", "-anewer", "-atime", "-cmin", "-cnewer", "-ctime", "-daystart",
	"-depth", "-d", "-empty", "-executable", "-false", "-gid", "-group", "-iname", "-inum", "-ipath", "-iregex",
	"-iwholename", "-links", "-lname", "-ilname", "-ls", "-maxdepth", "-mindepth", "-mmin", "-mount", "-mtime", "-name",
	"-newer", "-nogroup", "-noleaf", "-nouser", "-path", "-perm", "-print", "-print0", "-printf", "-prune", "-quit",
	"-readable", "-regex", "-regextype", "-samefile", "-size", "-true", "-type", "-uid", "-user", "-warn", "-nowarn",
	"-wholename", "-writable", "-xdev", "-xtype", "-not", "-a", "-and", "-o", "-or", "-E", "-s", "-x",
)

// safeFind lets only known tests and prints through: what is not known may delete, write or start
// something.
func safeFind(args []string) bool {
	return !slices.ContainsFunc(args, func(a string) bool {
		if !strings.HasPrefix(a, "-") || len(a) < 2 || a[1] >= '0' && a[1] <= '9' {
			return false // operands, patterns and numbers such as -mtime -1
		}
		return !findWords.has(a) && !(len(a) == 8 && strings.HasPrefix(a, "-newer"))
	})
}
