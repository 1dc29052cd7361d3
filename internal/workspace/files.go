package workspace

import (
	"context"
	"io/fs"
)

// Editor is the editor's side of file access (ACP fs/read_text_file, fs/write_text_file). Package
// acp implements it; a session without those capabilities has none.
type Editor interface {
	// CanRead and CanWrite say what the editor advertised.
	CanRead() bool
	CanWrite() bool
	// ServesBuffers says whether reads are known to give unsaved text (editor profile).
	ServesBuffers() bool
	// ReadText gives the buffer's text, or the file's.
	ReadText(ctx context.Context, p Path) (string, error)
	// WriteText replaces the file's text, creating the file when it is absent.
	WriteText(ctx context.Context, p Path, text string) error
}

// Files reads files for one session: disk bytes, and the editor's unsaved text where it serves it.
type Files struct {
	Roots   *Roots
	Editor  Editor            // nil: the disk is the truth
	Charset func(Path) string // encoding named by config or .editorconfig, "" for none; may be nil
	MaxSize int64             // files above it are refused with ErrTooLarge; 0 means 10 MiB
}

// File is one file as it stands now.
type File struct {
	Location
	Exists  bool
	Data    []byte      // exact bytes on disk
	Text    string      // text form without BOM; the editor's unsaved text when Unsaved
	Format  Format      // how Text becomes bytes
	Mode    fs.FileMode // type and permission bits
	Hash    Hash        // of Data; empty when the file does not exist
	Unsaved bool        // Text is the editor's and differs from the disk in more than EOL, BOM or the final newline
	// BufferUnknown: the editor reads, but may not serve unsaved text, so an unsaved edit cannot be seen.
	BufferUnknown bool
	// EditorRead records why the editor's text was not taken ("" when it was taken or not asked).
	EditorRead string
}

// Read reads p from disk and, where it can, through the editor, and compares the two (clients.md
// §6.1). A file that does not exist is not an error (Exists is false). Errors: ErrBinary,
// ErrTooLarge, ErrUnsupported, or the operating system's.
func (f *Files) Read(ctx context.Context, p Path) (File, error) { panic("TODO(files)") }

// ReadDisk is Read without the editor.
func (f *Files) ReadDisk(p Path) (File, error) { panic("TODO(files)") }
