package edits

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// parser reads one patch. It is the only reader of patches: what the user is shown, what the policy
// judges and what is applied all come from its result.
type parser struct {
	lines []string
	pos   int
	ops   []patchOp
	err   *Refusal
}

// parsePatch reads a V4A patch.
func parsePatch(patch string) ([]patchOp, *Refusal) {
	if !utf8.ValidString(patch) {
		return nil, &Refusal{Code: CodeInvalidPatch, Message: "The patch is not valid Unicode. Send it again as UTF-8 text."}
	}
	p := &parser{lines: patchLines(patch)}
	if !p.begin() {
		return nil, p.err
	}
	for p.err == nil && p.step() {
	}
	if p.err != nil {
		return nil, p.err
	}
	if len(p.ops) == 0 {
		return nil, p.fail(0, "it has no operation; give at least one of *** Add File:, *** Update File:, *** Delete File:")
	}
	return p.ops, nil
}

// patchLines cuts the patch. When its own markers end in \r the whole patch came with CRLF and the
// \r are none of the content's.
func patchLines(patch string) []string {
	lines := strings.Split(strings.TrimPrefix(patch, "\uFEFF"), "\n")
	crlf := false
	for _, l := range lines {
		crlf = crlf || strings.HasPrefix(l, "***") && strings.HasSuffix(l, "\r")
	}
	if crlf {
		for i, l := range lines {
			lines[i] = strings.TrimSuffix(l, "\r")
		}
	}
	return lines
}

func (p *parser) fail(at int, format string, args ...any) *Refusal {
	where := ""
	if at > 0 {
		where = fmt.Sprintf(" (line %d)", at)
	}
	p.err = &Refusal{Code: CodeInvalidPatch, Message: fmt.Sprintf("The patch cannot be read%s: %s. Nothing was changed; send the whole patch again.",
		where, fmt.Sprintf(format, args...))}
	return p.err
}

// begin finds the first marker. Only a wrapper's lines may stand before it.
func (p *parser) begin() bool {
	for i, l := range p.lines {
		switch {
		case markerBegin.MatchString(strings.TrimLeft(l, " \t")):
			p.pos = i + 1
			return true
		case markerFile.MatchString(l), markerMove.MatchString(l):
			p.pos = i // the Begin line was left out
			return true
		case strings.HasPrefix(l, "--- ") && i+1 < len(p.lines) && strings.HasPrefix(p.lines[i+1], "+++ "), strings.HasPrefix(l, "diff --git "):
			p.fail(i+1, "this is a unified diff. Write it as V4A: *** Begin Patch, *** Update File: path, @@, lines with ' ', '-' or '+', *** End Patch")
			return false
		}
	}
	p.fail(0, "there is no *** Begin Patch line")
	return false
}

// step reads one operation, or the end; false at the end.
func (p *parser) step() bool {
	if p.pos >= len(p.lines) {
		p.fail(0, "it has no *** End Patch line, so it may have been cut off")
		return false
	}
	at, l := p.pos+1, p.lines[p.pos]
	p.pos++
	if markerEnd.MatchString(l) {
		return p.after()
	}
	if m := markerMove.FindStringSubmatch(l); m != nil {
		p.ops = append(p.ops, patchOp{op: Update, path: m[1], to: m[2], at: at})
		return true
	}
	m := markerFile.FindStringSubmatch(l)
	switch {
	case strings.TrimSpace(l) == "", markerEOF.MatchString(l):
		return true
	case m == nil:
		p.fail(at, "%s stands outside of any file; expected *** Add File:, *** Update File:, *** Delete File: or *** End Patch", quote(l))
	case m[2] == "":
		p.fail(at, "*** %s File: names no file", m[1])
	case m[1] == "Add":
		p.add(m[2], at)
	case m[1] == "Delete":
		p.delete(m[2], at)
	default:
		p.update(m[2], at)
	}
	return p.err == nil
}

// after allows a second patch and a wrapper's lines behind the end.
func (p *parser) after() bool {
	for ; p.pos < len(p.lines); p.pos++ {
		l := p.lines[p.pos]
		if markerBegin.MatchString(l) {
			p.pos++
			return true
		}
		if !wrapper.MatchString(strings.TrimSpace(l)) {
			p.fail(p.pos+1, "%s stands behind *** End Patch", quote(l))
			return false
		}
	}
	return false
}

// marker says that a line ends the lines of an operation.
func marker(l string) bool { return strings.HasPrefix(l, "***") }

func (p *parser) add(path string, at int) {
	op := patchOp{op: Create, path: path, at: at}
	blanks := 0
	for ; p.pos < len(p.lines) && !marker(p.lines[p.pos]); p.pos++ {
		l := p.lines[p.pos]
		switch {
		case strings.TrimSpace(l) == "":
			blanks++ // a forgotten sign, or the space before the next marker
		case strings.HasPrefix(l, "+"):
			for ; blanks > 0; blanks-- {
				op.lines = append(op.lines, "")
			}
			op.lines = append(op.lines, l[1:])
		case strings.HasPrefix(l, `\ No newline`):
			op.open = true
		case strings.HasPrefix(l, "@@") && len(op.lines) == 0:
		default:
			p.fail(p.pos+1, "%s in a new file must begin with '+'", quote(l))
			return
		}
	}
	p.ops = append(p.ops, op)
}

