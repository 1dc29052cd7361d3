package lsp

import (
	"acp-agent/internal/workspace"
)

// choose keeps one type checker of each group for a root (contract §8) and every linter. Rows come
// from [catalog.candidates], in the order of the table.
func choose(rows []*spec, enabled func(id string) bool, root func(*spec) workspace.Path, top workspace.Path, trusted bool) []*spec {
	var out []*spec
	done := map[string]bool{}
	for _, row := range rows {
		switch {
		case row.role == linter:
			out = append(out, row)
		case done[row.group]:
		default:
			done[row.group] = true
			out = append(out, pick(rows, row.group, enabled, root, top, trusted))
		}
	}
	return out
}

// pick takes one of a group: what the operator enabled by name, else what the project asks for, else
// the first of the table.
func pick(rows []*spec, group string, enabled func(id string) bool, root func(*spec) workspace.Path, top workspace.Path, trusted bool) *spec {
	var first *spec
	var asked *spec
	for _, row := range rows {
		if row.group != group || row.role == linter {
			continue
		}
		if enabled(row.id) {
			return row
		}
		if first == nil {
			first = row
		}
		// The project's own TypeScript decides, and only where its programs may run at all.
		if row.quirks.native7 && trusted && asked == nil {
			if _, major := projectTypeScript(root(row), top); major >= 7 {
				asked = row
			}
		}
	}
	if asked != nil {
		return asked
	}
	return first
}
