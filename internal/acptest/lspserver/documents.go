package lspserver

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// document is one open document.
type document struct {
	path    string
	uri     string // as the client spells it
	version int
	text    string
	said    string // the findings that were published last, encoded; "" for none yet
	looking bool   // mode serial
	again   bool
}

// document takes didOpen, didChange and didClose, with the checks that strict servers make.
func (s *server) document(m *message) {
	var p struct {
		TextDocument struct {
			URI     string  `json:"uri"`
			Version int     `json:"version"`
			Text    *string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []struct {
			Text  string `json:"text"`
			Range *struct {
				Start, End struct{ Line, Character int }
			} `json:"range"`
		} `json:"contentChanges"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.complain(fmt.Sprintf("%s: %v", m.Method, err))
		return
	}
	path := pathOf(p.TextDocument.URI)
	d := s.docs[path]
	if (m.Method == "textDocument/didOpen") == (d != nil) {
		s.complain(m.Method + " of " + path + " in the wrong state")
		return
	}
	before := ""
	switch m.Method {
	case "textDocument/didClose":
		delete(s.docs, path)
		s.republish(path)
		return
	case "textDocument/didOpen":
		if p.TextDocument.Text == nil {
			s.complain("didOpen without a text")
			return
		}
		d = &document{path: path, uri: p.TextDocument.URI, version: p.TextDocument.Version, text: *p.TextDocument.Text}
		s.docs[path] = d
	default:
		if p.TextDocument.Version <= d.version {
			s.complain(fmt.Sprintf("version %d of %s follows %d", p.TextDocument.Version, path, d.version))
		}
		before, d.version = d.text, p.TextDocument.Version
		for _, c := range p.ContentChanges {
			if c.Range == nil {
				d.text = c.Text
				continue
			}
			r := c.Range
			d.text = apply(d.text, r.Start.Line, r.Start.Character, r.End.Line, r.End.Character, c.Text, s.o.encoding)
		}
	}
	s.rec.add(Entry{Method: "text", URI: d.uri, Version: d.version, Text: d.text})
	s.told++
	if s.o.crash > 0 && s.told >= s.o.crash && s.o.crashes(s.life) {
		fmt.Fprintln(os.Stderr, "a fault in the type checker")
		exit(4)
	}
	if s.o.hangup > 0 && s.told >= s.o.hangup && s.o.crashes(s.life) {
		_ = os.Stdout.Close()
	}
	for range s.o.refreshes {
		s.ask("workspace/diagnostic/refresh", nil, ignore)
	}
	s.changed(d, m.Method == "textDocument/didOpen", before)
}

// complain records a fault of the client; a test fails on it.
func (s *server) complain(text string) { s.rec.add(Entry{Method: "complaint", Text: text}) }

// watched takes file events. Only what stands in them is looked at on disk.
func (s *server) watched(m *message) {
	var p struct {
		Changes []struct {
			URI  string `json:"uri"`
			Type int    `json:"type"`
		} `json:"changes"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.complain(fmt.Sprintf("%s: %v", m.Method, err))
		return
	}
	for _, c := range p.Changes {
		path := pathOf(c.URI)
		data, err := os.ReadFile(path)
		switch {
		case c.Type == 3 || err != nil:
			delete(s.known, path)
		default:
			s.known[path] = string(data)
		}
		if c.Type == 1 && err != nil {
			s.complain("told of a new file that is not there: " + path)
		}
	}
	s.republish("")
}

// scan reads the files that are there when the server starts.
func (s *server) scan() {
	if s.root == "" {
		return
	}
	_ = filepath.WalkDir(s.root, func(path string, e fs.DirEntry, err error) error {
		if err != nil {
			return nil // a file that vanished meanwhile
		}
		if e.IsDir() && (e.Name() == ".git" || e.Name() == "node_modules") {
			return filepath.SkipDir
		}
		if e.Type().IsRegular() && len(s.known) < 1000 {
			if data, err := os.ReadFile(path); err == nil {
				s.known[path] = string(data)
			}
		}
		return nil
	})
}

// defined says whether some document or file defines a name. An open document hides its file.
func (s *server) defined(name string) bool {
	what := "DEFINES(" + name + ")"
	for _, d := range s.docs {
		if strings.Contains(d.text, what) {
			return true
		}
	}
	for path, text := range s.known {
		if s.docs[path] == nil && strings.Contains(text, what) {
			return true
		}
	}
	return false
}

// findings are the findings of a text now, without those that only a second look knows.
func (s *server) findings(text string, late bool) []finding {
	if !s.isWarm {
		return nil
	}
	var out []finding
	for _, m := range marks(text) {
		if f, ok := m.finding(text, s.defined); ok && (late || m.word != "LATE") {
			out = append(out, f)
		}
	}
	return out
}
