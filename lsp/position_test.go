package lsp

import (
	"testing"
	"testing/quick"
	"unicode/utf8"
)

// Case G-L05: every server's unit points at the same character.
func TestColumns(t *testing.T) {
	const line = "s := \"😀é\" + x"
	l := newLines("a\r\n" + line + "\rlast")
	tests := []struct {
		enc       encoding
		char      int
		line, col int
	}{
		{utf16Units, 13, 2, 13},
		{utf8Bytes, 16, 2, 13},
		{utf32Points, 12, 2, 13},
		{utf16Units, 0, 2, 1},
		{utf16Units, 7, 2, 7},    // in the middle of the surrogate pair
		{utf16Units, 8, 2, 8},    // behind it
		{utf16Units, 999, 2, 14}, // beyond the end
		{utf16Units, -5, 2, 1},
	}
	for _, tt := range tests {
		if n, col := l.column(1, tt.char, tt.enc); n != tt.line || col != tt.col {
			t.Errorf("unit %d, %d: %d:%d, want %d:%d", tt.enc, tt.char, n, col, tt.line, tt.col)
		}
	}
	if n, col := l.column(99, 0, utf16Units); n != 3 || col != 5 {
		t.Errorf("beyond the text: %d:%d", n, col)
	}
	if n, col := l.column(-1, 4, utf16Units); n != 1 || col != 1 {
		t.Errorf("before the text: %d:%d", n, col)
	}
	if l.count() != 3 || l.line(0) != "a" || l.line(2) != "last" || l.line(7) != "" {
		t.Errorf("lines: %q", l.all())
	}
	if got := newLines("a\u2028b\x0bc\x85d").count(); got != 1 {
		t.Errorf("other separators break lines: %d", got)
	}
}

func TestPositionsThereAndBack(t *testing.T) {
	for _, enc := range []encoding{utf16Units, utf8Bytes, utf32Points} {
		check := func(text string, line, col uint8) bool {
			if !utf8.ValidString(text) {
				return true
			}
			l := newLines(text)
			n := int(line)%l.count() + 1
			c := int(col)%(utf8.RuneCountInString(l.line(n-1))+1) + 1
			gotLine, gotCol := l.column(at2(l.position(n, c, enc))(enc))
			return gotLine == n && gotCol == c
		}
		if err := quick.Check(check, nil); err != nil {
			t.Errorf("unit %d: %v", enc, err)
		}
	}
}

// at2 lets the two results of position be handed on with an encoding.
func at2(line, char int) func(encoding) (int, int, encoding) {
	return func(enc encoding) (int, int, encoding) { return line, char, enc }
}

// A change of a big document, sent as a range, gives the same text at the server.
func TestContentChangeOfABigDocument(t *testing.T) {
	c := &client{caps: capabilities{sync: 2}}
	base := ""
	for len(base) < bigText {
		base += "line of text with é and 😀\r\n"
	}
	for _, enc := range []encoding{utf16Units, utf8Bytes} {
		c.caps.enc = enc
		for _, now := range []string{
			base + "x", "x" + base, base[:len(base)/2] + "new\n" + base[len(base)/2:], base[100:], base[:len(base)-1], "", base + base,
			base[:500] + "é" + base[501:],
		} {
			got := base
			change := contentChange(c, base, now)
			if r, ok := change["range"].(map[string]any); ok {
				got = splice(base, r, change["text"].(string), enc)
			} else {
				got = change["text"].(string)
			}
			if got != now {
				t.Fatalf("unit %d: the server's text differs, lengths %d and %d", enc, len(got), len(now))
			}
		}
	}
}

// splice does what a server does with an incremental change.
func splice(text string, r map[string]any, by string, enc encoding) string {
	l := newLines(text)
	offset := func(p any) int {
		m := p.(map[string]any)
		line, char := m["line"].(int), m["character"].(int)
		at := l.starts[line]
		units := 0
		for _, r := range text[at:] {
			if units >= char {
				break
			}
			units += unitsOf(r, enc)
			at += utf8.RuneLen(r)
		}
		return at
	}
	return text[:offset(r["start"])] + by + text[offset(r["end"]):]
}
