package lspserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"
)

// server is the running server. Everything in it is used from one goroutine, the loop of run; what is
// to happen later comes back to it through do.
type server struct {
	o    options
	rec  *record
	life int
	out  *writer
	root string

	tasks []task // in the order of their times

	docs     map[string]*document // by path
	known    map[string]string    // texts of the files of the workspace, as we were told of them
	told     int                  // texts that we were told of
	asked    map[string]func(*message)
	asking   int // number of the last request of ours
	busy     int // answers of "not now" that were given
	isWarm   bool
	shutdown bool
}

func newServer(o options, rec *record, life int) *server {
	s := &server{
		o: o, rec: rec, life: life,
		docs: map[string]*document{}, known: map[string]string{}, asked: map[string]func(*message){},
	}
	s.out = &writer{w: os.Stdout, o: &s.o}
	s.isWarm = o.warming == 0
	return s
}

// task is something to be done at a time.
type task struct {
	at time.Time
	f  func()
}

// run reads and acts until the input ends or exit comes.
func (s *server) run() int {
	messages, ended := make(chan []byte), make(chan error, 1)
	go func() {
		r := bufio.NewReader(os.Stdin)
		for {
			body, err := readFrame(r)
			if err != nil {
				ended <- err
				return
			}
			messages <- body
			if s.o.deaf && bytes.Contains(body, []byte(`"initialized"`)) {
				return
			}
		}
	}()
	timer := time.NewTimer(0)
	for {
		for len(s.tasks) > 0 && !s.tasks[0].at.After(time.Now()) {
			f := s.tasks[0].f
			s.tasks = s.tasks[1:]
			f()
		}
		if len(s.tasks) > 0 {
			timer.Reset(time.Until(s.tasks[0].at))
		}
		select {
		case body := <-messages:
			s.receive(body)
		case <-timer.C:
		case err := <-ended:
			if s.o.stubborn {
				ended = nil
				continue
			}
			if s.shutdown || err.Error() == "EOF" {
				return 0
			}
			fmt.Fprintln(os.Stderr, "lspserver:", err)
			s.rec.add(Entry{Method: "broken", Text: err.Error()})
			return 1
		}
	}
}

// after runs f when d is over, at once for 0. What is due at the same time comes in the order in which
// it was asked for: a server says things late, but not in another order.
func (s *server) after(d time.Duration, f func()) {
	if d <= 0 {
		f()
		return
	}
	at := time.Now().Add(d)
	i, _ := slices.BinarySearchFunc(s.tasks, at, func(t task, at time.Time) int {
		if t.at.After(at) {
			return 1
		}
		return -1
	})
	s.tasks = slices.Insert(s.tasks, i, task{at, f})
}

func (s *server) receive(body []byte) {
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		s.rec.add(Entry{Method: "broken", Text: err.Error()})
		return
	}
	s.rec.message(&m, false)
	if m.Method == "" {
		if f := s.asked[string(m.ID)]; f != nil {
			delete(s.asked, string(m.ID))
			f(&m)
		}
		return
	}
	switch {
	case s.o.hang[m.Method]:
	case m.ID == nil:
		s.notified(&m)
	case s.o.refuse[m.Method]:
		s.fail(m.ID, -32603, "refused")
	default:
		s.request(&m)
	}
}

func (s *server) send(m *message) {
	m.JSONRPC = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	s.rec.message(m, true)
	s.out.write(body)
}

func (s *server) notify(method string, params any) {
	s.send(&message{Method: method, Params: encode(params)})
}

func (s *server) reply(id json.RawMessage, result any) {
	s.send(&message{ID: id, Result: encode(result)})
}

func (s *server) fail(id json.RawMessage, code int, text string) {
	s.send(&message{ID: id, Error: &rpcError{Code: code, Message: text}})
}

// ask sends a request of ours; then runs with the answer, in the loop.
func (s *server) ask(method string, params any, then func(*message)) {
	s.asking++
	id := encode(s.asking)
	if s.asking%2 == 0 {
		id = encode(fmt.Sprintf("s%d", s.asking)) // ids of both kinds
	}
	s.asked[string(id)] = then
	s.send(&message{ID: id, Method: method, Params: encode(params)})
}

func encode(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return data
}

func ignore(*message) {}

