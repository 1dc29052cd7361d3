// Package edits represents a proposed change to files as a value, the EditProposal. Build a
// [Proposal] with [Write], [Replace], [Patch] or [FromFiles]; nothing touches the workspace until
// [Proposal.Apply]. This package knows no editor protocol, no permission and no language server.
package edits

import (
	"context"
	"encoding/json"
	"io/fs"

	"acp-agent/internal/workspace"
)

// ID names a proposal.
type ID string

// Kind says what made the proposal.
type Kind string

// Kinds of proposal (contract §5).
const (
	KindWrite      Kind = "write_file"
	KindReplace    Kind = "patch_replace"
	KindV4A        Kind = "patch_v4a"
	KindRename     Kind = "lsp_rename"
	KindCodeAction Kind = "lsp_code_action"
)

// Op is what happens to one file.
type Op string

// Operations on a file.
const (
	Create Op = "create"
	Update Op = "update"
	Delete Op = "delete"
	Move   Op = "move"
)

// State is where a proposal stands. It only moves forward: pending, approved, then one of the rest.
type State string

// States of a proposal (contract §5).
const (
	Pending   State = "pending"
	Approved  State = "approved"
	Applied   State = "applied"
	Rejected  State = "rejected"
	Cancelled State = "cancelled"
	Stale     State = "stale"
	Failed    State = "failed"
)

// Route is where a file is written, chosen before the user is asked (contract §5).
type Route string

// Routes.
const (
	ViaDisk   Route = "disk"
	ViaEditor Route = "editor"
)

// Change is the frozen before and after of one file. Texts are in the form that the user sees (no
// BOM, the file's own line endings); bytes are exact.
type Change struct {
	Op       Op
	Path     workspace.Path // absolute, as named
	Real     workspace.Path // the file that is really written (symlinks followed)
	To       workspace.Path // Move: the new name; else empty
	ToReal   workspace.Path // Move: the real new name
	Link     bool           // Path is a symlink that stays
	Inside   bool           // Real (and ToReal) lie inside the session's roots
	OldText  string
	NewText  string
	OldBytes []byte // bytes on disk when proposed; nil for a file that did not exist
	NewBytes []byte // bytes to write; nil for Delete
	Before   workspace.Hash
	After    workspace.Hash
	Format   workspace.Format
	Mode     fs.FileMode // kept for updates and moves; 0 for a new file (the umask decides)
	Route    Route
	RouteWhy string // why the disk, when the editor offers writing; shown in the title
	Unsaved  bool   // OldText is the editor's unsaved text
}

// Target is the path where the content ends up: To for a move, else Path.
func (c Change) Target() workspace.Path {
	if c.Op == Move {
		return c.To
	}
	return c.Path
}

// Proposal is an edit not yet applied. All fields are set by its constructor and do not change,
// but for State. A Proposal belongs to one goroutine at a time.
type Proposal struct {
	ID      ID
	Kind    Kind
	Changes []Change // end state of each file, in the order named; never empty
	Args    json.RawMessage
	State   State
	// Notes tell what tolerance was used to match ("matched after ignoring trailing spaces on line 3").
	Notes []string
}

// Replacement is one old → new of a file.
type Replacement struct {
	Old        string `json:"old_string"`
	New        string `json:"new_string"`
	ReplaceAll bool   `json:"replace_all,omitempty"`
}

// Write proposes the whole content of a file, new or not. Content takes the file's encoding, BOM
// and, where it is uniform and content has only \n, its line ending.
func Write(ctx context.Context, files *workspace.Files, p workspace.Path, content string) (*Proposal, error) {
	panic("TODO(files)")
}

// Replace proposes replacements in one existing file, applied in order, each seeing the ones before.
func Replace(ctx context.Context, files *workspace.Files, p workspace.Path, list []Replacement) (*Proposal, error) {
	panic("TODO(files)")
}

// Patch proposes a V4A patch over any number of files. Operations see each other; the proposal has
// each file's end state; one hunk that does not apply refuses the whole patch.
func Patch(ctx context.Context, files *workspace.Files, patch string) (*Proposal, error) {
	panic("TODO(files)")
}

// FromFiles proposes given new texts for existing files (rename, code action).
func FromFiles(ctx context.Context, files *workspace.Files, kind Kind, texts map[workspace.Path]string) (*Proposal, error) {
	panic("TODO(files)")
}

// Check re-reads every file of the proposal and says with a [*Refusal] (code stale) which one no
// longer is what the proposal was made from.
func (p *Proposal) Check(ctx context.Context, files *workspace.Files) error { panic("TODO(files)") }

// Journal makes an application durable and undoable. Package acp joins it to provenance and
// checkpoints; edits calls it in this order: Keep for every old content, Intent once, then the
// writes. What happens after the writes is the caller's.
type Journal interface {
	// Keep stores old bytes by hash, durable before it returns.
	Keep(h workspace.Hash, data []byte) error
	// Intent records that the proposal is about to be written, durable before the first rename.
	Intent(p *Proposal) error
}

// Landed is what was found in one file after it was written.
type Landed struct {
	Change  *Change
	Written workspace.Hash // of the bytes that were written; empty for a delete
	Found   workspace.Hash // of the bytes read back; differs after a format on save
	Text    string         // the text read back
	Bytes   int            // bytes written
	Dirs    bool           // folders were made for it
}

// Apply writes an approved proposal: every base is re-read and must match (else a stale Refusal
// and nothing is written), then each file goes its Route; a failure part of the way puts back what
// was done, and the error says so. ctx must not be cancelled by the user's cancel: the caller
// decides before, never within. State ends Applied, Stale or Failed.
func (p *Proposal) Apply(ctx context.Context, files *workspace.Files, j Journal) ([]Landed, error) {
	panic("TODO(files)")
}

// Counts are the added and removed lines of the whole proposal, as a unified diff counts them.
func (p *Proposal) Counts() (added, removed int) { panic("TODO(files)") }

// FirstChangedLine is the 1-based line of c's first difference in the new text (1 for new files).
func (c Change) FirstChangedLine() int { panic("TODO(files)") }

// Unified is c as a unified diff with three lines of context and the given names.
func (c Change) Unified(oldName, newName string) string { panic("TODO(files)") }

// Hunk is a piece of a file's change with context, for diffs of files that are too large to show.
type Hunk struct {
	OldLine, NewLine int // 1-based first lines
	Old, New         string
}

// Hunks are c's changed places with n lines of context, in order.
func (c Change) Hunks(n int) []Hunk { panic("TODO(files)") }
