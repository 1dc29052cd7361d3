package tool

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestKeeper(t *testing.T) {
	for name, tc := range map[string]struct {
		limit int
		write []string
		ended bool
		want  string
		cut   bool
	}{
		"all":                  {100, []string{"ab", "cd"}, true, "abcd", false},
		"nothing":              {100, nil, true, "", false},
		"full to the byte":     {8, []string{"abcdefgh"}, true, "abcdefgh", false},
		"head and tail":        {8, []string{"abcdefgh", "ijkl"}, true, "ab\n[… 4 bytes left out …]\nghijkl", true},
		"byte by byte":         {8, strings.Split("abcdefghijkl", ""), true, "ab\n[… 4 bytes left out …]\nghijkl", true},
		"one great write":      {8, []string{"abcdefghijklmnopqrstuvwxyz"}, true, "ab\n[… 18 bytes left out …]\nuvwxyz", true},
		"great after small":    {8, []string{"abcd", "efghijklmnopqrstuvwxyz"}, true, "ab\n[… 18 bytes left out …]\nuvwxyz", true},
		"half a character":     {100, []string{"a\xc3"}, false, "a", false},
		"its other half":       {100, []string{"a\xc3", "\xa9"}, false, "aé", false},
		"half at the end":      {100, []string{"a\xc3"}, true, "a\ufffd", false},
		"characters at a cut":  {16, []string{"abcéé", strings.Repeat("é", 20)}, true, "abc\n[… 31 bytes left out …]\n" + strings.Repeat("é", 6), true},
		"never text":           {100, []string{"a\xff\xfeb"}, true, "a\ufffdb", false},
		"a four-byte one":      {100, []string{"\xf0\x9f\x98"}, false, "", false},
		"and its last byte":    {100, []string{"\xf0\x9f\x98", "\x80"}, false, "😀", false},
		"three loose bytes":    {100, []string{"\x80\x80\x80"}, true, "\ufffd", false},
		"an unfinished middle": {100, []string{"é\xc3x"}, true, "é\ufffdx", false},
	} {
		t.Run(name, func(t *testing.T) {
			k := newKeeper(tc.limit)
			for _, w := range tc.write {
				if n, err := k.Write([]byte(w)); n != len(w) || err != nil {
					t.Fatalf("Write gave %d, %v", n, err)
				}
			}
			if tc.ended {
				k.end()
			}
			text, cut := k.text()
			if text != tc.want || cut != tc.cut {
				t.Errorf("got %q, %v; want %q, %v", text, cut, tc.want, tc.cut)
			}
		})
	}
}

// TestKeeperStaysSmall holds that 50 MiB of output take no more memory than the limit.
func TestKeeperStaysSmall(t *testing.T) {
	k := newKeeper(1 << 20)
	chunk := []byte(strings.Repeat("0123456789abcde\n", 2048))
	for range 50 << 20 / len(chunk) {
		if _, err := k.Write(chunk); err != nil {
			t.Fatal(err)
		}
	}
	k.end()
	text, cut := k.text()
	if !cut || len(text) > 1<<20+100 || cap(k.head)+cap(k.tail) > 3<<20 {
		t.Errorf("%d bytes of text, %d held", len(text), cap(k.head)+cap(k.tail))
	}
	if !strings.HasSuffix(text, "0123456789abcde\n") || !strings.HasPrefix(text, "0123456789abcde\n") {
		t.Errorf("begins %q, ends %q", text[:20], text[len(text)-20:])
	}
}

func TestPlainOutput(t *testing.T) {
	for in, want := range map[string]string{
		"plain\ttext\n":                      "plain\ttext\n",
		"\x1b[1;31mred\x1b[0m":               "red",
		"\x1b]0;title\x07a\x1b]8;;u\x1b\\b":  "ab",
		"10%\r 50%\r100%\ndone\n":            "100%\ndone\n",
		"a\r\nb\r\n":                         "a\nb\n",
		"a\r\r\nb":                           "a\nb",
		"ab\bc":                              "ac",
		"\b\bx":                              "x",
		"é\bx":                               "x",
		"bell\x07 nul\x00":                   "bell nul",
		"cut off \x1b[3":                     "cut off ",
		"\x1b(Bcharset \x1bMup":              "charset up",
		"\x1b[?25lé…\x1b[K\n":                "é…\n",
		"\x1b]never ended\nnext":             "\nnext",
		"wait |\b/\b-\b\\\b done":            "wait  done",
		"\x1b[2K\x1b[1Gprogress\rprogress 2": "progress 2",
	} {
		if got := plainOutput(in); got != want {
			t.Errorf("%q gives %q, want %q", in, got, want)
		}
	}
}

func TestHeadAndTail(t *testing.T) {
	for _, s := range []string{strings.Repeat("é", 1000), strings.Repeat("a😀", 500), lines(400, "%d")} {
		got := headAndTail(s, 301)
		if !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) || len(got) > 301+60 {
			t.Errorf("%d bytes, %q", len(got), got)
		}
		head, tail, ok := strings.Cut(got, "\n[… ")
		if !ok || !strings.HasPrefix(s, head) || !strings.HasSuffix(s, after(tail, "…]\n")) || len(head) < 90 {
			t.Errorf("not the head and tail of the text: %q", got)
		}
	}
	if got := headAndTail("short", 5); got != "short" {
		t.Errorf("%q", got)
	}
}

func TestSince(t *testing.T) {
	mark := strings.Repeat("m", 256)
	for _, tc := range [][3]string{
		{"", "abc", "abc"},
		{"abc", "abcdef", "def"},
		{"abc", "abc", ""},
		{"start" + mark, "st[…]" + mark + "new", "new"},
		{"abc", "xyz", "xyz"},
	} {
		if got := since(tc[0], tc[1]); got != tc[2] {
			t.Errorf("since(%q, %q) gives %q, want %q", tc[0], tc[1], got, tc[2])
		}
	}
	if got := lastLines("one\ntwo\nthree", 8); got != "…\nthree" {
		t.Errorf("lastLines gives %q", got)
	}
}
