package lspserver

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// message is any JSON-RPC message.
type message struct {
	JSONRPC string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// readFrame reads one message as strictly as real servers do: a client that counts characters
// instead of bytes fails here.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length := -1
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if !strings.HasSuffix(line, "\r\n") {
			return nil, fmt.Errorf("header line without CRLF: %q", line)
		}
		line = strings.TrimSuffix(line, "\r\n")
		if line == "" {
			break
		}
		name, value, ok := strings.Cut(line, ": ")
		if !ok {
			return nil, fmt.Errorf("no header: %q", line)
		}
		if name == "Content-Length" {
			if length, err = strconv.Atoi(value); err != nil {
				return nil, err
			}
		}
	}
	if length < 0 {
		return nil, fmt.Errorf("headers without Content-Length")
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(r, body); err != nil {
		return nil, err
	}
	if !json.Valid(body) {
		return nil, fmt.Errorf("the body is no JSON: %q", body)
	}
	return body, nil
}

// writer sends messages with the faults of the options.
type writer struct {
	w    io.Writer
	o    *options
	sent int
}

func (w *writer) write(body []byte) {
	w.sent++
	if w.o.stray {
		w.raw("npm WARN deprecated something: it is old\n\n")
		if w.sent%3 == 0 {
			w.raw("a banner without an end ")
		}
	}
	if w.o.garbage {
		w.raw(frame(garbage[w.sent%len(garbage)]))
	}
	if !w.o.split {
		w.raw(frame(string(body)))
		return
	}
	text := fmt.Sprintf("content-type: application/vscode-jsonrpc; charset=utf8\ncontent-LENGTH:%d\n\n%s", len(body), body)
	for step := 5; text != ""; step = step%17 + 2 {
		n := min(step, len(text))
		w.raw(text[:n])
		text = text[n:]
	}
}

func frame(body string) string { return fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(body), body) }

// garbage stands between the messages in mode garbage: frames whose bodies a client must survive.
var garbage = []string{
	"", "{", "null", "[]", "7", `"text"`, "\x00\xff", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"2.0","id":null,"result":1}`,
	`{"jsonrpc":"2.0","id":987654,"result":{}}`, `{"jsonrpc":"2.0","id":"nobody","error":{"code":1,"message":"x"}}`,
	`[{"jsonrpc":"2.0","method":"window/logMessage","params":{"type":3,"message":"in a list"}}]`,
	`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":7,"diagnostics":"none"}}`,
	`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics","params":{"uri":"untitled:1","diagnostics":[]}}`,
	`{"jsonrpc":"2.0","method":"textDocument/publishDiagnostics"}`, `{"jsonrpc":"2.0","method":"$/progress","params":[]}`,
	`{"jsonrpc":"2.0","method":7}`, `{"jsonrpc":"1.0","method":"no/such","params":{}}`, `{"method":"no/version"}`,
}

// raw writes; a client that is gone is noticed by the reader.
func (w *writer) raw(s string) { _, _ = io.WriteString(w.w, s) }
