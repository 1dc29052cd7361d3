// Package logfile is the agent's own log: a file that rotates by size, shared by all running
// processes, from which secrets are taken out before they are written. Its main type is [Log]. It
// makes nothing before the first record, and a log that cannot be written never stops the program.
package logfile

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/gofrs/flock"
)

// Options of a log.
type Options struct {
	Path     string // <home>/logs/agent.log
	Level    slog.Level
	MaxBytes int64 // the size at which the file is set aside; 0 is 10 MiB
	Keep     int   // files set aside that are kept (agent.log.1, the newest, and so on); 0 is 4
	Redactor *Redactor
}

// maxRecord bounds one record: a log is no place for whole files.
const maxRecord = 64 << 10

// Log is a rotating log file. Safe for use from several goroutines.
type Log struct {
	opts   Options
	level  slog.LevelVar
	logger *slog.Logger

	mu      sync.Mutex
	file    *os.File // guarded by mu; nil before the first record and after Close
	dropped int      // guarded by mu: records that could not be written
	closed  bool     // guarded by mu
}

// New prepares a log; the file is made by the first record.
func New(o Options) *Log {
	if o.MaxBytes == 0 {
		o.MaxBytes = 10 << 20
	}
	if o.Keep == 0 {
		o.Keep = 4
	}
	if o.Redactor == nil {
		o.Redactor = NewRedactor()
	}
	l := &Log{opts: o}
	l.level.Set(o.Level)
	l.logger = slog.New(slog.NewTextHandler(recordWriter{l}, &slog.HandlerOptions{Level: &l.level}))
	return l
}

// Logger writes to the log. Each line names the process, since several share the file.
func (l *Log) Logger() *slog.Logger { return l.logger.With("pid", os.Getpid()) }

// SetLevel changes what is logged from now on.
func (l *Log) SetLevel(level slog.Level) { l.level.Set(level) }

// Redactor takes secrets out of what is logged; values that become known later are added to it.
func (l *Log) Redactor() *Redactor { return l.opts.Redactor }

// Path is the log's file.
func (l *Log) Path() string { return l.opts.Path }

// Dropped is how many records could not be written, for doctor.
func (l *Log) Dropped() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.dropped
}

// Close closes the file. Later records are dropped.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	return l.release()
}

// Level takes the level from ACP_AGENT_LOG, else from the configuration's log.level. An unknown name
// is an error and gives info.
func Level(getenv func(string) string, configured string) (slog.Level, error) {
	name, source := getenv("ACP_AGENT_LOG"), "ACP_AGENT_LOG"
	if name == "" {
		name, source = configured, "log.level"
	}
	switch strings.ToLower(name) {
	case "debug":
		return slog.LevelDebug, nil
	case "", "info":
		return slog.LevelInfo, nil
	case "warn", "warning":
		return slog.LevelWarn, nil
	case "error":
		return slog.LevelError, nil
	}
	return slog.LevelInfo, fmt.Errorf("%s: %q is not one of debug, info, warn, error", source, name)
}

// recordWriter is what the slog handler writes to, one record a call.
type recordWriter struct{ log *Log }

// Write never fails: whoever logs has nothing better to do with the error.
func (w recordWriter) Write(record []byte) (int, error) {
	line := w.log.tidy(record)
	w.log.mu.Lock()
	defer w.log.mu.Unlock()
	if err := w.log.append(line); err != nil {
		w.log.dropped++
	}
	return len(record), nil
}

// tidy takes the secrets out of a record and cuts a long one. It is cut before it is searched, which
// costs time by length, and once more after, so that no part of a secret is left at the first cut.
func (l *Log) tidy(record []byte) []byte {
	const margin = 1024
	if len(record) <= maxRecord {
		return l.opts.Redactor.Bytes(record)
	}
	line := l.opts.Redactor.Bytes(record[:min(len(record), maxRecord+margin)])
	end := max(0, min(len(line)-margin, maxRecord))
	return append(line[:end:end], "… (cut)\n"...)
}

// append writes one line to the file that bears the log's name now, which another process may have
// replaced. l.mu is held.
func (l *Log) append(line []byte) error {
	if l.closed {
		return os.ErrClosed
	}
	size, err := l.reopen()
	if err != nil {
		return err
	}
	if size > 0 && size+int64(len(line)) > l.opts.MaxBytes {
		if err := l.rotate(int64(len(line))); err != nil {
			return err
		}
	}
	_, err = l.file.Write(line)
	return err
}

// reopen makes l.file the file of that name and gives its size.
func (l *Log) reopen() (int64, error) {
	if l.file != nil {
		now, err := os.Stat(l.opts.Path)
		mine, mineErr := l.file.Stat()
		if err == nil && mineErr == nil && os.SameFile(now, mine) {
			return now.Size(), nil
		}
		if err := l.release(); err != nil {
			return 0, err
		}
	}
	if err := os.MkdirAll(filepath.Dir(l.opts.Path), 0o700); err != nil {
		return 0, err
	}
	f, err := os.OpenFile(l.opts.Path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return 0, err
	}
	l.file = f
	return f.Seek(0, io.SeekEnd)
}

func (l *Log) release() error {
	if l.file == nil {
		return nil
	}
	err := l.file.Close()
	l.file = nil
	return err
}

// rotate sets the file aside, unless another process has just done so. Where the file cannot be
// renamed (another process holds it open on Windows) it goes on growing.
func (l *Log) rotate(more int64) error {
	lock := flock.New(l.opts.Path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return err
	}
	defer lock.Unlock()
	size, err := l.reopen()
	if err != nil || size+more <= l.opts.MaxBytes {
		return err
	}
	if err := l.release(); err != nil {
		return err
	}
	_ = os.Remove(l.aside(l.opts.Keep))
	for n := l.opts.Keep - 1; n >= 1; n-- {
		_ = os.Rename(l.aside(n), l.aside(n+1))
	}
	_ = os.Rename(l.opts.Path, l.aside(1))
	_, err = l.reopen()
	return err
}

func (l *Log) aside(n int) string { return l.opts.Path + "." + strconv.Itoa(n) }

// Discard is a log that writes nothing, for callers without a home.
func Discard() *slog.Logger { return slog.New(slog.DiscardHandler) }
