package tool

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"acp-agent/internal/workspace"
)

func lines(n int, line string) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, line+"\n", i)
	}
	return b.String()
}

func TestReadFile(t *testing.T) {
	env := newEnv(t, `
-- a.txt --
one
two
three
-- empty.txt --
-- src/App.go --
package src
-- big.txt --
`+lines(2500, "line %d"))
	write(t, env.at("crlf.txt"), "one\r\ntwo\r\n", false)
	write(t, env.at("bom.txt"), "\ufeffone\n", false)
	write(t, env.at("open.txt"), "one\ntwo", false)
	write(t, env.at("bin.dat"), "ab\x00cd", false)
	write(t, env.at("utf16.txt"), "\xff\xfeh\x00i\x00\n\x00", false)
	for name, tc := range map[string]struct{ args, want string }{
		"whole":           {`{"path":"a.txt"}`, "one\ntwo\nthree\n"},
		"absolute":        {object("path", env.at("a.txt")), "one\ntwo\nthree\n"},
		"no final break":  {`{"path":"open.txt"}`, "one\ntwo"},
		"a part":          {`{"path":"a.txt","offset":2,"limit":1}`, "two\n[Lines 2-2 of 3. There is more: read on with offset 3.]"},
		"the end":         {`{"path":"a.txt","offset":2}`, "two\nthree\n[Lines 2-3 of 3.]"},
		"offset 0":        {`{"path":"a.txt","offset":0,"limit":9}`, "one\ntwo\nthree\n"},
		"past the end":    {`{"path":"a.txt","offset":9}`, `{"error":"offset 9 is past the end: W/a.txt has 3 lines.","code":"invalid_arguments","path":"W/a.txt"}`},
		"empty":           {`{"path":"empty.txt"}`, "[The file is empty.]"},
		"CRLF":            {`{"path":"crlf.txt"}`, "one\ntwo\n[The lines end with CRLF; edits keep that.]"},
		"BOM":             {`{"path":"bom.txt"}`, "one\n"},
		"UTF-16":          {`{"path":"utf16.txt"}`, "hi\n[The file's encoding is utf-16le.]"},
		"binary":          {`{"path":"bin.dat"}`, `{"error":"W/bin.dat is a binary file (5 bytes, application/octet-stream) and cannot be read as text.","code":"binary","path":"W/bin.dat"}`},
		"a folder":        {`{"path":"src"}`, `{"error":"W/src is a folder. Use list_directory.","code":"unsupported_file","path":"W/src"}`},
		"missing":         {`{"path":"b.txt"}`, `{"error":"W/b.txt does not exist. Use find_files to look for it.","code":"not_found","path":"W/b.txt"}`},
		"nearly there":    {`{"path":"src/app.ts"}`, `{"error":"W/src/app.ts does not exist. Did you mean W/src/App.go?","code":"not_found","path":"W/src/app.ts"}`},
		"missing folder":  {`{"path":"no/b.txt"}`, `{"error":"W/no/b.txt does not exist. Its folder W/no does not exist either.","code":"not_found","path":"W/no/b.txt"}`},
		"no such piece":   {`{"path":"a.txt","offset":1,"character":9}`, `{"error":"character 9 is past the end of line 1 of W/a.txt.","code":"invalid_arguments","path":"W/a.txt"}`},
		"a piece":         {`{"path":"a.txt","offset":3,"character":3}`, "ree\n[Line 3 (5 bytes), characters 3-5.]"},
		"many lines":      {`{"path":"big.txt","limit":9999}`, lines(2000, "line %d") + "[Lines 1-2000 of 2500. There is more: read on with offset 2001.]"},
		"the rest of all": {`{"path":"big.txt","offset":2500}`, "line 2500\n[Lines 2500-2500 of 2500.]"},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, env, call(t, env, "read_file", tc.args), tc.want)
		})
	}
}

