//go:build unix

package workspace

import (
	"context"
	"errors"
	"os"
	"strings"
	"syscall"
	"testing"
)

// editor is an editor that answers with given texts.
type editor struct {
	serves bool
	texts  map[Path]string
	asked  []Path
}

func (e *editor) CanRead() bool       { return true }
func (e *editor) CanWrite() bool      { return true }
func (e *editor) ServesBuffers() bool { return e.serves }
func (e *editor) ReadText(_ context.Context, p Path) (string, error) {
	e.asked = append(e.asked, p)
	if text, ok := e.texts[p]; ok {
		return text, nil
	}
	return "", errors.New("no such resource")
}
func (e *editor) WriteText(context.Context, Path, string) error { panic("reading never writes") }

func TestReadComparesDiskAndEditor(t *testing.T) {
	const absent = "\x00absent"
	type want struct {
		text             string
		exists, unsaved  bool
		unknown          bool
		recordHas        string
		asked            bool
		eol              EOL
		withoutFinalLine bool
	}
	cases := []struct {
		name         string
		disk, editor string // absent: no file, or the editor answers with an error
		serves       bool
		want         want
	}{
		{"same", "a\n", "a\n", true, want{text: "a\n", exists: true, asked: true, eol: LF}},
		{"same up to EOL", "a\r\nb\r\n", "a\nb\n", true, want{text: "a\r\nb\r\n", exists: true, asked: true, eol: CRLF}},
		{"same up to BOM", "\xEF\xBB\xBFa\n", "\uFEFFa\n", true, want{text: "a\n", exists: true, asked: true, eol: LF}},
		{"same up to the final newline", "a\nb", "a\nb\n", true, want{text: "a\nb", exists: true, asked: true, eol: LF, withoutFinalLine: true}},
		{"unsaved", "a\n", "b\n", true, want{text: "b\n", exists: true, unsaved: true, asked: true, eol: LF}},
		{"unsaved takes the file's EOL", "a\r\nb\r\n", "a\nc\n", true, want{text: "a\r\nc\r\n", exists: true, unsaved: true, asked: true, eol: CRLF}},
		{"other text from an editor that serves the disk", "a\n", "b\n", false, want{text: "a\n", exists: true, unknown: true, recordHas: "not known to serve", asked: true, eol: LF}},
		{"empty for a full file", "a\n", "", true, want{text: "a\n", exists: true, recordHas: "empty text", asked: true, eol: LF}},
		{"empty for an empty file", "", "", true, want{exists: true, asked: true, eol: EOLNone, withoutFinalLine: true}},
		{"read error", "a\n", absent, true, want{text: "a\n", exists: true, recordHas: "no such resource", asked: true, eol: LF}},
		{"absent, not found", absent, absent, true, want{asked: true, eol: EOLNone, withoutFinalLine: true}},
		{"absent, empty", absent, "", true, want{asked: true, eol: EOLNone, withoutFinalLine: true}},
		{"absent, a new unsaved buffer", absent, "new\n", true, want{text: "new\n", unsaved: true, asked: true, eol: LF}},
		{"absent is not asked of an editor that serves the disk", absent, "new\n", false, want{eol: EOLNone, withoutFinalLine: true}},
		{"unknown encoding, shown in another way", "caf\xE9\n", "caf\uFFFD\n", true, want{text: "caf\u00E9\n", exists: true, asked: true, eol: LF}},
		{"unknown encoding, changed", "caf\xE9\n", "tea \uFFFD\n", true, want{text: "caf\u00E9\n", exists: true, unknown: true, recordHas: "cannot be compared", asked: true, eol: LF}},
		{"binary is not asked", "a\x00", "x", true, want{exists: true}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			w := place(t)
			p := w.Join("f.txt")
			ed := &editor{serves: c.serves, texts: map[Path]string{}}
			if c.disk != absent {
				put(t, p, c.disk)
			}
			if c.editor != absent {
				ed.texts[p] = c.editor
			}
			f := &Files{Roots: mustRoots(t, w, ""), Editor: ed}
			got, err := f.Read(t.Context(), p)
			if strings.Contains(c.disk, "a\x00") && !strings.Contains(c.disk, absent) {
				if !errors.Is(err, ErrBinary) || got.Hash != HashBytes([]byte(c.disk)) || len(ed.asked) != 0 {
					t.Fatalf("%+v, %v, asked %v", got, err, ed.asked)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			have := want{got.Text, got.Exists, got.Unsaved, got.BufferUnknown, "", len(ed.asked) > 0, got.Format.EOL, !got.Format.FinalNewline}
			expect := c.want
			expect.recordHas = ""
			if have != expect || (c.want.recordHas == "") != (got.EditorRead == "") || !strings.Contains(got.EditorRead, c.want.recordHas) {
				t.Errorf("got %+v, record %q\nwant %+v", have, got.EditorRead, c.want)
			}
			if (got.Hash == "") == got.Exists {
				t.Errorf("hash %q, exists %v", got.Hash, got.Exists)
			}
		})
	}
}

func TestReadRefuses(t *testing.T) {
	w := place(t)
	if err := syscall.Mkfifo(string(w.Join("fifo")), 0o644); err != nil {
		t.Fatal(err)
	}
	put(t, w.Join("big"), strings.Repeat("x", 101))
	put(t, w.Join("dir", "f"), "")
	link(t, "l2", w.Join("l1"))
	link(t, "l1", w.Join("l2"))
	link(t, "fifo", w.Join("lf"))
	f := &Files{Roots: mustRoots(t, w, ""), MaxSize: 100}
	cases := []struct {
		name   string
		want   error
		exists bool
	}{
		{"fifo", ErrUnsupported, true},
		{"lf", ErrUnsupported, true},
		{"dir", ErrUnsupported, true},
		{"big", ErrTooLarge, true},
		{"l1", nil, false},
	}
	for _, c := range cases {
		got, err := f.Read(t.Context(), w.Join(c.name))
		if err == nil || c.want != nil && !errors.Is(err, c.want) || got.Exists != c.exists {
			t.Errorf("%s: exists %v, error %v, want %v", c.name, got.Exists, err, c.want)
		}
	}
	if got, err := f.Read(t.Context(), w.Join("dir", "f", "below")); err != nil || got.Exists {
		t.Errorf("below a file: %+v, %v", got, err)
	}
	if err := os.Chmod(string(w.Join("big")), 0o755); err != nil {
		t.Fatal(err)
	}
	f.MaxSize = 0
	if got, err := f.Read(t.Context(), w.Join("big")); err != nil || got.Mode != 0o755 {
		t.Errorf("mode %v, %v", got.Mode, err)
	}
}

func TestEditorConfigCharset(t *testing.T) {
	top := place(t)
	w := top.Join("w")
	put(t, top.Join(".editorconfig"), "[*]\ncharset = euc-jp\n")
	put(t, w.Join(".editorconfig"), "\uFEFF# top\n[*]\nCharset = UTF-8-BOM\nindent_size = 2\n[legacy/**]\ncharset=shift_jis\n[*.{a,b}]\ncharset = unset\n[docs/*.txt]\ncharset = nonsense\n")
	put(t, w.Join("sub", ".editorconfig"), "root = true\n[x.c]\ncharset = latin1\n")
	r := mustRoots(t, w, "")
	for name, want := range map[string]string{
		"x.c": "utf-8-bom", "deep/er/x.c": "utf-8-bom", "legacy/x/y": "shift_jis", "f.a": "", "docs/r.txt": "",
		"sub/x.c": "latin1", "sub/d/x.c": "latin1", "sub/y.c": "",
	} {
		if got := r.EditorConfigCharset(w.Join(name)); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if got := r.EditorConfigCharset(top.Join("x")); got != "" {
		t.Errorf("outside: %q", got)
	}
	f := &Files{Roots: r, Charset: r.EditorConfigCharset}
	put(t, w.Join("legacy", "j.txt"), "\x93\xFA")
	if got, err := f.ReadDisk(w.Join("legacy", "j.txt")); err != nil || got.Text != "日" {
		t.Errorf("%q, %v", got.Text, err)
	}
}

// Only what is a regular file is opened, and nothing is waited for.
func TestOpenRegular(t *testing.T) {
	w := place(t)
	put(t, w.Join("file"), "text")
	put(t, w.Join("d", "x"), "")
	if err := syscall.Mkfifo(string(w.Join("pipe")), 0o644); err != nil {
		t.Fatal(err)
	}
	for name, target := range map[string]string{"link": "file", "topipe": "pipe", "device": "/dev/zero", "loop": "loop", "nowhere": "none"} {
		if err := os.Symlink(target, string(w.Join(name))); err != nil {
			t.Fatal(err)
		}
	}
	for name, want := range map[string]error{
		"file": nil, "link": nil, "pipe": ErrUnsupported, "topipe": ErrUnsupported, "device": ErrUnsupported,
		"d": ErrUnsupported, "loop": syscall.ELOOP, "nowhere": os.ErrNotExist,
	} {
		data, err := ReadRegular(w.Join(name), 4)
		if !errors.Is(err, want) || want == nil && string(data) != "text" {
			t.Errorf("%s: %q, %v; want %v", name, data, err, want)
		}
	}
	if _, err := ReadRegular(w.Join("file"), 3); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a file above the limit gives %v", err)
	}
}
