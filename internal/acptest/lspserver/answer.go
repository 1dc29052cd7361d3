package lspserver

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
)

// pulled answers textDocument/diagnostic.
func (s *server) pulled(m *message) {
	var p struct {
		TextDocument struct{ URI string } `json:"textDocument"`
		Identifier   string               `json:"identifier"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.fail(m.ID, -32602, err.Error())
		return
	}
	switch {
	case s.o.silent || s.o.lies == "never":
		return
	case s.o.lies == "error":
		s.fail(m.ID, -32603, "the checker has lost its mind")
		return
	case s.o.pull == "" || s.o.lies == "missing":
		s.fail(m.ID, -32601, "unknown method "+m.Method)
		return
	case s.busy < s.o.contentModified:
		s.busy++
		s.fail(m.ID, -32801, "content modified")
		return
	case s.busy < s.o.serverCancelled:
		s.busy++
		s.send(&message{ID: m.ID, Error: &rpcError{Code: -32802, Message: "busy", Data: object{"retriggerRequest": true}}})
		return
	}
	path := pathOf(p.TextDocument.URI)
	d := s.docs[path]
	text, version := s.known[path], 0
	if d != nil {
		text, version = d.text, d.version
	}
	s.after(s.o.slow, func() {
		if now := s.docs[path]; now != nil && now.version != version {
			s.fail(m.ID, -32801, "content modified")
			return
		}
		s.reply(m.ID, s.report(text, p.Identifier))
	})
}

func (s *server) report(text, identifier string) object {
	found := s.findings(text, true)
	if s.o.identifiers {
		found = slices.DeleteFunc(found, func(f finding) bool { return (f.word == "USES") != (identifier == "two") })
	}
	r := object{"kind": "full", "items": s.items(found)}
	if s.o.kind != nil {
		r["kind"] = *s.o.kind
	}
	if s.o.kind != nil && *s.o.kind == "unchanged" {
		delete(r, "items")
		r["resultId"] = "r1"
	}
	return r
}

var name = regexp.MustCompile(`[\pL\pN_]+`)

// feature answers what is asked about a position: the name there, between the brackets of a rule.
func (s *server) feature(m *message) {
	var p struct {
		TextDocument struct{ URI string } `json:"textDocument"`
		Position     struct{ Line, Character int }
		Context      struct{ IncludeDeclaration bool } `json:"context"`
	}
	if err := json.Unmarshal(m.Params, &p); err != nil {
		s.fail(m.ID, -32602, err.Error())
		return
	}
	path := pathOf(p.TextDocument.URI)
	text, ok := s.texts()[path]
	if !ok {
		s.fail(m.ID, -32602, "no such document: "+path)
		return
	}
	if m.Method == "textDocument/documentSymbol" {
		s.reply(m.ID, s.symbols(text))
		return
	}
	word := s.wordAt(text, p.Position.Line, p.Position.Character)
	switch m.Method {
	case "textDocument/hover":
		if word == "" {
			s.reply(m.ID, nil)
			return
		}
		s.reply(m.ID, object{"contents": object{"kind": "markdown", "value": "the name **" + word + "**"}})
	case "textDocument/definition":
		s.reply(m.ID, s.places(word, "DEFINES"))
	default:
		words := []string{"USES"}
		if p.Context.IncludeDeclaration {
			words = append(words, "DEFINES")
		}
		s.reply(m.ID, s.places(word, words...))
	}
}

// texts are all texts that the server has: the documents before the files.
func (s *server) texts() map[string]string {
	out := maps.Clone(s.known)
	for path, d := range s.docs {
		out[path] = d.text
	}
	return out
}

func (s *server) wordAt(text string, line, char int) string {
	all := splitLines(text)
	if line < 0 || line >= len(all) {
		return ""
	}
	at := offset(all[line], char, s.o.encoding)
	for _, m := range name.FindAllStringIndex(all[line], -1) {
		if m[0] <= at && at < m[1] {
			return all[line][m[0]:m[1]]
		}
	}
	return ""
}

// places are the arguments of rules that name word.
func (s *server) places(word string, rules ...string) []object {
	out := []object{}
	texts := s.texts()
	for _, path := range slices.Sorted(maps.Keys(texts)) {
		for _, m := range marks(texts[path]) {
			if m.arg == word && slices.Contains(rules, m.word) {
				out = append(out, object{"uri": s.uriOf(path), "range": s.rangeOf(m, len(m.word)+1)})
			}
		}
	}
	return out
}

func (s *server) rangeOf(m mark, skip int) object {
	return object{
		"start": object{"line": m.line, "character": column(m.text, m.start+skip, s.o.encoding)},
		"end":   object{"line": m.line, "character": column(m.text, m.end-1, s.o.encoding)},
	}
}

func (s *server) symbols(text string) []object {
	out := []object{}
	for _, m := range marks(text) {
		if m.word == "DEFINES" {
			out = append(out, object{"name": m.arg, "kind": 12, "range": s.rangeOf(m, 0), "selectionRange": s.rangeOf(m, len("DEFINES("))})
		}
	}
	return out
}
