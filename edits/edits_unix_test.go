//go:build unix

package edits

import (
	"context"
	"os"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/workspace"
)

// The G-E cases of the field, one by one.
func TestFieldCases(t *testing.T) {
	const bat = "@echo off\r\nset A=1\r\nset B=2\r\necho done\r\n"
	const py = "def f():\n    return 1\n\ndef g():\n    return 2\n"
	const quotes = "s = \"hi\"\nt = \u201Chi\u201D\n"
	const latin = "$x = 1;\n// caf\xE9\n"
	for _, c := range []edit{
		{name: "E01 CRLF file, LF patch", files: tree{"build.bat": bat},
			call: ap("*** Update File: build.bat", "@@", " @echo off", "-set A=1", "+set A=7", " set B=2"),
			want: tree{"build.bat": "@echo off\r\nset A=7\r\nset B=2\r\necho done\r\n"}, diff: [2]int{1, 1}},
		{name: "E01 b", files: tree{"build.bat": bat}, call: rp("build.bat", "set A=1\nset B=2", "set A=1\nset A2=1\nset B=2"),
			want: tree{"build.bat": "@echo off\r\nset A=1\r\nset A2=1\r\nset B=2\r\necho done\r\n"}, diff: [2]int{1, 0}, says: "line endings"},
		{name: "E01 one line becomes two", files: tree{"build.bat": bat}, call: rp("build.bat", "set A=1", "set A=1\nset C=3"),
			want: tree{"build.bat": "@echo off\r\nset A=1\r\nset C=3\r\nset B=2\r\necho done\r\n"}, diff: [2]int{1, 0}},
		{name: "E01 whole file", files: tree{"build.bat": bat}, call: wf("build.bat", "a\nb\n"), want: tree{"build.bat": "a\r\nb\r\n"}},
		{name: "E02 BOM and line 1", files: tree{"main.cs": "\xEF\xBB\xBFusing A;\nclass P {}\n"}, call: rp("main.cs", "using A;\nclass", "using B;\nclass"),
			want: tree{"main.cs": "\xEF\xBB\xBFusing B;\nclass P {}\n"}},
		{name: "E02 patch", files: tree{"main.cs": "\xEF\xBB\xBFusing A;\nclass P {}\n"}, call: ap("*** Update File: main.cs", "@@", "-using A;", "+using B;"),
			want: tree{"main.cs": "\xEF\xBB\xBFusing B;\nclass P {}\n"}},
		{name: "E02 whole file with a BOM of its own", files: tree{"main.cs": "\xEF\xBB\xBFusing A;\n"}, call: wf("main.cs", "\uFEFFusing B;\n"),
			want: tree{"main.cs": "\xEF\xBB\xBFusing B;\n"}},
		{name: "E03 no final newline", files: tree{"a.txt": "one\ntwo\nthree"}, call: ap("*** Update File: a.txt", "@@", "-one", "+ONE", " two"),
			want: tree{"a.txt": "ONE\ntwo\nthree"}},
		{name: "E03 b", files: tree{"a.txt": "one\ntwo\nthree"}, call: ap("*** Update File: a.txt", "@@", " two", "-three", "+THREE"),
			want: tree{"a.txt": "one\ntwo\nTHREE"}},
		{name: "E03 c", files: tree{"a.txt": "one\n"}, call: ap("*** Update File: a.txt", "@@", " one", "+two"), want: tree{"a.txt": "one\ntwo\n"}},
		{name: "E03 appended without", files: tree{"a.txt": "one"}, call: ap("*** Update File: a.txt", "@@", " one", "+two"), want: tree{"a.txt": "one\ntwo"}},
		{name: "E03 last removed without", files: tree{"a.txt": "one\ntwo"}, call: ap("*** Update File: a.txt", "@@", " one", "-two"), want: tree{"a.txt": "one"}},
		{name: "E03 appended without, CRLF", files: tree{"a.txt": "zero\r\none"}, call: ap("*** Update File: a.txt", "@@", " one", "+two"), want: tree{"a.txt": "zero\r\none\r\ntwo"}},
		{name: "E04 bytes far from the edit", files: tree{"note.php": latin}, call: rp("note.php", "$x = 1;", "$x = 2;"),
			want: tree{"note.php": "$x = 2;\n// caf\xE9\n"}, diff: [2]int{1, 1}},
		{name: "E04 patch", files: tree{"note.php": latin}, call: ap("*** Update File: note.php", "@@", "-$x = 1;", "+$x = 2;", " // caf\u00E9"),
			want: tree{"note.php": "$x = 2;\n// caf\xE9\n"}},
		{name: "E04 other text is refused", files: tree{"note.php": latin}, call: rp("note.php", "// caf\u00E9", "// tea"), code: CodeEncoding, says: ".editorconfig"},
		{name: "E04 other text in a patch is refused", files: tree{"note.php": latin}, call: ap("*** Update File: note.php", "@@", "-$x = 1;", "+$x = '€';"), code: CodeEncoding},
		{name: "E04 with the encoding named", files: tree{"note.php": latin, ".editorconfig": "[*.php]\ncharset = latin1\n"}, call: rp("note.php", "café", "thé"),
			want: tree{"note.php": "$x = 1;\n// th\xE9\n"}},
		{name: "E04 a character that the encoding lacks", files: tree{"note.php": latin, ".editorconfig": "[*.php]\ncharset = latin1\n"}, call: rp("note.php", "café", "€"), code: CodeEncoding, says: "U+20AC"},
		{name: "E05 empty old_string", files: tree{"t.txt": "abc"}, call: rp("t.txt", "", "X"), code: CodeInvalidArguments, says: "empty"},
		{name: "E05 b", files: tree{"t.txt": "abc"}, call: rpAll("t.txt", "", "X"), code: CodeInvalidArguments, says: "empty"},
		{name: "E06 dollars", files: tree{"l.js": "log(\"done\");\n"}, call: rp("l.js", `log("done");`, `log("$& $1 ${1} $$ $0 ok");`),
			want: tree{"l.js": `log("$& $1 ${1} $$ $0 ok");` + "\n"}},
		{name: "E06 all", files: tree{"l.js": "log(\"done\");\n"}, call: rpAll("l.js", `log("done");`, `log("$& $1 ${1} $$ $0 ok");`),
			want: tree{"l.js": `log("$& $1 ${1} $$ $0 ok");` + "\n"}},
		{name: "E07 straight quotes", files: tree{"q.txt": quotes}, call: rp("q.txt", `"hi"`, `"yo"`), want: tree{"q.txt": "s = \"yo\"\nt = \u201Chi\u201D\n"}},
		{name: "E07 curly quotes", files: tree{"q.txt": quotes}, call: rp("q.txt", "\u201Chi\u201D", "\u201Cyo\u201D"), want: tree{"q.txt": "s = \"hi\"\nt = \u201Cyo\u201D\n"}},
		{name: "E08 onto itself ./", files: tree{"same.txt": "old\n"}, call: ap("*** Update File: same.txt", "*** Move to: ./same.txt", "@@", "-old", "+new"),
			want: tree{"same.txt": "new\n"}, ops: []Op{Update}},
		{name: "E08 onto itself", files: tree{"same.txt": "old\n"}, call: ap("*** Update File: same.txt", "*** Move to: same.txt", "@@", "-old", "+new"),
			want: tree{"same.txt": "new\n"}, ops: []Op{Update}},
		{name: "E08 onto itself by ..", files: tree{"same.txt": "old\n", "sub/": "dir"}, call: ap("*** Update File: same.txt", "*** Move to: sub/../same.txt", "@@", "-old", "+new"),
			want: tree{"same.txt": "new\n"}, ops: []Op{Update}},
		{name: "E08 onto itself, nothing else", files: tree{"same.txt": "old\n"}, call: ap("*** Update File: same.txt", "*** Move to: same.txt"), code: CodeInvalidPatch, says: "nothing"},
		{name: "E09 second file does not apply", files: tree{"a.txt": "a1\n", "b.txt": "b1\n", "c.txt": "c1\n"},
			call: ap("*** Update File: a.txt", "-a1", "+a2", "*** Delete File: c.txt", "*** Update File: b.txt", "-zzz", "+b2"), code: CodeNoMatch, says: "Hunk 1 for b.txt"},
		{name: "E12 addition-only with an anchor", files: tree{"m.py": py}, call: ap("*** Update File: m.py", "@@ def f():", "+    # first"),
			want: tree{"m.py": "def f():\n    # first\n    return 1\n\ndef g():\n    return 2\n"}, diff: [2]int{1, 0}},
		{name: "E12 anchor not there", files: tree{"m.py": py}, call: ap("*** Update File: m.py", "@@ def nope():", "+x"), code: CodeNoMatch, says: "def nope():"},
		{name: "E12 no anchor", files: tree{"m.py": py}, call: ap("*** Update File: m.py", "@@", "+x"), code: CodeInvalidPatch, says: "does not say where"},
		{name: "E12 twice", files: tree{"m.py": py + "    # first\n"}, call: ap("*** Update File: m.py", "@@     return 2", "+    # first"), code: CodeAlreadyApplied},
		{name: "E13 markers inside", files: tree{}, call: ap("*** Add File: doc.md", "+# Format", "+*** End Patch", "+*** Begin Patch", "+tail"),
			want: tree{"doc.md": "# Format\n*** End Patch\n*** Begin Patch\ntail\n"}},
		{name: "E13 markers as context", files: tree{"doc.md": "*** End Patch\n*** Update File: x\n"}, call: ap("*** Update File: doc.md", " *** End Patch", "-*** Update File: x", "+*** Add File: y"),
			want: tree{"doc.md": "*** End Patch\n*** Add File: y\n"}},
		{name: "A02 several files", files: tree{"a.txt": "a\n", "d.txt": "d\n"}, call: ap("*** Update File: a.txt", "-a", "+A", "*** Add File: n.txt", "+n", "*** Delete File: d.txt"),
			want: tree{"a.txt": "A\n", "n.txt": "n\n", "d.txt": gone}, ops: []Op{Update, Create, Delete}, diff: [2]int{2, 2}},
	} {
		t.Run(c.name, c.run)
	}
}

