package lspserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// Entry is one line of the record: a message that came in or went out, or a document's text as the
// server understood it.
type Entry struct {
	Pid    int             `json:"pid"`
	Out    bool            `json:"out,omitempty"`
	At     time.Time       `json:"at"`
	ID     json.RawMessage `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Code   int             `json:"code,omitempty"` // of an error
	// Text is set behind didOpen and didChange: what the document holds then, under Method "text".
	URI     string `json:"uri,omitempty"`
	Version int    `json:"version,omitempty"`
	Text    string `json:"text,omitempty"`
}

// record is the server's side of it: a JSONL file that every process of one test appends to.
type record struct {
	mu   sync.Mutex
	dir  string
	file *os.File
}

const (
	recordFile = "record.jsonl"
	pidsFile   = "pids"
)

func openRecord(dir string) (*record, error) {
	f, err := os.OpenFile(filepath.Join(dir, recordFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	return &record{dir: dir, file: f}, err
}

// add appends one line with one write, so that processes do not tear each other's.
func (r *record) add(e Entry) {
	e.Pid, e.At = os.Getpid(), time.Now()
	data, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, err := r.file.Write(append(data, '\n')); err != nil {
		fmt.Fprintln(os.Stderr, "lspserver: record:", err)
	}
}

func (r *record) message(m *message, out bool) {
	e := Entry{Out: out, ID: m.ID, Method: m.Method, Params: m.Params, Result: m.Result}
	if m.Error != nil {
		e.Code = m.Error.Code
	}
	r.add(e)
}

// pid notes a process of ours.
func (r *record) pid(kind string, pid int) {
	f, err := os.OpenFile(filepath.Join(r.dir, pidsFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		panic(err)
	}
	defer f.Close()
	if _, err := fmt.Fprintf(f, "%s %d\n", kind, pid); err != nil {
		panic(err)
	}
}

// lives counts the server processes that came before this one.
func (r *record) lives() int {
	data, _ := os.ReadFile(filepath.Join(r.dir, pidsFile)) // none yet for the first
	return strings.Count(string(data), "server ")
}

// fork starts a process that only a kill ends. It inherits our pipes, as those of real servers do.
func (r *record) fork(dir string) error {
	cmd := exec.Command(self(), argChild, dir)
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	r.pid("grandchild", cmd.Process.Pid)
	return nil
}

// readRecord reads what is there so far. A last line that is not whole yet is left for later.
func readRecord(dir string) ([]Entry, error) {
	data, err := os.ReadFile(filepath.Join(dir, recordFile))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []Entry
	for line := range bytes.Lines(data) {
		if line[len(line)-1] != '\n' {
			break
		}
		var e Entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s: %w: %q", recordFile, err, line)
		}
		out = append(out, e)
	}
	return out, nil
}
