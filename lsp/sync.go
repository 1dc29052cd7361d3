package lsp

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"
)

// setTruth notes that a file has a text now. The server hears of it with the next flush.
func (in *instance) setTruth(d *document, text string) {
	if d.truth != text || d.absent {
		in.world++
	}
	d.truth, d.absent = text, false
	d.news++
	if d.client != nil {
		in.dirty = append(in.dirty, d)
	}
}

// flush tells the server what has happened since the last flush: file events first, in one batch,
// then the documents, then the saves (case G-L07). Texts of a proposal are left where they are. open
// are documents that the server is to have even if it has not been asked about them before.
func (in *instance) flush(c *client, open ...*document) {
	var changes []map[string]any
	for _, e := range in.events {
		if in.tellsNews(c, e) {
			changes = append(changes, map[string]any{"uri": toURI(e.path), "type": e.kind})
		}
	}
	in.events = nil
	if len(changes) > 0 {
		in.notify(c, "workspace/didChangeWatchedFiles", map[string]any{"changes": changes})
		in.stir()
	}
	// What is asked about comes last, so that the first word on it knows the others' texts.
	slices.SortStableFunc(in.dirty, func(a, b *document) int {
		return cmp.Compare(slices.Index(open, a), slices.Index(open, b))
	})
	for _, d := range in.dirty {
		if d.client == c && !in.overlaid[d] {
			in.restore(c, d)
		}
	}
	in.dirty = nil
	for _, d := range open {
		if !d.absent && !in.overlaid[d] {
			in.show(c, d, d.truth)
		}
	}
	var later []*document
	for _, d := range in.saved {
		if in.overlaid[d] {
			later = append(later, d)
			continue
		}
		if d.client == c && c.caps.save {
			params := map[string]any{"textDocument": map[string]any{"uri": d.uri}}
			if c.caps.saveText {
				params["text"] = d.sent
			}
			in.notify(c, "textDocument/didSave", params)
			in.stir()
		}
	}
	in.saved = later
}

// tellsNews says whether the server is to be told of a file event. To one that did not ask for events
// the change of a document that it has open is no news, and it would speak twice of it: without versions
// nobody could tell which time it means.
func (in *instance) tellsNews(c *client, e fileEvent) bool {
	d := in.find(e.path)
	if e.kind == 2 && d != nil && d.client == c && in.pushes && !in.versioned && !c.registered() {
		return false
	}
	return c.watches(e.path, e.kind)
}

// restore makes the server have the truth of a document that it has open.
func (in *instance) restore(c *client, d *document) {
	if d.absent {
		in.hide(c, d)
		return
	}
	in.show(c, d, d.truth)
}

// setAbsent notes that there is no such file any more.
func (in *instance) setAbsent(d *document) {
	if !d.absent {
		in.world++
	}
	d.absent, d.stamp, d.accepted = true, stamp{}, ""
	d.news++
	if d.client != nil {
		in.dirty = append(in.dirty, d)
	}
}

// show makes the server have a text of a document: opens it, changes it, or does nothing when it has
// that text already (a server may say nothing about a change that changes nothing).
func (in *instance) show(c *client, d *document, text string) {
	in.clock++
	d.used = in.clock
	if d.client == c && d.sent == text {
		return
	}
	before := d.sent
	opened := d.client != c
	d.version++ // before the bytes: what comes in from now on is held against it
	d.sent, d.client = text, c
	in.changed(d)
	d.bump()
	if opened {
		in.notify(c, "textDocument/didOpen", &protocol.DidOpenTextDocumentParams{TextDocument: protocol.TextDocumentItem{
			URI: uri.URI(d.uri), LanguageID: protocol.LanguageKind(d.language), Version: d.version, Text: text,
		}})
		in.evict(c)
		return
	}
	in.notify(c, "textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": d.uri, "version": d.version},
		"contentChanges": []any{contentChange(c, before, text)},
	})
}

// bigText is the length of a text from which changes are sent as a range, where the server bears it.
const bigText = 64 << 10

// contentChange describes a change of a document: the whole text, or for a big one only what lies
// between the common beginning and the common end, where the server bears it.
func contentChange(c *client, before, text string) map[string]any {
	if c.caps.sync != protocol.TextDocumentSyncKindIncremental || len(before) < bigText {
		return map[string]any{"text": text}
	}
	head := commonPrefix(before, text)
	tail := commonSuffix(before[head:], text[head:])
	l := newLines(before)
	startLine, startChar := l.at(head, c.caps.enc)
	endLine, endChar := l.at(len(before)-tail, c.caps.enc)
	return map[string]any{
		"range": map[string]any{
			"start": map[string]any{"line": startLine, "character": startChar},
			"end":   map[string]any{"line": endLine, "character": endChar},
		},
		"text": text[head : len(text)-tail],
	}
}

// commonPrefix is how many bytes two texts begin alike with, cut back to the beginning of a line, so
// that neither a character nor a \r\n is ever split.
func commonPrefix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[i] == b[i] {
		i++
	}
	return strings.LastIndexByte(a[:i], '\n') + 1
}

// commonSuffix is how many bytes two texts end alike with, beginning with a line.
func commonSuffix(a, b string) int {
	n := min(len(a), len(b))
	i := 0
	for i < n && a[len(a)-1-i] == b[len(b)-1-i] {
		i++
	}
	for i > 0 && !utf8.RuneStart(a[len(a)-i]) {
		i--
	}
	if i == len(a) || i == len(b) {
		i = max(i-1, 0)
	}
	cut := strings.IndexByte(a[len(a)-i:], '\n')
	if cut < 0 {
		return 0
	}
	return i - cut - 1
}

// hide closes a document at the server.
func (in *instance) hide(c *client, d *document) {
	if d.client == c {
		in.notify(c, "textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": d.uri}})
		in.stir()
	}
	d.client, d.push, d.unanswered, d.records = nil, push{}, 0, nil
	d.bump()
}

// evict closes the least used documents beyond the bound.
func (in *instance) evict(c *client) {
	for {
		open := 0
		var oldest *document
		for _, d := range in.docs {
			if d.client != c {
				continue
			}
			open++
			if d.pinned == 0 && !in.overlaid[d] && (oldest == nil || d.used < oldest.used) {
				oldest = d
			}
		}
		if open <= maxOpen || oldest == nil {
			return
		}
		in.hide(c, oldest)
	}
}

// notify queues a notification. It never waits; a connection that is gone is noticed by its watcher.
func (in *instance) notify(c *client, method string, params any) {
	if p, ok := params.(*protocol.DidOpenTextDocumentParams); ok {
		params = encode(p)
	}
	if err := c.conn.Notify(method, params); err != nil {
		in.log.Debug("not sent", "method", method, "err", err)
	}
}