// Case G-E10: modes are kept, a new file follows the umask.
func TestModes(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0o022))
	for _, c := range []struct {
		call       call
		name       string
		mode       os.FileMode
		withEditor bool
	}{
		{call: rp("run.sh", "echo a", "echo b"), name: "run.sh", mode: 0o755},
		{call: ap("*** Update File: p.txt", "-a", "+b"), name: "p.txt", mode: 0o640},
		{call: wf("new.txt", "n\n"), name: "new.txt", mode: 0o644},
		{call: ap("*** Add File: d/new.txt", "+n"), name: "d/new.txt", mode: 0o644},
		{call: ap("*** Update File: run.sh", "*** Move to: bin/run.sh", "-echo a", "+echo b"), name: "bin/run.sh", mode: 0o755},
		{call: ap("*** Update File: run.sh", "*** Move to: bin/run.sh"), name: "bin/run.sh", mode: 0o755},
		{call: ap("*** Update File: run.sh", "*** Move to: bin/run.sh", "*** Add File: run.sh", "+x"), name: "bin/run.sh", mode: 0o755},
		{call: rp("ro.txt", "a", "b"), name: "ro.txt", mode: 0o444},
		{call: wf("run.sh", "x"), name: "run.sh", mode: 0o755},
	} {
		w := newWorld(t, tree{"run.sh": "#!/bin/sh\necho a\n", "p.txt": "a\n", "ro.txt": "a\n"})
		for name, mode := range map[string]os.FileMode{"run.sh": 0o755, "p.txt": 0o640, "ro.txt": 0o444} {
			w.try(os.Chmod(string(w.path(name)), mode))
		}
		p, err := c.call(t.Context(), w)
		w.try(err)
		p.State = Approved
		_, err = p.Apply(t.Context(), w.files, &journal{})
		w.try(err)
		if got := w.mode(c.name); got != c.mode {
			t.Errorf("%s: mode %v, want %v", c.name, got, c.mode)
		}
	}
}

