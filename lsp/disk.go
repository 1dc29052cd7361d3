package lsp

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"acp-agent/internal/workspace"
)

// stamp is what tells cheaply that a file was not touched since it was last read.
type stamp struct {
	size int64
	mod  time.Time
	seen bool
}

// fresherThan is how old a file must be, when it is read, for its time to be trusted: two writes
// within one tick of the file system's clock look alike.
const fresherThan = 50 * time.Millisecond

// maxDocument is the size of a file above which no server is shown its text.
const maxDocument = 10 << 20

// seen is what a look at one file found.
type seen struct {
	doc   *document
	stamp stamp
	data  []byte
	news  int // the document's, when the look began
	gone  bool
	same  bool // not touched since the last look
}

// syncDisk compares the documents that are open with the disk, by time and size first and then by
// content, and takes up what others wrote. It is called before each question, so that a verdict is
// never about a text that is no longer there. extra are documents that are about to be opened. What
// it found is sent with the next flush.
func (in *instance) syncDisk(extra ...*document) {
	type look struct {
		doc   *document
		stamp stamp
		news  int
	}
	in.mu.Lock()
	var looks []look
	for _, d := range in.docs {
		if (d.client != nil && d.client == in.client) || slices.Contains(extra, d) {
			looks = append(looks, look{d, d.stamp, d.news})
		}
	}
	in.mu.Unlock()
	var found []seen
	for _, l := range looks {
		if s := lookAt(l.doc, l.stamp); !s.same {
			s.news = l.news
			found = append(found, s)
		}
	}
	if len(found) == 0 {
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, s := range found {
		in.takeUp(s)
	}
}

// lookAt reads one file unless its stamp says that nothing happened to it.
func lookAt(d *document, last stamp) seen {
	s := seen{doc: d}
	st, err := os.Stat(string(d.path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		s.gone = true
		s.same = !last.seen
		return s
	case err != nil || !st.Mode().IsRegular() || st.Size() > maxDocument:
		s.same = true
		return s
	}
	now := stamp{size: st.Size(), mod: st.ModTime(), seen: true}
	if last == now {
		s.same = true
		return s
	}
	began := time.Now()
	data, err := workspace.ReadRegular(d.path, maxDocument)
	if err != nil {
		s.same = true
		return s
	}
	s.data = data
	if began.Sub(now.mod) > fresherThan {
		s.stamp = now
	} else {
		s.stamp = stamp{seen: true} // read again next time
	}
	return s
}

// takeUp compares what was read with what we hold for the file's text. in.mu is held.
func (in *instance) takeUp(s seen) {
	d := s.doc
	if s.news != d.news {
		return // an edit was told of while we read: what we read may be from before it
	}
	d.news++
	if s.gone {
		in.events = append(in.events, fileEvent{d.path, 3})
		in.setAbsent(d)
		in.wrote(d.path, nil)
		return
	}
	raw := strings.TrimPrefix(string(s.data), "\uFEFF")
	hash := workspace.Hash("")
	if raw != d.truth {
		hash = workspace.HashBytes(s.data)
	}
	switch {
	case !d.absent && (raw == d.truth || hash == d.accepted):
	case !d.absent && d.accepted == "" && (!utf8.ValidString(raw) || raw == d.was):
		// Another encoding than UTF-8, whose text only the caller could know; or an editor that
		// keeps the new text in its buffer. These bytes stand for the truth until they change.
		d.accepted = hash
	default:
		text, _, err := workspace.Decode(s.data, "")
		if err != nil || (text == d.truth && !d.absent) {
			break
		}
		in.events = append(in.events, fileEvent{d.path, 2})
		in.setTruth(d, text)
		in.wrote(d.path, nil)
		d.accepted = ""
		in.saved = append(in.saved, d)
	}
	d.was = d.truth // only the first look after an edit may find the text before it
	d.stamp = s.stamp
}
