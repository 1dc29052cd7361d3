package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Message is one line on the wire, as it was, with the parts that JSON-RPC names.
type Message struct {
	Seq    int    // position in the conversation, from 0
	Agent  bool   // the agent wrote it, not the editor
	Line   []byte // without the newline
	ID     json.RawMessage
	Method string
	Params json.RawMessage
	Result json.RawMessage // "null" when the result is null
	Error  *RPCError
	// For is the method that a response answers, "" when nobody asked.
	For string
}

// RPCError is a JSON-RPC error as it came.
type RPCError struct {
	Code    int             `json:"code"`
	Message string          `json:"message"`
	Data    json.RawMessage `json:"data"`
}

// Error gives message and code.
func (e *RPCError) Error() string { return fmt.Sprintf("%s (%d)", e.Message, e.Code) }

// IsRequest, IsNotification and IsResponse tell the three shapes apart.
func (m Message) IsRequest() bool { return m.Method != "" && m.ID != nil }

// IsNotification says that nobody waits for an answer.
func (m Message) IsNotification() bool { return m.Method != "" && m.ID == nil }

// IsResponse says that the line answers a request.
func (m Message) IsResponse() bool { return m.Method == "" }

// String is the line with its direction, cut to what fits a terminal.
func (m Message) String() string {
	arrow := "editor→"
	if m.Agent {
		arrow = "agent →"
	}
	line := m.Line
	if len(line) > 600 {
		line = append(append([]byte{}, line[:600]...), fmt.Sprintf("… (%d bytes)", len(m.Line))...)
	}
	return arrow + " " + string(line)
}

// parseLine reads one line of the agent and says what is wrong with its shape (G1, G2 of the
// conformance list). The message is as complete as the line allows.
func parseLine(line []byte) (Message, []string) {
	m := Message{Agent: true, Line: line}
	var bad []string
	if !utf8.Valid(line) {
		bad = append(bad, "G1: the line is not UTF-8")
	}
	if bytes.HasPrefix(line, []byte("\xEF\xBB\xBF")) {
		return m, append(bad, "G1: the line begins with a byte order mark")
	}
	if bytes.ContainsRune(line, '\r') {
		bad = append(bad, "G1: the line holds a raw carriage return")
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil || fields == nil {
		return m, append(bad, fmt.Sprintf("G1: the line is no JSON object (%v)", err))
	}
	if string(fields["jsonrpc"]) != `"2.0"` {
		bad = append(bad, fmt.Sprintf("G2: jsonrpc is %s", fields["jsonrpc"]))
	}
	method, hasMethod := fields["method"]
	id, hasID := fields["id"]
	result, hasResult := fields["result"]
	rawErr, hasError := fields["error"]
	if hasID {
		m.ID = id
	}
	if hasMethod {
		if json.Unmarshal(method, &m.Method) != nil || m.Method == "" {
			bad = append(bad, "G2: method is no name")
		}
		m.Params = fields["params"]
	}
	if hasResult {
		m.Result = result
	}
	if hasError {
		m.Error = &RPCError{}
		if err := json.Unmarshal(rawErr, m.Error); err != nil || m.Error.Code == 0 || m.Error.Message == "" {
			bad = append(bad, "G2: the error lacks a code or a message")
		}
	}
	switch {
	case hasMethod && (hasResult || hasError):
		bad = append(bad, "G2: both a request and a response")
	case !hasMethod && hasResult == hasError:
		bad = append(bad, "G2: neither exactly one of result and error, nor a method")
	case !hasMethod && !hasID:
		bad = append(bad, "G2: a response without id")
	}
	for key := range fields {
		switch key {
		case "jsonrpc", "id", "method", "params", "result", "error":
		default:
			bad = append(bad, fmt.Sprintf("G2: %q is no field of a JSON-RPC message", key))
		}
	}
	return m, bad
}

// get walks an undecoded value by keys and indexes and decodes what is there; the zero value when
// the path leads nowhere.
func get[T any](raw json.RawMessage, path ...any) T {
	var zero T
	for _, step := range path {
		switch step := step.(type) {
		case string:
			var m map[string]json.RawMessage
			if json.Unmarshal(raw, &m) != nil {
				return zero
			}
			raw = m[step]
		case int:
			var l []json.RawMessage
			if json.Unmarshal(raw, &l) != nil || step >= len(l) {
				return zero
			}
			raw = l[step]
		}
	}
	var v T
	if len(raw) == 0 || json.Unmarshal(raw, &v) != nil {
		return zero
	}
	return v
}

// Get is the value at a path of keys (string) and indexes (int) in undecoded JSON, or T's zero
// value when there is none of that type.
func Get[T any](raw json.RawMessage, path ...any) T { return get[T](raw, path...) }
