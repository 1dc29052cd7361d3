package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
)

// fake is a language server inside the test, over a pipe. What it does is in its functions; what it
// was told is in heard. All of it runs in a synctest bubble, so that time is exact.
type fake struct {
	t    *testing.T
	conn *wire.Conn
	caps map[string]any // of the answer of initialize

	// changed is called, in a goroutine of its own, for every text of a document.
	changed func(f *fake, uri string, version int, text string)
	// asked answers a request; nil, or false, answers "method not found".
	asked func(f *fake, q question) bool

	mu    sync.Mutex
	heard []string          // guarded by mu; methods, with a file's name where they have one
	texts map[string]string // guarded by mu
	vers  map[string]int    // guarded by mu
	wg    sync.WaitGroup
}

// question is a request as it came: what the server does about it later is about the texts of now.
type question struct {
	*wire.Request
	file       string            // the name of the document that it is about
	identifier string            // of a diagnostics question
	texts      map[string]string // all documents
}

func (f *fake) handle(r *wire.Request) {
	var p struct {
		Identifier   string `json:"identifier"`
		TextDocument struct {
			URI     string `json:"uri"`
			Version int    `json:"version"`
			Text    string `json:"text"`
		} `json:"textDocument"`
		ContentChanges []struct {
			Text string `json:"text"`
		} `json:"contentChanges"`
		Changes []struct {
			URI  string `json:"uri"`
			Type int    `json:"type"`
		} `json:"changes"`
	}
	_ = json.Unmarshal(r.Params, &p)
	name := r.Method
	if p.TextDocument.URI != "" {
		name += " " + base(p.TextDocument.URI)
	}
	for _, c := range p.Changes {
		name += fmt.Sprintf(" %s:%d", base(c.URI), c.Type)
	}
	text := p.TextDocument.Text
	if len(p.ContentChanges) > 0 {
		text = p.ContentChanges[0].Text
	}
	f.mu.Lock()
	f.heard = append(f.heard, name)
	if r.Method == "textDocument/didOpen" || r.Method == "textDocument/didChange" {
		f.texts[base(p.TextDocument.URI)], f.vers[base(p.TextDocument.URI)] = text, p.TextDocument.Version
	}
	q := question{Request: r, file: base(p.TextDocument.URI), identifier: p.Identifier, texts: maps.Clone(f.texts)}
	f.mu.Unlock()
	switch {
	case r.Method == "initialize":
		r.Reply(map[string]any{"capabilities": f.caps, "serverInfo": map[string]any{"name": "fake", "version": "1"}})
	case r.Method == "shutdown":
		r.Reply(nil)
	case r.Method == "textDocument/didOpen" || r.Method == "textDocument/didChange":
		if f.changed != nil {
			f.wg.Go(func() { f.changed(f, p.TextDocument.URI, p.TextDocument.Version, text) })
		}
	case !r.IsNotification():
		if f.asked == nil {
			r.ReplyError(&wire.Error{Code: wire.CodeMethodNotFound, Message: "method not found"})
			return
		}
		f.wg.Go(func() {
			if !f.asked(f, q) {
				r.ReplyError(&wire.Error{Code: wire.CodeMethodNotFound, Message: "method not found"})
			}
		})
	}
}

func base(uri string) string {
	p, err := fromURI(uri)
	if err != nil {
		return uri
	}
	return p.Base()
}

// publish sends findings, one a message; version 0 leaves the version out.
func (f *fake) publish(uri string, version int, messages ...string) {
	params := map[string]any{"uri": uri, "diagnostics": problems(messages...)}
	if version > 0 {
		params["version"] = version
	}
	_ = f.conn.Notify("textDocument/publishDiagnostics", params) // the test may be over
}

// problems are errors on line 0 and following.
func problems(messages ...string) []any {
	out := []any{}
	for i, m := range messages {
		out = append(out, map[string]any{
			"range":    map[string]any{"start": map[string]any{"line": i, "character": 0}, "end": map[string]any{"line": i, "character": 1}},
			"severity": 1, "message": m, "source": "fake",
		})
	}
	return out
}

// request asks the client something and gives the answer's text.
func (f *fake) request(method string, params any) string {
	var result json.RawMessage
	if err := f.conn.Call(context.Background(), method, params, &result); err != nil {
		return "error: " + err.Error()
	}
	return string(result)
}

func (f *fake) listen() []string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	out := f.heard
	f.heard = nil
	return out
}

func (f *fake) text(name string) string {
	synctest.Wait()
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.texts[name]
}

// fakeBench is a workspace whose .x files belong to the fake server.
type fakeBench struct {
	*bench
	f  *fake
	in *instance
	c  *client
}

// withFake runs a test in a bubble with a fake server that is up.
func withFake(t *testing.T, files map[string]string, f *fake, test func(b *fakeBench), change ...func(*Settings)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBench{bench: &bench{t: t, dir: tempDir(t)}, f: f}
		mkdir(t, b.dir.Join(".git"))
		for name, text := range files {
			b.write(name, text)
		}
		settings := defaults()
		settings.WaitTimeout = 5 * time.Second
		settings.Servers = map[string]ServerSettings{"fake": {Command: []string{"/nothing/fake"}, Extensions: []string{".x"}}}
		for _, s := range change {
			s(&settings)
		}
		b.m = NewManager(Options{Home: b.dir.Join("home"), UserHome: "/nobody", Settings: settings, Logger: slog.New(slog.DiscardHandler)})
		b.s = b.session("s1")
		f.t, f.texts, f.vers = t, map[string]string{}, map[string]int{}
		if f.caps == nil {
			f.caps = map[string]any{"textDocumentSync": 1}
		}
		row := b.m.catalog.byID("fake")
		b.in = b.m.instance(row, b.dir, b.dir, true)
		b.attach()
		defer func() {
			ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
			defer cancel()
			b.s.Close(ctx)
			b.m.Close(ctx)
			f.wg.Wait()
		}()
		test(b)
	})
}

func (b *fakeBench) session(id string) *Session {
	roots, err := workspace.NewRoots(b.dir, "")
	if err != nil {
		b.t.Fatal(err)
	}
	return b.m.Session(id, roots)
}

// attach connects the fake server in place of a process.
func (b *fakeBench) attach() {
	toServer, fromClient := io.Pipe()
	toClient, fromServer := io.Pipe()
	b.f.conn = wire.NewConn(toServer, fromServer, b.f.handle, wire.Options{Framing: wire.ContentLength})
	in := b.in
	c := newClient(in.row, b.dir, toClient, fromClient, serverEvents{published: in.published, refreshed: in.refreshed}, in.log)
	b.c = c
	b.f.wg.Go(func() { _ = b.f.conn.Run(context.Background()) })
	in.m.spawn(func() {
		_ = c.conn.Run(in.m.ctx)
		in.mu.Lock()
		in.forget(c)
		in.mu.Unlock()
		close(c.done)
	})
	if err := c.initialize(context.Background(), launch{root: string(b.dir), trusted: true}); err != nil {
		b.t.Fatal(err)
	}
	in.mu.Lock()
	in.client, in.process = c, &process{stderr: &tail{}}
	in.since = time.Now()
	in.mu.Unlock()
}

// verdictIn waits for a check's verdict for at most d of the bubble's time.
func (b *fakeBench) verdictIn(c *Check, d time.Duration) (Verdict, bool) {
	return c.Wait(context.Background(), time.Now().Add(d))
}