// Cases G-E11 and G-A07: links are followed and shown, and do not hide what lies outside.
func TestLinks(t *testing.T) {
	outside := func(name string, inside bool, real string) func(t *testing.T, w *world, c Change) {
		return func(t *testing.T, w *world, c Change) {
			if want := w.dir.Dir().Join(real); c.Inside != inside || c.Path != w.path(name) || c.Real != want {
				t.Errorf("%s: inside %v, real %s; want %v, %s", c.Path, c.Inside, c.Real, inside, want)
			}
		}
	}
	for _, c := range []struct {
		name  string
		call  call
		check func(t *testing.T, w *world, c Change)
		want  tree
		code  Code
		link  bool
	}{
		{name: "edit through a link", call: rp("conf.txt", "k=1", "k=2"), check: outside("conf.txt", true, "w/real/conf.txt"),
			want: tree{"real/conf.txt": "k=2\n"}, link: true},
		{name: "write through a link", call: wf("conf.txt", "x"), check: outside("conf.txt", true, "w/real/conf.txt"), want: tree{"real/conf.txt": "x"}, link: true},
		{name: "new file through a linked folder", call: wf("out/new.txt", "x"), check: outside("out/new.txt", false, "o/new.txt"), want: tree{}},
		{name: "added through a linked folder", call: ap("*** Add File: out/new2.txt", "+x"), check: outside("out/new2.txt", false, "o/new2.txt"), want: tree{}},
		{name: "by ..", call: wf("../esc.txt", "x"), check: func(t *testing.T, w *world, c Change) {
			if c.Inside || c.Real != w.dir.Dir().Join("esc.txt") {
				t.Errorf("%+v", c)
			}
		}, want: tree{}},
		{name: "moved out", call: ap("*** Update File: a.txt", "*** Move to: out/a.txt"), check: func(t *testing.T, w *world, c Change) {
			if c.Inside || c.ToReal != w.dir.Dir().Join("o", "a.txt") {
				t.Errorf("%+v", c)
			}
		}, want: tree{"a.txt": gone}},
		{name: "through a dangling link", call: wf("dangling", "x"), check: outside("dangling", true, "w/real/none.txt"), want: tree{"real/none.txt": "x"}, link: true},
		{name: "deleting a link leaves its target", call: ap("*** Delete File: conf.txt"), check: outside("conf.txt", true, "w/conf.txt"), want: tree{"conf.txt": gone}},
		{name: "deleting through a linked folder", call: ap("*** Delete File: out/x"), check: outside("out/x", false, "o/x"), want: tree{}},
		{name: "moving a link", call: ap("*** Update File: conf.txt", "*** Move to: c2.txt"), code: CodeUnsupportedFile},
		{name: "moving onto a link", call: ap("*** Update File: a.txt", "*** Move to: dangling"), code: CodeExists},
		{name: "a link in a circle", call: wf("loop", "x"), code: CodeIO},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t, tree{"real/conf.txt": "k=1\n", "conf.txt": "-> real/conf.txt", "out": "-> ../o", "a.txt": "a\n",
				"dangling": "-> real/none.txt", "loop": "-> loop", "../o/x": "x"})
			before := w.tree()
			p, err := c.call(t.Context(), w)
			if c.code != "" {
				edit{code: c.code}.checkRefusal(t, p, err)
				return
			}
			w.try(err)
			c.check(t, w, p.Changes[0])
			if p.Changes[0].Link != c.link {
				t.Errorf("link %v", p.Changes[0].Link)
			}
			p.State = Approved
			_, err = p.Apply(t.Context(), w.files, &journal{})
			w.try(err)
			for name, content := range c.want {
				before[name] = content
				if content == gone {
					delete(before, name)
				}
			}
			got := w.tree()
			for name := range got {
				if got[name] != before[name] {
					t.Errorf("%s: %q, want %q", name, got[name], before[name])
				}
			}
			if len(got) != len(before) {
				t.Errorf("%q, want %q", got, before)
			}
		})
	}
}

