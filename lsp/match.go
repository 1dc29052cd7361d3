package lsp

import (
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// catalog is the table with the settings applied: custom servers first (L20), disabled ones gone.
type catalog struct {
	custom  []*spec
	builtin []*spec
}

var customID = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// newCatalog applies the settings to the table. A custom entry that cannot work is logged and
// skipped; it never takes the others with it.
func newCatalog(s *Settings, log *slog.Logger) *catalog {
	c := &catalog{}
	known := map[string]bool{}
	for i := range builtin {
		row := builtin[i]
		known[row.id] = true
		set, ok := s.Servers[row.id]
		if !ok && row.alias != "" {
			set = s.Servers[row.alias]
			known[row.alias] = true
		}
		if set.off() {
			continue
		}
		c.builtin = append(c.builtin, row.with(set))
	}
	for _, id := range slices.Sorted(maps.Keys(s.Servers)) {
		set := s.Servers[id]
		if known[id] || set.off() {
			continue
		}
		row, err := customSpec(id, set)
		if err != nil {
			log.Warn("language server skipped: " + err.Error() + "; mend lsp.servers." + id + " in config.yaml")
			continue
		}
		c.custom = append(c.custom, row)
	}
	return c
}

func (s ServerSettings) off() bool { return s.Disabled || (s.Enabled != nil && !*s.Enabled) }

// with lays one server's settings over its row.
func (row spec) with(set ServerSettings) *spec {
	if len(set.Command) > 0 {
		row.command = set.Command
	}
	row.command = slices.Concat(row.command, set.Args)
	if len(set.Extensions) > 0 {
		row.files = patterns(set.Extensions)
	}
	if len(set.RootMarkers) > 0 {
		row.roots = set.RootMarkers
	}
	if set.LanguageID != "" {
		row.language, row.byFile = set.LanguageID, nil
	}
	row.env, row.override = set.Env, set.InitializationOptions
	row.hash = configHash(&row)
	return &row
}

func customSpec(id string, set ServerSettings) (*spec, error) {
	switch {
	case !customID.MatchString(id):
		return nil, fmt.Errorf("custom server %q: an id has lower-case letters, digits, - and _ only", id)
	case len(set.Command) == 0 || set.Command[0] == "":
		return nil, fmt.Errorf("custom server %q has no command", id)
	case len(set.Extensions) == 0:
		return nil, fmt.Errorf("custom server %q has no extensions", id)
	}
	language := set.LanguageID
	if language == "" {
		language = id
	}
	row := spec{
		id: id, group: id, custom: true, language: language,
		files: patterns(set.Extensions), command: slices.Concat(set.Command, set.Args), roots: set.RootMarkers,
		env: set.Env, override: set.InitializationOptions,
	}
	if slices.Contains(row.files, "") {
		return nil, fmt.Errorf("custom server %q has an empty extension", id)
	}
	row.hash = configHash(&row)
	return &row, nil
}

// patterns reads a settings' list of extensions. ".x" is a suffix, "Justfile" (any upper-case letter)
// a basename; "x" and "blade.php" are written for both in the wild, and mean both.
func patterns(list []string) []string {
	var out []string
	for _, p := range list {
		p = strings.TrimPrefix(strings.TrimSpace(p), "*")
		out = append(out, p)
		if p != "" && p[0] != '.' && p == strings.ToLower(p) {
			out = append(out, "."+p)
		}
	}
	return out
}

// matchLen is how many characters of a file's name one pattern explains: 0 for none.
func matchLen(pattern, base string) int {
	switch {
	case pattern == "":
		return 0
	case pattern[0] == '.':
		if len(base) > len(pattern) && strings.EqualFold(base[len(base)-len(pattern):], pattern) {
			return len(pattern)
		}
	case base == pattern:
		return len(pattern) + 1 // a whole name beats a suffix of the same length
	}
	return 0
}

// best is the longest match of a row on a name.
func (row *spec) best(base string) int {
	n := 0
	for _, p := range row.files {
		n = max(n, matchLen(p, base))
	}
	return n
}

// languageID is the document's language for the server.
func (row *spec) languageID(p workspace.Path) string {
	id, n := row.language, 0
	for pattern, l := range row.byFile {
		if m := matchLen(pattern, p.Base()); m > n {
			id, n = l, m
		}
	}
	return id
}

// candidates lists the rows that own a file: per group of checkers those with the longest match,
// custom ones instead of built-in checkers, linters beside them.
func (c *catalog) candidates(p workspace.Path) []*spec {
	base := filepath.Base(string(p))
	if own := longest(c.custom, base, checker); len(own) > 0 {
		return append(own[:1:1], longest(c.builtin, base, linter)...)
	}
	return append(longest(c.builtin, base, checker), longest(c.builtin, base, linter)...)
}

// longest gives the rows of a role whose match on a name is the longest there is; for linters, which
// stand beside each other, every row that matches.
func longest(rows []*spec, base string, r role) []*spec {
	n := 0
	for _, row := range rows {
		if row.role == r {
			n = max(n, row.best(base))
		}
	}
	var out []*spec
	for _, row := range rows {
		if m := row.best(base); row.role == r && m > 0 && (r == linter || m == n) {
			out = append(out, row)
		}
	}
	return out
}

// byID finds a row by its id or its command's name.
func (c *catalog) byID(id string) *spec {
	for _, row := range slices.Concat(c.custom, c.builtin) {
		if row.id == id || (row.alias != "" && row.alias == id) {
			return row
		}
	}
	return nil
}
