package edits

import (
	"strings"
	"testing"
)

func TestApplyReplacements(t *testing.T) {
	one := func(old, now string) []Replacement { return []Replacement{{Old: old, New: now}} }
	all := func(old, now string) []Replacement { return []Replacement{{Old: old, New: now, ReplaceAll: true}} }
	tests := []struct {
		name, text string
		list       []Replacement
		want       string // text, or with a code: part of the message
		code       Code
		note       string
	}{
		{"plain", "a b c", one("b", "x"), "a x c", "", ""},
		{"G-E01 variant b", "@echo off\r\nset A=1\r\nset B=2\r\necho done\r\n", one("set A=1\nset B=2", "set A=1\nset A2=1\nset B=2"), "@echo off\r\nset A=1\r\nset A2=1\r\nset B=2\r\necho done\r\n", "", ""},
		{"a line becomes two in a CRLF file", "a\r\nb\r\n", one("b", "b\nc"), "a\r\nb\r\nc\r\n", "", ""},
		{"line breaks changed on purpose", "a\r\nb\r\n", all("\r\n", "\n"), "a\nb\n", "", ""},
		{"lone CR file", "a\rb\rc\r", one("a\nb", "a\nx"), "a\rx\rc\r", "", ""},
		{"mixed: the place decides", "a\nb\r\nc\r\nd\n", one("b\nc", "x\ny"), "a\nx\r\ny\r\nd\n", "", ""},
		{"G-E05 empty", "abc", one("", "X"), "empty", CodeInvalidArguments, ""},
		{"G-E05 empty, all", "abc", all("", "X"), "empty", CodeInvalidArguments, ""},
		{"same", "abc", one("a", "a"), "nothing would change", CodeInvalidArguments, ""},
		{"G-E06", "log(\"done\");\n", one(`log("done");`, `log("$& $1 ${1} $$ $0 ok");`), "log(\"$& $1 ${1} $$ $0 ok\");\n", "", ""},
		{"G-E06 all", "log(\"done\");\n", all(`log("done");`, `log("$& $1 ${1} $$ $0 ok");`), "log(\"$& $1 ${1} $$ $0 ok\");\n", "", ""},
		{"G-E07 a", "s = \"hi\"\nt = \u201chi\u201d\n", one(`"hi"`, `"yo"`), "s = \"yo\"\nt = \u201chi\u201d\n", "", ""},
		{"G-E07 b", "s = \"hi\"\nt = \u201chi\u201d\n", one("\u201chi\u201d", "\u201cyo\u201d"), "s = \"hi\"\nt = \u201cyo\u201d\n", "", ""},
		{"curly in the file alone", "t = \u201chi\u201d;\n", one(`t = "hi";`, `t = "yo";`), "t = \"yo\";\n", "", "look-alike"},
		{"curly twice", "\u201chi\u201d \u201chi\u201d\n", one(`"hi"`, `"yo"`), "2 places", CodeAmbiguous, ""},
		{"several", "a\nb\na\n", one("a", "x"), "lines [1 3]", CodeAmbiguous, ""},
		{"several, all", "a\nb\na\n", all("a", "x"), "x\nb\nx\n", "", ""},
		{"all grows", "aaa", all("a", "aa"), "aaaaaa", "", ""},
		{"trailing spaces in the file", "if x {  \n\ty()\n}\n", one("if x {\n\ty()", "if z {\n\ty()"), "if z {\n\ty()\n}\n", "", "trailing spaces"},
		{"trailing spaces, twice", "f()  \ng()\nf()\t\ng()\n", one("f()\ng()", "h()"), "2 places", CodeAmbiguous, ""},
		{"indentation", "class A:\n    def f(self):\n        return 1\n", one("def f(self):\n    return 1", "def f(self):\n    return 2\n"), "class A:\n    def f(self):\n        return 2\n", "", "indentation"},
		{"indentation too deep", "def f():\n\treturn 1\n", one("\tdef f():\n\t\treturn 1\n", "\tdef f():\n\t\treturn 2\n"), "def f():\n\treturn 2\n", "", "indentation"},
		{"indentation, twice", "  a\n  b\n    a\n    b\n", one("a\nb", "c"), "", "", ""},
		{"already there", "package a\n\nfunc renamed() {}\n", one("func original() {}", "func renamed() {}"), "line 3", CodeAlreadyApplied, ""},
		{"short texts are no proof", "x = 2\n", one("x = 1", "= 2"), "not in the file", CodeNoMatch, ""},
		{"not there", "alpha\nbeta\n", one("gamma", "delta"), "read the file again", CodeNoMatch, ""},
		{"a list in order", "1\n2\n", []Replacement{{Old: "1", New: "one"}, {Old: "one\n2", New: "two"}}, "two\n", "", ""},
		{"a list whose second fails", "1\n2\n", []Replacement{{Old: "1", New: "one"}, {Old: "1", New: "x"}}, "edit 2 of 2 (none was applied)", CodeNoMatch, ""},
		{"nothing", "a", nil, "nothing to replace", CodeInvalidArguments, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, notes, r := applyReplacements("/w/f", tt.text, tt.list)
			if tt.name == "indentation, twice" {
				if r == nil || r.Code != CodeNoMatch {
					t.Fatalf("got %q, %v", got, r)
				}
				return
			}
			if tt.code != "" {
				if r == nil || r.Code != tt.code || !strings.Contains(r.Message, tt.want) || r.Path != "/w/f" {
					t.Fatalf("got %q, refusal %+v; want %s with %q", got, r, tt.code, tt.want)
				}
				return
			}
			if r != nil || got != tt.want {
				t.Fatalf("got %q, %v; want %q", got, r, tt.want)
			}
			if joined := strings.Join(notes, "; "); (tt.note == "") != (joined == "") || !strings.Contains(joined, tt.note) {
				t.Errorf("notes %q, want %q", joined, tt.note)
			}
		})
	}
}

func TestNoMatchShowsTheNearestLines(t *testing.T) {
	text := "package a\n\nfunc add(a, b int) int {\n\treturn a + b \n}\n\nfunc sub(a, b int) int {\n\treturn a - b\n}\n"
	_, _, r := applyReplacements("/w/a.go", text, []Replacement{{Old: "func add(x, y int) int {\n\treturn x + y\n}", New: "-"}})
	if r == nil || !strings.Contains(r.Nearest, "3: func add(a, b int) int {") || !strings.Contains(r.Nearest, "4: →return a + b·") {
		t.Fatalf("nearest is %+v", r)
	}
}
