package workspace

// Encoding names how a file's bytes become text.
type Encoding string

// The encodings that are told apart without being named by the user.
const (
	UTF8    Encoding = "utf-8"
	UTF8BOM Encoding = "utf-8-bom"
	UTF16LE Encoding = "utf-16le"
	UTF16BE Encoding = "utf-16be"
	// Opaque is 8-bit text of no known encoding: bytes above 0x7F are shown as U+0080..U+00FF and
	// carried as they are; only ASCII may be edited (contract §8).
	Opaque Encoding = "unknown-8bit"
)

// EOL names a file's line ending.
type EOL string

// Line endings. A file without a line break has EOLNone.
const (
	EOLNone  EOL = "none"
	LF       EOL = "lf"
	CRLF     EOL = "crlf"
	CR       EOL = "cr"
	EOLMixed EOL = "mixed"
)

// Format is what must be kept of a file besides its text, so that an edit changes nothing else.
type Format struct {
	Encoding     Encoding
	EOL          EOL
	FinalNewline bool
}

// Decode gives the text of data (without BOM, line endings as they are) and its format. charset is
// the encoding that the user named for the file, "" for none. Errors: ErrBinary, ErrEncoding.
func Decode(data []byte, charset string) (string, Format, error) { panic("TODO(files)") }

// Encode is the inverse of Decode: for every data that decodes, Encode(Decode(data)) is data.
// Errors: ErrEncoding when text has a character that the encoding lacks.
func (f Format) Encode(text string) ([]byte, error) { panic("TODO(files)") }

// DetectEOL looks at text's line breaks (\n, \r\n, \r).
func DetectEOL(text string) EOL { panic("TODO(files)") }
