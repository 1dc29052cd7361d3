package lsp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"sync"

	"acp-agent/internal/procgroup"
)

// process is a server's process with its pipes. All that it starts dies with it and with us.
type process struct {
	group          *procgroup.Group
	stdin, stdout  *os.File
	stderr         *tail
	drained, ended chan struct{}
	err            error // of the wait; written before ended is closed
}

// startProcess starts a server in dir. Its standard error is drained into the log, whatever it writes.
func startProcess(argv []string, dir string, environ []string, log *slog.Logger) (*process, error) {
	var files []*os.File
	pipe := func() (r, w *os.File, err error) {
		if r, w, err = os.Pipe(); err == nil {
			files = append(files, r, w)
		}
		return r, w, err
	}
	inR, inW, err1 := pipe()
	outR, outW, err2 := pipe()
	errR, errW, err3 := pipe()
	if err := errors.Join(err1, err2, err3); err != nil {
		closeAll(files)
		return nil, err
	}
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, environ
	cmd.Stdin, cmd.Stdout, cmd.Stderr = inR, outW, errW
	group, err := procgroup.Start(cmd)
	if err != nil {
		closeAll(files)
		return nil, fmt.Errorf("start %s: %w", argv[0], err)
	}
	closeAll([]*os.File{inR, outW, errW})
	p := &process{
		group: group, stdin: inW, stdout: outR, stderr: &tail{},
		drained: make(chan struct{}), ended: make(chan struct{}),
	}
	go func() {
		defer close(p.drained)
		p.stderr.drain(errR, log)
	}()
	go func() {
		defer close(p.ended)
		p.err = group.Wait()
		_ = errR.SetReadDeadline(past) // a daemon that left the group may hold the pipe for ever
	}()
	return p, nil
}

// wait returns when the process, its group and the reading of its error output have ended.
func (p *process) wait() {
	<-p.ended
	<-p.drained
}

// stop ends the group: politely until ctx ends, then by force. It returns when it is gone.
func (p *process) stop(ctx context.Context, polite bool) {
	if polite {
		select {
		case <-p.ended:
		case <-ctx.Done():
		}
	}
	p.group.Kill(0)
	p.wait()
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // pipes of our own making, nothing is buffered in them
	}
}

// tail keeps the last lines of a server's error output for the report of its end.
type tail struct {
	mu    sync.Mutex
	lines []string // guarded by mu
}

// Bounds of what is kept of the error output: lines, and characters of each.
const (
	tailLines = 30
	tailWidth = 500
)

// drain reads to the end. A line of any length is cut, not waited for.
func (t *tail) drain(r io.ReadCloser, log *slog.Logger) {
	defer r.Close()
	in := bufio.NewReaderSize(r, 4096)
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		if room := tailWidth*4 - len(line); room > 0 {
			line = append(line, part[:min(len(part), room)]...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if s := oneLine(string(line), tailWidth); s != "" {
			log.Debug(s, "stream", "stderr")
			t.add(s)
		}
		line = line[:0]
		if err != nil {
			return
		}
	}
}

func (t *tail) add(s string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == tailLines {
		t.lines = append(t.lines[:0], t.lines[1:]...)
	}
	t.lines = append(t.lines, s)
}

// last is the newest line; all is everything kept.
func (t *tail) last() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.lines) == 0 {
		return ""
	}
	return t.lines[len(t.lines)-1]
}

func (t *tail) all() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}
