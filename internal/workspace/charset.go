package workspace

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/htmlindex"
)

// charset is an encoding that the user named in .editorconfig or config.yaml.
type charset struct {
	name  Encoding
	codec encoding.Encoding // nil for UTF-8 and UTF-16, which need none
	utf16 bool
}

// lookupCharset knows .editorconfig's names and those of the WHATWG index.
func lookupCharset(name string) (charset, error) {
	switch n := strings.ToLower(strings.TrimSpace(name)); n {
	case "", "unset", "utf-8", "utf8", "us-ascii", "ascii":
		return charset{name: UTF8}, nil
	case "utf-8-bom", "utf-8-sig":
		return charset{name: UTF8BOM}, nil
	case "utf-16", "utf-16le", "utf16le":
		return charset{name: UTF16LE, utf16: true}, nil
	case "utf-16be", "utf16be":
		return charset{name: UTF16BE, utf16: true}, nil
	case "latin1", "latin-1", "iso-8859-1", "iso8859-1", "iso_8859-1":
		// The WHATWG index takes these for windows-1252, which is right for pages and wrong for files.
		return charset{name: "iso-8859-1", codec: charmap.ISO8859_1}, nil
	default:
		codec, err := htmlindex.Get(n)
		if err != nil || codec == encoding.Replacement {
			return charset{}, fmt.Errorf("charset %q is not known: %w", name, ErrEncoding)
		}
		canonical, err := htmlindex.Name(codec)
		if err != nil {
			canonical = n
		}
		return charset{name: Encoding(canonical), codec: codec}, nil
	}
}

// KnownCharset says whether name can be given as the encoding of a file.
func KnownCharset(name string) bool {
	_, err := lookupCharset(name)
	return err == nil
}

// decode gives the text only when it would come back as the same bytes: many a charset has several
// codes for one character, and some have codes for none.
func (c charset) decode(data []byte) (string, bool) {
	out, err := c.codec.NewDecoder().Bytes(data)
	if err != nil || bytes.Contains(out, []byte(string(utf8.RuneError))) || bytes.IndexByte(out, 0) >= 0 {
		return "", false
	}
	back, err := c.codec.NewEncoder().Bytes(out)
	if err != nil || !bytes.Equal(back, data) {
		return "", false
	}
	return string(out), true
}

func (c charset) encode(text string) ([]byte, error) {
	out, err := c.codec.NewEncoder().Bytes([]byte(text))
	if err == nil {
		// Some tables give two characters one code; a text must not turn into another one.
		if back, err := c.codec.NewDecoder().Bytes(out); err == nil && string(back) == text {
			return out, nil
		}
		return nil, fmt.Errorf("the text would read differently in %s: %w", c.name, ErrEncoding)
	}
	for _, r := range text {
		if r < utf8.RuneSelf {
			continue
		}
		if _, err := c.codec.NewEncoder().String(string(r)); err != nil {
			return nil, lacks(c.name, r)
		}
	}
	return nil, fmt.Errorf("%s: %v: %w", c.name, err, ErrEncoding)
}
