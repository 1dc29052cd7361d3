package tool

import (
	"bytes"
	"context"
	"errors"
	"io"
	"regexp"
	"regexp/syntax"
	"strings"

	"acp-agent/internal/workspace"
)

// Bounds of what is held of one file while it is searched.
const (
	searchBlock = 256 * 1024 // a longer line is searched in pieces of this size
	maxShown    = 400        // bytes of a line that are shown
)

// matcher finds lines. Literal is text that every match contains, "" for unknown: looking for it
// first is many times faster than the expression.
type matcher struct {
	re      *regexp.Regexp
	literal []byte
}

func newMatcher(re *regexp.Regexp) matcher {
	m := matcher{re: re}
	if parsed, err := syntax.Parse(re.String(), syntax.Perl); err == nil {
		m.literal = []byte(required(parsed.Simplify()))
	}
	return m
}

// required is the longest text that every match of re contains.
func required(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		if re.Flags&syntax.FoldCase == 0 {
			return string(re.Rune)
		}
	case syntax.OpCapture, syntax.OpPlus:
		return required(re.Sub[0])
	case syntax.OpRepeat:
		if re.Min > 0 {
			return required(re.Sub[0])
		}
	case syntax.OpConcat:
		longest := ""
		for _, sub := range re.Sub {
			if s := required(sub); len(s) > len(longest) {
				longest = s
			}
		}
		return longest
	}
	return ""
}

// foundLine is a line to show: a match, or its context.
type foundLine struct {
	number int
	text   string
	match  bool
}

// found is what a search shows of one file.
type found struct {
	lines  []foundLine
	binary bool
}

// file searches one file on disk. Files in an encoding of their own are decoded first; everything
// else is searched as it streams by.
func (s *search) file(ctx context.Context, p workspace.Path) (found, error) {
	f, _, err := workspace.OpenRegular(p)
	if err != nil {
		return found{}, err
	}
	defer f.Close()
	head := make([]byte, 8000)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return found{}, err
	}
	head = head[:n]
	wide := bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff"))
	if named := s.env.Files.Charset; wide || (named != nil && named(p) != "") {
		decoded, err := s.env.Files.ReadDisk(p)
		if errors.Is(err, workspace.ErrBinary) {
			return found{binary: true}, nil
		}
		if err != nil {
			return found{}, err
		}
		return s.stream(ctx, strings.NewReader(decoded.Text))
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return found{binary: true}, nil
	}
	return s.stream(ctx, io.MultiReader(bytes.NewReader(bytes.TrimPrefix(head, []byte("\ufeff"))), f))
}

// scan goes through a text line by line.
type scan struct {
	*search
	found   found
	matches int
	number  int         // of the current line
	before  []foundLine // the last lines, for context
	after   int         // lines of context still to show
}

// stream searches a text of any length in bounded memory. It ends early when there is more than the
// search can show, or when ctx is cancelled.
func (s *search) stream(ctx context.Context, in io.Reader) (found, error) {
	sc := &scan{search: s, number: 1}
	buf, held := make([]byte, searchBlock), 0
	for ctx.Err() == nil && sc.matches <= s.limit {
		n, err := io.ReadFull(in, buf[held:])
		held += n
		last := err != nil
		if last && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return found{}, err
		}
		end := bytes.LastIndexByte(buf[:held], '\n') + 1
		if last || end == 0 {
			end = held
		}
		sc.block(buf[:end])
		if last {
			break
		}
		held = copy(buf, buf[end:held])
	}
	return sc.found, ctx.Err()
}

// block searches whole lines, or a piece of a very long one. Lines that cannot match are not even
// taken apart, unless they may be context.
func (s *scan) block(b []byte) {
	for len(b) > 0 && s.matches <= s.limit {
		if s.context == 0 && len(s.find.literal) > 0 {
			at := bytes.Index(b, s.find.literal)
			if at < 0 {
				s.number += bytes.Count(b, []byte("\n"))
				return
			}
			start := bytes.LastIndexByte(b[:at], '\n') + 1
			s.number += bytes.Count(b[:start], []byte("\n"))
			b = b[start:]
		}
		line, rest, ended := bytes.Cut(b, []byte("\n"))
		s.line(bytes.TrimSuffix(line, []byte("\r")))
		if ended {
			s.number++
		}
		b = rest
	}
}

func (s *scan) line(line []byte) {
	at := s.find.re.FindIndex(line)
	switch {
	case at != nil:
		s.found.lines = append(s.found.lines, s.before...)
		s.before = s.before[:0]
		s.found.lines = append(s.found.lines, foundLine{s.number, excerpt(line, at[0]), true})
		s.matches++
		s.after = s.context
	case s.after > 0:
		s.found.lines = append(s.found.lines, foundLine{s.number, excerpt(line, 0), false})
		s.after--
	case s.context > 0:
		if len(s.before) == s.context {
			s.before = append(s.before[:0], s.before[1:]...)
		}
		s.before = append(s.before, foundLine{s.number, excerpt(line, 0), false})
	}
}

// excerpt is a line as it is shown, cut around the match when it is long.
func excerpt(line []byte, at int) string {
	if len(line) <= maxShown {
		return strings.ToValidUTF8(string(line), "\ufffd")
	}
	from := max(at-maxShown/4, 0)
	to := min(from+maxShown, len(line))
	s := strings.ToValidUTF8(string(line[from:to]), "")
	if from > 0 {
		s = "…" + s
	}
	if to < len(line) {
		s += "…"
	}
	return s
}
