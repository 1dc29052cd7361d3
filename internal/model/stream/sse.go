package stream

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// maxEvent bounds one server-sent event. A whole tool call may come in one, with a file in it.
const maxEvent = 64 << 20

var errEventTooLarge = fmt.Errorf("an event is larger than %d MiB", maxEvent>>20)

// Events reads server-sent events, tolerantly: lines end in LF or CRLF, "data:" may lack its space,
// comments (keepalives) are skipped, the last event may lack its blank line, and a JSON object that
// stands in the stream without "data:" counts as an event, since proxies put their errors there.
type Events struct {
	r    *bufio.Reader
	name []byte
	data []byte
	bare bool // data is being read from lines without a field name
	some bool // data holds something
	size int
	max  int // bytes of one event
	line []byte
}

// NewEvents reads from r, which must deliver what it has without waiting for more.
func NewEvents(r io.Reader) *Events {
	br, ok := r.(*bufio.Reader)
	if !ok {
		br = bufio.NewReaderSize(r, 32<<10)
	}
	return &Events{r: br, max: maxEvent}
}

// Next gives the next event that has data. Both slices are good until the next call. The error is
// io.EOF at the end of the stream.
func (e *Events) Next() (name, data []byte, err error) {
	e.name, e.data, e.bare, e.some, e.size = e.name[:0], e.data[:0], false, false, 0
	for {
		line, err := e.readLine()
		if err != nil {
			if errors.Is(err, io.EOF) && e.some {
				return e.name, e.data, nil
			}
			return nil, nil, err
		}
		if len(line) == 0 {
			if e.some {
				return e.name, e.data, nil
			}
			e.name = e.name[:0]
			continue
		}
		e.field(line)
	}
}

func (e *Events) field(line []byte) {
	key, value, found := bytes.Cut(line, []byte(":"))
	switch {
	case found && len(key) == 0: // a comment
	case found && string(key) == "data":
		e.bare = false
		e.add(bytes.TrimPrefix(value, []byte(" ")))
	case found && string(key) == "event":
		e.name = append(e.name[:0], bytes.TrimPrefix(value, []byte(" "))...)
	case e.bare:
		e.add(line)
	case !e.some && (line[0] == '{' || line[0] == '['):
		e.bare = true
		e.add(line)
	}
}

func (e *Events) add(b []byte) {
	if e.some {
		e.data = append(e.data, '\n')
	}
	e.data = append(e.data, b...)
	e.some = true
}

// readLine gives a line without its end. A last line that lacks its end is a line.
func (e *Events) readLine() ([]byte, error) {
	e.line = e.line[:0]
	for {
		part, err := e.r.ReadSlice('\n')
		if e.size += len(part); e.size > e.max {
			return nil, errEventTooLarge
		}
		if err == nil && len(e.line) == 0 {
			return trimEnd(part), nil
		}
		e.line = append(e.line, part...)
		switch {
		case err == nil:
			return trimEnd(e.line), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(e.line) > 0:
			return trimEnd(e.line), nil
		default:
			return nil, err
		}
	}
}

func trimEnd(line []byte) []byte {
	line = bytes.TrimSuffix(line, []byte("\n"))
	return bytes.TrimSuffix(line, []byte("\r"))
}
