package wire

import (
	"bufio"
	"bytes"
)

// lines takes newline-delimited messages: one a line, however the peer cuts its writes. CRLF, blank
// lines, spaces around a message, a byte order mark and a last line without newline are all fine.
type lines struct {
	r   *bufio.Reader
	max int64 // bytes of a line; a longer one is skipped to its newline
}

var byteOrderMark = []byte("\xef\xbb\xbf")

func (l *lines) next() (frame, error) {
	for {
		f, err := l.line()
		f.data = bytes.Trim(bytes.TrimPrefix(f.data, byteOrderMark), " \t\r\n")
		if len(f.data) > 0 || f.tooLong {
			return f, nil // an error, if any, comes again with the next read
		}
		if err != nil {
			return frame{}, err
		}
	}
}

// line reads up to the next newline or the end. The common line lies whole in the buffer and is
// copied once.
func (l *lines) line() (frame, error) {
	part, err := l.r.ReadSlice('\n')
	if err != bufio.ErrBufferFull {
		if int64(len(part)) > l.max+1 {
			return frame{data: bytes.Clone(part[:min(maxHead, len(part))]), tooLong: true}, err
		}
		return frame{data: bytes.Clone(part)}, err
	}
	var s spool
	tooLong := false
	for {
		if !tooLong {
			s.add(part)
			if s.n > l.max+1 { // one more for the newline
				tooLong = true
				s.shrink()
			}
		}
		if err != bufio.ErrBufferFull {
			return frame{data: s.take(), tooLong: tooLong}, err
		}
		part, err = l.r.ReadSlice('\n')
	}
}

// broken needs nothing: the next line starts behind the newline.
func (l *lines) broken() {}
