//go:build unix

package edits

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
	"pgregory.net/rapid"

	"acp-agent/internal/workspace"
)

// encodings of the model below, written out without the code under test.
var modelEncodings = map[string]func(s string) []byte{
	"utf-8":     func(s string) []byte { return []byte(s) },
	"utf-8-bom": func(s string) []byte { return append([]byte{0xEF, 0xBB, 0xBF}, s...) },
	"utf-16le": func(s string) []byte {
		out := []byte{0xFF, 0xFE}
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return out
	},
	"utf-16be": func(s string) []byte {
		out := []byte{0xFE, 0xFF}
		for _, u := range utf16.Encode([]rune(s)) {
			out = append(out, byte(u>>8), byte(u))
		}
		return out
	},
	"latin1": func(s string) []byte {
		var out []byte
		for _, r := range s {
			out = append(out, byte(r))
		}
		return out
	},
	"shift_jis": func(s string) []byte {
		out, err := japanese.ShiftJIS.NewEncoder().Bytes([]byte(s))
		if err != nil {
			panic(err)
		}
		return out
	},
}

// modelLetters are what lines are made of in each encoding.
var modelLetters = map[string][]string{
	"utf-8": {"a", "é", "日", "😀", "“", "\t", " ", "\\"}, "utf-8-bom": {"a", "é", "日", "😀", "\uFEFF", " "},
	"utf-16le": {"a", "é", "日", "😀", "\t", " "}, "utf-16be": {"a", "é", "日", "😀", "\t", " "},
	"latin1": {"a", "é", "ÿ", "\u0081", "\t", " "}, "shift_jis": {"a", "表", "日", "ｱ", "\t", " "},
}

// A file of any encoding and line ending, one run of lines replaced, in four ways: the bytes are
// those of a model that simply joins the lines and encodes them.
func TestEditsAgainstModel(t *testing.T) {
	w := newWorld(t, nil)
	var names []string
	for name := range modelEncodings {
		names = append(names, name)
		w.put(name+"/.editorconfig", "[*]\ncharset = "+name+"\n")
	}
	rapid.Check(t, func(rt *rapid.T) {
		enc := rapid.SampledFrom(names).Draw(rt, "encoding")
		eol := rapid.SampledFrom([]string{"\n", "\r\n", "\r"}).Draw(rt, "eol")
		final := rapid.Bool().Draw(rt, "final newline")
		word := rapid.Map(rapid.SliceOfN(rapid.SampledFrom(modelLetters[enc]), 0, 5), func(s []string) string { return strings.Join(s, "") })
		// Numbered lines are different from each other, so that every piece is unique.
		number := 0
		line := func(label string) string {
			number++
			return fmt.Sprintf("#%d:%s;", number, word.Draw(rt, label))
		}
		var old, new []string
		for range rapid.IntRange(2, 12).Draw(rt, "lines") {
			old = append(old, line("line"))
		}
		for range rapid.IntRange(1, 4).Draw(rt, "new lines") {
			new = append(new, line("new line"))
		}
		from := rapid.IntRange(0, len(old)-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, len(old)).Draw(rt, "to")
		join := func(lines []string, br string, final bool) string {
			s := strings.Join(lines, br)
			if final {
				s += br
			}
			return s
		}
		result := append(append(append([]string{}, old[:from]...), new...), old[to:]...)
		before, want := modelEncodings[enc](join(old, eol, final)), modelEncodings[enc](join(result, eol, final))
		name := enc + "/f"
		w.try(os.WriteFile(string(w.path(name)), before, 0o644))

		var hunk []string
		for i := max(0, from-2); i < from; i++ {
			hunk = append(hunk, " "+old[i])
		}
		for _, l := range old[from:to] {
			hunk = append(hunk, "-"+l)
		}
		for _, l := range new {
			hunk = append(hunk, "+"+l)
		}
		ways := map[string]call{
			"replace": rp(name, join(old[from:to], "\n", false), join(new, "\n", false)),
			"patch":   ap(append([]string{"*** Update File: " + name, "@@"}, hunk...)...),
			"write":   wf(name, join(result, "\n", final)),
			"files":   fromText(name, join(result, eol, final)),
		}
		for way, call := range ways {
			p, err := call(t.Context(), w)
			if err != nil {
				rt.Fatalf("%s: %v", way, err)
			}
			c := p.Changes[0]
			if !bytes.Equal(c.OldBytes, before) || !bytes.Equal(c.NewBytes, want) {
				rt.Fatalf("%s:\nfile %q\ngot  %q\nwant %q", way, before, c.NewBytes, want)
			}
		}
	})
}

func fromText(name, text string) call {
	return func(ctx context.Context, w *world) (*Proposal, error) {
		return FromFiles(ctx, w.files, KindRename, map[workspace.Path]string{w.path(name): text})
	}
}

