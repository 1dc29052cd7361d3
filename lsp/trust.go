package lsp

import (
	"slices"

	"acp-agent/internal/workspace"
)

// operator is what the operator chose: the ground of every decision on trust. Paths are real.
type operator struct {
	worktrees []workspace.Path // git worktrees of the directories that sessions were opened in
	folders   []workspace.Path // such directories without a repository (lsp.require_git: false)
	listed    []workspace.Path // lsp.trusted_workspaces
	home      workspace.Path
}

// newOperator takes the directories that the operator opened a session with (its cwd and further
// roots, from the editor or the configuration), and the configured list.
func newOperator(opened []workspace.Path, home workspace.Path, listed []string) operator {
	var o operator
	if home != "" {
		o.home = realPath(home)
	}
	for _, dir := range opened {
		dir = realPath(dir)
		if top, ok := worktreeOf(dir); ok {
			o.worktrees = append(o.worktrees, top)
		} else if top == "" {
			o.folders = append(o.folders, dir)
		}
	}
	for _, l := range listed {
		if p, err := workspace.ParsePath(expandHome(l, home)); err == nil {
			o.listed = append(o.listed, realPath(p))
		}
	}
	return o
}

// trusts says whether what lies in the given worktree (its real path) may choose programs to run
// (L11): a worktree that the operator opened, or anything below a listed directory. A checkout inside
// a trusted worktree has a worktree of its own and is not covered; the home folder, or what holds it,
// never is, since a repository of dot files would then vouch for everything below.
func (o operator) trusts(worktree workspace.Path) bool {
	if worktree == "" || (o.home != "" && worktree.Contains(o.home)) {
		return false
	}
	return slices.Contains(o.worktrees, worktree) || slices.Contains(o.folders, worktree) ||
		slices.ContainsFunc(o.listed, func(l workspace.Path) bool { return l.Contains(worktree) })
}

// admission is the answer to "may this server run here", given before anything is started.
type admission struct {
	ok     bool
	reason string
	text   string // one sentence for the log and the tools
}

// admit decides whether a server may run for a root (H4, L11). An untrusted workspace gets only the
// servers of the allow-list, each pinned to our own tools; nothing that the workspace says counts.
func admit(row *spec, root workspace.Path, trusted bool) admission {
	if trusted || (!row.custom && row.trust != trustedOnly) {
		return admission{ok: true}
	}
	return admission{
		reason: ReasonDenied,
		text:   "skipped: untrusted workspace " + string(root) + "; add it to lsp.trusted_workspaces",
	}
}
