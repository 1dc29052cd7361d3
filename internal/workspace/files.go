package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// Editor is the editor's side of file access (ACP fs/read_text_file, fs/write_text_file). Package
// acp implements it; a session without those capabilities has none.
type Editor interface {
	// CanRead and CanWrite say what the editor advertised.
	CanRead() bool
	CanWrite() bool
	// ServesBuffers says whether reads give unsaved text, as the protocol has it; false for editors that
	// are known to read the disk (editor profile).
	ServesBuffers() bool
	// ReadText gives the buffer's text, or the file's.
	ReadText(ctx context.Context, p Path) (string, error)
	// WriteText replaces the file's text, creating the file when it is absent.
	WriteText(ctx context.Context, p Path, text string) error
}

// DefaultMaxSize is the largest file that is read whole when [Files.MaxSize] is zero (contract §7).
const DefaultMaxSize = 10 << 20

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
// ErrTooLarge, ErrUnsupported, or the operating system's; the File beside an error still has its
// Location, Exists and Mode, and beside ErrBinary also Data and Hash.
func (f *Files) Read(ctx context.Context, p Path) (File, error) {
	file, err := f.ReadDisk(p)
	if err != nil || f.Editor == nil || !f.Editor.CanRead() {
		return file, err
	}
	serves := f.Editor.ServesBuffers()
	if !file.Exists && !serves {
		return file, nil // some editors never answer for a file that is not there
	}
	file.BufferUnknown = !serves
	text, err := f.Editor.ReadText(ctx, p)
	if err != nil {
		if ctx.Err() != nil {
			return file, ctx.Err()
		}
		if file.Exists {
			file.EditorRead = "the editor could not read it: " + err.Error()
		}
		return file, nil
	}
	file.compare(text, serves)
	return file, nil
}

// compare decides between the text on disk and the editor's.
func (file *File) compare(text string, serves bool) {
	text = strings.TrimPrefix(text, "\uFEFF")
	switch {
	case !file.Exists && text == "":
		return
	case file.Exists && SameText(text, file.Text):
		return
	case file.Exists && text == "":
		file.EditorRead = "the editor gave an empty text for a file that is not empty"
	case file.Exists && file.Format.Encoding == Opaque:
		// The editor shows bytes of an unknown encoding in its own way, so only ASCII can be compared.
		if asciiOnly(normalizeEOL(text)) != asciiOnly(normalizeEOL(file.Text)) {
			file.BufferUnknown = true
			file.EditorRead = "the editor's text cannot be compared, the file's encoding is not known"
		}
	case !serves:
		file.EditorRead = "the editor gave another text than the disk and is not known to serve unsaved text"
	case strings.ContainsRune(text, 0):
		file.EditorRead = "the editor's text has NUL characters"
	default:
		file.takeUnsaved(text)
	}
}

// takeUnsaved makes the editor's text the base. Editors give buffers with \n whatever the file has,
// so a uniform line ending of the file is put back.
func (file *File) takeUnsaved(text string) {
	text = WithEOL(text, file.Format.EOL)
	file.Text, file.Unsaved = text, true
	file.Format = formatOf(file.Format.Encoding, text)
}

// SameText says that two texts differ in nothing but line endings and one final line break.
func SameText(a, b string) bool {
	if a == b {
		return true
	}
	return strings.TrimSuffix(normalizeEOL(a), "\n") == strings.TrimSuffix(normalizeEOL(b), "\n")
}

func asciiOnly(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 0x80 {
			return -1
		}
		return r
	}, s)
}

// ReadDisk is Read without the editor.
func (f *Files) ReadDisk(p Path) (File, error) {
	loc, err := f.Roots.locate(p)
	file := File{Location: loc}
	if err != nil {
		return file, err
	}
	data, info, err := readRegular(string(loc.Real), f.Limit())
	if info != nil {
		file.Exists, file.Mode = true, info.Mode()
	}
	charset := ""
	if f.Charset != nil {
		charset = f.Charset(p)
	}
	if errors.Is(err, fs.ErrNotExist) || isNotDir(err) {
		file.Format, err = NewFormat(charset, "")
		if err != nil {
			return file, fmt.Errorf("%s: %w", p, err)
		}
		return file, nil
	}
	if err != nil {
		return file, err
	}
	file.Data, file.Hash = data, HashBytes(data)
	file.Text, file.Format, err = Decode(data, charset)
	if err != nil {
		return file, fmt.Errorf("%s: %w", p, err)
	}
	return file, nil
}

// Limit is the size above which a file is not read.
func (f *Files) Limit() int64 {
	if f.MaxSize > 0 {
		return f.MaxSize
	}
	return DefaultMaxSize
}
