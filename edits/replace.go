package edits

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/workspace"
)

// Replace proposes replacements in one existing file, applied in order, each seeing the ones before.
func Replace(ctx context.Context, files *workspace.Files, p workspace.Path, list []Replacement) (*Proposal, error) {
	pl := newPlan(files)
	if len(list) == 0 {
		return nil, &Refusal{Code: CodeInvalidArguments, Path: p, Message: "There is no replacement in this edit: give old_string and new_string."}
	}
	s, err := pl.text(ctx, p)
	if err != nil {
		return nil, err
	}
	done := 0
	for i, r := range list {
		e := replacer{pl: pl, path: p, slot: s, r: r, number: i + 1, of: len(list)}
		applied, err := e.run()
		if err != nil {
			return nil, err
		}
		if !applied {
			done++
		}
	}
	if done == len(list) {
		return nil, &Refusal{Code: CodeAlreadyApplied, Path: p, Message: fmt.Sprintf(
			"Nothing to do for %s: old_string is not in it, and new_string is there already.", pl.name(p))}
	}
	return pl.single(KindReplace, p, "after all replacements its text is what it was")
}

// replacer makes one replacement.
type replacer struct {
	pl         *plan
	path       workspace.Path
	slot       *slot
	r          Replacement
	number, of int
}

// region is a piece of the text and what comes in its place.
type region struct {
	start, end int
	new        string
}

// run changes the slot's text. It says false when the replacement was made before.
func (e *replacer) run() (bool, error) {
	if err := e.check(); err != nil {
		return false, err
	}
	text := e.slot.now.text
	at, inside := e.exact(text)
	if len(at) > 1 && !e.r.ReplaceAll {
		return false, e.ambiguous(text, at, "")
	}
	lf := strings.IndexByte(text, '\r') < 0
	var regions []region
	for _, i := range at {
		if n := len(regions); n > 0 && i < regions[n-1].end {
			continue // overlapping: left to right, as every editor does
		}
		end := i + len(e.r.Old)
		br := "\n"
		if !lf {
			br = breakNear(text, i, end)
		}
		regions = append(regions, region{i, end, e.inBreaks(br)})
	}
	if len(regions) == 0 {
		if inside {
			return false, opaque(e.pl.name(e.path), e.path)
		}
		var err error
		if regions, err = e.tolerant(text); err != nil {
			return false, err
		}
	}
	if len(regions) == 0 {
		if e.alreadyThere(text) {
			if e.of > 1 {
				e.note("was made already")
			}
			return false, nil
		}
		return false, e.noMatch(text)
	}
	e.slot.now.text = substitute(text, regions)
	return true, nil
}

// inBreaks is the new text with the file's line break br, unless the replacement is about line
// breaks and would come to nothing.
func (e *replacer) inBreaks(br string) string {
	if new := withBreaks(e.r.New, br); new != e.r.Old {
		return new
	}
	return e.r.New
}

// check refuses what cannot be meant.
func (e *replacer) check() error {
	old, new := e.r.Old, e.r.New
	switch {
	case old == "":
		return e.refuse(CodeInvalidArguments, "old_string is empty, which would match everywhere. Give the text to replace; to write a whole file use write_file.")
	case old == new:
		return e.refuse(CodeInvalidArguments, "old_string and new_string are equal, so nothing would change.")
	case !utf8.ValidString(old) || !utf8.ValidString(new):
		return e.refuse(CodeInvalidArguments, "old_string or new_string is not valid Unicode. Send it again as UTF-8 text.")
	case e.slot.now.format.Encoding == workspace.Opaque && !(isASCII(old) && isASCII(new)):
		return opaque(e.pl.name(e.path), e.path)
	}
	return nil
}

// exact gives all places of the old text, also overlapping ones. inside says that there were only
// places that may cut a character of a multi-byte encoding, whose second byte can look like ASCII.
func (e *replacer) exact(text string) (at []int, inside bool) {
	opaque := e.slot.now.format.Encoding == workspace.Opaque
	for from := 0; ; {
		i := strings.Index(text[from:], e.r.Old)
		if i < 0 {
			return at, inside && len(at) == 0
		}
		i += from
		from = i + 1
		switch {
		case i > 0 && text[i-1] == '\r' && text[i] == '\n':
			// half of a line break: found again with line breaks as wholes
		case opaque && i > 0 && text[i-1] >= 0x80 && text[i] >= '0':
			inside = true
		default:
			at = append(at, i)
		}
	}
}

