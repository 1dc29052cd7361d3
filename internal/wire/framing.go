package wire

import (
	"bufio"
	"io"
)

const (
	readBuffer = 64 << 10 // bytes read at once; what a pipe holds on Linux
	maxHead    = 4 << 10  // bytes kept of a message that is too long to keep
	maxPiece   = 4 << 20  // bytes of the largest piece in which a long message is collected
)

// frame is one message as it lay in the stream, without its framing.
type frame struct {
	data    []byte // belongs to the receiver; only the first maxHead bytes when tooLong
	tooLong bool   // the rest was skipped
}

// framer takes messages out of a stream. Its errors are the end of the stream; whatever can be
// skipped is skipped.
type framer interface {
	next() (frame, error)
	// broken says that the last frame was no JSON, so its bounds may be wrong.
	broken()
}

func newFramer(r io.Reader, o Options) framer {
	if o.Framing == ContentLength {
		return newFrames(r, o.MaxIn, o.Logger)
	}
	return &lines{r: bufio.NewReaderSize(r, readBuffer), max: o.MaxIn}
}

// spool collects the pieces of a message whose length is not known, and joins them at the end in
// memory of the exact size: half the peak of a slice that doubles, and no long copies on the way.
type spool struct {
	pieces [][]byte
	n      int64
}

func (s *spool) add(p []byte) {
	s.n += int64(len(p))
	for len(p) > 0 {
		last := len(s.pieces) - 1
		if last < 0 || len(s.pieces[last]) == cap(s.pieces[last]) {
			s.pieces = append(s.pieces, make([]byte, 0, min(max(s.n, 2*readBuffer), maxPiece)))
			continue
		}
		piece := s.pieces[last]
		k := min(len(p), cap(piece)-len(piece))
		s.pieces[last], p = append(piece, p[:k]...), p[k:]
	}
}

// take joins what was collected, and empties the spool.
func (s *spool) take() []byte {
	whole := make([]byte, 0, s.n)
	for i, p := range s.pieces {
		whole = append(whole, p...)
		s.pieces[i] = nil
	}
	*s = spool{}
	return whole
}

// shrink forgets all but the first maxHead bytes.
func (s *spool) shrink() {
	if len(s.pieces) > 0 {
		first := append([]byte(nil), s.pieces[0][:min(maxHead, len(s.pieces[0]))]...)
		s.pieces, s.n = [][]byte{first[:len(first):len(first)]}, int64(len(first))
	}
}