// TestReadGiantFiles holds case G-M06: a bounded result with a notice and a way to get the rest.
func TestReadGiantFiles(t *testing.T) {
	env := newEnv(t, "")
	env.Files.MaxSize = 1 << 19
	long := strings.Repeat("é", 1<<19) // 1 MiB, above MaxSize
	write(t, env.at("one.txt"), "short\n"+long+"\nend\n", false)
	write(t, env.at("huge.txt"), lines(600_000, "line %d"), false)
	write(t, env.at("wide.txt"), lines(1500, strings.Repeat("x", 300)+"%d"), false)

	r := call(t, env, "read_file", `{"path":"huge.txt","offset":500000}`)
	if want := "Lines 500000-501999. There is more: read on with offset 502000."; !strings.HasPrefix(r.Text, "line 500000\n") || !strings.Contains(r.Text, want) {
		t.Errorf("huge.txt: %s … %s", r.Text[:40], r.Text[len(r.Text)-200:])
	}
	r = call(t, env, "read_file", `{"path":"huge.txt","offset":700000}`)
	check(t, env, r, `{"error":"offset 700000 is past the end: W/huge.txt has 600000 lines.","code":"invalid_arguments","path":"W/huge.txt"}`)

	r = call(t, env, "read_file", `{"path":"wide.txt"}`)
	if len(r.Text) > 256<<10+200 || !strings.Contains(r.Text, "of 1500. There is more: read on with offset ") {
		t.Errorf("wide.txt: %d bytes … %s", len(r.Text), r.Text[len(r.Text)-200:])
	}

	r = call(t, env, "read_file", `{"path":"one.txt"}`)
	want := "short\n" + strings.Repeat("é", maxLine) + "…\nend\n[The file is large; what is shown is read from the disk.]\n" +
		"[Line 2 is 1048576 bytes long and was cut after 4000 characters. Read on with offset 2 and character 4001.]"
	check(t, env, r, want)

	var got strings.Builder
	for char := 1; ; {
		r := call(t, env, "read_file", object("path", "one.txt", "offset", 2, "character", char))
		text, notice, _ := strings.Cut(r.Text, "\n[")
		got.WriteString(text)
		if len(r.Text) > longPiece+300 {
			t.Fatalf("a piece of %d bytes", len(r.Text))
		}
		if _, err := fmt.Sscanf(after(notice, "character "), "%d", &char); err != nil || !strings.Contains(notice, "read on") {
			break
		}
	}
	if got.String() != long {
		t.Errorf("the pieces of the long line give %d bytes, want %d", got.Len(), len(long))
	}
}

// after is what follows the last occurrence of mark.
func after(s, mark string) string { return s[strings.LastIndex(s, mark)+len(mark):] }

// bufferEditor serves one unsaved text for every file.
type bufferEditor struct{ text string }

func (e bufferEditor) CanRead() bool       { return true }
func (e bufferEditor) CanWrite() bool      { return false }
func (e bufferEditor) ServesBuffers() bool { return true }
func (e bufferEditor) ReadText(context.Context, workspace.Path) (string, error) {
	return e.text, nil
}
func (e bufferEditor) WriteText(context.Context, workspace.Path, string) error {
	return os.ErrPermission
}

func TestReadUnsavedText(t *testing.T) {
	env := newEnv(t, "-- a.txt --\nsaved\n")
	env.Files.Editor = bufferEditor{"typed\n"}
	check(t, env, call(t, env, "read_file", `{"path":"a.txt"}`), "typed\n[This is the editor's text, which is not saved yet and differs from the disk.]")
}

func TestReadTitles(t *testing.T) {
	env := newEnv(t, "-- .gitignore --\ndist\n-- dist/a.js --\nx\n-- a.txt --\nx\n")
	outside := t.TempDir()
	for args, want := range map[string]string{
		`{"path":"a.txt"}`:                            "Read a.txt",
		`{"path":"a.txt","offset":5}`:                 "Read a.txt (from line 5)",
		`{"path":"a.txt","offset":5,"limit":2}`:       "Read a.txt (lines 5-6)",
		`{"path":"a.txt","character":7}`:              "Read a.txt (line 1 from character 7)",
		`{"path":"dist/a.js"}`:                        "Read dist/a.js (ignored by git)",
		object("path", outside+"/x"):                  "Read " + outside + "/x",
		object("path", "evil\u202etxt.exe\x1b[2J\ny"): `Read evil\u202etxt.exe\x1b[2J ⏎ y`,
	} {
		a, err := prepare(t, env, "read_file", args)
		if err != nil {
			t.Fatal(err)
		}
		if a.Title != want || a.Kind != KindRead || !a.Parallel || len(a.Reads) != 1 || a.Locations[0].Path != a.Reads[0] {
			t.Errorf("title %q, want %q; action %+v", a.Title, want, a)
		}
	}
}
