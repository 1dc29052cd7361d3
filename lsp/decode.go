package lsp

import (
	"encoding/json"
	"strconv"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.lsp.dev/protocol"
)

// decode reads what a server sent and forgives what does no harm.
func decode(data []byte, v any) error {
	return jsonv2.Unmarshal(data, v, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// rawDiagnostic is a diagnostic as servers really send it: read leniently, since one odd member must
// not cost the rest. The typed library refuses what it does not know.
type rawDiagnostic struct {
	Range    rawRange        `json:"range"`
	Severity json.RawMessage `json:"severity"`
	Code     json.RawMessage `json:"code"`
	Source   json.RawMessage `json:"source"`
	Message  json.RawMessage `json:"message"`
	Tags     json.RawMessage `json:"tags"`
}

type rawRange struct {
	Start rawPosition `json:"start"`
	End   rawPosition `json:"end"`
}

type rawPosition struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// diagnostics reads a list of diagnostics one by one and says how many could not be read.
func diagnostics(items []json.RawMessage, skip map[string]bool) (out []diag, bad int) {
	out = make([]diag, 0, len(items))
	for _, item := range items {
		var r rawDiagnostic
		if err := decode(item, &r); err != nil || r.Message == nil {
			bad++ // one that says nothing says nothing
			continue
		}
		d := r.diag()
		if !skip[d.code] {
			out = append(out, d)
		}
	}
	return out, bad
}

func (r rawDiagnostic) diag() diag {
	d := diag{
		startLine: r.Range.Start.Line, startChar: r.Range.Start.Character,
		endLine: r.Range.End.Line, endChar: r.Range.End.Character,
		code: text(r.Code), source: text(r.Source), message: text(r.Message),
		severity: SevError, // the protocol leaves an absent severity to the client
	}
	if n, err := strconv.Atoi(string(r.Severity)); err == nil && n >= 1 && n <= 4 {
		d.severity = Severity(n)
	}
	var tags []int
	if decode(r.Tags, &tags) == nil {
		for _, t := range tags {
			d.unnecessary = d.unnecessary || t == 1
		}
	}
	return d
}

// text reads a string, a number, or an object with a value ({"value": "E1", "target": …}, MarkupContent).
func text(raw json.RawMessage) string {
	if len(raw) == 0 || string(raw) == "null" {
		return ""
	}
	var s string
	if decode(raw, &s) == nil {
		return s
	}
	var o struct {
		Value json.RawMessage `json:"value"`
	}
	if raw[0] == '{' && decode(raw, &o) == nil {
		return text(o.Value)
	}
	return string(raw)
}

// report is one answer of a document pull.
type report struct {
	Kind     string                `json:"kind"`
	ResultID string                `json:"resultId"`
	Items    []json.RawMessage     `json:"items"`
	Related  map[string]rawRelated `json:"relatedDocuments"`
}

type rawRelated struct {
	Kind  string            `json:"kind"`
	Items []json.RawMessage `json:"items"`
}

// published is textDocument/publishDiagnostics; the version is kept apart from its absence.
type published struct {
	URI         string            `json:"uri"`
	Version     *int32            `json:"version"`
	Diagnostics []json.RawMessage `json:"diagnostics"`
}

// tsReport is what tsserver answers through typescript-language-server: 1-based lines and offsets.
type tsReport struct {
	Success *bool  `json:"success"`
	Message string `json:"message"`
	Body    []struct {
		Start       tsPosition      `json:"start"`
		End         tsPosition      `json:"end"`
		Text        string          `json:"text"`
		Code        json.RawMessage `json:"code"`
		Category    string          `json:"category"`
		Source      string          `json:"source"`
		Unnecessary bool            `json:"reportsUnnecessary"`
	} `json:"body"`
}

type tsPosition struct {
	Line   int `json:"line"`
	Offset int `json:"offset"`
}

func (r tsReport) diags() []diag {
	out := make([]diag, 0, len(r.Body))
	for _, b := range r.Body {
		d := diag{
			startLine: b.Start.Line - 1, startChar: b.Start.Offset - 1, endLine: b.End.Line - 1, endChar: b.End.Offset - 1,
			code: text(b.Code), source: b.Source, message: b.Text, unnecessary: b.Unnecessary,
		}
		switch b.Category {
		case "warning":
			d.severity = SevWarning
		case "suggestion":
			d.severity = SevHint
		case "message":
			d.severity = SevInfo
		default:
			d.severity = SevError
		}
		if d.source == "" {
			d.source = "typescript"
		}
		out = append(out, d)
	}
	return out
}

// encode makes params once, with the codec that knows the protocol's unions.
func encode(v any) json.RawMessage {
	data, err := protocol.Marshal(v)
	if err != nil {
		panic("lsp: params do not encode: " + err.Error()) // only values of our own making come here
	}
	return data
}
