package wire

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strconv"
	"sync"
	"unicode/utf8"
)

const (
	maxHeader = 8 << 10 // bytes from a length to the blank line behind it
	maxStray  = 4 << 20 // bytes of other text before the stream is given up
	maxRescan = 1 << 20 // bytes of broken bodies searched for headers between two whole messages
	lineTail  = 256     // bytes kept of a long line between messages; a header is shorter
)

// lengthHeader finds the length at the end of a line. Text may stand before it: a banner printed
// without a newline, or the rest of a body whose length was wrong. It cannot be mistaken inside a
// message, because a JSON string holds no raw newline.
var lengthHeader = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)content-length[ \t]*:[ \t]*([0-9]{1,18})$`)
})

// frames takes messages with Content-Length headers. Header names may be in any case, lines may end
// in LF alone, other headers are ignored, and text between messages (banners of package runners,
// stray prints) is skipped. A length counts bytes. It has its own buffer because it steps back in it.
type frames struct {
	r   io.Reader
	buf []byte
	pos int   // of the first byte in buf that was not taken
	err error // of r, once what came with it is taken

	max    int64 // bytes of a body; a longer one is skipped
	log    *slog.Logger
	stray  int64  // bytes of other text that may come before the next header
	last   []byte // the body given out last, until the next one
	rescan int    // bytes that may still be searched again
	strays warnings
}

func newFrames(r io.Reader, limit int64, log *slog.Logger) *frames {
	return &frames{r: r, max: limit, log: log, stray: maxStray, rescan: maxRescan}
}

func (f *frames) next() (frame, error) {
	if f.last != nil {
		f.last, f.rescan = nil, maxRescan
	}
	for {
		length, err := f.header()
		if err != nil {
			return frame{}, err
		}
		if length > f.max {
			return f.skip(length)
		}
		if f.last, err = f.take(int(length)); err != nil {
			f.broken() // the end came inside the body: its length may have hidden whole messages
			continue
		}
		if !utf8.Valid(f.last) {
			// A server that cuts a text inside a character must not cost us the whole message.
			return frame{data: bytes.ToValidUTF8(f.last, []byte("\uFFFD"))}, nil
		}
		return frame{data: f.last}, nil
	}
}

// skip passes over a body above the limit. Its length may be true or wrong, and searching on for a
// header serves both: a true body is one long line with the next header at its end.
func (f *frames) skip(length int64) (frame, error) {
	f.log.Warn("message longer than the limit skipped", "bytes", length, "limit", f.max)
	f.stray = maxStray + length
	if f.pos == len(f.buf) {
		if err := f.fill(); err != nil {
			return frame{}, err
		}
	}
	start := f.buf[f.pos:]
	return frame{data: bytes.Clone(start[:min(maxHead, len(start))]), tooLong: true}, nil
}

// broken steps back to the start of the last body: its length may have been wrong, and the next
// header within it. The budget keeps a hostile peer from making us search the same bytes for ever.
func (f *frames) broken() {
	body := f.last
	f.last = nil
	if len(body) > f.rescan {
		return
	}
	f.rescan -= len(body)
	if f.pos >= len(body) {
		f.pos -= len(body)
		return
	}
	f.buf, f.pos = body, 0 // a body larger than the buffer leaves nothing in it
}

// header reads up to the blank line behind a length, and gives the length.
func (f *frames) header() (int64, error) {
	length, size := int64(-1), 0
	for {
		text, n, err := f.line()
		if err != nil {
			return 0, err
		}
		if m := findLength(text); m != nil {
			if m[0] > 0 {
				f.logStray(text[:m[0]])
			}
			length, _ = strconv.ParseInt(string(text[m[2]:m[3]]), 10, 64)
			size, f.stray = 0, maxStray
			continue
		}
		blank := len(bytes.TrimRight(text, "\r")) == 0
		switch {
		case blank && length >= 0:
			return length, nil
		case length >= 0:
			if size += n; size > maxHeader {
				f.log.Warn("headers longer than the limit skipped", "limit", maxHeader)
				length = -1
			}
		default:
			if f.stray -= int64(n); f.stray < 0 {
				return 0, fmt.Errorf("no message header in %d bytes of output; the last is %.100q", maxStray, text)
			}
			if !blank && f.stray <= maxStray {
				f.logStray(text)
			}
		}
	}
}

// findLength gives the bounds of a length header and of its number in a line, or nil.
func findLength(line []byte) []int {
	end := bytes.TrimRight(line, " \t\r")
	if len(end) == 0 || end[len(end)-1] < '0' || end[len(end)-1] > '9' {
		return nil // most lines that are none, without the cost of the expression
	}
	return lengthHeader().FindSubmatchIndex(end)
}

// line takes the next line and says how many bytes it had. Of a long line only the tail is given,
// since that is where a header can be. The text is valid until the next call.
func (f *frames) line() (text []byte, n int, err error) {
	var kept []byte
	for {
		rest := f.buf[f.pos:]
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			f.pos += i + 1
			if kept == nil {
				return rest[:i], i + 1, nil
			}
			return append(kept, rest[max(0, i-lineTail):i]...), n + i + 1, nil
		}
		if len(rest) >= lineTail {
			kept = kept[:0]
		}
		kept = append(kept, rest[max(0, len(rest)-lineTail):]...)
		kept = kept[max(0, len(kept)-lineTail):]
		n += len(rest)
		f.pos = len(f.buf)
		if err := f.fill(); err != nil {
			return nil, n, err
		}
	}
}

// take gives the next n bytes. At the end of the stream it gives what there was, and the error.
func (f *frames) take(n int) ([]byte, error) {
	rest := f.buf[f.pos:]
	if len(rest) >= n {
		f.pos += n
		return append(make([]byte, 0, n), rest[:n]...), nil
	}
	body := make([]byte, n)
	have := copy(body, rest)
	f.buf, f.pos = nil, 0 // what was taken is in body, should it have to be searched again
	more, err := io.ReadFull(f.r, body[have:])
	if err != nil {
		f.err = err
	}
	return body[:have+more], err
}

var errNoProgress = errors.New("the stream gives neither bytes nor an error")

// fill reads more into the buffer, whose bytes were all taken.
func (f *frames) fill() error {
	if f.err != nil {
		return f.err
	}
	if cap(f.buf) != readBuffer {
		f.buf = make([]byte, 0, readBuffer)
	}
	f.buf, f.pos = f.buf[:0], 0
	for range 100 {
		var n int
		n, f.err = f.r.Read(f.buf[:cap(f.buf)])
		f.buf = f.buf[:n]
		if n > 0 {
			return nil
		}
		if f.err != nil {
			return f.err
		}
	}
	return errNoProgress
}

// logStray reports text that is no message, cut to a length that suits a log.
func (f *frames) logStray(text []byte) {
	f.strays.log(f.log, "text between messages skipped", "text", string(text[:min(len(text), 200)]))
}
