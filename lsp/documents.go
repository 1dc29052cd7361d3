package lsp

import (
	"cmp"
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// Bounds of what is kept for a server.
const (
	maxOpen  = 64   // documents open at the server
	maxKnown = 512  // documents that we remember something of
	maxSets  = 4096 // files whose published findings are kept
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
	news     int            // counts what we were told or found of the file, so that an older look is not believed
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

// push is the last publish for the text that the server has.
type push struct {
	version int32
	items   []diag
	world   uint64 // of the record that it makes
	at      uint64
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
	versioned bool // the server's publishes carry versions
	pushes    bool // it has published something
	silent    bool // it said nothing of a text before an edit
	// slowExplore: it was too slow to say what depends on an edit, and is not asked that any more.
	slowExplore bool
	fresh       chan struct{} // closed and replaced when the server asks us to ask again
	proposals   []proposal
	rhythm
	authored []authored
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
	ds.sets, ds.versioned, ds.proposals = map[workspace.Path][]diag{}, false, nil
	ds.rhythm = rhythm{}
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
	in.clock++
	d := &document{path: p, uri: toURI(p), language: in.row.languageID(p), used: in.clock, wake: make(chan struct{})}
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
	slices.SortFunc(closed, func(a, b *document) int { return cmp.Compare(a.used, b.used) })
	for _, d := range closed[:min(len(closed), maxKnown/4)] {
		in.drop(d)
	}
}

// pin keeps documents open, and known, until the returned function is called.
func (in *instance) pin(docs []*document) (release func()) {
	add := func(n int) {
		in.mu.Lock()
		defer in.mu.Unlock()
		for _, d := range docs {
			d.pinned += n
		}
	}
	add(1)
	return func() { add(-1) }
}

func (in *instance) drop(d *document) {
	delete(in.docs, pathKey(d.path))
	for k, a := range in.alias {
		if a == d {
			delete(in.alias, k)
		}
	}
}
