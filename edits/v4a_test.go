package edits

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// patched applies the sections of a patch to one file's text; sections on other files are an error.
func patched(text, patch string) (string, []string, *Refusal) {
	ops, r := parsePatch(patch)
	if r != nil {
		return "", nil, r
	}
	var notes []string
	for _, op := range ops {
		if op.kind != opUpdate {
			return op.content, nil, nil
		}
		var n []string
		if text, n, r = applyHunks("/w/f", text, op.hunks); r != nil {
			return "", nil, r
		}
		notes = append(notes, n...)
	}
	return text, notes, nil
}

// update wraps hunks into a patch of f.
func update(hunks string) string {
	return "*** Begin Patch\n*** Update File: f\n" + hunks + "*** End Patch\n"
}

func TestPatchOneFile(t *testing.T) {
	tests := []struct {
		name, text, patch, want string
		code                    Code
		note                    string
	}{
		{"G-E01", "@echo off\r\nset A=1\r\nset B=2\r\necho done\r\n", update("@@\n @echo off\n-set A=1\n+set A=7\n set B=2\n"), "@echo off\r\nset A=7\r\nset B=2\r\necho done\r\n", "", ""},
		{"CRLF patch", "a\nb\n", strings.ReplaceAll(update("@@\n-a\n+x\n"), "\n", "\r\n"), "x\nb\n", "", ""},
		{"G-E03", "one\ntwo\nthree", update("@@\n-one\n+ONE\n two\n"), "ONE\ntwo\nthree", "", ""},
		{"G-E03 b", "one\ntwo\nthree", update("@@\n two\n-three\n+THREE\n"), "one\ntwo\nTHREE", "", ""},
		{"G-E03 c", "one\n", update("@@\n one\n+two\n"), "one\ntwo\n", "", ""},
		{"added behind an open last line", "one", update("@@\n one\n+two\n"), "one\ntwo", "", ""},
		{"all removed", "one\n", update("@@\n-one\n"), "", "", ""},
		{"G-E12", "def f():\n    return 1\n\ndef g():\n    return 2\n", update("@@ def f():\n+    # first\n"), "def f():\n    # first\n    return 1\n\ndef g():\n    return 2\n", "", ""},
		{"G-E12 nope", "def f():\n", update("@@ def nope():\n+x\n"), "anchor", CodeNoMatch, ""},
		{"added without a place", "a\n", update("@@\n+x\n"), "does not say where", CodeInvalidPatch, ""},
		{"added to an empty file", "", update("@@\n+x\n"), "x\n", "", ""},
		{"end of file", "a\nb\na\nb\n", update("@@\n a\n-b\n+c\n*** End of File\n"), "a\nb\na\nc\n", "", ""},
		{"added at the end", "a\n", update("@@\n+b\n*** End of File\n"), "a\nb\n", "", ""},
		{"two hunks", "1\n2\n3\n4\n", update("@@\n-1\n+one\n@@\n-4\n+four\n"), "one\n2\n3\nfour\n", "", ""},
		{"out of order", "1\n2\n3\n4\n", update("@@\n-4\n+four\n@@\n-1\n+one\n"), "one\n2\n3\nfour\n", "", ""},
		{"order decides", "a\nx\nb\nx\n", update("@@\n-a\n+A\n@@\n b\n-x\n+y\n"), "A\nx\nb\ny\n", "", ""},
		{"overlapping", "1\n2\n3\n", update("@@\n 1\n-2\n+two\n@@\n-2\n+zwei\n 3\n"), "overlaps", CodeInvalidPatch, ""},
		{"ambiguous", "x\na\nx\n", update("@@\n-x\n+y\n"), "lines 1, 3", CodeAmbiguous, ""},
		{"anchor decides", "f:\nx\ng:\nx\n", update("@@ g:\n-x\n+y\n"), "f:\nx\ng:\ny\n", "", ""},
		{"anchor repeated as context", "f:\nx\ng:\nx\n", update("@@ g:\n g:\n-x\n+y\n"), "f:\nx\ng:\ny\n", "", ""},
		{"anchor that stands twice", "f:\nx\nf:\nx\n", update("@@ f:\n-x\n+y\n"), "2 places", CodeAmbiguous, ""},
		{"nested anchors", "class A\n def f\n  x\nclass B\n def f\n  x\n", update("@@ class B\n@@ def f\n-  x\n+  y\n"), "class A\n def f\n  x\nclass B\n def f\n  y\n", "", ""},
		{"anchor behind the match", "x\ng:\n", update("@@ g:\n-x\n+y\n"), "before its anchor", CodeNoMatch, ""},
		{"unified header", "1\n2\n3\n", update("@@ -1,2 +1,2 @@ func x\n 1\n-2\n+two\n"), "1\ntwo\n3\n", "", ""},
		{"empty context line without its space", "a\n\nb\n", update("@@\n a\n\n-b\n+c\n"), "a\n\nc\n", "", ""},
		{"trailing spaces", "a  \nb\n", update("@@\n a\n-b\n+c\n"), "a  \nc\n", "", "trailing"},
		{"indentation", "\tif x {\n\t\ty()\n\t}\n", update("@@\n if x {\n-\ty()\n+\tz()\n }\n"), "\tif x {\n\t\tz()\n\t}\n", "", "indentation"},
		{"punctuation", "say \u2018hi\u2019\nb\n", update("@@\n say 'hi'\n-b\n+c\n"), "say \u2018hi\u2019\nc\n", "", "look-alike"},
		{"already there", "new\n", update("@@\n-old\n+new\n"), "already", CodeAlreadyApplied, ""},
		{"half there", "new\nb\n", update("@@\n-old\n+new\n@@\n-b\n+c\n"), "1 of 2", CodeNoMatch, ""},
		{"not there", "a\n", update("@@\n-zzz\n+y\n"), "hunk 1", CodeNoMatch, ""},
		{"G-E13", "", "*** Begin Patch\n*** Add File: doc.md\n+# Format\n+*** End Patch\n+*** Begin Patch\n+tail\n*** End Patch\n", "# Format\n*** End Patch\n*** Begin Patch\ntail\n", "", ""},
		{"markers as context", "*** End Patch\nx\n", update("@@\n *** End Patch\n-x\n+y\n"), "*** End Patch\ny\n", "", ""},
		{"fenced here-document", "a\n", "```sh\napply_patch <<'EOF'\n" + update("@@\n-a\n+b\n") + "EOF\n```\n", "b\n", "", ""},
		{"blank lines around", "a\n", "\n\n" + update("\n@@\n-a\n+b\n\n"), "b\n", "", ""},
		{"cut off", "a\n", "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n", "cut off", CodeInvalidPatch, ""},
		{"unified diff", "a\n", "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n", "unified diff", CodeInvalidPatch, ""},
		{"no begin", "a\n", "*** Update File: f\n@@\n-a\n+b\n*** End Patch\n", "begins with", CodeInvalidPatch, ""},
		{"text behind", "a\n", update("@@\n-a\n+b\n") + "and more\n", "text after", CodeInvalidPatch, ""},
		{"empty", "a\n", " \n", "empty", CodeInvalidPatch, ""},
		{"no sections", "a\n", "*** Begin Patch\n*** End Patch\n", "no file section", CodeInvalidPatch, ""},
		{"no hunks", "a\n", "*** Begin Patch\n*** Update File: f\n*** End Patch\n", "no hunk", CodeInvalidPatch, ""},
		{"no path", "a\n", "*** Begin Patch\n*** Update File: \n@@\n-a\n+b\n*** End Patch\n", "path is missing", CodeInvalidPatch, ""},
		{"bad line", "a\n", update("@@\n-a\n*b\n"), "line 5 of the patch", CodeInvalidPatch, ""},
		{"bad added line", "", "*** Begin Patch\n*** Add File: f\n+a\nb\n*** End Patch\n", "line 4 of the patch", CodeInvalidPatch, ""},
		{"lone CR inside a line", "a\rb\nc\n", update("@@\n-c\n+d\n"), "a\rb\nd\n", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, notes, r := patched(tt.text, tt.patch)
			if tt.code != "" {
				if r == nil || r.Code != tt.code || !strings.Contains(r.Message, tt.want) {
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

// A patch made from any two texts that differ in one place, with full context, gives the second text.
func TestPatchOfWholeFile(t *testing.T) {
	line := rapid.StringMatching(`[a-c \t]{0,4}`)
	eols := rapid.SampledFrom([]string{"\n", "\r\n"})
	rapid.Check(t, func(t *rapid.T) {
		eol := eols.Draw(t, "eol")
		before := rapid.SliceOfN(line, 1, 6).Draw(t, "before")
		at := rapid.IntRange(0, len(before)-1).Draw(t, "at")
		now := rapid.SliceOfN(line, 0, 3).Draw(t, "now")
		var hunk strings.Builder
		var want []string
		for i, l := range before {
			if i != at {
				hunk.WriteString(" " + l + "\n")
				want = append(want, l)
				continue
			}
			hunk.WriteString("-" + l + "\n")
			for _, n := range now {
				hunk.WriteString("+" + n + "\n")
				want = append(want, n)
			}
		}
		join := func(list []string) string {
			if len(list) == 0 {
				return ""
			}
			return strings.Join(list, eol) + eol
		}
		got, _, r := patched(join(before), update("@@\n"+hunk.String()))
		if r != nil || got != join(want) {
			t.Fatalf("got %q, %v; want %q", got, r, join(want))
		}
	})
}

func FuzzV4A(f *testing.F) {
	f.Add("a\nb\n", update("@@ a\n-b\n+c\n"))
	f.Add("a\r\nb", update("@@\n a\n+c\n*** End of File\n"))
	f.Add("", "*** Begin Patch\n*** Add File: x\n+y\n*** Delete File: z\n*** Update File: f\n*** Move to: g\n*** End Patch")
	f.Fuzz(func(t *testing.T, text, patch string) {
		got, _, r := patched(text, patch)
		if r != nil && (r.Message == "" || r.Code == "") {
			t.Errorf("a refusal says nothing: %+v", r)
		}
		if r != nil && got != "" {
			t.Errorf("a refusal with a text: %q", got)
		}
	})
}