// tolerant looks line by line, with one tolerance after the other; only a unique place counts, or
// any number with replace_all when nothing but line breaks differ.
func (e *replacer) tolerant(text string) ([]region, error) {
	lines := splitLines(text)
	want := splitAny(e.r.Old)
	for _, t := range tolerances {
		places := search{lines: lines, want: want}.run(t)
		if len(places) == 0 {
			continue
		}
		starts := lineStarts(lines)
		if len(places) > 1 && !(e.r.ReplaceAll && t == tolerance{}) {
			var at []int
			for _, f := range places {
				at = append(at, starts[f.first]+f.from)
			}
			return nil, e.ambiguous(text, at, " when "+t.String()+" do not count")
		}
		var regions []region
		for _, f := range places {
			r, ok := rebuild(text, lines, starts, f, t, want, splitAny(e.r.New))
			if !ok {
				return nil, nil
			}
			if n := len(regions); n > 0 && r.start < regions[n-1].end {
				continue
			}
			regions = append(regions, r)
			e.note(fmt.Sprintf("matched at line %d after ignoring %s", f.first+1, t))
		}
		return regions, nil
	}
	return nil, nil
}

func lineStarts(lines []line) []int {
	starts := make([]int, len(lines)+1)
	for i, l := range lines {
		starts[i+1] = starts[i] + len(l.text) + len(l.eol)
	}
	return starts
}

func substitute(text string, regions []region) string {
	var b strings.Builder
	from := 0
	for _, r := range regions {
		b.WriteString(text[from:r.start])
		b.WriteString(r.new)
		from = r.end
	}
	b.WriteString(text[from:])
	return b.String()
}

// alreadyThere says that the replacement was made before: the new text stands at one place, and is
// long enough, or whole lines, so that this is no accident.
func (e *replacer) alreadyThere(text string) bool {
	want := splitAny(e.r.New)
	if blank(want) {
		return false
	}
	lines := splitLines(text)
	places := search{lines: lines, want: want}.run(tolerance{})
	if len(places) != 1 {
		return false
	}
	if len(strings.TrimSpace(e.r.New)) >= 8 || len(want) > 1 {
		return true
	}
	return strings.TrimSpace(lines[places[0].first].text) == strings.TrimSpace(e.r.New)
}

func (e *replacer) noMatch(text string) *Refusal {
	lines := splitLines(text)
	shown, at := nearest(lines, splitAny(e.r.Old))
	msg := fmt.Sprintf("old_string%s was not found in %s.", e.ordinal(), e.pl.name(e.path))
	if shown != "" {
		msg += fmt.Sprintf(" The nearest text is at line %s (see nearest; · is a space, → a tab). Copy old_string from the file exactly.", numbers(at))
	} else {
		msg += " Nothing in the file looks like it. Read the file again and copy old_string from it exactly."
	}
	return &Refusal{Code: CodeNoMatch, Path: e.path, Message: msg, Nearest: shown}
}

func (e *replacer) ambiguous(text string, at []int, how string) *Refusal {
	var lines []int
	counter := countLines(text)
	for _, i := range at[:min(len(at), maxPlaces)] {
		lines = append(lines, counter.at(i))
	}
	lines = slices.Compact(lines)
	return &Refusal{Code: CodeAmbiguous, Path: e.path, Lines: lines, Message: fmt.Sprintf(
		"old_string%s is in %s %d times%s (line %s). Add lines around it until it is unique, or set replace_all.",
		e.ordinal(), e.pl.name(e.path), len(at), how, numbers(lines))}
}

func (e *replacer) refuse(code Code, msg string) *Refusal {
	if e.of > 1 {
		msg = fmt.Sprintf("Replacement %d of %d: %s", e.number, e.of, msg)
	}
	return &Refusal{Code: code, Path: e.path, Message: msg}
}

func (e *replacer) ordinal() string {
	if e.of == 1 {
		return ""
	}
	return fmt.Sprintf(" of replacement %d of %d", e.number, e.of)
}

func (e *replacer) note(s string) {
	if e.of > 1 {
		s = fmt.Sprintf("replacement %d: %s", e.number, s)
	}
	e.pl.notes = append(e.pl.notes, s)
}

// maxPlaces bounds the places that a refusal lists.
const maxPlaces = 50

// numbers lists line numbers, the first ten.
func numbers(list []int) string {
	var out []string
	for i, n := range list {
		if i == 10 {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprint(n))
	}
	return strings.Join(out, ", ")
}
