package provenance

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"
)

// tail is what must be known of a log to append to it: remembered between appends and brought up to
// date with what other processes appended, so that an append never reads the whole file.
type tail struct {
	file os.FileInfo // the file it was read from; nil when nothing is known
	size int64       // offset behind the last whole line
	seq  int64
	hash string
	open []intent // intents without an end, oldest first
}

// intent is where an intent's line stands.
type intent struct {
	key    string
	seq    int64
	offset int64
}

func (t *tail) clone() tail {
	c := *t
	c.open = slices.Clone(t.open)
	return c
}

// head is what the head file should say of this tail.
func (t *tail) head() head {
	h := head{seq: t.seq, settled: t.size, hash: t.hash}
	if len(t.open) > 0 {
		h.settled = t.open[0].offset
	}
	return h
}

// add takes one more line of n bytes into account.
func (t *tail) add(k link, n int64) {
	key := k.intentKey()
	switch {
	case k.Kind == Intent:
		t.open = append(t.open, intent{key: key, seq: k.Seq, offset: t.size})
	case k.Kind.ends():
		if i := slices.IndexFunc(t.open, func(in intent) bool { return in.key == key }); i >= 0 {
			t.open = slices.Delete(t.open, i, i+1)
		}
	}
	t.seq, t.hash, t.size = k.Seq, k.hash, t.size+n
}

// catchUp reads what was appended since, and cuts off a torn last line: the file lock is held, so
// whoever wrote it is dead.
func (t *tail) catchUp(l *Log, f *os.File) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if t.file != nil && os.SameFile(t.file, info) && info.Size() == t.size {
		return nil
	}
	h, headErr := readHead(l.headPath())
	if t.file == nil || !os.SameFile(t.file, info) || info.Size() < t.size {
		*t = resume(f, info.Size(), h, headErr)
	}
	if err := t.scan(f, info.Size()); err != nil {
		return err
	}
	if torn := info.Size() - t.size; torn > 0 {
		if err := errors.Join(f.Truncate(t.size), f.Sync()); err != nil {
			return fmt.Errorf("cut a torn line off %s: %w", l.path, err)
		}
		if err := noteHealed(l.headPath(), l.root, t.head(), torn, time.Now()); err != nil {
			return err
		}
	}
	// A head ahead of the log means that lines were cut off. Going on from the head keeps the gap
	// visible to Verify for ever; going on from the log would cover it up.
	if headErr == nil && h.seq >= t.seq {
		t.seq, t.hash = h.seq, h.hash
	}
	t.file = info
	return nil
}

// resume gives the point from which the file must be read: where the head says that everything
// before is settled, when the file agrees, else its beginning.
func resume(f *os.File, size int64, h head, headErr error) tail {
	if headErr != nil || h.settled <= 0 || h.settled > size {
		return tail{}
	}
	line, err := lineEndingAt(f, h.settled)
	if err != nil {
		return tail{}
	}
	k, err := parseLink(line)
	if err != nil {
		return tail{}
	}
	return tail{size: h.settled, seq: k.Seq, hash: k.hash}
}

// lineEndingAt gives the line, without its newline, whose newline is the byte before offset.
func lineEndingAt(f io.ReaderAt, offset int64) ([]byte, error) {
	for length := int64(4 << 10); ; length *= 4 {
		start := max(0, offset-length)
		buf := make([]byte, offset-start)
		if _, err := f.ReadAt(buf, start); err != nil {
			return nil, err
		}
		line, ok := bytes.CutSuffix(buf, []byte("\n"))
		if !ok {
			return nil, errors.New("no line ends there")
		}
		if i := bytes.LastIndexByte(line, '\n'); i >= 0 {
			return line[i+1:], nil
		}
		if start == 0 {
			return line, nil
		}
	}
}

// scan reads whole lines from t.size to end. A line that is no record is Verify's to report; here it
// is stepped over, since a damaged log must not stop the agent from recording.
func (t *tail) scan(f io.ReaderAt, end int64) error {
	return eachLine(io.NewSectionReader(f, t.size, end-t.size), func(line []byte) error {
		k, err := parseLink(line)
		if err != nil {
			t.size += int64(len(line)) + 1
			return nil
		}
		t.add(k, int64(len(line))+1)
		return nil
	})
}

// eachLine calls do with each whole line, without its newline; what follows the last newline is
// left out. The line is valid until do returns.
func eachLine(r io.Reader, do func(line []byte) error) error {
	br := bufio.NewReaderSize(r, 64<<10)
	var long []byte
	for {
		part, err := br.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			long = append(long, part...)
			continue
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		line := part[:len(part)-1]
		if long != nil {
			line, long = append(long, line...), nil
		}
		if err := do(line); err != nil {
			return err
		}
	}
}

func linkOf(r Record) link {
	return link{Seq: r.Seq, Kind: r.Kind, Session: r.Session, ToolCall: r.ToolCall, Proposal: r.Proposal, hash: r.Hash}
}
