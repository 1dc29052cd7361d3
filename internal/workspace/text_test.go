package workspace

import (
	"bytes"
	"errors"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func TestDecode(t *testing.T) {
	type want struct {
		text string
		enc  Encoding
		eol  EOL
		last bool
		err  error
	}
	cases := []struct {
		name    string
		data    string
		charset string
		want    want
	}{
		{"empty", "", "", want{"", UTF8, EOLNone, false, nil}},
		{"empty, utf-16 named", "", "utf-16le", want{"", UTF8, EOLNone, false, nil}},
		{"utf-8", "a\né\n", "", want{"a\né\n", UTF8, LF, true, nil}},
		{"crlf", "a\r\nb", "", want{"a\r\nb", UTF8, CRLF, false, nil}},
		{"cr", "a\rb\r", "", want{"a\rb\r", UTF8, CR, true, nil}},
		{"mixed", "a\r\nb\n", "", want{"a\r\nb\n", UTF8, EOLMixed, true, nil}},
		{"bom", "\xEF\xBB\xBFusing A;\n", "", want{"using A;\n", UTF8BOM, LF, true, nil}},
		{"bom only", "\xEF\xBB\xBF", "", want{"", UTF8BOM, EOLNone, false, nil}},
		{"two boms", "\xEF\xBB\xBF\xEF\xBB\xBFx", "", want{"\uFEFFx", UTF8BOM, EOLNone, false, nil}},
		{"bom, latin1 named", "\xEF\xBB\xBFx", "latin1", want{"x", UTF8BOM, EOLNone, false, nil}},
		{"utf-16le", "\xFF\xFEa\x00\n\x00", "", want{"a\n", UTF16LE, LF, true, nil}},
		{"utf-16be", "\xFE\xFF\x00a\xD8\x3D\xDE\x00", "", want{"a😀", UTF16BE, EOLNone, false, nil}},
		{"utf-16 lone surrogate", "\xFF\xFE\x00\xD8a\x00", "", want{err: ErrBinary}},
		{"utf-16 cut surrogate", "\xFF\xFE\x00\xD8", "", want{err: ErrBinary}},
		{"utf-16 odd", "\xFF\xFEa", "", want{err: ErrBinary}},
		{"utf-32le", "\xFF\xFE\x00\x00a\x00\x00\x00", "", want{err: ErrBinary}},
		{"utf-16 without bom", "a\x00b\x00", "", want{err: ErrBinary}},
		{"utf-16 without bom nor NUL, named", "\x42\x30\x44\x30", "utf-16le", want{err: ErrBinary}},
		{"nul", "a\x00b", "", want{err: ErrBinary}},
		{"opaque (case G-E04)", "$x = 1;\n// caf\xE9\n", "", want{"$x = 1;\n// caf\u00E9\n", Opaque, LF, true, nil}},
		{"opaque bom", "\xEF\xBB\xBFcaf\xE9", "", want{"\u00EF\u00BB\u00BFcaf\u00E9", Opaque, EOLNone, false, nil}},
		{"latin1 named", "caf\xE9 \x81", "latin1", want{"café \u0081", "iso-8859-1", EOLNone, false, nil}},
		{"windows-1252 named", "\x93hi\x94", "windows-1252", want{"“hi”", "windows-1252", EOLNone, false, nil}},
		{"shift_jis named", "\x93\xFA\x96\x7B\r\n", "shift_jis", want{"日本\r\n", "shift_jis", CRLF, true, nil}},
		{"shift_jis, ascii only", "abc", "Shift_JIS", want{"abc", "shift_jis", EOLNone, false, nil}},
		{"shift_jis with a second code for one character", "\x87\x90", "shift_jis", want{"\u0087\u0090", Opaque, EOLNone, false, nil}},
		{"shift_jis named, utf-8 bytes", "a —", "shift_jis", want{"a —", UTF8, EOLNone, false, nil}},
		{"utf-8 named, other bytes", "\xE9", "utf-8", want{"\u00E9", Opaque, EOLNone, false, nil}},
		{"unknown charset", "a", "klingon", want{err: ErrEncoding}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			text, f, err := Decode([]byte(c.data), c.charset)
			if !errors.Is(err, c.want.err) {
				t.Fatalf("error %v, want %v", err, c.want.err)
			}
			if err != nil {
				return
			}
			if got := (want{text, f.Encoding, f.EOL, f.FinalNewline, nil}); got != c.want {
				t.Fatalf("got %+v, want %+v", got, c.want)
			}
			back, err := f.Encode(text)
			if err != nil || !bytes.Equal(back, []byte(c.data)) {
				t.Fatalf("encodes back to %q (%v), want %q", back, err, c.data)
			}
		})
	}
}

