// Package provenance is the append-only, hash-chained record of who changed which file, why, and
// who allowed it. Its main type is [Log], one file for each root. It also keeps the old contents
// that an application needs to be undone or repaired ([Blobs]). It must never write a workspace file.
//
// The chain shows every change of a line, every line taken out and every line put in, to anyone who
// can recompute hashes ([Verify]). The head file beside each log shows lines cut off its end, which a
// chain alone cannot. Neither holds a secret: who may write both files and takes the trouble to
// recompute every hash leaves no trace. Against that, keep a head's hash elsewhere (a git note, an
// export) and compare.
package provenance

import (
	"time"

	"acp-agent/internal/workspace"
)

// Kind of a record (contract §5).
type Kind string

// Kinds. An Intent is durable before the first write and has exactly one end: Applied, Failed, or
// Undo when the intent was one to undo.
const (
	Intent   Kind = "intent"
	Applied  Kind = "applied"
	Failed   Kind = "failed"
	External Kind = "external"
	Undo     Kind = "undo"
	Decided  Kind = "decision"
)

// File is one file of a record. Hashes are of exact bytes, empty when there is no file. A move has
// To; its Before is the old file's and its After the new one's. Found is what the file held after
// the write when that was not After (an editor that formats on save). Mode, where the old entry goes
// away, is its mode in octal with its kind, as git writes it: 100644 for a file, 120777 for a symlink,
// whose content is its target. Without it a link could not be told from a file of the same bytes.
type File struct {
	Op     string         `json:"op"`
	Path   workspace.Path `json:"path"`
	To     workspace.Path `json:"to,omitempty"`
	Before workspace.Hash `json:"before"`
	After  workspace.Hash `json:"after"`
	Found  workspace.Hash `json:"found,omitempty"`
	Mode   string         `json:"mode,omitempty"`
}

// Landed is what the file really holds after the operation.
func (f File) Landed() workspace.Hash {
	if f.Found != "" {
		return f.Found
	}
	return f.After
}

// Decision is who allowed or refused, and how long it took.
type Decision struct {
	By       string `json:"by"` // user, rule, mode
	Option   string `json:"option"`
	Rule     string `json:"rule,omitempty"`
	WaitedMS int64  `json:"waited_ms"`
}

// Counts are diagnostics before and after an edit.
type Counts struct {
	Before int `json:"before"`
	After  int `json:"after"`
}

// Record is one line of a log. V, Seq, Time, Prev and Hash are filled in by [Log.Append].
type Record struct {
	V           int       `json:"v"`
	Seq         int64     `json:"seq"` // 1-based
	Time        time.Time `json:"ts"`
	Kind        Kind      `json:"kind"`
	Session     string    `json:"session"`
	Turn        int       `json:"turn"`
	ToolCall    string    `json:"tool_call"`
	Proposal    string    `json:"proposal"`
	Files       []File    `json:"files"`
	Model       string    `json:"model"`
	Decision    *Decision `json:"decision,omitempty"`
	Diagnostics *Counts   `json:"diagnostics,omitempty"`
	Note        string    `json:"note,omitempty"` // what else a reader should know ("rolled back at start")
	Prev        string    `json:"prev"`           // the hash of the record before; empty in the first
	Hash        string    `json:"hash"`           // must stay the last field: see seal
}

// ends says whether the record closes an intent.
func (k Kind) ends() bool { return k == Applied || k == Failed || k == Undo }