func TestReplace(t *testing.T) {
	const goFile = "func a() {\n\treturn 1\n}\n\nfunc b() {\n\treturn 2\n}\n"
	for _, c := range []edit{
		{name: "ambiguous", files: tree{"f": "x\na\nx\n"}, call: rp("f", "x", "y"), code: CodeAmbiguous, lines: []int{1, 3}, says: "replace_all"},
		{name: "ambiguous in one line", files: tree{"f": "x x\n"}, call: rp("f", "x", "y"), code: CodeAmbiguous, lines: []int{1}},
		{name: "overlapping places are ambiguous", files: tree{"f": "aaa\n"}, call: rp("f", "aa", "b"), code: CodeAmbiguous, lines: []int{1}},
		{name: "replace_all", files: tree{"f": "x x\nx\n"}, call: rpAll("f", "x", "yx"), want: tree{"f": "yx yx\nyx\n"}},
		{name: "replace_all, overlapping", files: tree{"f": "aaa\n"}, call: rpAll("f", "aa", "b"), want: tree{"f": "ba\n"}},
		{name: "no match shows the nearest", files: tree{"f.go": goFile}, call: rp("f.go", "func a() {\n\treturn 3\n}", "x"), code: CodeNoMatch, says: "2| →return 1"},
		{name: "no match, nothing near", files: tree{"f": "abc\n"}, call: rp("f", "zzzzzz", "x"), code: CodeNoMatch, says: "Read the file again"},
		{name: "no match with an absent new text of one letter", files: tree{"f": "x y\n"}, call: rp("f", "q", "y"), code: CodeNoMatch},
		{name: "same strings", files: tree{"f": "x\n"}, call: rp("f", "x", "x"), code: CodeInvalidArguments, says: "equal"},
		{name: "already applied", files: tree{"f": "v=2\n"}, call: rp("f", "v=1", "v=2"), code: CodeAlreadyApplied},
		{name: "already applied, CRLF", files: tree{"f": "a\r\nb\r\n"}, call: rp("f", "a\nc", "a\nb"), code: CodeAlreadyApplied},
		{name: "new text at two places is no proof", files: tree{"f": "v=2\nv=2\n"}, call: rp("f", "v=1", "v=2"), code: CodeNoMatch},
		{name: "not found", files: tree{"main.go": ""}, call: rp("mian.go", "a", "b"), code: CodeNotFound, says: "main.go"},
		{name: "folder", files: tree{"d/f": ""}, call: rp("d", "a", "b"), code: CodeUnsupportedFile},
		{name: "binary", files: tree{"f": "a\x00b"}, call: rp("f", "a", "b"), code: CodeBinary},
		{name: "UTF-16 without a mark", files: tree{"f": "a\x00b\x00"}, call: rp("f", "a", "b"), code: CodeBinary},
		{name: "UTF-16 with a mark", files: tree{"f": "\xFF\xFEa\x00\r\x00\n\x00b\x00"}, call: rp("f", "a\nb", "a\n€"), want: tree{"f": "\xFF\xFEa\x00\r\x00\n\x00\xAC\x20"}, says: "line endings"},
		{name: "NUL in the new text", files: tree{"f": "a"}, call: rp("f", "a", "\x00"), code: CodeInvalidArguments, says: "NUL"},
		{name: "in order, each sees the one before", files: tree{"f": "a\n"}, call: rps("f", Replacement{Old: "a", New: "b"}, Replacement{Old: "b", New: "c"}), want: tree{"f": "c\n"}},
		{name: "second of two fails", files: tree{"f": "a\n"}, call: rps("f", Replacement{Old: "a", New: "b"}, Replacement{Old: "zz", New: "c"}), code: CodeNoMatch, says: "replacement 2 of 2"},
		{name: "one of two made before", files: tree{"f": "name one\nb\n"}, call: rps("f", Replacement{Old: "name two", New: "name one"}, Replacement{Old: "b", New: "c"}),
			want: tree{"f": "name one\nc\n"}, says: "replacement 1: was made already"},
		{name: "nothing left of two", files: tree{"f": "a\n"}, call: rps("f", Replacement{Old: "a", New: "b"}, Replacement{Old: "b", New: "a"}), code: CodeAlreadyApplied},
		{name: "none", files: tree{"f": "a\n"}, call: rps("f"), code: CodeInvalidArguments},

		{name: "trailing spaces", files: tree{"f": "if x {  \n\ty()\t\n}\n"}, call: rp("f", "if x {\n\ty()\n}", "if x {\n\tz()\n}"), want: tree{"f": "if x {  \n\tz()\n}\n"}, says: "trailing spaces"},
		{name: "trailing spaces of the model", files: tree{"f": "a\nb\n"}, call: rp("f", "a  \nb  ", "a\nc"), want: tree{"f": "a\nc\n"}, says: "trailing spaces"},
		{name: "trailing spaces, two places", files: tree{"f": "a  \nb\na \nb\n"}, call: rp("f", "a\nb", "c"), code: CodeAmbiguous, lines: []int{1, 3}, says: "trailing spaces"},
		{name: "exact wins over tolerant", files: tree{"f": "a  \nb\na\nb\n"}, call: rp("f", "a\nb", "c"), want: tree{"f": "a  \nb\nc\n"}},
		{name: "less indentation", files: tree{"f": "x:\n    a:\n      b\n    c\n"}, call: rp("f", "a:\n  b\nc\n", "a:\n  B\n  d\n\nc\n"), want: tree{"f": "x:\n    a:\n      B\n      d\n\n    c\n"}, says: "indentation"},
		{name: "more indentation", files: tree{"f": "a:\n  b\n"}, call: rp("f", "    a:\n      b\n", "    a:\n      c\n"), want: tree{"f": "a:\n  c\n"}, says: "indentation"},
		{name: "tabs for spaces", files: tree{"f.go": goFile}, call: rp("f.go", "func a() {\n    return 1\n}", "func a() {\n    if x {\n        return 3\n    }\n}"),
			want: tree{"f.go": "func a() {\n\tif x {\n\t\treturn 3\n\t}\n}\n\nfunc b() {\n\treturn 2\n}\n"}, says: "indentation"},
		{name: "spaces for tabs", files: tree{"f": "a:\n  b\n    c\n"}, call: rp("f", "a:\n\tb\n\t\tc", "a:\n\tb\n\t\td"), want: tree{"f": "a:\n  b\n    d\n"}, says: "indentation"},
		{name: "indentation that is not uniform", files: tree{"f": "a:\n  b\n   c\n"}, call: rp("f", "a:\n b\n c\n", "x"), code: CodeNoMatch},
		{name: "indentation, two places", files: tree{"f": "  foo()\n    foo()\n"}, call: rp("f", "\tfoo()", "\tbar()"), code: CodeAmbiguous, lines: []int{1, 2}},
		{name: "typographic quotes and dashes stay", files: tree{"f": "“One” – ‘two’…\nx\n"}, call: rp("f", "\"One\" - 'two'...", "\"One\" - 'three'..."),
			want: tree{"f": "“One” – ‘three’…\nx\n"}, says: "typographic"},
		{name: "no-break space", files: tree{"f": "a\u00A0b c\n"}, call: rp("f", "a b c", "a b d"), want: tree{"f": "a\u00A0b d\n"}, says: "typographic"},
		{name: "typographic, two in one line", files: tree{"f": "“a” “a”\n"}, call: rp("f", `"a"`, `"b"`), code: CodeAmbiguous, lines: []int{1}},
		{name: "inside the file's own ellipsis", files: tree{"f": "wait… now\n"}, call: rp("f", "wait... now", "wait.. now"), want: tree{"f": "wait.. now\n"}, says: "typographic"},
		{name: "never alike enough", files: tree{"f": "the quick brown fox\n"}, call: rp("f", "the quick brown fix", "x"), code: CodeNoMatch, says: "1| the quick brown fox"},

		{name: "CRLF on both sides", files: tree{"f": "a\r\nb\r\n"}, call: rp("f", "a\r\nb", "c\r\nd"), want: tree{"f": "c\r\nd\r\n"}},
		{name: "CRLF from the model, LF file", files: tree{"f": "a\nb\n"}, call: rp("f", "a\r\nb", "c\r\nd"), want: tree{"f": "c\nd\n"}, says: "line endings"},
		{name: "begins at a line break", files: tree{"f": "x\r\ny\r\n"}, call: rp("f", "\ny", "\nz"), want: tree{"f": "x\r\nz\r\n"}, says: "line endings"},
		{name: "CRLF, all", files: tree{"f": "a\r\nb\r\na\r\nb\r\n"}, call: rpAll("f", "a\nb\n", "c\n"), want: tree{"f": "c\r\nc\r\n"}, says: "line 3"},
		{name: "mixed line endings stay line by line", files: tree{"f": "a\r\nb\nc\r\nd\n"}, call: rp("f", "a\nb\nc\n", "a\nB\nc\n"), want: tree{"f": "a\r\nB\nc\r\nd\n"}, says: "line endings"},
		{name: "mixed, new lines take the place's", files: tree{"f": "a\r\nb\nc\n"}, call: rp("f", "a", "a\nx"), want: tree{"f": "a\r\nx\r\nb\nc\n"}},
		{name: "CR only", files: tree{"f": "a\rb\rc\r"}, call: rp("f", "a\nb", "a\nx\nb"), want: tree{"f": "a\rx\rb\rc\r"}, says: "line endings"},
		{name: "wanted final newline that is not there", files: tree{"f": "a\nb"}, call: rp("f", "a\nb\n", "a\nc\n"), want: tree{"f": "a\nc"}, says: "line endings"},
		{name: "line breaks changed on purpose", files: tree{"f": "a\r\nb\r\n"}, call: rpAll("f", "\r\n", "\n"), want: tree{"f": "a\nb\n"}},
		{name: "mixed, the place decides", files: tree{"f": "a\nb\r\nc\r\nd\n"}, call: rp("f", "b\nc", "x\ny"), want: tree{"f": "a\nx\r\ny\r\nd\n"}, says: "line endings"},
		{name: "all grows", files: tree{"f": "aaa"}, call: rpAll("f", "a", "aa"), want: tree{"f": "aaaaaa"}},
		{name: "less indentation, one line more", files: tree{"f": "class A:\n    def f(self):\n        return 1\n"}, call: rp("f", "def f(self):\n    return 1", "def f(self):\n    return 2"), want: tree{"f": "class A:\n    def f(self):\n        return 2\n"}, says: "indentation"},
		{name: "half a Shift JIS character", files: tree{"f": "\x95\x5C = 1\n"}, call: rp("f", "\\", "/"), code: CodeEncoding},
		{name: "beside a byte of unknown encoding", files: tree{"f": "\x95\x5C = 1\n"}, call: rp("f", " = 1", " = 2"), want: tree{"f": "\x95\x5C = 2\n"}},
		{name: "named Shift JIS", files: tree{"f": "\x95\x5C\n", ".editorconfig": "[*]\ncharset = shift_jis\n"}, call: rp("f", "表", "日本"), want: tree{"f": "\x93\xFA\x96\x7B\n"}},
	} {
		t.Run(c.name, c.run)
	}
}

