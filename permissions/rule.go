package permissions

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/workspace"
)

// rule is one line of permissions.allow, ask or deny: kind(pattern).
//
//	terminal(go test *)   words of a simple command; * as the last word is any further words
//	edit(docs/**)         a glob below the roots, or an absolute one; read(…) likewise
//	mcp(github.*)         server.tool
//	tool(delegate)        any other tool by name
type rule struct {
	text    string
	kind    string
	pattern string
	words   []string // terminal only
}

func parseRule(text string) (rule, error) {
	kind, rest, ok := strings.Cut(strings.TrimSpace(text), "(")
	pattern, closed := strings.CutSuffix(rest, ")")
	if !ok || !closed {
		return rule{}, errors.New("not of the form kind(pattern), for example terminal(go test *)")
	}
	r := rule{text: text, kind: strings.TrimSpace(kind), pattern: strings.TrimSpace(pattern)}
	if r.pattern == "" {
		return rule{}, errors.New("the pattern is empty; * matches everything")
	}
	switch r.kind {
	case "terminal":
		r.words = strings.Fields(r.pattern)
	case "edit", "read":
		if !doublestar.ValidatePattern(r.pattern) {
			return rule{}, errors.New("not a valid glob")
		}
	case "mcp", "tool":
	default:
		return rule{}, fmt.Errorf("kind %q is not one of terminal, edit, read, mcp, tool", r.kind)
	}
	return r, nil
}

// find gives the first rule of a kind that matches.
func find(rules []rule, kind string, match func(rule) bool) (rule, bool) {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.kind == kind && match(r) })
	if i < 0 {
		return rule{}, false
	}
	return rules[i], true
}

// matchesArgv compares the rule's words with a command's. A last word * stands for any number of
// words, none included.
func (r rule) matchesArgv(argv []string) bool {
	words := r.words
	open := len(words) > 0 && words[len(words)-1] == "*"
	if open {
		words = words[:len(words)-1]
	}
	if len(argv) < len(words) || len(argv) > len(words) && !open {
		return false
	}
	for i, w := range words {
		if !wildcard(w, argv[i]) {
			return false
		}
	}
	return true
}

// wildcard matches * (any text, slashes too) and ? (one byte).
func wildcard(pattern, text string) bool {
	star, mark := -1, 0
	p, t := 0, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p, t = p+1, t+1
		case star >= 0:
			mark++
			p, t = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// matchesPath compares a path rule with one path: relative globs below each root, by the root's name
// and by its real path; absolute ones as they are. A strict rule (ask, deny) with a relative glob also
// matches outside the roots, where it can only make the decision stricter.
func (r rule) matchesPath(roots *workspace.Roots, p workspace.Path, strict bool) bool {
	pattern := r.pattern
	if rest, ok := strings.CutPrefix(pattern, "~/"); ok && roots.Home() != "" {
		pattern = filepath.ToSlash(string(roots.Home())) + "/" + rest
	}
	name := filepath.ToSlash(string(p))
	if foldCase && strict {
		pattern, name = strings.ToLower(pattern), strings.ToLower(name)
	}
	if filepath.IsAbs(filepath.FromSlash(pattern)) {
		return doublestar.MatchUnvalidated(pattern, name)
	}
	for _, root := range slices.Concat(roots.Named(), roots.Real()) {
		if !root.Contains(p) {
			continue
		}
		rel := p.Rel(root)
		if foldCase && strict {
			rel = strings.ToLower(rel)
		}
		if doublestar.MatchUnvalidated(pattern, rel) {
			return true
		}
	}
	return strict && doublestar.MatchUnvalidated(pattern, strings.TrimLeft(name, "/"))
}

// foldCase is true where file systems usually ignore case.
const foldCase = runtime.GOOS == "darwin" || runtime.GOOS == "windows"
