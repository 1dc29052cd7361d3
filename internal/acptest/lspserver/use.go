package lspserver

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Server is a test's side: the command line of the server, and what its processes did.
type Server struct {
	t       testing.TB
	dir     string
	Command []string // for lsp.servers.<id>.command
}

// New prepares a server with modes ("slow=800ms", "unversioned", …; the table is in modes.go).
// Nothing is started. At the end of the test a fault that the server noticed in its client fails it.
func New(t testing.TB, list ...string) *Server {
	t.Helper()
	if _, err := parseModes(list); err != nil {
		t.Fatal(err)
	}
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, dir: dir, Command: append([]string{self(), argServer, dir}, list...)}
	t.Cleanup(func() {
		for _, e := range s.Record() {
			if e.Method == "complaint" || e.Method == "broken" {
				t.Errorf("the server complains: %s", e.Text)
			}
		}
		if t.Failed() {
			data, _ := os.ReadFile(filepath.Join(dir, recordFile)) // none when it was never started
			t.Logf("what the server received and sent:\n%.20000s", data)
		}
	})
	return s
}

// Record is everything that the processes received and sent so far, in order.
func (s *Server) Record() []Entry {
	s.t.Helper()
	list, err := readRecord(s.dir)
	if err != nil {
		s.t.Fatal(err)
	}
	return list
}

// Received are the messages of a method that came in; Sent those that went out.
func (s *Server) Received(method string) []Entry { return s.pick(method, false) }

// Sent are the messages of a method that went out.
func (s *Server) Sent(method string) []Entry { return s.pick(method, true) }

func (s *Server) pick(method string, out bool) []Entry {
	s.t.Helper()
	var list []Entry
	for _, e := range s.Record() {
		if e.Method == method && e.Out == out {
			list = append(list, e)
		}
	}
	return list
}

// Texts are the texts that the server had of a file, in order.
func (s *Server) Texts(path string) []string {
	s.t.Helper()
	var list []string
	for _, e := range s.Received("text") {
		if pathOf(e.URI) == path {
			list = append(list, e.Text)
		}
	}
	return list
}

// Answers are the client's answers to the server's requests of a method.
func (s *Server) Answers(method string) []Entry {
	s.t.Helper()
	asked := map[string]bool{}
	var list []Entry
	for _, e := range s.Record() {
		key := strconv.Itoa(e.Pid) + string(e.ID)
		switch {
		case e.Out && e.Method == method && e.ID != nil:
			asked[key] = true
		case !e.Out && e.Method == "" && asked[key]:
			list = append(list, e)
		}
	}
	return list
}

// Unanswered are the server's requests that got no answer.
func (s *Server) Unanswered() []Entry {
	s.t.Helper()
	waiting := map[string]Entry{}
	for _, e := range s.Record() {
		key := strconv.Itoa(e.Pid) + string(e.ID)
		switch {
		case e.Out && e.Method != "" && e.ID != nil:
			waiting[key] = e
		case !e.Out && e.Method == "":
			delete(waiting, key)
		}
	}
	return slices.Collect(maps.Values(waiting))
}

// patience is how long a condition may take on a busy machine.
const patience = 20 * time.Second

// Until waits for a condition that other processes bring about; what names it for the failure.
func (s *Server) Until(what string, condition func() bool) {
	s.t.Helper()
	until(s.t, what, patience, condition)
}

func until(t testing.TB, what string, within time.Duration, condition func() bool) {
	t.Helper()
	deadline := time.NewTimer(within)
	defer deadline.Stop()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for !condition() {
		select {
		case <-tick.C:
		case <-deadline.C:
			t.Fatalf("did not come within %v: %s", within, what)
		}
	}
}

// Pids are the processes that were started, of a kind: server or grandchild.
func (s *Server) Pids(kind string) []int {
	s.t.Helper()
	data, err := os.ReadFile(filepath.Join(s.dir, pidsFile))
	if err != nil && !os.IsNotExist(err) {
		s.t.Fatal(err)
	}
	var list []int
	for line := range strings.Lines(string(data)) {
		if rest, ok := strings.CutPrefix(line, kind+" "); ok && strings.HasSuffix(rest, "\n") {
			pid, err := strconv.Atoi(strings.TrimSpace(rest))
			if err != nil {
				s.t.Fatal(err)
			}
			list = append(list, pid)
		}
	}
	return list
}

// WantGone waits until no process of the server is left.
func (s *Server) WantGone(within time.Duration) {
	s.t.Helper()
	all := append(s.Pids("server"), s.Pids("grandchild")...)
	if len(all) == 0 {
		s.t.Fatal("the server was never started")
	}
	for _, pid := range all {
		until(s.t, "the end of process "+strconv.Itoa(pid), within, func() bool { return !running(pid) })
	}
}

// Param decodes one member of an entry's parameters, "" for none.
func (e Entry) Param(path ...string) string {
	raw := e.Params
	for _, name := range path {
		var m map[string]json.RawMessage
		if json.Unmarshal(raw, &m) != nil {
			return ""
		}
		raw = m[name]
	}
	var text string
	if json.Unmarshal(raw, &text) == nil {
		return text
	}
	return string(raw)
}