func TestWrite(t *testing.T) {
	for _, c := range []edit{
		{name: "new in new folders", files: tree{}, call: wf("a/b/c.txt", "x"), want: tree{"a/b/c.txt": "x"}, ops: []Op{Create}},
		{name: "new and empty", files: tree{}, call: wf("e", ""), want: tree{"e": ""}},
		{name: "emptied", files: tree{"e": "x"}, call: wf("e", ""), want: tree{"e": ""}, ops: []Op{Update}},
		{name: "same content", files: tree{"e": "x\n"}, call: wf("e", "x\n"), code: CodeAlreadyApplied},
		{name: "same but for the final newline", files: tree{"e": "x\n"}, call: wf("e", "x"), want: tree{"e": "x"}},
		{name: "explicit CRLF into LF", files: tree{"e": "x\n"}, call: wf("e", "x\r\ny\n"), want: tree{"e": "x\r\ny\n"}},
		{name: "mixed stays as given", files: tree{"e": "x\r\ny\n"}, call: wf("e", "a\nb\n"), want: tree{"e": "a\nb\n"}},
		{name: "new with a BOM", files: tree{}, call: wf("b", "\uFEFFx"), want: tree{"b": "\xEF\xBB\xBFx"}},
		{name: "new, charset named", files: tree{".editorconfig": "[*]\ncharset = utf-16le\n"}, call: wf("u", "a"), want: tree{"u": "\xFF\xFEa\x00"}},
		{name: "below a file", files: tree{"f": ""}, call: wf("f/x", "a"), code: CodeUnsupportedFile},
		{name: "a folder", files: tree{"d/f": ""}, call: wf("d", "a"), code: CodeUnsupportedFile},
		{name: "binary", files: tree{"f": "\x00"}, call: wf("f", "a"), code: CodeBinary},
		{name: "unknown encoding, ASCII", files: tree{"f": "\xE9\r\n"}, call: wf("f", "e\n"), want: tree{"f": "e\r\n"}},
		{name: "unknown encoding, more", files: tree{"f": "\xE9\n"}, call: wf("f", "é\n"), code: CodeEncoding},
		{name: "not Unicode", files: tree{}, call: wf("f", "\xFF"), code: CodeInvalidArguments},
		{name: "name with a newline, quotes and a dash", files: tree{}, call: wf("-a\n\"b'", "x"), want: tree{"-a\n\"b'": "x"}},
		{name: "too large", files: tree{}, call: wf("f", strings.Repeat("x", 10<<20+1)), code: CodeTooLarge},
		{name: "large", files: tree{"f": "y"}, call: wf("f", strings.Repeat("0123456789abcde\n", 10<<16)), want: tree{"f": strings.Repeat("0123456789abcde\n", 10<<16)}},
	} {
		t.Run(c.name, c.run)
	}
}

