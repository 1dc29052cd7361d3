package acp_test

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"acp-agent/internal/wire"
)

// direct drives a language server by nothing but its own protocol: the yardstick for what the agent
// adds to it.
type direct struct {
	b       *testing.B
	conn    *wire.Conn
	cmd     *exec.Cmd
	ran     chan struct{}
	file    string
	version int
}

// newDirect starts a server on a project and opens one of its files, language id lang.
func newDirect(b *testing.B, argv []string, options map[string]any, dir, file, lang string) *direct {
	b.Helper()
	cmd := exec.Command(argv[0], argv[1:]...)
	cmd.Dir = dir
	cmd.Env = benchEnviron(b)
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	d := &direct{b: b, cmd: cmd, ran: make(chan struct{}), file: filepath.Join(dir, file)}
	d.conn = wire.NewConn(out, in, d.answer, wire.Options{Framing: wire.ContentLength})
	go func() {
		defer close(d.ran)
		_ = d.conn.Run(context.Background()) // the calls tell of a server that ended
	}()
	root := "file://" + dir
	d.call("initialize", map[string]any{
		"processId": os.Getpid(), "rootUri": root, "initializationOptions": options,
		"workspaceFolders": []any{map[string]any{"uri": root, "name": "bench"}},
		"capabilities": map[string]any{
			"workspace":    map[string]any{"configuration": true, "workspaceFolders": true},
			"textDocument": map[string]any{"diagnostic": map[string]any{"dynamicRegistration": true}, "synchronization": map[string]any{"didSave": true}},
		},
	})
	d.notify("initialized", struct{}{})
	text, err := os.ReadFile(d.file)
	if err != nil {
		b.Fatal(err)
	}
	d.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": "file://" + d.file, "languageId": lang, "version": 0, "text": string(text)}})
	d.pull()
	return d
}

// answer gives a server's questions the emptiest answer.
func (d *direct) answer(req *wire.Request) {
	if req.IsNotification() {
		return
	}
	if req.Method != "workspace/configuration" {
		req.Reply(nil)
		return
	}
	var p struct{ Items []json.RawMessage }
	_ = json.Unmarshal(req.Params, &p) // no items is an answer, too
	req.Reply(make([]any, len(p.Items)))
}

func (d *direct) call(method string, params any) (result json.RawMessage) {
	d.b.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := d.conn.Call(ctx, method, params, &result); err != nil {
		d.b.Fatalf("%s: %v", method, err)
	}
	return result
}

func (d *direct) notify(method string, params any) {
	d.b.Helper()
	if err := d.conn.Notify(method, params); err != nil {
		d.b.Fatalf("%s: %v", method, err)
	}
}

func (d *direct) change(text string) {
	d.version++
	d.notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": "file://" + d.file, "version": d.version},
		"contentChanges": []any{map[string]any{"text": text}},
	})
}

// pull asks for the file's diagnostics.
func (d *direct) pull() {
	result := d.call("textDocument/diagnostic", map[string]any{"textDocument": map[string]any{"uri": "file://" + d.file}})
	if len(result) == 0 || string(result) == "null" {
		d.b.Fatal("the server gave no diagnostics")
	}
}

// foresee asks about a text and puts the old one back, as the agent does before it asks the user.
func (d *direct) foresee(before, after string) time.Duration {
	start := time.Now()
	d.change(after)
	d.pull()
	took := time.Since(start)
	d.change(before)
	return took
}

// apply writes a text to disk, not durably, and asks about it.
func (d *direct) apply(text string) time.Duration {
	start := time.Now()
	if err := os.WriteFile(d.file, []byte(text), 0o600); err != nil {
		d.b.Fatal(err)
	}
	d.change(text)
	d.pull()
	return time.Since(start)
}

// close ends the server.
func (d *direct) close() {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	_ = d.conn.Call(ctx, "shutdown", nil, nil)
	_ = d.conn.Notify("exit", nil)
	d.conn.Close()
	<-d.ran
	_ = d.cmd.Process.Kill() // most have gone by now
	_ = d.cmd.Wait()
}

// syncer makes as many bare fsyncs as one edit of a file that exists: of the new text beside the
// file, of the folder that holds it, of the kept content and its folder, and of the two records.
type syncer struct {
	b         *testing.B
	dir       string
	log       *os.File
	dirHandle *os.File
}

func newSyncer(b *testing.B) *syncer {
	b.Helper()
	s := &syncer{b: b, dir: b.TempDir()}
	var err error
	if s.log, err = os.Create(filepath.Join(s.dir, "log")); err != nil {
		b.Fatal(err)
	}
	if s.dirHandle, err = os.Open(s.dir); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { s.log.Close(); s.dirHandle.Close() })
	return s
}

// syncs gives what the fsyncs took, without the writing.
func (s *syncer) syncs(text string) (sum time.Duration) {
	s.b.Helper()
	timed := func(f *os.File) {
		start := time.Now()
		if err := f.Sync(); err != nil {
			s.b.Fatal(err)
		}
		sum += time.Since(start)
	}
	file := func(name string) {
		f, err := os.Create(filepath.Join(s.dir, name+".tmp"))
		if err != nil {
			s.b.Fatal(err)
		}
		defer f.Close()
		if _, err := f.WriteString(text); err != nil {
			s.b.Fatal(err)
		}
		timed(f)
		if err := os.Rename(f.Name(), filepath.Join(s.dir, name)); err != nil {
			s.b.Fatal(err)
		}
	}
	record := func() {
		if _, err := s.log.Write(make([]byte, 900)); err != nil {
			s.b.Fatal(err)
		}
		timed(s.log)
	}
	file("staged")
	file("kept")
	timed(s.dirHandle)
	record()
	timed(s.dirHandle)
	record()
	return sum
}
