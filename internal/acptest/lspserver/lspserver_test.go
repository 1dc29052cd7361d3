package lspserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestMain(m *testing.M) {
	Main()
	os.Exit(m.Run())
}

func TestErrorsOfAText(t *testing.T) {
	other := func(name string) bool { return name == "there" }
	for text, want := range map[string][]string{
		"":                                    nil,
		"ERROR(a) ERROR(b)\nWARN(c)":          {"a", "b"},
		"HINT(a)\r\nERROR(b)\rLATE(c)":        {"b"},
		"USES(x)":                             {"x is not defined"},
		"USES(x) DEFINES(x)":                  nil,
		"USES(there) USES(nowhere)":           {"nowhere is not defined"},
		"TERROR(a) ERROR() ERROR(unclosed \n": {""},
	} {
		if got := Errors(text, other); !slices.Equal(got, want) {
			t.Errorf("%q has %q, want %q", text, got, want)
		}
	}
}

func TestColumnsAndOffsets(t *testing.T) {
	const line = "a😀é漢b"
	for encoding, want := range map[string][]int{
		"utf-8": {0, 1, 5, 7, 10}, "utf-16": {0, 1, 3, 4, 5}, "utf-32": {0, 1, 2, 3, 4}, "": {0, 1, 3, 4, 5},
	} {
		n := 0
		for i := range line {
			if got := column(line, i, encoding); got != want[n] {
				t.Errorf("%s: byte %d is column %d, want %d", encoding, i, got, want[n])
			}
			if got := offset(line, want[n], encoding); got != i {
				t.Errorf("%s: column %d is byte %d, want %d", encoding, want[n], got, i)
			}
			n++
		}
	}
	if got := apply("one\ntwo\nthree\n", 1, 1, 2, 2, "X", ""); got != "one\ntXree\n" {
		t.Errorf("a change by range made %q", got)
	}
}

// talk is a client that only speaks framing.
type talk struct {
	t   *testing.T
	in  io.WriteCloser
	out *bufio.Reader
}

func start(t *testing.T, s *Server) *talk {
	t.Helper()
	cmd := exec.Command(s.Command[0], s.Command[1:]...)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_, _ = io.Copy(io.Discard, out)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the server ended with %v", err)
		}
	})
	return &talk{t: t, in: in, out: bufio.NewReader(out)}
}

func (k *talk) send(method string, id int, params any) {
	k.t.Helper()
	m := object{"jsonrpc": "2.0", "method": method, "params": params}
	if id > 0 {
		m["id"] = id
	}
	body := encode(m)
	if _, err := fmt.Fprintf(k.in, "Content-Length: %d\r\n\r\n%s", len(body), body); err != nil {
		k.t.Fatal(err)
	}
}

func (k *talk) next() message {
	k.t.Helper()
	body, err := readFrame(k.out)
	if err != nil {
		k.t.Fatal(err)
	}
	var m message
	if err := json.Unmarshal(body, &m); err != nil {
		k.t.Fatal(err)
	}
	return m
}

func open(uri, text string) object {
	return object{"textDocument": object{"uri": uri, "version": 1, "languageId": "fake", "text": text}}
}

func TestServerPublishesRecordsAndEnds(t *testing.T) {
	s := New(t)
	k := start(t, s)
	k.send("initialize", 1, object{"rootUri": "file:///nowhere"})
	if m := k.next(); string(m.ID) != "1" || !bytes.Contains(m.Result, []byte(`"fake"`)) {
		t.Fatalf("initialize was answered %+v", m)
	}
	k.send("initialized", 0, object{})
	k.send("textDocument/didOpen", 0, open("file:///nowhere/a.fk", "é😀 ERROR(bad)"))
	m := k.next()
	if m.Method != "textDocument/publishDiagnostics" || !strings.Contains(string(m.Params), `"character":4`) {
		t.Fatalf("came %s %s", m.Method, m.Params)
	}
	k.send("no/such", 2, nil)
	if m := k.next(); m.Error == nil || m.Error.Code != -32601 {
		t.Fatalf("an unknown method was answered %+v", m)
	}
	if texts := s.Texts("/nowhere/a.fk"); !slices.Equal(texts, []string{"é😀 ERROR(bad)"}) {
		t.Errorf("the record has the texts %q", texts)
	}
	if n := len(s.Sent("textDocument/publishDiagnostics")); n != 1 || len(s.Received("initialize")) != 1 {
		t.Errorf("the record has %d publishes: %+v", n, s.Record())
	}
	k.send("shutdown", 3, nil)
	k.next()
	k.send("exit", 0, nil)
	s.WantGone(patience)
}

func TestUnknownModeIsRefused(t *testing.T) {
	for _, m := range []string{"", "nonsense", "silent=1", "slow", "slow=fast", "lies-pull=perhaps", "warming=x"} {
		if _, err := parseModes([]string{m}); err == nil {
			t.Errorf("mode %q was taken", m)
		}
	}
}
