// Package edits represents a proposed change to files as a value, the EditProposal. Build a
// [Proposal] with [Write], [Replace], [Patch] or [FromFiles]; nothing touches the workspace until
// [Proposal.Apply]. This package knows no editor protocol, no permission and no language server.
package edits

import (
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
	// BufferUnknown: the editor is known to read the disk, so it may hold unsaved text of this file that
	// nobody but it can see.
	BufferUnknown bool
	// EditorRead says why the editor's text was not taken as the base ("" when it was, or not asked). The
	// question to the user says that it was not, the record says why.
	EditorRead string

	cache *diffCache
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
