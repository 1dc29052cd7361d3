package tool

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"
)

// keeper keeps what a command prints within a fixed size: its first bytes, which tell what went
// wrong first, and its last, which tell how it ended. Writing never blocks on a reader.
type keeper struct {
	headMax, tailMax int
	changed          chan struct{} // receives when there is more; holds one notice

	mu    sync.Mutex
	head  []byte // guarded by mu
	tail  []byte // guarded by mu; a ring once it is full
	start int    // guarded by mu; where the ring begins
	lost  int64  // guarded by mu; bytes between head and tail that are gone
	ended bool   // guarded by mu
}

func newKeeper(limit int) *keeper {
	head := min(limit/4, 32*1024)
	return &keeper{headMax: head, tailMax: max(limit-head, 1), changed: make(chan struct{}, 1)}
}

// Write keeps b, or the parts of it that fit.
func (k *keeper) Write(b []byte) (int, error) {
	k.mu.Lock()
	n := len(b)
	if room := k.headMax - len(k.head); room > 0 {
		part := min(room, len(b))
		k.head = append(k.head, b[:part]...)
		b = b[part:]
	}
	if over := len(b) - k.tailMax; over > 0 { // only its end can stay
		k.lost += int64(over + len(k.tail))
		k.tail, k.start = k.tail[:0], 0
		b = b[over:]
	}
	if room := k.tailMax - len(k.tail); room > 0 {
		part := min(room, len(b))
		k.tail = append(k.tail, b[:part]...)
		b = b[part:]
	}
	for len(b) > 0 {
		part := copy(k.tail[k.start:], b)
		k.start = (k.start + part) % len(k.tail)
		k.lost += int64(part)
		b = b[part:]
	}
	k.mu.Unlock()
	k.notify()
	return n, nil
}

func (k *keeper) notify() {
	select {
	case k.changed <- struct{}{}:
	default: // a notice is waiting already
	}
}

// end says that nothing more comes.
func (k *keeper) end() {
	k.mu.Lock()
	k.ended = true
	k.mu.Unlock()
	k.notify()
}

// text is what is kept, as valid UTF-8, and whether something is missing. A character of which the
// rest has not come yet waits for it.
func (k *keeper) text() (string, bool) {
	k.mu.Lock()
	tail := append(append(make([]byte, 0, len(k.tail)), k.tail[k.start:]...), k.tail[:k.start]...)
	head, lost, ended := string(k.head), k.lost, k.ended
	k.mu.Unlock()
	if lost == 0 {
		all := head + string(tail)
		if !ended {
			all = wholeRunes(all)
		}
		return strings.ToValidUTF8(all, "\ufffd"), false
	}
	end := string(tail)
	for len(end) > 0 && !utf8.RuneStart(end[0]) {
		end = end[1:]
	}
	if !ended {
		end = wholeRunes(end)
	}
	return strings.ToValidUTF8(wholeRunes(head)+omitted(lost)+end, "\ufffd"), true
}

func omitted(n int64) string { return fmt.Sprintf("\n[… %d bytes left out …]\n", n) }

// wholeRunes is s without an unfinished character at its end.
func wholeRunes(s string) string {
	for i := 1; i <= min(utf8.UTFMax-1, len(s)); i++ {
		if c := s[len(s)-i]; utf8.RuneStart(c) {
			if !utf8.FullRuneInString(s[len(s)-i:]) {
				return s[:len(s)-i]
			}
			break
		}
	}
	return s
}

// headAndTail cuts the middle out of a text that is longer than limit bytes.
func headAndTail(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head := s[:limit/3]
	tail := s[len(s)-(limit-len(head)):]
	for len(tail) > 0 && !utf8.RuneStart(tail[0]) {
		tail = tail[1:]
	}
	head = wholeRunes(head)
	return head + omitted(int64(len(s)-len(head)-len(tail))) + tail
}

// plainOutput is what a terminal would show in the end: without colours and other escape sequences,
// and with a line that was overwritten (progress bars) as it was written last.
func plainOutput(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return c < ' ' && c != '\n' && c != '\t' || c == 0x7f }) < 0 {
		return s
	}
	var out strings.Builder
	var line []byte // the current one
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == 0x1b:
			i += escapeLength(s[i:]) - 1
		case c == '\n':
			out.Write(append(line, c))
			line = line[:0]
		case c == '\r':
			if i+1 < len(s) && s[i+1] != '\n' && s[i+1] != '\r' {
				line = line[:0]
			}
		case c == '\b':
			_, size := utf8.DecodeLastRune(line)
			line = line[:len(line)-size]
		case c == '\t' || c >= ' ' && c != 0x7f:
			line = append(line, c)
		}
	}
	out.Write(line)
	return out.String()
}

// escapeLength is the length of the escape sequence that s begins with (ECMA-48: CSI, OSC and other
// strings, two-character escapes).
func escapeLength(s string) int {
	if len(s) < 2 {
		return len(s)
	}
	switch s[1] {
	case '[':
		for i := 2; i < len(s); i++ {
			if s[i] >= 0x40 && s[i] <= 0x7e {
				return i + 1
			}
			if s[i] < 0x20 || s[i] > 0x7e {
				return i // broken off
			}
		}
		return len(s)
	case ']', 'P', 'X', '^', '_':
		for i := 2; i < len(s); i++ {
			if s[i] == 0x07 {
				return i + 1
			}
			if s[i] == 0x1b {
				return min(i+2, len(s))
			}
			if s[i] == '\n' {
				return i // never ended: a text, not a sequence
			}
		}
		return len(s)
	case '(', ')', '*', '+', '#', ' ', '%':
		return min(3, len(s))
	}
	return 2
}
