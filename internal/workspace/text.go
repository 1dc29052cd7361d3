package workspace

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Encoding names how a file's bytes become text. Besides the constants it may be the canonical name
// of a charset that the user named, such as shift_jis.
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
	// Binary marks a file without a text form in a change that needs none (delete, move). Nothing
	// decodes to it.
	Binary Encoding = "binary"
)

// Format is what must be kept of a file besides its text, so that an edit changes nothing else.
type Format struct {
	Encoding     Encoding
	EOL          EOL
	FinalNewline bool
}

const (
	bomUTF8    = "\xEF\xBB\xBF"
	bomUTF16LE = "\xFF\xFE"
	bomUTF16BE = "\xFE\xFF"
)

// Decode gives the text of data (without BOM, line endings as they are) and its format. charset is
// the encoding that the user named for the file, "" for none; a BOM says more than it does, and so
// do bytes that it cannot carry exactly: those are read as UTF-8 where they are, else as [Opaque].
// Errors: ErrBinary, and ErrEncoding for a charset that is not known.
func Decode(data []byte, charset string) (string, Format, error) {
	text, enc, err := decode(data, charset)
	if err != nil {
		return "", Format{}, err
	}
	return text, formatOf(enc, text), nil
}

func formatOf(enc Encoding, text string) Format {
	return Format{
		Encoding:     enc,
		EOL:          DetectEOL(text),
		FinalNewline: strings.HasSuffix(text, "\n") || strings.HasSuffix(text, "\r"),
	}
}

func decode(data []byte, charset string) (string, Encoding, error) {
	named, err := lookupCharset(charset)
	if err != nil {
		return "", "", err
	}
	switch {
	case bytes.HasPrefix(data, []byte(bomUTF16LE)):
		text, err := decodeUTF16(data[2:], func(b []byte) uint16 { return uint16(b[0]) | uint16(b[1])<<8 })
		return text, UTF16LE, err
	case bytes.HasPrefix(data, []byte(bomUTF16BE)):
		text, err := decodeUTF16(data[2:], func(b []byte) uint16 { return uint16(b[1]) | uint16(b[0])<<8 })
		return text, UTF16BE, err
	case bytes.IndexByte(data, 0) >= 0:
		return "", "", ErrBinary
	case bytes.HasPrefix(data, []byte(bomUTF8)) && utf8.Valid(data):
		return string(data[len(bomUTF8):]), UTF8BOM, nil
	case named.utf16 && len(data) > 0:
		return "", "", fmt.Errorf("UTF-16 without a byte order mark: %w", ErrBinary)
	}
	if named.codec != nil {
		if text, ok := named.decode(data); ok {
			return text, named.name, nil
		}
	}
	if utf8.Valid(data) {
		return string(data), UTF8, nil
	}
	return decodeOpaque(data), Opaque, nil
}

// decodeUTF16 refuses what it could not give back byte for byte: half units, lone surrogates, NUL
// (which also tells UTF-32 apart).
func decodeUTF16(data []byte, unit func([]byte) uint16) (string, error) {
	if len(data)%2 != 0 {
		return "", fmt.Errorf("UTF-16 with an odd number of bytes: %w", ErrBinary)
	}
	var b strings.Builder
	b.Grow(len(data))
	for i := 0; i < len(data); i += 2 {
		r := rune(unit(data[i:]))
		if utf16.IsSurrogate(r) {
			if i+3 >= len(data) {
				return "", fmt.Errorf("UTF-16 with half a character at the end: %w", ErrBinary)
			}
			if r = utf16.DecodeRune(r, rune(unit(data[i+2:]))); r == utf8.RuneError {
				return "", fmt.Errorf("UTF-16 with half a character at byte %d: %w", i+2, ErrBinary)
			}
			i += 2
		}
		if r == 0 {
			return "", ErrBinary
		}
		b.WriteRune(r)
	}
	return b.String(), nil
}

func decodeOpaque(data []byte) string {
	var b strings.Builder
	b.Grow(len(data) + len(data)/8)
	for _, c := range data {
		b.WriteRune(rune(c))
	}
	return b.String()
}

// Encode is the inverse of Decode: for every data that decodes, Encode(Decode(data)) is data.
// Errors: ErrEncoding when text has a character that the encoding lacks.
func (f Format) Encode(text string) ([]byte, error) {
	if !utf8.ValidString(text) {
		return nil, fmt.Errorf("the text is not valid Unicode: %w", ErrEncoding)
	}
	switch f.Encoding {
	case UTF8, "":
		return []byte(text), nil
	case UTF8BOM:
		return append([]byte(bomUTF8), text...), nil
	case UTF16LE:
		return encodeUTF16(text, bomUTF16LE, func(out []byte, u uint16) []byte { return append(out, byte(u), byte(u>>8)) }), nil
	case UTF16BE:
		return encodeUTF16(text, bomUTF16BE, func(out []byte, u uint16) []byte { return append(out, byte(u>>8), byte(u)) }), nil
	case Opaque:
		return encodeOpaque(text)
	case Binary:
		return nil, ErrBinary
	}
	named, err := lookupCharset(string(f.Encoding))
	if err != nil {
		return nil, err
	}
	return named.encode(text)
}

func encodeUTF16(text, bom string, put func([]byte, uint16) []byte) []byte {
	out := make([]byte, 0, 2*len(text)+2)
	out = append(out, bom...)
	for _, r := range text {
		if r >= 0x10000 {
			hi, lo := utf16.EncodeRune(r)
			out = put(put(out, uint16(hi)), uint16(lo))
			continue
		}
		out = put(out, uint16(r))
	}
	return out
}

func encodeOpaque(text string) ([]byte, error) {
	out := make([]byte, 0, len(text))
	for _, r := range text {
		if r > 0xFF {
			return nil, lacks(Opaque, r)
		}
		out = append(out, byte(r))
	}
	return out, nil
}

// lacks is the error for a character that enc cannot express.
func lacks(enc Encoding, r rune) error {
	return fmt.Errorf("%q (U+%04X) has no place in %s: %w", r, r, enc, ErrEncoding)
}

// NewFormat is the format of a file that does not exist yet, for the charset that the user named
// for it ("" for none).
func NewFormat(charset, text string) (Format, error) {
	named, err := lookupCharset(charset)
	if err != nil {
		return Format{}, err
	}
	return formatOf(named.name, text), nil
}
