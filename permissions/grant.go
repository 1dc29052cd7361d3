package permissions

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// AlwaysLabel is the command that "always allow" would cover, as the option's name shows it
// ("git push"); "" when that option must not be offered.
func (d Decision) AlwaysLabel() string {
	words := make([]string, len(d.AlwaysPrefix))
	for i, w := range d.AlwaysPrefix {
		words[i] = w
		if q, err := syntax.Quote(w, syntax.LangBash); err == nil {
			words[i] = q
		}
	}
	return strings.Join(words, " ")
}

// families are tools whose subcommands are things of their own, with the number of words that name
// one. A subcommand that is not listed runs or changes what its further words say, so there only the
// very same command is covered.
var families = map[string]map[string]int{
	"git": depths(2, "push", "pull", "fetch", "add", "commit", "checkout", "switch", "restore", "branch", "merge", "rebase", "stash",
		"status", "log", "diff", "show", "tag", "reset", "rm", "mv", "blame", "cherry-pick", "revert", "rev-parse", "ls-files", "describe", "grep"),
	"go":      depths(2, "test", "build", "vet", "fmt", "list", "doc", "version", "mod", "generate"),
	"cargo":   depths(2, "build", "test", "check", "clippy", "fmt", "bench", "doc", "tree"),
	"npm":     npmDepths,
	"pnpm":    npmDepths,
	"yarn":    npmDepths,
	"bun":     npmDepths,
	"docker":  depths(2, "ps", "images", "logs", "inspect", "version", "info"),
	"podman":  depths(2, "ps", "images", "logs", "inspect", "version", "info"),
	"kubectl": depths(2, "get", "describe", "logs", "version", "explain"),
	"gh":      depths(3, "pr", "issue", "run", "repo", "release", "workflow"),
	"dotnet":  depths(2, "build", "test", "format", "clean"),
	"pip":     depths(2, "list", "show", "freeze", "check"),
	"pip3":    depths(2, "list", "show", "freeze", "check"),
}

var npmDepths = func() map[string]int {
	m := depths(2, "test", "t", "ls", "list", "why", "version")
	m["run"], m["run-script"] = 3, 3
	return m
}()

func depths(n int, subs ...string) map[string]int {
	m := make(map[string]int, len(subs))
	for _, s := range subs {
		m[s] = n
	}
	return m
}

// subcommand is what a word of a prefix looks like: not an option, not a file, not a value.
var subcommand = lazily(`^[a-z][a-z0-9:_-]*$`)

// alwaysPrefix is what an "always" answer to this command covers: the tool and its subcommand, else
// the whole command. A later command is covered when its own prefix is the same.
func alwaysPrefix(argv []string) []string {
	family := families[argv[0]]
	if len(argv) < 2 || family == nil || slices.ContainsFunc(argv[1:], runsProgram.MatchString) {
		return slices.Clone(argv)
	}
	n := family[argv[1]]
	if n == 0 || len(argv) < n || !allOf(argv[1:n], subcommand.MatchString) {
		return slices.Clone(argv)
	}
	return slices.Clone(argv[:n])
}

func allOf(words []string, ok func(string) bool) bool {
	return !slices.ContainsFunc(words, func(w string) bool { return !ok(w) })
}
