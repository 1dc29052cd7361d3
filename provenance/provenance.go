// Package provenance is the append-only, hash-chained record of who changed which file, why, and
// who allowed it. Its main type is [Log], one file for each root. It also keeps the old contents
// that an application needs to be undone or repaired ([Blobs]). It must never write a workspace file.
package provenance

import (
	"time"

	"acp-agent/internal/workspace"
)

// Kind of a record (contract §5).
type Kind string

// Kinds. An Intent is durable before the first write and has exactly one end: Applied or Failed.
const (
	Intent   Kind = "intent"
	Applied  Kind = "applied"
	Failed   Kind = "failed"
	External Kind = "external"
	Undo     Kind = "undo"
	Decided  Kind = "decision"
)

// File is one file of a record.
type File struct {
	Op     string         `json:"op"`
	Path   workspace.Path `json:"path"`
	To     workspace.Path `json:"to,omitempty"`
	Before workspace.Hash `json:"before"`
	After  workspace.Hash `json:"after"`
	Found  workspace.Hash `json:"found,omitempty"`
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
	Seq         int64     `json:"seq"`
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
	Prev        string    `json:"prev"`
	Hash        string    `json:"hash"`
}

// Log is the record of one root. Several processes may append to the same file at once.
type Log struct {
	// TODO(policy): unexported fields
}

// Open opens or makes the log of a root below dir (<home>/provenance). It heals a torn last line.
// Nothing is written until the first Append.
func Open(dir string, root workspace.Path) (*Log, error) { panic("TODO(policy)") }

// Append chains r to the log and returns it complete, durable on disk. It takes a file lock for the
// time of one write.
func (l *Log) Append(r Record) (Record, error) { panic("TODO(policy)") }

// Records reads the whole log in order.
func (l *Log) Records() ([]Record, error) { panic("TODO(policy)") }

// Pending lists the intents that have no end, oldest first (crash repair at start).
func (l *Log) Pending() ([]Record, error) { panic("TODO(policy)") }

// Report is the result of a verification.
type Report struct {
	Path     string
	Root     string
	Records  int
	BadSeq   int64  // first record whose hash or chain is wrong; 0 when all are right
	Problem  string // what is wrong with it
	Warnings []string
}

// Verify checks the chain of one log file.
func Verify(path string) (Report, error) { panic("TODO(policy)") }

// Logs lists the log files below dir.
func Logs(dir string) ([]string, error) { panic("TODO(policy)") }

// Line is one line of a file with the record that brought it in; nil when no record did.
type Line struct {
	Number int
	Text   string
	Record *Record
}

// Blame attributes the present lines of a file to records, following moves, with the contents kept
// in blobs. Lines that nobody recorded have no record.
func Blame(l *Log, blobs *Blobs, path workspace.Path, text string) ([]Line, error) {
	panic("TODO(policy)")
}

// Blobs keeps contents by hash below a folder (<home>/checkpoints).
type Blobs struct{ dir string }

// NewBlobs uses dir, made on the first Put.
func NewBlobs(dir string) *Blobs { return &Blobs{dir: dir} }

// Put stores data, durable before it returns. Storing what is there is cheap.
func (b *Blobs) Put(h workspace.Hash, data []byte) error { panic("TODO(policy)") }

// Get gives the data of a hash, checked against it. os.ErrNotExist when it is not kept.
func (b *Blobs) Get(h workspace.Hash) ([]byte, error) { panic("TODO(policy)") }
