package headless

import (
	"fmt"
	"strings"
)

// color is an SGR code.
type color string

const (
	bold   color = "1"
	dim    color = "2"
	red    color = "31"
	green  color = "32"
	yellow color = "33"
	cyan   color = "36"
)

// visible makes control characters readable: what a model or a file says must not be able to move the
// cursor, hide a line of a diff or answer for the person.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r < 0x20:
			return 0x2400 + r // the control pictures: ESC is ␛, CR is ␍
		case r == 0x7f:
			return '␡'
		case r >= 0x80 && r < 0xa0, r == 0x202a, r == 0x202b, r == 0x202c, r == 0x202d, r == 0x202e, r >= 0x2066 && r <= 0x2069:
			return '\ufffd'
		}
		return r
	}, s)
}

// paint makes s visible, and colours it on a terminal that wants it.
func (t *Terminal) paint(c color, s string) string {
	s = visible(s)
	if !t.Color || s == "" {
		return s
	}
	return "\x1b[" + string(c) + "m" + s + "\x1b[0m"
}

// print writes model text as it comes. The caller holds mu.
func (t *Terminal) print(s string) {
	if s == "" {
		return
	}
	fmt.Fprint(t.Out, s)
	t.midLine = !strings.HasSuffix(s, "\n")
}

// line writes a line of its own. The caller holds mu.
func (t *Terminal) line(s string) {
	if t.midLine {
		fmt.Fprintln(t.Out)
	}
	fmt.Fprintln(t.Out, strings.TrimRight(s, "\n"))
	t.midLine = false
}

// End finishes a line that the model left open.
func (t *Terminal) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.midLine {
		fmt.Fprintln(t.Out)
		t.midLine = false
	}
}

// note tells the person something beside the conversation.
func (t *Terminal) note(s string) { fmt.Fprintln(t.Err, s) }
