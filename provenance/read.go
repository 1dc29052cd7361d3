package provenance

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"
)

// Records reads the whole log in order. A log that does not exist yet has none.
func (l *Log) Records() ([]Record, error) {
	records, err := ReadFile(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return records, err
}

// ReadFile reads the records of a log file in order, without checking their chain. A last line that
// is still being written is left out.
func ReadFile(path string) ([]Record, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var records []Record
	err = eachLine(f, func(line []byte) error {
		var r Record
		if err := json.Unmarshal(line, &r); err != nil {
			return fmt.Errorf("%s: line %d: %w", path, len(records)+1, err)
		}
		records = append(records, r)
		return nil
	})
	return records, err
}

// Pending lists the intents that have no end and whose process is gone, oldest first: what a crash
// left behind. An intent of a running process, this one included, is not listed, so that a second
// agent that starts on the same root does not take an edit in progress for a broken one.
func (l *Log) Pending() ([]Record, error) {
	if _, err := os.Stat(l.path); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	l.commitMu.Lock()
	defer l.commitMu.Unlock()
	var pending []Record
	err := l.locked(func(f *os.File) error {
		if err := l.tail.catchUp(l, f); err != nil {
			return err
		}
		for _, in := range l.tail.open {
			if l.isLive(in.seq) {
				continue
			}
			var r Record
			line := json.NewDecoder(io.NewSectionReader(f, in.offset, l.tail.size-in.offset))
			if err := line.Decode(&r); err != nil {
				return fmt.Errorf("%s: record %d: %w", l.path, in.seq, err)
			}
			pending = append(pending, r)
		}
		return nil
	})
	return pending, err
}

// isLive says whether a running process holds the intent.
func (l *Log) isLive(seq int64) bool {
	if l.live[seq] != nil {
		return true
	}
	path := l.livePath(seq)
	if _, err := os.Stat(path); err != nil {
		return false
	}
	lock := flock.New(path)
	free, err := lock.TryLock()
	if free {
		err = lock.Unlock()
	}
	return !free || err != nil
}

// OpenAll opens the logs below dir, whatever their roots.
func OpenAll(dir string) ([]*Log, error) {
	paths, err := Logs(dir)
	if err != nil {
		return nil, err
	}
	var logs []*Log
	var errs []error
	for _, path := range paths {
		h, err := readHead(beside(path, ".head"))
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errBadHead) {
			errs = append(errs, err)
			continue
		}
		l, err := openFile(path, h.root)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		logs = append(logs, l)
	}
	return logs, errors.Join(errs...)
}

// Alone runs do while no other process that repairs the logs below dir does.
func Alone(dir string, do func() error) error {
	lock := flock.New(filepath.Join(dir, "repair.lock"), flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("repair: %w", err)
	}
	return errors.Join(do(), lock.Unlock())
}

// Logs lists the log files below dir, those included of which only the head is left.
func Logs(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, e := range entries {
		for _, suffix := range []string{".jsonl", ".head"} {
			if id, ok := strings.CutSuffix(e.Name(), suffix); ok && !e.IsDir() {
				paths = append(paths, filepath.Join(dir, id+".jsonl"))
			}
		}
	}
	slices.Sort(paths)
	return slices.Compact(paths), nil
}