func TestFromFiles(t *testing.T) {
	from := func(texts map[string]string) call {
		return func(ctx context.Context, w *world) (*Proposal, error) {
			m := map[workspace.Path]string{}
			for name, text := range texts {
				m[w.path(name)] = text
			}
			return FromFiles(ctx, w.files, KindRename, m)
		}
	}
	for _, c := range []edit{
		{name: "several", files: tree{"b": "x\r\n", "a": "x\n"}, call: from(map[string]string{"a": "y\n", "b": "y\r\n"}), want: tree{"a": "y\n", "b": "y\r\n"}, ops: []Op{Update, Update}},
		{name: "one unchanged", files: tree{"b": "x\n", "a": "x\n"}, call: from(map[string]string{"a": "x\n", "b": "y\n"}), want: tree{"b": "y\n"}, ops: []Op{Update}},
		{name: "none changed", files: tree{"a": "x\n"}, call: from(map[string]string{"a": "x\n"}), code: CodeAlreadyApplied},
		{name: "none", files: tree{}, call: from(nil), code: CodeAlreadyApplied},
		{name: "new", files: tree{}, call: from(map[string]string{"n": "x\n"}), want: tree{"n": "x\n"}, ops: []Op{Create}},
		{name: "unknown encoding", files: tree{"a": "\xE9\nx\n"}, call: from(map[string]string{"a": "\u00E9\ny\n"}), want: tree{"a": "\xE9\ny\n"}},
		{name: "unknown encoding, changed", files: tree{"a": "\xE9\nx\n"}, call: from(map[string]string{"a": "\u00E8\nx\n"}), code: CodeEncoding},
	} {
		t.Run(c.name, c.run)
	}
}
