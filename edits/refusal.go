package edits

import "acp-agent/internal/workspace"

// Code says why an edit did not happen; the values are public (contract §4).
type Code string

// Codes of a failed edit.
const (
	CodeRejected         Code = "rejected"
	CodeDenied           Code = "denied"
	CodeDeniedByMode     Code = "denied_by_mode"
	CodeTimedOut         Code = "timed_out"
	CodeCancelled        Code = "cancelled"
	CodeEditorGone       Code = "editor_gone"
	CodeStale            Code = "stale"
	CodeNoMatch          Code = "no_match"
	CodeAmbiguous        Code = "ambiguous"
	CodeAlreadyApplied   Code = "already_applied"
	CodeNotFound         Code = "not_found"
	CodeExists           Code = "exists"
	CodeOutside          Code = "outside"
	CodeInvalidArguments Code = "invalid_arguments"
	CodeInvalidPatch     Code = "invalid_patch"
	CodeTruncated        Code = "truncated"
	CodeLoop             Code = "loop"
	CodeBinary           Code = "binary"
	CodeEncoding         Code = "encoding"
	CodeTooLarge         Code = "too_large"
	CodeUnsupportedFile  Code = "unsupported_file"
	CodeIO               Code = "io"
)

// Refusal is an edit that cannot be made, in words that tell the model what to do next. It is
// an error for Go and a result for the model.
type Refusal struct {
	Code    Code
	Path    workspace.Path
	Message string // what happened, where, and what to do next
	Hunk    int    // 1-based hunk of a patch; 0 when it does not apply
	Lines   []int  // lines of the places that matched (ambiguous)
	Nearest string // nearest places with line numbers and visible white space (no_match)
	Err     error  // cause, when there is one
}

// Error is the message.
func (r *Refusal) Error() string { return r.Message }

// Unwrap is the cause.
func (r *Refusal) Unwrap() error { return r.Err }
