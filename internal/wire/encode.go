package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// spare bytes stand before a body while it is encoded: a Content-Length header goes there, in the
// same memory, so that a message is one Write without another copy.
const (
	spare      = "Content-Length: 9223372036854775807\r\n\r\n"
	headerRoom = len(spare)
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// encodeCall makes a request, or a notification when id is 0. Params that are nil are left out.
func (c *Conn) encodeCall(id int64, method string, params any) ([]byte, error) {
	return c.encode(func(b *bytes.Buffer) error {
		if id != 0 {
			b.WriteString(`"id":`)
			b.Write(strconv.AppendInt(b.AvailableBuffer(), id, 10))
			b.WriteByte(',')
		}
		b.WriteString(`"method":`)
		if err := appendValue(b, method); err != nil {
			return err
		}
		if params == nil {
			return nil
		}
		b.WriteString(`,"params":`)
		return appendValue(b, params)
	})
}

// encodeResult makes the answer of a request. The id goes back as it came, byte for byte.
func (c *Conn) encodeResult(id json.RawMessage, result any) ([]byte, error) {
	return c.encode(func(b *bytes.Buffer) error {
		b.WriteString(`"id":`)
		b.Write(id)
		b.WriteString(`,"result":`)
		return appendValue(b, result)
	})
}

// encodeError makes an error answer, with id null when the id could not be read. It always succeeds:
// data that cannot be sent is left out, and a message that is too long is cut.
func (c *Conn) encodeError(id json.RawMessage, e *Error) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	try := func(e *Error) ([]byte, error) {
		return c.encode(func(b *bytes.Buffer) error {
			b.WriteString(`"id":`)
			b.Write(id)
			b.WriteString(`,"error":`)
			return appendValue(b, e)
		})
	}
	body, err := try(e)
	if err != nil {
		const keep = 1000
		body, err = try(&Error{Code: e.Code, Message: e.Message[:cut(e.Message, keep)]})
	}
	if err != nil {
		c.log.Error("error answer is longer than the limit", "err", err)
		id = json.RawMessage("null") // only an id of megabytes can have done that
		body, _ = try(&Error{Code: e.Code, Message: "error"})
	}
	return body
}

// encode makes a whole framed message from the members that fill writes.
func (c *Conn) encode(fill func(*bytes.Buffer) error) ([]byte, error) {
	b := buffers.Get().(*bytes.Buffer)
	b.Reset()
	b.WriteString(spare)
	b.WriteString(`{"jsonrpc":"2.0",`)
	if err := fill(b); err != nil {
		buffers.Put(b)
		return nil, err
	}
	b.WriteByte('}')
	if n := int64(b.Len() - headerRoom); n > c.o.MaxOut {
		return nil, fmt.Errorf("%w: %d bytes, limit %d", ErrTooLong, n, c.o.MaxOut)
	}
	framed := c.frame(b)
	if b.Cap() > maxPooled {
		return framed, nil // leave the buffer to the message rather than copy it
	}
	framed = bytes.Clone(framed)
	buffers.Put(b)
	return framed, nil
}

const maxPooled = 64 << 10 // bytes of an encoding buffer that is kept for the next message

// frame puts what the framing asks for around the body that follows headerRoom spare bytes.
func (c *Conn) frame(b *bytes.Buffer) []byte {
	if c.o.Framing == Lines {
		b.WriteByte('\n')
		return b.Bytes()[headerRoom:]
	}
	all := b.Bytes()
	header := fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(all)-headerRoom)
	start := headerRoom - len(header)
	copy(all[start:], header)
	return all[start:]
}

// unframed is the JSON in a framed message.
func (c *Conn) unframed(framed []byte) []byte {
	if c.o.Framing == Lines {
		return framed[:len(framed)-1]
	}
	_, body, _ := bytes.Cut(framed, []byte("\r\n\r\n"))
	return body
}

// appendValue writes v as JSON on one line. Raw JSON goes out as it is, which spares the passes
// over it that encoding/json makes; the rest is encoded without the escapes meant for HTML.
func appendValue(b *bytes.Buffer, v any) error {
	if raw, ok := v.(json.RawMessage); ok && raw != nil {
		return appendRaw(b, raw)
	}
	start := b.Len()
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("encode %T: %w", v, err)
	}
	b.Truncate(b.Len() - 1) // the encoder's newline
	b.Truncate(start + unescapeHTML(b.Bytes()[start:]))
	return nil
}

// appendRaw checks JSON that others made: a newline in it would break the framing, and broken text
// the peer.
func appendRaw(b *bytes.Buffer, raw json.RawMessage) error {
	if !utf8.Valid(raw) {
		raw = bytes.ToValidUTF8(raw, []byte("\uFFFD"))
	}
	if bytes.IndexByte(raw, '\n') >= 0 || bytes.IndexByte(raw, '\r') >= 0 {
		return json.Compact(b, raw)
	}
	if !jsontext.Value(raw).IsValid(lenient...) {
		return errors.New("encode raw JSON: it is broken")
	}
	b.Write(raw)
	return nil
}

// unescapeHTML turns the escapes of <, > and & in JSON text back into the characters, in place, and
// gives the new length. Types that encode themselves (unions of the ACP SDK) put them in whatever
// we ask for, and they make code up to six times longer.
func unescapeHTML(p []byte) int {
	if !bytes.Contains(p, []byte(`\u00`)) {
		return len(p)
	}
	w := 0
	for r := 0; r < len(p); {
		if p[r] != '\\' || r+1 >= len(p) {
			p[w] = p[r]
			w, r = w+1, r+1
			continue
		}
		if r+6 <= len(p) {
			if plain := htmlEscape(string(p[r : r+6])); plain != 0 {
				p[w] = plain
				w, r = w+1, r+6
				continue
			}
		}
		p[w], p[w+1] = p[r], p[r+1]
		w, r = w+2, r+2
	}
	return w
}

// htmlEscape is the character that a JSON escape of six bytes hides from HTML, or 0.
func htmlEscape(escape string) byte {
	switch escape {
	case `\u003c`, `\u003C`:
		return '<'
	case `\u003e`, `\u003E`:
		return '>'
	case `\u0026`:
		return '&'
	}
	return 0
}
