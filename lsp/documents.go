package lsp

import (
	"cmp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.lsp.dev/protocol"
	"go.lsp.dev/uri"

	"acp-agent/internal/workspace"
)

// Bounds of what is kept for a server.
const (
	maxOpen    = 64   // documents open at the server
	maxKnown   = 512  // documents that we remember something of
	maxRecords = 4    // verdicts of a document, by text
	maxSets    = 4096 // files whose published findings are kept
	bigText    = 64 << 10
)

// document is one file as a server is told of it.
type document struct {
	path     workspace.Path
	uri      string
	language string

	truth    string         // the file's text, as far as we know
	absent   bool           // there is no such file: it is only proposed, or was deleted
	was      string         // its text before the last edit that we were told of
	stamp    stamp          // of the file on disk when it was seen to hold truth; zero for not seen
	accepted workspace.Hash // of bytes on disk that stand for truth in a form that we cannot compare

	client     *client   // where it is open; nil for nowhere
	version    int32     // of sent; goes up with every text, never back
	sent       string    // what the server has
	used       uint64    // for closing the least used one
	pinned     int       // questions that run on it
	unanswered int       // changes that no publish without a version has come for yet
	waiting    time.Time // when the first of these was sent
	apart      bool      // the server was at rest when the text was sent
	push       push
	records    []record
	explored   string        // the text whose dependents were looked for
	wake       chan struct{} // closed and replaced when push changes or the client ends
}

// record is a verdict: what the server said of exactly this text, when the rest of the files was as
// it was in this state of the world. World 0 is none: a proposal stood in place of some file.
type record struct {
	text  string
	world uint64
	items []diag
}

// push is the last publish for the text that the server has.
type push struct {
	version int32
	items   []diag
	settled bool // surely of this version; false: may be of a change before it
	when    time.Time
	silence time.Duration // after which it is settled
	second  bool          // another one of this version came before it
}

// documents is an instance's knowledge of files. The instance's mu guards it.
type documents struct {
	docs      map[workspace.Path]*document // by pathKey
	alias     map[workspace.Path]*document // by pathKey of the real path, where it differs
	clock     uint64
	world     uint64 // goes up whenever the truth of any file changes
	dirty     []*document
	saved     []*document
	events    []fileEvent
	overlaid  map[*document]bool // hold a proposal's text; nil when the truth stands
	untrue    bool               // some text in overlaid is not the truth
	sets      map[workspace.Path][]diag
	observers map[*observer]struct{}
	versioned bool          // the server's publishes carry versions
	pushes    bool          // it has published something
	silent    bool          // it said nothing of a text before an edit
	fresh     chan struct{} // closed and replaced when the server asks us to ask again
	proposals []proposal
	rhythm
}

// fileEvent is one entry of workspace/didChangeWatchedFiles.
type fileEvent struct {
	path workspace.Path
	kind int // 1 created, 2 changed, 3 deleted
}

// observer collects what files had before their findings were published anew.
type observer struct {
	before map[workspace.Path][]diag
	kick   chan struct{} // 1
}

func (ds *documents) init() {
	ds.docs, ds.alias = map[workspace.Path]*document{}, map[workspace.Path]*document{}
	ds.sets, ds.observers = map[workspace.Path][]diag{}, map[*observer]struct{}{}
	ds.fresh = make(chan struct{})
	ds.world = 1
}

// reset forgets what the ended process knew; the truth of the files stays.
func (ds *documents) reset() {
	for _, d := range ds.docs {
		d.client, d.records, d.unanswered, d.push, d.explored = nil, nil, 0, push{}, ""
		d.bump()
	}
	ds.dirty, ds.saved, ds.events, ds.overlaid, ds.untrue = nil, nil, nil, nil, false
	ds.sets, ds.versioned, ds.proposals, ds.rhythm = map[workspace.Path][]diag{}, false, nil, rhythm{}
	ds.world++
}

func (d *document) bump() {
	close(d.wake)
	d.wake = make(chan struct{})
}

// find is the document of a path in any spelling, nil for none.
func (ds *documents) find(p workspace.Path) *document {
	if d := ds.docs[pathKey(p)]; d != nil {
		return d
	}
	return ds.alias[pathKey(p)]
}

// doc is find, making the document when there is none.
func (in *instance) doc(p workspace.Path) *document {
	if d := in.find(p); d != nil {
		return d
	}
	d := &document{path: p, uri: toURI(p), language: in.row.languageID(p), wake: make(chan struct{})}
	in.docs[pathKey(p)] = d
	if real := realPath(p); real != p {
		in.alias[pathKey(real)] = d
	}
	in.trim()
	return d
}

// trim drops the least used closed documents beyond the bound.
func (in *instance) trim() {
	if len(in.docs) <= maxKnown {
		return
	}
	var closed []*document
	for _, d := range in.docs {
		if d.client == nil && d.pinned == 0 && !slices.Contains(in.dirty, d) {
			closed = append(closed, d)
		}
	}
	slices.SortFunc(closed, func(a, b *document) int { return int(int64(a.used) - int64(b.used)) })
	for _, d := range closed[:min(len(closed), maxKnown/4)] {
		in.drop(d)
	}
}

func (in *instance) drop(d *document) {
	delete(in.docs, pathKey(d.path))
	for k, a := range in.alias {
		if a == d {
			delete(in.alias, k)
		}
	}
}

// setTruth notes that a file has a text now. The server hears of it with the next flush.
func (in *instance) setTruth(d *document, text string) {
	if d.truth != text || d.absent {
		in.world++
	}
	d.truth, d.absent = text, false
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

// state is the world that a verdict given now belongs to.
func (ds *documents) state() uint64 {
	if ds.untrue {
		return 0
	}
	return ds.world
}

// remember keeps a verdict of the text that the server has of d.
func (d *document) remember(r record) {
	d.records = slices.DeleteFunc(d.records, func(o record) bool { return o.text == r.text })
	if len(d.records) >= maxRecords {
		d.records = slices.Delete(d.records, 0, 1)
	}
	d.records = append(d.records, r)
}

// recall finds a verdict of a text, in the present state of the world or, with anyWorld, in any.
func (in *instance) recall(d *document, text string, anyWorld bool) (record, bool) {
	for i := len(d.records) - 1; i >= 0; i-- {
		if r := d.records[i]; r.text == text && (anyWorld || (r.world == in.world && !in.untrue)) {
			return r, true
		}
	}
	return record{}, false
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
