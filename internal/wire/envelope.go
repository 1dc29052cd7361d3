package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// kind is what an incoming message turned out to be.
type kind int

const (
	kindBroken   kind = iota // no JSON: nothing in it can be trusted
	kindInvalid              // JSON, but no JSON-RPC message; id says whom to answer
	kindCall                 // a request or a notification
	kindResponse             // a result or an error
	kindBare                 // an id and nothing else: an answer without a result, or nothing at all
)

// envelope is an incoming message taken apart once. Its raw members are slices of the message, so
// that a parameter of 40 MiB is neither copied nor parsed again.
type envelope struct {
	kind   kind
	id     json.RawMessage // nil when absent or not usable as an id
	method string
	params json.RawMessage // nil when absent
	result json.RawMessage // nil when absent
	err    json.RawMessage // nil when absent or null
	why    string          // for kindBroken and kindInvalid: what is wrong
}

// lenient is what we do not mind in JSON: names given twice, and unpaired surrogates in escapes,
// which JSON.stringify writes; to refuse them would leave the peer's request without an answer.
var lenient = []jsontext.Options{jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true)}

// parse takes msg apart in one pass that also proves that it is valid JSON. Member names are
// matched exactly (encoding/json would take "Method" for "method"); of a name given twice the last
// counts; unknown members, and the value of jsonrpc, are nobody's business.
//
// The UTF-8 of msg was checked before.
func parse(msg []byte) envelope {
	d := jsontext.NewDecoder(bytes.NewBuffer(msg), lenient...)
	if k := d.PeekKind(); k != '{' {
		return parseOther(d, k)
	}
	var m members
	if _, err := d.ReadToken(); err != nil {
		return envelope{why: brokenText(err)}
	}
	for d.PeekKind() != '}' {
		name, err := d.ReadValue()
		if err != nil {
			return envelope{why: brokenText(err)}
		}
		slot := m.slot(name)
		value, err := d.ReadValue()
		if err != nil {
			return envelope{why: brokenText(err)}
		}
		if slot != nil {
			end := d.InputOffset()
			*slot = msg[end-int64(len(value)) : end : end]
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return envelope{why: brokenText(err)}
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return envelope{why: "more than one value in one message"}
	}
	return m.classify()
}

// parseOther tells a batch or a bare scalar, which are valid JSON, from broken text.
func parseOther(d *jsontext.Decoder, k jsontext.Kind) envelope {
	if _, err := d.ReadValue(); err != nil {
		return envelope{why: brokenText(err)}
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return envelope{why: "more than one value in one message"}
	}
	if k == '[' {
		return envelope{kind: kindInvalid, why: "batches are not supported: send one message at a time"}
	}
	return envelope{kind: kindInvalid, why: "a message must be a JSON object"}
}

// brokenText says what is wrong with broken JSON, in words that fit into an answer.
func brokenText(err error) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "the message ends in the middle of its JSON"
	}
	return "invalid JSON: " + strings.TrimPrefix(err.Error(), "jsontext: ")
}

// members are the raw values of the members that JSON-RPC defines; nil is absent.
type members struct{ id, method, params, result, err []byte }

// slot is where the value of the member with that quoted name goes, nil for a name that is not ours.
func (m *members) slot(quoted []byte) *[]byte {
	switch unquote(quoted) {
	case "id":
		return &m.id
	case "method":
		return &m.method
	case "params":
		return &m.params
	case "result":
		return &m.result
	case "error":
		return &m.err
	}
	return nil
}

// unquote is the text of a JSON string that was found valid. Unpaired surrogates become U+FFFD.
func unquote(quoted []byte) string {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1 : len(quoted)-1])
	}
	var text string
	_ = json.Unmarshal(quoted, &text) // cannot fail
	return text
}

// classify decides what the members make. A null method or error counts as absent, since some
// peers write every member of their message type.
func (m *members) classify() envelope {
	e := envelope{kind: kindInvalid, params: m.params, result: m.result}
	hasError := m.err != nil
	if hasError && m.err[0] != 'n' {
		e.err = m.err
	}
	badID := m.id != nil && strings.IndexByte("{[tf", m.id[0]) >= 0
	if !badID {
		e.id = m.id
	}
	hasMethod := m.method != nil && m.method[0] != 'n'
	switch {
	case !hasMethod && (m.result != nil || hasError):
		e.kind = kindResponse // never answered, whatever its id
	case badID:
		e.why = "an id must be a string, a number or null"
	case hasMethod && (m.result != nil || e.err != nil):
		e.why = "a message cannot have both a method and a result or an error"
	case hasMethod && m.method[0] != '"':
		e.why = "a method must be a string"
	case hasMethod:
		e.kind, e.method = kindCall, unquote(m.method)
	case e.id != nil && m.params == nil:
		e.kind, e.why = kindBare, "a message needs a method, a result or an error"
	default:
		e.why = "a message needs a method, a result or an error"
	}
	return e
}

// structured says whether params may be handed on: JSON-RPC allows objects and arrays, and null
// does no harm.
func (e *envelope) structured() bool {
	return e.params == nil || e.params[0] == '{' || e.params[0] == '[' || e.params[0] == 'n'
}

// callID is the number of our own call that a response answers. Anything but a plain integer, as
// we send it, is not ours: null and absent ids must not hit the first call.
func callID(raw json.RawMessage) (int64, bool) {
	n, err := strconv.ParseInt(string(raw), 10, 64)
	return n, err == nil && n > 0
}

// peerError reads the error member of a response. Peers that send something else than an object
// with an integer code still fail the call, with what they sent as the message.
func peerError(raw json.RawMessage) *Error {
	var e Error
	if err := json.Unmarshal(raw, &e); err == nil {
		return &e
	}
	const keep = 300
	text := string(raw)
	if len(text) > keep {
		text = strings.ToValidUTF8(text[:keep], "") + "..."
	}
	return &Error{Code: CodeInternal, Message: "peer answered with an error of unknown form: " + text}
}

// head is what can be read off the first bytes of a message too long to keep: the id of the call
// that it answers, or 0 when it is a request or its id lies behind the part that is known.
func head(start []byte) int64 {
	d := jsontext.NewDecoder(bytes.NewReader(start), lenient...)
	if t, err := d.ReadToken(); err != nil || t.Kind() != '{' {
		return 0
	}
	var id int64
	for {
		name, err := d.ReadToken()
		if err != nil || name.Kind() != '"' {
			return 0
		}
		switch name.String() {
		case "method", "params":
			return 0
		case "result", "error":
			return id
		}
		member := name.String()
		value, err := d.ReadValue()
		if err != nil {
			return 0
		}
		if n, ok := callID(json.RawMessage(value)); ok && member == "id" {
			id = n
		}
	}
}
