//go:build unix

package edits

import (
	"context"
	"errors"
	"maps"
	"os"
	"strings"
	"testing"

	"acp-agent/internal/workspace"
)

// fakeEditor holds buffers, saves them as the profile says, and can fail.
type fakeEditor struct {
	w       *world
	serves  bool
	buffers map[workspace.Path]string // unsaved texts
	save    func(text string) (string, bool)
	fail    func(p workspace.Path, text string) (land bool, err error)
	writes  []string
	reads   int
}

func (e *fakeEditor) CanRead() bool { return true }

func (e *fakeEditor) CanWrite() bool { return true }

func (e *fakeEditor) ServesBuffers() bool { return e.serves }

func (e *fakeEditor) ReadText(_ context.Context, p workspace.Path) (string, error) {
	e.reads++
	if text, ok := e.buffers[p]; ok && e.serves {
		return text, nil
	}
	data, err := os.ReadFile(string(p))
	return strings.ReplaceAll(string(data), "\r\n", "\n"), err
}

func (e *fakeEditor) WriteText(_ context.Context, p workspace.Path, text string) error {
	e.writes = append(e.writes, p.Base()+": "+text)
	if e.fail != nil {
		if land, err := e.fail(p, text); err != nil {
			if land {
				_ = os.WriteFile(string(p), []byte(text), 0o644)
			}
			return err
		}
	}
	save := true
	if e.save != nil {
		text, save = e.save(text)
	}
	if !save {
		e.buffers[p] = text
		return nil
	}
	delete(e.buffers, p)
	return os.WriteFile(string(p), []byte(text), 0o644)
}

func newEditor(w *world) *fakeEditor {
	e := &fakeEditor{w: w, serves: true, buffers: map[workspace.Path]string{}}
	w.files.Editor = e
	return e
}

// Contract §5: what goes through the editor, what to disk, and why.
func TestRoute(t *testing.T) {
	for _, c := range []struct {
		name  string
		call  call
		route Route
		why   string
	}{
		{"update", rp("a", "a", "b"), ViaEditor, ""},
		{"create", wf("n", "b"), ViaEditor, ""},
		{"CRLF", wf("crlf", "b\n"), ViaEditor, ""},
		{"BOM", wf("bom", "b"), ViaDisk, "byte order mark"},
		{"UTF-16", wf("u16", "b"), ViaDisk, "utf-16le"},
		{"unknown encoding", wf("latin", "b"), ViaDisk, "unknown-8bit"},
		{"large", wf("a", strings.Repeat("x", 4<<20+1)), ViaDisk, "4 MiB"},
		{"just not large", wf("a", strings.Repeat("x", 4<<20)), ViaEditor, ""},
		{"outside", wf("../o", "b"), ViaDisk, "outside"},
		{"delete", ap("*** Delete File: a"), ViaDisk, "delete"},
		{"move", ap("*** Update File: a", "*** Move to: b"), ViaDisk, "move"},
		{"read-only", wf("ro", "b"), ViaDisk, "read-only"},
	} {
		w := newWorld(t, tree{"a": "a", "crlf": "a\r\n", "bom": "\xEF\xBB\xBFa", "u16": "\xFF\xFEa\x00", "latin": "\xE9", "ro": "a"})
		w.try(os.Chmod(string(w.path("ro")), 0o444))
		newEditor(w)
		ch := w.propose(c.call).Changes[0]
		if ch.Route != c.route || !strings.Contains(ch.RouteWhy, c.why) || (c.why == "") != (ch.RouteWhy == "") {
			t.Errorf("%s: %s, %q", c.name, ch.Route, ch.RouteWhy)
		}
		w.files.Editor = nil
		if ch := w.propose(c.call).Changes[0]; ch.Route != ViaDisk || ch.RouteWhy != "" {
			t.Errorf("%s without an editor: %s, %q", c.name, ch.Route, ch.RouteWhy)
		}
	}
}

var (
	twoWays = ap("*** Update File: a", "-a", "+b", "*** Update File: d", "*** Move to: sub/d2", "*** Add File: sub/n", "+n")
	errNo   = errors.New("editor says no")
)

// editorCase is one application with files that go through the editor.
type editorCase struct {
	name   string
	editor func(e *fakeEditor)
	call   call
	want   tree  // differences to the start
	found  tree  // texts of the changes as they landed, by name; nil for an error
	code   Code  // of the error
	cause  error // in its chain
	before func(w *world, e *fakeEditor)
}

func TestApplyThroughEditor(t *testing.T) {
	for _, c := range editorCases {
		t.Run(c.name, c.run)
	}
}

