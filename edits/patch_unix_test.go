//go:build unix

package edits

import (
	"strings"
	"testing"
)

const (
	nestedPy = "class A:\n    def f():\n        x = 1\n\nclass B:\n    def f():\n        x = 1\n"
	ten      = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n"
	repeated = "a\nx\nb\na\nx\nb\n"
)

// f is a patch of the file f.
func f(lines ...string) call { return ap(append([]string{"*** Update File: f"}, lines...)...) }

func TestPatch(t *testing.T) {
	for _, c := range patchCases {
		t.Run(c.name, c.run)
	}
}

var patchCases = []edit{
	// anchors
	{name: "anchor tells equal places apart", files: tree{"f": nestedPy}, call: f("@@ class B:", "-        x = 1", "+        x = 2"),
		want: tree{"f": strings.Replace(nestedPy, "class B:\n    def f():\n        x = 1", "class B:\n    def f():\n        x = 2", 1)}},
	{name: "nested anchors", files: tree{"f": nestedPy}, call: f("@@ class B:", "@@     def f():", "+        y = 1"),
		want: tree{"f": strings.Replace(nestedPy, "class B:\n    def f():\n", "class B:\n    def f():\n        y = 1\n", 1)}},
	{name: "anchor with @@ behind it, without its indentation", files: tree{"f": nestedPy}, call: f("@@ class B: @@", "@@ def f() @@", "+        y = 1"),
		want: tree{"f": strings.Replace(nestedPy, "class B:\n    def f():\n", "class B:\n    def f():\n        y = 1\n", 1)}},
	{name: "anchor repeated in the hunk", files: tree{"f": nestedPy}, call: f("@@ class B:", " class B:", "     def f():", "-        x = 1", "+        x = 2"),
		want: tree{"f": strings.Replace(nestedPy, "class B:\n    def f():\n        x = 1", "class B:\n    def f():\n        x = 2", 1)}},
	{name: "anchor at two places", files: tree{"f": nestedPy}, call: f("@@ def f():", "+        y = 1"), code: CodeAmbiguous, lines: []int{3, 7}},
	{name: "anchor at two places, lines too", files: tree{"f": nestedPy}, call: f("@@ def f():", "-        x = 1", "+        x = 2"), code: CodeAmbiguous, lines: []int{3, 7}},
	{name: "anchor below the lines", files: tree{"f": ten}, call: f("@@ 5", "-3", "+x"), code: CodeNoMatch, lines: []int{3}, says: "not below its anchor"},
	{name: "second anchor above the first", files: tree{"f": ten}, call: f("@@ 5", "@@ 3", "+x"), code: CodeNoMatch, says: "below the anchor before it"},
	{name: "anchor with typographic quotes", files: tree{"f": "“a”\nb\n"}, call: f(`@@ "a"`, "-b", "+c"), want: tree{"f": "“a”\nc\n"}},
	{name: "header of a unified diff", files: tree{"f": ten}, call: f("@@ -2,2 +2,2 @@ func x()", " 2", "-3", "+x"), want: tree{"f": strings.Replace(ten, "3", "x", 1)}},
	{name: "header of a unified diff tells equal places apart", files: tree{"f": repeated}, call: f("@@ -4,2 +4,2 @@", " a", "-x", "+y"), want: tree{"f": "a\nx\nb\na\ny\nb\n"}},
	{name: "wrong header of a unified diff", files: tree{"f": repeated}, call: f("@@ -2,2 +2,2 @@", " a", "-x", "+y"), code: CodeAmbiguous, lines: []int{1, 4}},
	{name: "unified diff inside an update", files: tree{"f": ten}, call: f("--- a/f", "+++ b/f", "@@ -2,2 +2,2 @@", " 2", "-3", "+x"), want: tree{"f": strings.Replace(ten, "3", "x", 1)}},

	// several hunks
	{name: "two hunks", files: tree{"f": ten}, call: f("@@", "-2", "+two", "@@", "-9", "+nine"), want: tree{"f": "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n"}, diff: [2]int{2, 2}},
	{name: "out of order", files: tree{"f": ten}, call: f("@@", "-9", "+nine", "@@", "-2", "+two"), want: tree{"f": "1\ntwo\n3\n4\n5\n6\n7\n8\nnine\n10\n"}},
	{name: "shared context", files: tree{"f": ten}, call: f("@@", "-2", "+two", " 3", "@@", " 3", "-4", "+four"), want: tree{"f": "1\ntwo\n3\nfour\n5\n6\n7\n8\n9\n10\n"}},
	{name: "side by side", files: tree{"f": ten}, call: f("@@", " 1", "+1a", "@@", "-2", "+two"), want: tree{"f": "1\n1a\ntwo\n3\n4\n5\n6\n7\n8\n9\n10\n"}},
	{name: "overlapping", files: tree{"f": ten}, call: f("@@", "-2", "-3", "+x", "@@", "-3", "+y"), code: CodeInvalidPatch, lines: []int{3}, says: "Hunks 1 and 2"},
	{name: "both add at one place", files: tree{"f": ten}, call: f("@@", " 2", "+x", "@@ 2", "+y"), code: CodeInvalidPatch, lines: []int{3}, says: "Make them one hunk"},
	{name: "order tells equal places apart", files: tree{"f": repeated}, call: f("@@", " b", " a", "-x", "+y"), want: tree{"f": "a\nx\nb\na\ny\nb\n"}},
	{name: "second of equal places by order", files: tree{"f": "top\n" + repeated}, call: f("@@", " b", "-a", "+A", "@@", "-x", "+y", " b"), want: tree{"f": "top\na\nx\nb\nA\ny\nb\n"}, says: "order of the hunks"},
	{name: "equal hunks for all equal places", files: tree{"f": repeated}, call: f("@@", "-x", "+y", "@@", "-x", "+z"), want: tree{"f": "a\ny\nb\na\nz\nb\n"}, says: "order of the hunks"},
	{name: "equal places", files: tree{"f": repeated}, call: f("@@", "-x", "+y"), code: CodeAmbiguous, lines: []int{2, 5}, says: "anchor"},
	{name: "context-only hunk", files: tree{"f": ten}, call: f("@@", " 2", " 3", "@@", "-9", "+nine"), want: tree{"f": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n10\n"}},
	{name: "context-only hunk that is not there", files: tree{"f": ten}, call: f("@@", " 2", " 4", "@@", "-9", "+nine"), code: CodeNoMatch, says: "Hunk 1"},
	{name: "context-only alone", files: tree{"f": ten}, call: f("@@", " 2", " 3"), code: CodeInvalidPatch, says: "change nothing"},

	// ends of files
	{name: "end of file", files: tree{"f": repeated}, call: f("@@", " a", "-x", "+y", " b", "*** End of File"), want: tree{"f": "a\nx\nb\na\ny\nb\n"}},
	{name: "end of file not at the end", files: tree{"f": ten}, call: f("@@", "-5", "+x", "*** End of File"), want: tree{"f": strings.Replace(ten, "5", "x", 1)}},
	{name: "addition at the end", files: tree{"f": "a\n"}, call: f("@@", "+b", "*** End of File"), want: tree{"f": "a\nb\n"}},
	{name: "addition at the end, no final newline", files: tree{"f": "a\r\nz"}, call: f("@@", "+b", "*** End of File"), want: tree{"f": "a\r\nz\r\nb"}},
	{name: "hunk behind the end of file", files: tree{"f": ten}, call: f("@@", "-10", "+x", "*** End of File", "@@", "-1", "+y"), want: tree{"f": "y\n2\n3\n4\n5\n6\n7\n8\n9\nx\n"}},
	{name: "into an empty file", files: tree{"f": ""}, call: f("@@", "+a"), want: tree{"f": "a\n"}},
	{name: "all lines removed", files: tree{"f": "a\nb\n"}, call: f("-a", "-b"), want: tree{"f": ""}},
	{name: "CR only", files: tree{"f": "a\rb\r"}, call: f(" a", "-b", "+c", "+d"), want: tree{"f": "a\rc\rd\r"}},
	{name: "lone CR within a line", files: tree{"f": "a\rb\nc\n"}, call: f("-c", "+d"), want: tree{"f": "a\rb\nd\n"}},
	{name: "mixed line endings", files: tree{"f": "a\r\nb\nc\r\n"}, call: f(" a", "-b", "+B", "+B2", " c"), want: tree{"f": "a\r\nB\nB2\nc\r\n"}},

	// tolerance
	{name: "trailing spaces", files: tree{"f": "a \nb\n"}, call: f(" a", "-b", "+c"), want: tree{"f": "a \nc\n"}, says: "f: hunk 1 matched at line 1 after ignoring trailing spaces"},
	{name: "indentation", files: tree{"f": "\tif x {\n\t\ty()\n\t}\n"}, call: f(" if x {", "-\ty()", "+\tz()", "+\tif q {", " }"), want: tree{"f": "\tif x {\n\t\tz()\n\t\tif q {\n\t}\n"}, says: "indentation"},
	{name: "typographic quotes", files: tree{"f": "“a”\n‘b’ c\n"}, call: f(` "a"`, "-'b' c", "+'b' d"), want: tree{"f": "“a”\n‘b’ d\n"}, says: "typographic"},
	{name: "exact before tolerant", files: tree{"f": "a \nb\na\nb\n"}, call: f(" a", "-b", "+c"), want: tree{"f": "a \nb\na\nc\n"}},
	{name: "tolerant at two places", files: tree{"f": "a \nb\na  \nb\n"}, call: f(" a", "-b", "+c"), code: CodeAmbiguous, lines: []int{1, 3}},
	{name: "nearest lines", files: tree{"f": "func add(a, b int) int {\n\treturn a + b \n}\n"}, call: f("@@", " func add(x, y int) int {", "-\treturn a + c", "+x"), code: CodeNoMatch, says: "2| →return a + b·"},

	// applied before
	{name: "applied before", files: tree{"f": "a\nnew\n"}, call: f(" a", "-old", "+new"), code: CodeAlreadyApplied},
	{name: "whole patch applied before", files: tree{"f": "new\n", "n": "n\n"}, call: ap("*** Update File: f", "-old", "+new", "*** Add File: n", "+n", "*** Delete File: d"), code: CodeAlreadyApplied},
	{name: "half of it", files: tree{"f": "new\nb\n"}, call: f("@@", "-old", "+new", "@@", "-b", "+c"), code: CodeNoMatch, says: "there already"},
	{name: "addition below context twice", files: tree{"f": "one\ntwo\n"}, call: f(" one", "+two"), code: CodeAlreadyApplied},
	{name: "blank line twice is meant", files: tree{"f": "one\n\n"}, call: f(" one", "+"), want: tree{"f": "one\n\n\n"}},
	{name: "move with hunks applied before", files: tree{"g": "new\n"}, call: f("*** Move to: g", "-old", "+new"), code: CodeAlreadyApplied},
	{name: "move of nothing", files: tree{"g": "x\n"}, call: f("*** Move to: g"), code: CodeNotFound},
	{name: "deleted before", files: tree{}, call: ap("*** Delete File: f"), code: CodeNotFound},

	// files
	{name: "move", files: tree{"f": "a\n"}, call: f("*** Move to: d/g"), want: tree{"f": gone, "d/g": "a\n"}, ops: []Op{Move}},
	{name: "move with a hunk", files: tree{"f": "a\r\n"}, call: f("*** Move to: d/g", "-a", "+b"), want: tree{"f": gone, "d/g": "b\r\n"}, ops: []Op{Move}},
	{name: "move, another spelling", files: tree{"f": "a\n"}, call: ap("*** Move File: f -> g"), want: tree{"f": gone, "g": "a\n"}, ops: []Op{Move}},
	{name: "move of a binary file", files: tree{"f": "a\x00\n"}, call: f("*** Move to: g"), want: tree{"f": gone, "g": "a\x00\n"}},
	{name: "move onto another file", files: tree{"f": "a\n", "g": "g\n"}, call: f("*** Move to: g"), code: CodeExists},
	{name: "move below a file", files: tree{"f": "a\n", "g": "g\n"}, call: f("*** Move to: g/h"), code: CodeUnsupportedFile},
	{name: "add onto another file", files: tree{"f": "a\n"}, call: ap("*** Add File: f", "+b"), code: CodeExists},
	{name: "add an empty file", files: tree{}, call: ap("*** Add File: f"), want: tree{"f": ""}},
	{name: "add without a final newline", files: tree{}, call: ap("*** Add File: f", "+a", `\ No newline at end of file`), want: tree{"f": "a"}},
	{name: "add with a blank line whose sign is lost", files: tree{}, call: ap("*** Add File: f", "+a", "", "+b", ""), want: tree{"f": "a\n\nb\n"}},
	{name: "update of nothing", files: tree{}, call: f("-a", "+b"), code: CodeNotFound},
	{name: "update of a binary file", files: tree{"f": "\x00"}, call: f("-a", "+b"), code: CodeBinary},
	{name: "delete a binary file", files: tree{"f": "\x00"}, call: ap("*** Delete File: f"), want: tree{"f": gone}},
	{name: "delete 5 MiB (case G-M06)", files: tree{"f": strings.Repeat("0123456789abcde\n", 5<<16)}, call: ap("*** Delete File: f"), want: tree{"f": gone}},
	{name: "delete 12 MiB", files: tree{"f": strings.Repeat("0123456789abcde\n", 12<<16)}, call: ap("*** Delete File: f"), want: tree{"f": gone}},
	{name: "move 12 MiB", files: tree{"f": strings.Repeat("0123456789abcde\n", 12<<16)}, call: f("*** Move to: g"), want: tree{"f": gone, "g": strings.Repeat("0123456789abcde\n", 12<<16)}},
	{name: "delete a folder", files: tree{"d/f": ""}, call: ap("*** Delete File: d"), code: CodeUnsupportedFile},
	{name: "delete with its lines", files: tree{"f": "a\n"}, call: ap("*** Delete File: f", "-a"), want: tree{"f": gone}},

	// operations see each other
	{name: "update after add", files: tree{}, call: ap("*** Add File: f", "+a", "*** Update File: f", "-a", "+b"), want: tree{"f": "b\n"}, ops: []Op{Create}},
	{name: "update twice", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "-a", "+b", "*** Update File: f", "-b", "+c"), want: tree{"f": "c\n"}, ops: []Op{Update}},
	{name: "update after move", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "*** Move to: g", "*** Update File: g", "-a", "+b"), want: tree{"f": gone, "g": "b\n"}, ops: []Op{Move}},
	{name: "update of what was moved away", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "*** Move to: g", "*** Update File: f", "-a", "+b"), code: CodeNotFound},
	{name: "move twice", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "*** Move to: g", "*** Update File: g", "*** Move to: h"), want: tree{"f": gone, "h": "a\n"}, ops: []Op{Move}},
	{name: "move there and back", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "*** Move to: g", "-a", "+b", "*** Update File: g", "*** Move to: f"), want: tree{"f": "b\n"}, ops: []Op{Update}},
	{name: "swap", files: tree{"a": "a\n", "b": "b\n"}, call: ap("*** Update File: a", "*** Move to: t", "*** Update File: b", "*** Move to: a", "*** Update File: t", "*** Move to: b"), want: tree{"a": "b\n", "b": "a\n"}, ops: []Op{Update, Update}},
	{name: "delete, then add", files: tree{"f": "a\n"}, call: ap("*** Delete File: f", "*** Add File: f", "+b"), want: tree{"f": "b\n"}, ops: []Op{Update}},
	{name: "add, then delete", files: tree{"g": "a\n"}, call: ap("*** Add File: f", "+b", "*** Delete File: f", "*** Update File: g", "-a", "+b"), want: tree{"g": "b\n"}, ops: []Op{Update}},
	{name: "move, then add in its place", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "*** Move to: g", "*** Add File: f", "+b"), want: tree{"f": "b\n", "g": "a\n"}, ops: []Op{Update, Create}},
	{name: "delete, then move onto", files: tree{"f": "a\n", "g": "g\n"}, call: ap("*** Delete File: g", "*** Update File: f", "*** Move to: g"), want: tree{"f": gone, "g": "a\n"}, ops: []Op{Update, Delete}},
	{name: "delete twice", files: tree{"f": "a\n"}, call: ap("*** Delete File: f", "*** Delete File: f"), code: CodeNotFound},
	{name: "changed and changed back", files: tree{"f": "a\n"}, call: ap("*** Update File: f", "-a", "+b", "*** Update File: f", "-b", "+a"), code: CodeInvalidPatch, says: "change nothing"},
	{name: "two names of one file", files: tree{"f": "a\nb\n", "l": "-> f"}, call: ap("*** Update File: f", "-a", "+x", "*** Update File: l", "-b", "+y"), want: tree{"f": "x\ny\n"}, ops: []Op{Update}},

	// what models send
	{name: "CRLF patch", files: tree{"f": "a\nb\n"}, call: patchText("*** Begin Patch\r\n*** Update File: f\r\n@@\r\n a\r\n-b\r\n+c\r\n*** End Patch\r\n"), want: tree{"f": "a\nc\n"}},
	{name: "CRLF patch adds LF file", files: tree{}, call: patchText("*** Begin Patch\r\n*** Add File: f\r\n+a\r\n*** End Patch"), want: tree{"f": "a\n"}},
	{name: "CRLF content", files: tree{}, call: patchText("*** Begin Patch\n*** Add File: f\n+a\r\n+b\r\n*** End Patch"), want: tree{"f": "a\r\nb\r\n"}},
	{name: "CRLF hunk", files: tree{"f": "a\nb\n"}, call: patchText("*** Begin Patch\n*** Update File: f\n a\r\n-b\r\n+c\r\n*** End Patch"), want: tree{"f": "a\nc\n"}},
	{name: "here-document in a code block", files: tree{"f": "a\n"}, call: patchText("```sh\napply_patch <<'EOF'\n*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch\nEOF\n```\n"), want: tree{"f": "b\n"}},
	{name: "words before it", files: tree{"f": "a\n"}, call: patchText("Here is the patch:\n\n*** Begin Patch\n*** Update File: f\n-a\n+b\n*** End Patch"), want: tree{"f": "b\n"}},
	{name: "without Begin Patch", files: tree{"f": "a\n"}, call: patchText("*** Update File: f\n-a\n+b\n*** End Patch"), want: tree{"f": "b\n"}},
	{name: "two patches", files: tree{"f": "a\n", "g": "g\n"}, call: patchText("*** Begin Patch\n*** Update File: f\n-a\n+b\n*** End Patch\n*** Begin Patch\n*** Delete File: g\n*** End Patch\n"), want: tree{"f": "b\n", "g": gone}},
	{name: "compact marker beside a normal one", files: tree{"f": "a\n", "g": "a\n"}, call: ap("***Update File:f", "-a", "+b", "*** Update File: g", "-a", "+b"), want: tree{"f": "b\n", "g": "b\n"}, ops: []Op{Update, Update}},
	{name: "blank lines between", files: tree{"f": "a\n\nb\n", "g": "g\n"}, call: ap("", "*** Update File: f", "", "@@", " a", "", "-b", "+c", "", "*** Delete File: g", ""), want: tree{"f": "a\n\nc\n", "g": gone}},
	{name: "file: URI", files: tree{"a b": "a\n"}, call: ap("*** Update File: a b", "-a", "+b"), want: tree{"a b": "b\n"}},
	{name: "unified diff", files: tree{"f": "a\n"}, call: patchText("--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"), code: CodeInvalidPatch, says: "unified diff"},
	{name: "git diff", files: tree{"f": "a\n"}, call: patchText("diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n"), code: CodeInvalidPatch, says: "unified diff"},
	{name: "cut off", files: tree{"f": "a\n"}, call: patchText("*** Begin Patch\n*** Update File: f\n-a\n+b\n"), code: CodeInvalidPatch, says: "cut off"},
	{name: "a file behind the end", files: tree{"f": "a\n", "g": "g\n"}, call: patchText("*** Begin Patch\n*** Update File: f\n-a\n+b\n*** End Patch\n*** Delete File: g\n"), code: CodeInvalidPatch, says: "behind"},
	{name: "line without a sign", files: tree{"f": "a\nb\n"}, call: f("@@", "a", "-b"), code: CodeInvalidPatch, says: "(line 4)"},
	{name: "added line without a sign", files: tree{}, call: ap("*** Add File: f", "+a", "b"), code: CodeInvalidPatch, says: "(line 4)"},
	{name: "unknown marker", files: tree{"f": "a\n"}, call: ap("*** Rename File: f"), code: CodeInvalidPatch, says: "Rename"},
	{name: "no name", files: tree{}, call: ap("*** Add File:", "+a"), code: CodeInvalidPatch, says: "names no file"},
	{name: "no name to move to", files: tree{"f": "a\n"}, call: f("*** Move to:", "-a", "+b"), code: CodeInvalidPatch, says: "names no file"},
	{name: "no lines", files: tree{"f": "a\n"}, call: f(), code: CodeInvalidPatch, says: "no lines"},
	{name: "anchor without lines", files: tree{"f": "a\n"}, call: f("@@ a"), code: CodeInvalidPatch, says: "no lines"},
	{name: "no operations", files: tree{}, call: ap(), code: CodeInvalidPatch, says: "no operation"},
	{name: "nothing", files: tree{}, call: patchText(" \n"), code: CodeInvalidPatch, says: "Begin Patch"},
	{name: "NUL in a name", files: tree{}, call: ap("*** Add File: a\x00b", "+x"), code: CodeInvalidArguments},
}
