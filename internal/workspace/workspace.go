// Package workspace names and reads the files that a session may touch: absolute paths, the roots
// that hold them, their exact bytes and text, and the editor's unsaved buffers. Its main types are
// [Path], [Roots] and [Files]. It decides nothing about permission and never writes by itself: the
// only writer is the apply step of package edits, which uses the primitives here.
package workspace

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
)

// Sentinel errors that callers decide on.
var (
	// ErrNotAbsolute is a path from the wire that must be absolute and is not.
	ErrNotAbsolute = errors.New("path is not absolute")
	// ErrBinary is a file that has no text form (NUL bytes, or UTF-16 without a BOM).
	ErrBinary = errors.New("file is binary")
	// ErrEncoding is text that cannot be expressed in the file's encoding.
	ErrEncoding = errors.New("text cannot be expressed in the file's encoding")
	// ErrTooLarge is a file above [Files.MaxSize].
	ErrTooLarge = errors.New("file is too large")
	// ErrChanged is a file or folder that is no longer what it was when the change was made up.
	ErrChanged = errors.New("changed since it was read")
	// ErrUnsupported is a device, FIFO, socket or folder where a regular file is needed.
	ErrUnsupported = errors.New("not a regular file")
)

// Hash is the SHA-256 of a file's exact bytes, as 64 lower-case hex digits. The empty Hash means
// that there is no file; an empty file has the hash of no bytes.
type Hash string

// HashBytes hashes b.
func HashBytes(b []byte) Hash {
	sum := sha256.Sum256(b)
	return Hash(hex.EncodeToString(sum[:]))
}
