package permissions

import (
	"maps"
	"strings"

	"acp-agent/internal/workspace"
)

// denials are what the user refused in the running turn.
type denials struct {
	paths map[workspace.Path]bool
	lines map[string]bool
	after map[string]bool // what the user allowed for the session after refusing something
}

func (d denials) clone() denials {
	return denials{paths: maps.Clone(d.paths), lines: maps.Clone(d.lines), after: maps.Clone(d.after)}
}

func (d denials) any() bool { return len(d.paths) > 0 || len(d.lines) > 0 }

// covers says whether writing p could change a refused file: it is that file, or a folder above it.
func (d denials) covers(p workspace.Path) bool {
	for refused := range d.paths {
		if p.Contains(refused) || refused.Contains(p) {
			return true
		}
	}
	return false
}

// Denied remembers that the user said no to these targets in this turn: every later way to write
// them asks again, whatever the mode (denial memory, case G-A10).
func (s *Session) Denied(targets []Target) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range targets {
		s.refuse(t.Path)
		s.refuse(t.Real)
	}
}

// refuse notes one path. s.mu is held.
func (s *Session) refuse(p workspace.Path) {
	if p == "" {
		return
	}
	if s.denied.paths == nil {
		s.denied.paths = map[workspace.Path]bool{}
	}
	s.denied.paths[p] = true
}

// DeniedCommand remembers that the user said no to this command in this turn: it asks again in any
// mode, and so does an edit of a file below the roots that the command named.
func (s *Session) DeniedCommand(line string) {
	parsed, err := parseLine(line, s.roots.Cwd(), s.roots)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.denied.lines == nil {
		s.denied.lines = map[string]bool{}
	}
	s.denied.lines[strings.TrimSpace(line)] = true
	if err != nil {
		return
	}
	for _, p := range parsed.parts {
		words := p.argv
		for _, r := range p.redirs {
			words = append(words, r.target)
		}
		for i, w := range words {
			if i == 0 && len(p.argv) > 0 || !w.static || w.text == "" || strings.HasPrefix(w.text, "-") {
				continue
			}
			for _, cwd := range p.cwds {
				// Folders are left out: refusing "make -C ." is not refusing every file below.
				if loc := s.roots.Locate(physical(s.roots, cwd, w.text)); loc.Inside && !isFolder(loc.Real) {
					s.refuse(loc.Path)
					s.refuse(loc.Real)
				}
			}
		}
	}
}