// A patch of the whole file gives exactly the lines that it spells out.
func TestPatchOfWholeFile(t *testing.T) {
	w := newWorld(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		line := rapid.StringMatching(`[a-c@*+ \t-]{0,4}`)
		eol := rapid.SampledFrom([]string{"\n", "\r\n"}).Draw(rt, "eol")
		var hunk, before, after []string
		changed := false
		for range rapid.IntRange(1, 8).Draw(rt, "lines") {
			l := line.Draw(rt, "line")
			switch rapid.SampledFrom([]byte{' ', '-', '+'}).Draw(rt, "sign") {
			case ' ':
				hunk, before, after = append(hunk, " "+l), append(before, l), append(after, l)
			case '-':
				hunk, before, changed = append(hunk, "-"+l), append(before, l), true
			default:
				hunk, after, changed = append(hunk, "+"+l), append(after, l), true
			}
		}
		old, want := ended(before, eol), ended(after, eol)
		if len(before) == 0 {
			want = ended(after, "\n") // an empty file has no line ending to take
		}
		w.try(os.WriteFile(string(w.path("f")), []byte(old), 0o644))
		p, err := ap(append([]string{"*** Update File: f", "@@"}, hunk...)...)(t.Context(), w)
		switch {
		case err == nil:
			if got := string(p.Changes[0].NewBytes); got != want {
				rt.Fatalf("got %q, want %q", got, want)
			}
		case changed && old != want && !strings.Contains(err.Error(), "in the files already"):
			rt.Fatalf("%q: %v", old, err)
		}
	})
}

func ended(lines []string, eol string) string {
	if len(lines) == 0 {
		return ""
	}
	return strings.Join(lines, eol) + eol
}

// Whatever a tolerance does, an edit that finds its place changes lines of that place only.
func TestTolerantStaysInPlace(t *testing.T) {
	w := newWorld(t, nil)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.Map(rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "\t", " ", "  ", "\n", "\n", "\r\n", "“", "\"", "…", "..."}), 1, 25),
			func(s []string) string { return strings.Join(s, "") })
		before, old, new := text.Draw(rt, "text"), text.Draw(rt, "old"), text.Draw(rt, "new")
		pl := newPlan(w.files)
		s := &slot{now: content{exists: true, text: before, format: workspace.Format{Encoding: workspace.UTF8}}}
		e := replacer{pl: pl, path: w.path("f"), slot: s, r: Replacement{Old: old, New: new, ReplaceAll: rapid.Bool().Draw(rt, "all")}, number: 1, of: 1}
		applied, err := e.run()
		after := s.now.text
		if !utf8.ValidString(after) {
			rt.Fatalf("not valid: %q", after)
		}
		if (err != nil || !applied) && after != before {
			rt.Fatalf("refused, and changed to %q", after)
		}
		if err != nil || !applied || e.r.ReplaceAll {
			return
		}
		if n := strings.Count(before, old); n == 1 && !strings.Contains(before, "\r") {
			if want := strings.Replace(before, old, new, 1); after != want {
				rt.Fatalf("got %q, want %q", after, want)
			}
		}
		// At most as many lines differ as the edit names, old or new.
		d := diffTexts(before, after)
		if n := size(d.spans); n > len(splitAny(old))+len(splitAny(new))+1 {
			rt.Fatalf("%q: %d lines differ after %q -> %q: %q", before, n, old, new, after)
		}
	})
}

func FuzzV4A(f *testing.F) {
	f.Add("a\nb\n", "*** Begin Patch\n*** Update File: f\n@@ a\n-b\n+c\n*** End Patch\n")
	f.Add("a\r\nb", "*** Begin Patch\n*** Update File: f\n@@\n a\n+c\n*** End of File\n*** End Patch")
	f.Add("", "*** Begin Patch\n*** Add File: x\n+y\n*** Delete File: z\n*** Update File: f\n*** Move to: g\n*** End Patch")
	f.Add("x\nx\n", "```\n*** Begin Patch\r\n*** Update File: f\r\n@@ -1,2 +1 @@ q\r\n-x\r\n\r\n+\r\n*** End Patch\r\n```")
	f.Fuzz(func(t *testing.T, text, patch string) {
		ops, r := parsePatch(patch)
		if r != nil {
			if r.Code != CodeInvalidPatch || r.Message == "" || ops != nil {
				t.Fatalf("refusal %+v", r)
			}
			return
		}
		if len(ops) == 0 || !utf8.ValidString(text) {
			return
		}
		for _, op := range ops {
			if op.path == "" {
				t.Fatal("an operation without a path")
			}
			for _, h := range op.hunks {
				if len(h.lines) == 0 {
					t.Fatal("a hunk without lines")
				}
			}
			pl := placer{name: "f", lines: splitLines(text), hunks: op.hunks}
			edits, r := pl.place()
			if r != nil {
				if r.Code == "" || r.Message == "" {
					t.Fatalf("refusal %+v", r)
				}
				continue
			}
			after := joinLines(applyLines(pl.lines, edits))
			removed, added := 0, 0
			for _, h := range op.hunks {
				removed += len(h.old())
				added += len(h.new())
			}
			if got, want := len(splitLines(after)), len(pl.lines)-removed+added; strings.HasSuffix(text, "\n") && !strings.Contains(patch, "\r") && got != want {
				t.Fatalf("%d lines, want %d: %q", got, want, after)
			}
		}
	})
}
