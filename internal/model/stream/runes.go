package stream

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// Runes turns the JSON string literals of one stream of text into Go text and never lets half a rune
// out: servers cut multi-byte characters and surrogate pairs between two deltas, which encoding/json
// would answer with U+FFFD on both sides. What is still incomplete waits for the next literal.
type Runes struct {
	tail []byte // the beginning of a rune, at most 3 bytes
	high rune   // a high surrogate that waits for its low one; 0 for none
}

// Add decodes a JSON string literal, quotes included, which encoding/json has accepted as valid.
// Anything that is not a string (null, nothing) adds no text.
func (r *Runes) Add(literal []byte) string {
	if len(literal) < 2 || literal[0] != '"' {
		return ""
	}
	body := literal[1 : len(literal)-1]
	if len(r.tail) == 0 && r.high == 0 && plain(body) {
		return string(body)
	}
	return r.gate(r.unescape(r.tail, body))
}

// Flush gives what is left at the end of the text: U+FFFD for a rune that never became whole.
func (r *Runes) Flush() string {
	cut := len(r.tail) > 0 || r.high != 0
	r.tail, r.high = nil, 0
	if cut {
		return string(utf8.RuneError)
	}
	return ""
}

// plain says that body stands for itself: no escapes and only whole runes.
func plain(body []byte) bool {
	return bytes.IndexByte(body, '\\') < 0 && utf8.Valid(body)
}

// gate cuts an incomplete rune off the end of b and keeps it; other invalid bytes become U+FFFD.
func (r *Runes) gate(b []byte) string {
	end := len(b)
	for i := 1; i <= utf8.UTFMax-1 && i <= len(b); i++ {
		if utf8.RuneStart(b[len(b)-i]) {
			if !utf8.FullRune(b[len(b)-i:]) {
				end = len(b) - i
			}
			break
		}
	}
	r.tail = append([]byte(nil), b[end:]...)
	return strings.ToValidUTF8(string(b[:end]), string(utf8.RuneError))
}

// unescape appends body's bytes to what was left over. The literal is valid JSON, so every escape
// is whole.
func (r *Runes) unescape(tail, body []byte) []byte {
	out := append(make([]byte, 0, len(tail)+len(body)), tail...)
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c == '\\' && body[i+1] == 'u' {
			n, _ := strconv.ParseUint(string(body[i+2:i+6]), 16, 32)
			out = r.unit(out, rune(n))
			i += 5
			continue
		}
		out = r.lone(out)
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		out = append(out, escapes[body[i]])
	}
	return out
}

// unit appends one \u escape, which may be half of a surrogate pair.
func (r *Runes) unit(out []byte, u rune) []byte {
	if r.high != 0 {
		if pair := utf16.DecodeRune(r.high, u); pair != utf8.RuneError {
			r.high = 0
			return utf8.AppendRune(out, pair)
		}
		out = r.lone(out)
	}
	if u >= 0xD800 && u < 0xDC00 {
		r.high = u
		return out
	}
	return utf8.AppendRune(out, u)
}

// lone gives up on a high surrogate whose other half did not come.
func (r *Runes) lone(out []byte) []byte {
	if r.high == 0 {
		return out
	}
	r.high = 0
	return utf8.AppendRune(out, utf8.RuneError)
}

var escapes = [256]byte{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}
