package lsp

import (
	"log/slog"

	"acp-agent/internal/workspace"
)

// place is what a session knows of a file's surroundings.
type place struct {
	top     workspace.Path // the worktree, in the spelling of the file's path
	trusted bool
	off     string // why the layer does not serve the file; "" when it does
	text    string // the same as one sentence
}

// assignment is one server that owns a file: an instance to ask, or why there is none.
type assignment struct {
	row     *spec
	in      *instance
	refused *refusal
}

// place finds out where a file stands: inside a git worktree (L2), and in whose trust (L11).
func (s *Session) place(p workspace.Path) place {
	if !s.m.settings.Enabled {
		return place{off: ReasonDisabled, text: "language servers are switched off (lsp.enabled)."}
	}
	op := s.operator()
	top, ok := worktreeOf(p)
	realTop, realOK := worktreeOf(realPath(p))
	switch {
	case ok && realOK:
		return place{top: top, trusted: op.trusts(realPath(top)) && op.trusts(realTop)}
	case !s.m.settings.RequireGit && top == "" && realTop == "":
		for _, root := range s.roots.Named() {
			if root.Contains(p) {
				return place{top: root, trusted: op.trusts(realPath(root))}
			}
		}
	}
	s.m.once("git:"+string(s.roots.Cwd()), func() {
		s.m.log.Info("asleep: not inside a git workspace", "cwd", string(s.roots.Cwd()))
	})
	return place{off: ReasonNoGit, text: "language servers work inside git repositories only, and " + p.String() + " is in none (lsp.require_git: false lifts this)."}
}

// assign lists the servers that own a file, or says why the layer leaves it alone.
func (s *Session) assign(p workspace.Path) ([]assignment, place) {
	where := s.place(p)
	if where.off != "" {
		return nil, where
	}
	rows := s.m.catalog.candidates(p)
	if len(rows) == 0 {
		where.off, where.text = ReasonNoServer, "no language server is known for "+p.Base()+"."
		return nil, where
	}
	root := func(row *spec) workspace.Path { return projectRoot(row, p, where.top) }
	rows = choose(rows, s.m.byName, root, where.top, where.trusted)
	var out []assignment
	for _, row := range rows {
		at := root(row)
		if s.m.settings.ExcludeAll || excluded(at, s.m.settings.ExcludeRoots, s.m.user) {
			where.off, where.text = ReasonExcluded, "the project "+string(at)+" is excluded by lsp.exclude_roots."
			continue
		}
		a := assignment{row: row}
		if adm := admit(row, at, where.trusted); !adm.ok {
			a.refused = &refusal{adm.reason, adm.text}
			s.m.deny(row, at, adm)
		} else {
			a.in = s.m.instance(row, at, where.top, where.trusted)
		}
		out = append(out, a)
	}
	if len(out) > 0 {
		where.off, where.text = "", ""
	}
	return out, where
}

// byName says whether the operator switched a server on by its id.
func (m *Manager) byName(id string) bool {
	e := m.settings.Servers[id].Enabled
	return e != nil && *e
}

// deny notes a refused server for status and logs it once a root.
func (m *Manager) deny(row *spec, root workspace.Path, adm admission) {
	m.once("deny:"+row.id+":"+string(root), func() {
		m.log.Info(adm.text, slog.String("server", row.id))
		m.mu.Lock()
		defer m.mu.Unlock()
		m.denied[row.id+":"+string(root)] = ServerStatus{
			ID: row.id, State: "denied", Reason: "[trusted workspaces only] " + adm.text, Root: root,
		}
	})
}