func (c editorCase) run(t *testing.T) {
	w := newWorld(t, tree{"a": "a\n", "d": "d\n", "crlf": "a\r\nb\r\n"})
	want := w.tree()
	e := newEditor(w)
	if c.editor != nil {
		c.editor(e)
	}
	p := w.propose(c.call)
	if c.before != nil {
		c.before(w, e)
	}
	j := &journal{}
	landed, err := p.Apply(t.Context(), w.files, j)
	maps.Copy(want, c.want)
	maps.DeleteFunc(want, func(_, content string) bool { return content == gone })
	if got := w.tree(); !maps.Equal(got, want) {
		t.Errorf("files %q\nwant  %q", got, want)
	}
	if c.found == nil {
		var r *Refusal
		if !errors.As(err, &r) || r.Code != c.code || c.cause != nil && !errors.Is(err, c.cause) || strings.Contains(err.Error(), "taken back") {
			t.Errorf("error %v, want %s", err, c.code)
		}
		for p, text := range e.buffers {
			if text == "b\n" {
				t.Errorf("the buffer of %s still has the edit", p)
			}
		}
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	for i, l := range landed {
		name := p.Changes[i].Target().Rel(w.dir)
		if l.Text != c.found[name] || l.Found != workspace.HashBytes([]byte(l.Text)) || l.Written != p.Changes[i].After {
			t.Errorf("%s: landed %+v, want %q", name, l, c.found[name])
		}
		if p.Changes[i].Unsaved && j.kept[workspace.HashBytes([]byte("user\n"))] != "user\n" {
			t.Error("the unsaved text was not kept")
		}
	}
}

var editorCases = []editorCase{
	{name: "update and create", call: twoWays, want: tree{"a": "b\n", "d": gone, "sub/d2": "d\n", "sub/n": "n\n"}, found: tree{"a": "b\n", "sub/d2": "d\n", "sub/n": "n\n"}},
	{name: "format on save", call: wf("a", "x\n"), editor: func(e *fakeEditor) {
		e.save = func(text string) (string, bool) { return "// formatted\n" + text, true }
	}, want: tree{"a": "// formatted\nx\n"}, found: tree{"a": "// formatted\nx\n"}},
	{name: "buffer only", call: wf("a", "x\n"), editor: func(e *fakeEditor) {
		e.save = func(text string) (string, bool) { return text, false }
	}, want: tree{}, found: tree{"a": "x\n"}},
	{name: "unsaved text is the base", call: rp("a", "user", "model"), editor: func(e *fakeEditor) { e.buffers[e.w.path("a")] = "user\n" },
		want: tree{"a": "model\n"}, found: tree{"a": "model\n"}},
	{name: "unsaved text of a file that is not there", call: rp("n", "user", "model"), editor: func(e *fakeEditor) { e.buffers[e.w.path("n")] = "user\n" },
		want: tree{"n": "model\n"}, found: tree{"n": "model\n"}},
	{name: "CRLF goes as the file has it", call: rp("crlf", "a\nb", "a\nc"), want: tree{"crlf": "a\r\nc\r\n"}, found: tree{"crlf": "a\r\nc\r\n"}},
	{name: "typing meanwhile", call: rp("a", "a", "b"), before: func(w *world, e *fakeEditor) { e.buffers[w.path("a")] = "a user\n" }, want: tree{}, code: CodeStale},
	{name: "unsaved text changed meanwhile", call: rp("a", "user", "model"), editor: func(e *fakeEditor) { e.buffers[e.w.path("a")] = "user\n" },
		before: func(w *world, e *fakeEditor) { e.buffers[w.path("a")] = "user 2\n" }, want: tree{}, code: CodeStale},
	{name: "unsaved text saved meanwhile", call: rp("a", "user", "model"), editor: func(e *fakeEditor) { e.buffers[e.w.path("a")] = "user\n" },
		before: func(w *world, e *fakeEditor) {
			delete(e.buffers, w.path("a"))
			w.put("a", "user\n")
		}, want: tree{"a": "user\n"}, code: CodeStale},
	{name: "write error", call: twoWays, editor: func(e *fakeEditor) {
		e.fail = func(workspace.Path, string) (bool, error) { return false, errNo }
	}, want: tree{}, code: CodeIO, cause: errNo},
	{name: "write error of the second", call: twoWays, editor: func(e *fakeEditor) {
		e.fail = func(p workspace.Path, _ string) (bool, error) {
			if p.Base() == "n" {
				return false, errNo
			}
			return false, nil
		}
	}, want: tree{}, code: CodeIO, cause: errNo},
	{name: "write error, written nevertheless", call: twoWays, editor: func(e *fakeEditor) {
		e.fail = func(p workspace.Path, text string) (bool, error) {
			if p.Base() == "n" || text == "b\n" {
				return true, errNo
			}
			return false, nil
		}
	}, want: tree{}, code: CodeIO, cause: errNo},
	{name: "dead after the first", call: ap("*** Update File: a", "-a", "+b", "*** Update File: d", "-d", "+e"), editor: func(e *fakeEditor) {
		e.fail = func(p workspace.Path, text string) (bool, error) {
			if text == "b\n" {
				return false, nil
			}
			return false, errNo
		}
	}, want: tree{}, code: CodeIO, cause: errNo},
	{name: "formatted, then taken back", call: ap("*** Update File: crlf", "-a", "+x", "*** Update File: d", "-d", "+e"), editor: func(e *fakeEditor) {
		e.save = func(text string) (string, bool) { return strings.ReplaceAll(text, "\r\n", "\n"), true }
		e.fail = func(p workspace.Path, text string) (bool, error) {
			if p.Base() == "d" {
				return false, errNo
			}
			return false, nil
		}
	}, want: tree{}, code: CodeIO, cause: errNo},
	{name: "buffer only, then taken back", call: ap("*** Update File: a", "-a", "+b", "*** Update File: d", "-d", "+e"), editor: func(e *fakeEditor) {
		e.save = func(text string) (string, bool) { return text, false }
		e.fail = func(p workspace.Path, text string) (bool, error) {
			if p.Base() == "d" {
				return false, errNo
			}
			return false, nil
		}
	}, want: tree{}, code: CodeIO, cause: errNo},
}
