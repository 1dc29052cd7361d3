package stream

import "strings"

// Think takes reasoning that a model writes into its text between <think> tags (served by programs
// that do not know the model's template) out of the text. Tags count only before the first visible
// text: later they are what the model is talking about. Text is passed on at once, except for what
// may still become a tag.
type Think struct {
	state  thinkState
	hold   string // not yet decided: white space, or the beginning of a tag
	closer string
	closed bool // a block was closed, so the white space after it belongs to nobody
}

type thinkState int

const (
	thinkBefore thinkState = iota
	thinkInside
	thinkAfter // visible text has begun
)

var thinkTags = [...][2]string{{"<think>", "</think>"}, {"<thinking>", "</thinking>"}}

const thinkSpace = " \t\r\n"

// Add takes the next piece of the model's text and gives what it has of visible text and reasoning
// by now, in order.
func (t *Think) Add(s string, emit func(text string, thought bool) bool) bool {
	if t.state == thinkAfter {
		return emit(s, false)
	}
	t.hold += s
	for {
		switch t.state {
		case thinkBefore:
			if more := t.before(); !more {
				return true
			}
		case thinkInside:
			thought, more := t.inside()
			if thought != "" && !emit(thought, true) {
				return false
			}
			if !more {
				return true
			}
		case thinkAfter:
			s := t.hold
			t.hold = ""
			return s == "" || emit(s, false)
		}
	}
}

// Flush gives what was held back at the end of the answer.
func (t *Think) Flush(emit func(text string, thought bool) bool) bool {
	s := t.hold
	t.hold = ""
	if t.state == thinkBefore && t.closed {
		s = strings.TrimLeft(s, thinkSpace)
	}
	return s == "" || emit(s, t.state == thinkInside)
}

// before looks for an opening tag; it says whether the state has changed.
func (t *Think) before() bool {
	rest := strings.TrimLeft(t.hold, thinkSpace)
	if rest == "" {
		return false
	}
	for _, tag := range thinkTags {
		if after, ok := strings.CutPrefix(rest, tag[0]); ok {
			t.state, t.hold, t.closer = thinkInside, after, tag[1]
			return true
		}
	}
	for _, tag := range thinkTags {
		if strings.HasPrefix(tag[0], rest) {
			return false
		}
	}
	if t.closed {
		t.hold = rest
	}
	t.state = thinkAfter
	return true
}

// inside gives the reasoning that is certain, and says whether the block was closed.
func (t *Think) inside() (string, bool) {
	if i := strings.Index(t.hold, t.closer); i >= 0 {
		thought := t.hold[:i]
		t.hold = t.hold[i+len(t.closer):]
		t.state, t.closed = thinkBefore, true
		return thought, true
	}
	keep := 0
	for n := min(len(t.closer)-1, len(t.hold)); n > 0; n-- {
		if strings.HasSuffix(t.hold, t.closer[:n]) {
			keep = n
			break
		}
	}
	thought := t.hold[:len(t.hold)-keep]
	t.hold = t.hold[len(t.hold)-keep:]
	return thought, false
}