func TestEncodeRefuses(t *testing.T) {
	cases := []struct {
		enc  Encoding
		text string
		err  error
	}{
		{Opaque, "€", ErrEncoding},
		{"iso-8859-1", "€", ErrEncoding},
		{"shift_jis", "a é", ErrEncoding},
		{UTF8, "\xFF", ErrEncoding},
		{Binary, "", ErrBinary},
		{"klingon", "a", ErrEncoding},
	}
	for _, c := range cases {
		if out, err := (Format{Encoding: c.enc}).Encode(c.text); !errors.Is(err, c.err) {
			t.Errorf("%s %q: %q, %v; want %v", c.enc, c.text, out, err, c.err)
		}
	}
}

var charsets = []string{"", "utf-8", "utf-8-bom", "latin1", "windows-1252", "shift_jis", "euc-jp", "iso-2022-jp",
	"gb18030", "gbk", "big5", "euc-kr", "koi8-r", "macintosh", "utf-16le", "utf-16be"}

// Every byte sequence either has no text or comes back exactly.
func TestDecodeEncodeRoundTrip(t *testing.T) {
	piece := rapid.OneOf(
		rapid.SampledFrom([]string{"\n", "\r\n", "\r", "\xEF\xBB\xBF", "\xFF\xFE", "\xFE\xFF", "\x1b$B", "\x1b(B", "a", "\x00", "\xD8\x00"}),
		rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 6), func(b []byte) string { return string(b) }),
		rapid.StringN(0, 5, -1),
	)
	rapid.Check(t, func(t *rapid.T) {
		var data []byte
		for _, s := range rapid.SliceOfN(piece, 0, 12).Draw(t, "pieces") {
			data = append(data, s...)
		}
		charset := rapid.SampledFrom(charsets).Draw(t, "charset")
		text, f, err := Decode(data, charset)
		if err != nil {
			if !errors.Is(err, ErrBinary) {
				t.Fatalf("%v", err)
			}
			return
		}
		if !utf8.ValidString(text) {
			t.Fatalf("text %q is not valid", text)
		}
		back, err := f.Encode(text)
		if err != nil || !bytes.Equal(back, data) {
			t.Fatalf("%s: %q came back as %q (%v)", f.Encoding, data, back, err)
		}
	})
}

// Text that can be encoded at all is what the bytes decode to.
func TestEncodeDecodeText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String().Filter(func(s string) bool {
			return utf8.ValidString(s) && !bytes.ContainsRune([]byte(s), 0) && !bytes.HasPrefix([]byte(s), []byte(bomUTF8))
		}).Draw(t, "text")
		f, err := NewFormat(rapid.SampledFrom(charsets).Draw(t, "charset"), text)
		if err != nil {
			t.Fatal(err)
		}
		data, err := f.Encode(text)
		if err != nil {
			if !errors.Is(err, ErrEncoding) {
				t.Fatal(err)
			}
			return
		}
		charset := ""
		if f.Encoding != UTF8BOM && f.Encoding != UTF16LE && f.Encoding != UTF16BE {
			charset = string(f.Encoding)
		}
		again, g, err := Decode(data, charset)
		if err != nil || g.Encoding != f.Encoding {
			return // the bytes do not say what they are: an escape sequence as text, or too few to tell
		}
		if again != text {
			t.Fatalf("%s: %q became %q", f.Encoding, text, again)
		}
	})
}
