package lspserver

import (
	"bytes"
	"maps"
	"slices"
)

// changed is a document's new text: what the server has to say of it comes in the way of its modes.
func (s *server) changed(d *document, opened bool, before string) {
	if s.o.silent || !s.o.pushes() || (s.o.silentIdentical && !opened && d.text == before) {
		return
	}
	if s.o.stale && !opened {
		s.publish(d, d.version-1, s.findings(before, false))
	}
	s.look(d, opened)
}

// look looks at a document's present text and publishes what it finds, later.
func (s *server) look(d *document, opened bool) {
	delay := s.o.slow
	if opened {
		delay = s.o.slowOpen
	}
	version, text := d.version, d.text
	if s.o.serial {
		if d.looking {
			d.again = true
			return
		}
		d.looking = true
	}
	s.after(delay, func() {
		if s.docs[d.path] != d || (s.o.coalesce && d.version != version) {
			return
		}
		s.first(d, version, text)
		if d.looking = false; d.again {
			d.again = false
			s.look(d, opened)
		}
	})
}

// first publishes the findings of a text, as often as the modes say, and of the other files that
// they change.
func (s *server) first(d *document, version int, text string) {
	found := s.findings(text, false)
	switch {
	case s.o.double > 0:
		s.publish(d, version, nil)
		s.after(s.o.double, func() { s.again(d, version, text, false) })
	case s.o.silentClean && len(found) == 0 && (d.said == "" || d.said == "[]"):
		d.said = "[]"
	default:
		s.publish(d, version, found)
	}
	if s.o.late > 0 {
		s.after(s.o.late, func() { s.again(d, version, text, true) })
	}
	s.republish(d.path)
}

// again is a second word on a text, which comes only when the text is still the document's.
func (s *server) again(d *document, version int, text string, late bool) {
	if s.docs[d.path] == d && d.version == version {
		s.publish(d, version, s.findings(text, late))
	}
}

func (s *server) publish(d *document, version int, found []finding) {
	items := s.items(found)
	d.said = string(encode(items))
	p := object{"uri": s.spell(d), "version": version, "diagnostics": items}
	if s.o.unversioned {
		delete(p, "version")
	}
	s.notify("textDocument/publishDiagnostics", p)
}

func (s *server) spell(d *document) string {
	if s.o.oddURI {
		return s.uriOf(d.path)
	}
	return d.uri
}

func (s *server) items(found []finding) []any {
	items := []any{}
	for _, f := range found {
		items = append(items, f.diagnostic(s.o.encoding, s.o.multibyte))
	}
	if s.o.oddItems {
		items = append(oddItems(), items...)
	}
	return items
}

// republish says of the other documents, and in mode dependents of the other files, what a change
// somewhere else has made of them.
func (s *server) republish(but string) {
	if s.o.silent || !s.o.pushes() {
		return
	}
	for _, path := range s.paths() {
		d := s.docs[path]
		if path == but || d.said == "" {
			continue
		}
		found := s.findings(d.text, s.o.late > 0)
		if !bytes.Equal(encode(s.items(found)), []byte(d.said)) {
			s.publish(d, d.version, found)
		}
	}
	if !s.o.dependents {
		return
	}
	for _, path := range slices.Sorted(maps.Keys(s.known)) {
		if s.docs[path] == nil && len(marks(s.known[path])) > 0 {
			s.notify("textDocument/publishDiagnostics", object{"uri": s.uriOf(path), "diagnostics": s.items(s.findings(s.known[path], false))})
		}
	}
}
