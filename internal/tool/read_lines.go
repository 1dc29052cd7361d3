package tool

import (
	"bufio"
	"io"
	"strings"
	"unicode/utf8"
)

// readLine reads one line to its end and gives at most limit bytes of it, in whole characters, from
// the given character on, with its line break where it got there; its whole length in bytes; and
// whether some of its end is missing. Nothing but the part that is given is held.
func readLine(in *bufio.Reader, from, limit int) (text string, length int, more bool) {
	var b strings.Builder
	for char := 1; ; char++ {
		c, size, err := in.ReadRune()
		if err != nil {
			return b.String(), length, more
		}
		if c == '\n' {
			if !more && char >= from {
				b.WriteByte('\n')
			}
			return b.String(), length, more
		}
		length += size
		if char < from || more {
			continue
		}
		if more = b.Len()+utf8.RuneLen(c) > limit; !more {
			b.WriteRune(c)
		}
	}
}

func skipLine(in *bufio.Reader) (int, error) {
	for n := 0; ; {
		part, err := in.ReadSlice('\n')
		n += len(part)
		if err == nil || (err == io.EOF && n > 0) {
			return n, nil
		}
		if err != bufio.ErrBufferFull {
			return n, err
		}
	}
}

// firstRunes gives the first n characters of s, or all of it, without its line break counted.
func firstRunes(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			if s[i:] == "\n" {
				return s
			}
			return s[:i]
		}
		n--
	}
	return s
}

// unended counts the last line of a text that does not end with a line break.
func unended(text string) int {
	if text == "" || strings.HasSuffix(text, "\n") {
		return 0
	}
	return 1
}
