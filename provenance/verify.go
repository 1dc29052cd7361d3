package provenance

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// Report is the result of a verification.
type Report struct {
	Path     string
	Root     string // the root's real path; empty when the head file is gone
	Records  int
	BadSeq   int64  // first record that is missing, changed or out of its place; 0 when all are right
	Problem  string // what is wrong with it
	Warnings []string
}

// OK says that nothing is wrong; there may be warnings.
func (r Report) OK() bool { return r.BadSeq == 0 }

// errStop ends the walk at the first fault.
var errStop = errors.New("stop")

// Verify checks the chain of one log file and compares its end with the head file. An error means
// that the file could not be read; what it holds is told in the report.
func Verify(path string) (Report, error) {
	rep := Report{Path: path}
	// The head is read first: a log that grows meanwhile is then ahead of it, never behind.
	h, headErr := readHead(beside(path, ".head"))
	if headErr != nil && !errors.Is(headErr, fs.ErrNotExist) && !errors.Is(headErr, errBadHead) {
		return rep, headErr
	}
	rep.Root = h.root
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && headErr == nil {
		rep.BadSeq, rep.Problem = 1, fmt.Sprintf("the log is gone; its head file knows of %d records", h.seq)
		return rep, nil
	}
	if err != nil {
		return rep, err
	}
	defer f.Close()
	read, err := rep.walk(f, h)
	if err != nil {
		return rep, err
	}
	rep.Warnings = append(rep.Warnings, h.healed...)
	switch {
	case errors.Is(headErr, fs.ErrNotExist):
		rep.Warnings = append(rep.Warnings, "there is no head file, so records cut off the end cannot be noticed")
	case headErr != nil:
		rep.Warnings = append(rep.Warnings, "the head file cannot be read, so records cut off the end cannot be noticed")
	case rep.OK() && h.seq > int64(rep.Records):
		rep.BadSeq = int64(rep.Records) + 1
		rep.Problem = fmt.Sprintf("records %d to %d are missing from the end", rep.BadSeq, h.seq)
	}
	if info, err := f.Stat(); err == nil && rep.OK() && info.Size() > read {
		rep.Warnings = append(rep.Warnings, fmt.Sprintf("the last line is torn (%d bytes); the next append cuts it off", info.Size()-read))
	}
	return rep, nil
}

// walk checks line after line up to the first fault and gives the bytes of the whole lines read.
func (rep *Report) walk(f io.Reader, h head) (read int64, err error) {
	prev := ""
	err = eachLine(f, func(line []byte) error {
		seq := int64(rep.Records) + 1
		k, err := parseLink(line)
		switch {
		case err != nil:
			rep.Problem = fmt.Sprintf("line %d is not a record: %v", seq, err)
		default:
			rep.Problem = k.check(seq, prev)
		}
		if rep.Problem == "" && h.seq == seq && h.hash != k.hash {
			rep.Problem = "it is not the record that the head file knows: the log was rewritten"
		}
		if rep.Problem != "" {
			rep.BadSeq = seq
			return errStop
		}
		rep.Records++
		read += int64(len(line)) + 1
		prev = k.hash
		return nil
	})
	if errors.Is(err, errStop) {
		err = nil
	}
	return read, err
}