// request answers a request of the client.
func (s *server) request(m *message) {
	switch m.Method {
	case "initialize":
		s.initialize(m)
	case "shutdown":
		if !s.o.stubborn {
			s.shutdown = true
			s.reply(m.ID, nil)
		}
	case "textDocument/diagnostic":
		s.pulled(m)
	case "textDocument/definition", "textDocument/references", "textDocument/hover", "textDocument/documentSymbol":
		s.feature(m)
	default:
		s.fail(m.ID, -32601, "unknown method "+m.Method)
	}
}

func (s *server) initialize(m *message) {
	if s.o.crashInit > 0 && s.o.crashes(s.life) {
		fmt.Fprintln(os.Stderr, "cannot read the project: giving up")
		exit(3)
	}
	var p struct {
		RootURI string `json:"rootUri"`
	}
	_ = json.Unmarshal(m.Params, &p) // no root: an empty workspace
	s.root = pathOf(p.RootURI)
	s.scan()
	if !s.o.asksFirst {
		s.reply(m.ID, s.capabilities())
		return
	}
	waiting := 3
	done := func(*message) {
		if waiting--; waiting == 0 {
			s.reply(m.ID, s.capabilities())
		}
	}
	s.ask("x/foo", object{"what": "ever"}, ignore)
	s.ask("client/registerCapability", object{"registrations": []object{{"id": "w1", "method": "workspace/didChangeConfiguration"}}}, done)
	s.ask("workspace/configuration", object{"items": []object{{"section": "fake"}, {"section": "fake.deep", "scopeUri": p.RootURI}}}, done)
	s.ask("window/workDoneProgress/create", object{"token": "before"}, done)
}

func (s *server) capabilities() object {
	sync := 1
	if s.o.incremental {
		sync = 2
	}
	caps := object{
		"textDocumentSync":   object{"openClose": true, "change": sync, "save": object{"includeText": true}},
		"definitionProvider": true, "referencesProvider": true, "hoverProvider": true, "documentSymbolProvider": true,
	}
	if s.o.encoding != "" {
		caps["positionEncoding"] = s.o.encoding
	}
	if s.o.pull == "static" {
		caps["diagnosticProvider"] = object{"interFileDependencies": true, "workspaceDiagnostics": false}
	}
	return object{"capabilities": caps, "serverInfo": object{"name": "fake", "version": "1.2.3"}}
}

// notified acts on a notification.
func (s *server) notified(m *message) {
	switch m.Method {
	case "initialized":
		s.initialized()
	case "exit":
		if !s.o.stubborn {
			exit(0)
		}
	case "textDocument/didOpen", "textDocument/didChange", "textDocument/didClose":
		s.document(m)
	case "workspace/didChangeWatchedFiles":
		s.watched(m)
	}
}

func (s *server) initialized() {
	if s.o.multibyte {
		s.notify("window/logMessage", object{"type": 3, "message": strings.Repeat("日本語 ünïcödé 😀 ", 50)})
	}
	if s.o.pull == "dynamic" {
		var list []object
		for _, id := range s.identifiers() {
			options := object{"interFileDependencies": true, "workspaceDiagnostics": false}
			if id != "" {
				options["identifier"] = id
			}
			list = append(list, object{"id": "pull-" + id, "method": "textDocument/diagnostic", "registerOptions": options})
		}
		s.ask("client/registerCapability", object{"registrations": list}, ignore)
	}
	if s.o.warming > 0 {
		s.ask("window/workDoneProgress/create", object{"token": "warming"}, ignore)
		s.notify("$/progress", object{"token": "warming", "value": object{"kind": "begin", "title": s.o.warmingTitle}})
		s.after(s.o.warming, func() {
			s.isWarm = true
			s.notify("$/progress", object{"token": "warming", "value": object{"kind": "end"}})
			s.republish("")
		})
	}
}

func (s *server) identifiers() []string {
	if s.o.identifiers {
		return []string{"one", "two"}
	}
	return []string{""}
}

// pathOf is the path of a file URI.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil {
		return uri
	}
	return u.Path
}

// uriOf spells a path; in mode odd-uri with lower-case escapes, and more of them than needed.
func (s *server) uriOf(path string) string {
	if !s.o.oddURI {
		return (&url.URL{Scheme: "file", Path: path}).String()
	}
	var b strings.Builder
	b.WriteString("file://")
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/' || c == '.' || c >= 'a' && c <= 'y' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	return b.String()
}

// paths are the open documents in a fixed order.
func (s *server) paths() []string { return slices.Sorted(maps.Keys(s.docs)) }
