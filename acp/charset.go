package acp

import (
	"maps"
	"slices"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/workspace"
)

// charset gives the encoding that somebody named for a file: the operator in config.yaml (globs below
// the session's roots), else the project in .editorconfig. "" when nobody did.
func (s *Server) charset(roots *workspace.Roots) func(workspace.Path) string {
	globs := s.o.Config.Encodings
	names := slices.Sorted(maps.Keys(globs))
	return func(p workspace.Path) string {
		for _, glob := range names {
			for _, root := range roots.Named() {
				if ok, _ := doublestar.Match(glob, p.Rel(root)); ok {
					return globs[glob]
				}
			}
		}
		return roots.EditorConfigCharset(p)
	}
}