func (p *parser) delete(path string, at int) {
	for ; p.pos < len(p.lines) && !marker(p.lines[p.pos]); p.pos++ {
		if l := p.lines[p.pos]; strings.TrimSpace(l) != "" && !strings.HasPrefix(l, "-") {
			p.fail(p.pos+1, "%s: *** Delete File: takes no lines", quote(l))
			return
		}
	}
	p.ops = append(p.ops, patchOp{op: Delete, path: path, at: at})
}

func (p *parser) update(path string, at int) {
	op := patchOp{op: Update, path: path, at: at}
	for p.pos < len(p.lines) && strings.TrimSpace(p.lines[p.pos]) == "" {
		p.pos++
	}
	if p.pos < len(p.lines) {
		if m := markerMoveTo.FindStringSubmatch(p.lines[p.pos]); m != nil {
			if m[1] == "" {
				p.fail(p.pos+1, "*** Move to: names no file")
				return
			}
			op.to = m[1]
			p.pos++
		}
	}
	if p.pos+1 < len(p.lines) && strings.HasPrefix(p.lines[p.pos], "--- ") && strings.HasPrefix(p.lines[p.pos+1], "+++ ") {
		p.pos += 2 // a unified diff's own header lines inside the operation
	}
	op.hunks = p.hunks()
	if p.err == nil && len(op.hunks) == 0 && op.to == "" {
		p.fail(at, "*** Update File: %s has no lines", path)
	}
	p.ops = append(p.ops, op)
}

// hunks reads the hunks of an update up to the next marker.
func (p *parser) hunks() []hunk {
	var out []hunk
	h := hunk{at: p.pos + 1}
	close := func() {
		h.lines = trimBlanks(h.lines)
		if len(h.lines) > 0 || len(h.anchors) > 0 || h.hint > 0 {
			h.number = len(out) + 1
			out = append(out, h)
		}
		h = hunk{at: p.pos + 1}
	}
	for ; p.pos < len(p.lines); p.pos++ {
		l := p.lines[p.pos]
		switch {
		case markerEOF.MatchString(l):
			h.eof = true
			close()
		case marker(l):
			close()
			return p.checked(out)
		case strings.HasPrefix(l, "@@"):
			if len(trimBlanks(h.lines)) > 0 {
				close()
			}
			h.at = p.pos + 1
			h.header(l)
		case l == "" || l == "\r":
			h.lines = append(h.lines, hunkLine{0, ""}) // a context line whose space was lost, or nothing
		case l[0] == ' ' || l[0] == '-' || l[0] == '+':
			h.lines = append(h.lines, hunkLine{l[0], strings.TrimSuffix(l[1:], "\r")})
		case strings.HasPrefix(l, `\ No newline`):
			// the file's own last line decides about its break
		default:
			p.fail(p.pos+1, "%s must begin with ' ', '-' or '+'", quote(l))
			return nil
		}
	}
	close()
	return p.checked(out)
}

// checked refuses hunks that say where but not what.
func (p *parser) checked(hunks []hunk) []hunk {
	for _, h := range hunks {
		if len(h.lines) == 0 {
			p.fail(h.at, "the hunk at %q has no lines", strings.Join(h.anchors, " / "))
			return nil
		}
	}
	return hunks
}

// trimBlanks drops blank lines without a sign at both ends and makes those within context.
func trimBlanks(lines []hunkLine) []hunkLine {
	for len(lines) > 0 && lines[0].sign == 0 {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].sign == 0 {
		lines = lines[:len(lines)-1]
	}
	for i := range lines {
		if lines[i].sign == 0 {
			lines[i].sign = ' '
		}
	}
	return lines
}

// header reads "@@", "@@ anchor", "@@ anchor @@" and, of a unified diff, "@@ -1,3 +1,4 @@".
func (h *hunk) header(l string) {
	if m := hunkNumbers.FindStringSubmatch(l); m != nil {
		h.hint, _ = strconv.Atoi(m[1])
		return // what follows there is only a line somewhere above
	}
	anchor := strings.TrimSuffix(strings.TrimPrefix(l, "@@"), "\r")
	anchor = strings.TrimSuffix(strings.TrimRight(anchor, " \t"), " @@")
	anchor = strings.TrimPrefix(anchor, " ")
	if strings.TrimSpace(anchor) != "" && strings.TrimSpace(anchor) != "@@" {
		h.anchors = append(h.anchors, anchor)
	}
}

// quote shows a line of the patch in a message.
func quote(l string) string {
	if r := []rune(l); len(r) > 60 {
		l = string(r[:60]) + "…"
	}
	return strconv.Quote(l)
}
