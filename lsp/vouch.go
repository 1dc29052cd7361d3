package lsp

import "acp-agent/internal/workspace"

// Trusted says whether the operator vouches for what a folder holds that a session was opened in: for
// text that speaks in the user's name (AGENTS.md) by the same rules as for programs (L11). A folder
// without a repository is vouched for by lsp.trusted_workspaces alone.
func Trusted(cwd, home workspace.Path, listed []string) bool {
	op := newOperator([]workspace.Path{cwd}, home, listed)
	real := realPath(cwd)
	if top, ok := worktreeOf(real); ok {
		return op.trusts(top)
	}
	op.folders = nil
	return op.trusts(real)
}
