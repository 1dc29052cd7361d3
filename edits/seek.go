package edits

import (
	"fmt"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// tolerance is how two lines may differ and still match. Exact is always tried first; the others only
// when exact finds nothing, and only where one place alone fits.
type tolerance int

const (
	exact tolerance = iota
	trailingSpace
	uniformIndent
	punctuation
	tolerances // how many there are
)

func (t tolerance) String() string {
	return [...]string{"exactly", "after ignoring trailing spaces", "after shifting the indentation", "after treating look-alike quotes, dashes and spaces as ASCII"}[t]
}

// place is where a hunk matches: lines[at : at+n], and the indentation to add to (or, when cut, take
// from) the hunk's own lines.
type place struct {
	at     int
	indent string
	cut    bool
}

// applied is a changed region of the file's lines.
type applied struct{ from, to int }

// applyHunks gives the text after all hunks. Hunks come in any order and must not overlap. The
// file's own bytes are kept for context lines, each added line takes the line break of its
// neighbourhood, and the final newline stays as it was (cases G-E01, G-E03).
func applyHunks(path workspace.Path, text string, hunks []hunk) (string, []string, *Refusal) {
	lines := splitText(text)
	type edit struct {
		applied
		out []textLine
	}
	var edits []edit
	var regions []applied
	var notes []string
	cursor, done := 0, 0
	for i, h := range hunks {
		pl, tol, r := findHunk(path, lines, h, i+1, cursor, regions)
		if r != nil && r.Code == CodeAlreadyApplied {
			done++
			continue
		}
		if r != nil {
			return "", nil, r
		}
		n := len(oldLines(h))
		region := applied{pl.at, pl.at + n}
		regions = append(regions, region)
		cursor = region.to
		if tol != exact {
			notes = append(notes, fmt.Sprintf("hunk %d matched at line %d %s", i+1, pl.at+1, tol))
		}
		edits = append(edits, edit{region, render(lines, h, pl)})
	}
	if done == len(hunks) {
		return "", nil, &Refusal{Code: CodeAlreadyApplied, Path: path, Message: fmt.Sprintf("%s already is as the patch wants it; nothing was changed", path)}
	}
	if done > 0 {
		return "", nil, &Refusal{Code: CodeNoMatch, Path: path, Message: fmt.Sprintf("%s: %d of %d hunks are in the file already; read it and send only what is still missing", path, done, len(hunks))}
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var out []textLine
	next := 0
	for _, e := range edits {
		out = append(out, lines[next:e.from]...)
		out = append(out, e.out...)
		next = e.to
	}
	out = append(out, lines[next:]...)
	return joinText(finish(lines, out)), notes, nil
}

// finish gives every line but the last its line break, and the last what the file had.
func finish(before, after []textLine) []textLine {
	eol := commonEOL(before)
	final := len(before) == 0 || before[len(before)-1].eol != ""
	for i := range after {
		switch {
		case i < len(after)-1 && after[i].eol == "":
			after[i].eol = eol
		case i == len(after)-1 && final && after[i].eol == "":
			after[i].eol = eol
		case i == len(after)-1 && !final:
			after[i].eol = ""
		}
	}
	return after
}

// render gives the lines that replace a hunk's region.
func render(lines []textLine, h hunk, pl place) []textLine {
	eol := commonEOL(lines)
	if near := max(pl.at-1, 0); near < len(lines) && lines[near].eol != "" {
		eol = lines[near].eol
	}
	var out []textLine
	at := pl.at
	for _, l := range h.lines {
		switch l.op {
		case ' ':
			out = append(out, lines[at])
			at++
		case '-':
			at++
		case '+':
			text := l.text
			if eol == "\r\n" {
				text = strings.TrimSuffix(text, "\r")
			}
			out = append(out, textLine{pl.shift(text), eol})
		}
	}
	return out
}

// shift moves a line's indentation as the match was moved.
func (pl place) shift(text string) string {
	switch {
	case pl.indent == "" || strings.TrimSpace(text) == "":
		return text
	case pl.cut:
		return strings.TrimPrefix(text, pl.indent)
	}
	return pl.indent + text
}

func oldLines(h hunk) []string {
	var list []string
	for _, l := range h.lines {
		if l.op != '+' {
			list = append(list, l.text)
		}
	}
	return list
}

func newLines(h hunk) []string {
	var list []string
	for _, l := range h.lines {
		if l.op != '-' {
			list = append(list, l.text)
		}
	}
	return list
}

// findHunk says where a hunk belongs. n is its number, cursor the line after the hunk before it.
func findHunk(path workspace.Path, lines []textLine, h hunk, n, cursor int, taken []applied) (place, tolerance, *Refusal) {
	old := oldLines(h)
	anchor, r := seekAnchors(path, lines, h, n, cursor)
	if r != nil {
		return place{}, exact, r
	}
	if len(old) == 0 {
		return insertion(path, lines, h, n, anchor, taken)
	}
	for tol := exact; tol < tolerances; tol++ {
		all := matches(lines, old, tol, h.eof)
		free := slices.DeleteFunc(slices.Clone(all), func(p place) bool { return overlaps(p.at, p.at+len(old), taken) })
		if len(all) > 0 && len(free) == 0 {
			return place{}, tol, refuseHunk(CodeInvalidPatch, path, n, "it overlaps the place of an earlier hunk (line %d); join the two", all[0].at+1)
		}
		if len(free) == 0 {
			continue
		}
		if p, ok := choose(free, anchor, tol); ok {
			return p, tol, nil
		}
		if len(free) == 1 {
			return place{}, tol, refuseHunk(CodeNoMatch, path, n, "its lines are found at line %d only, before its anchor (line %d); correct the anchor or leave it out", free[0].at+1, anchor.start+1)
		}
		r := refuseHunk(CodeAmbiguous, path, n, "its lines are found at %d places (lines %s); add context lines or an @@ anchor", len(free), lineList(free))
		for _, p := range free {
			r.Lines = append(r.Lines, p.at+1)
		}
		return place{}, tol, r
	}
	if added := newLines(h); len(added) > 0 && len(matches(lines, added, exact, h.eof)) == 1 && hasChange(h) {
		return place{}, exact, &Refusal{Code: CodeAlreadyApplied, Path: path}
	}
	r = refuseHunk(CodeNoMatch, path, n, "its old lines are not in the file; read the file again and copy the lines exactly")
	r.Nearest = nearest(lines, old)
	return place{}, exact, r
}

// anchorPlace is what the anchors of a hunk say: the search begins at line start. Without anchors it is
// the end of the hunk before.
type anchorPlace struct {
	start int
	given bool
	alone bool // the innermost anchor names one line only
}

// choose takes the one place, or with an anchor the first behind it, or without one the only place
// behind the hunk before. A tolerant match must be the only one in the file.
func choose(free []place, a anchorPlace, tol tolerance) (place, bool) {
	after := slices.DeleteFunc(slices.Clone(free), func(p place) bool { return p.at < a.start })
	switch {
	case len(free) == 1:
		return free[0], !a.given || len(after) == 1
	case tol != exact || len(after) == 0:
		return place{}, false
	case a.given && a.alone:
		return after[0], true
	}
	return after[0], len(after) == 1 && a.start > 0
}

// insertion places a hunk of added lines alone: behind its anchor, or at the end of the file.
func insertion(path workspace.Path, lines []textLine, h hunk, n int, a anchorPlace, taken []applied) (place, tolerance, *Refusal) {
	p := place{at: len(lines)}
	switch {
	case h.eof || len(lines) == 0:
	case a.given:
		p.at = a.start + 1
	default:
		return p, exact, refuseHunk(CodeInvalidPatch, path, n, "it only adds lines and does not say where: give context lines, an @@ anchor, or %q", eofMark)
	}
	if overlaps(p.at, p.at, taken) {
		return p, exact, refuseHunk(CodeInvalidPatch, path, n, "it adds lines inside the place of an earlier hunk (line %d); join the two", p.at+1)
	}
	return p, exact, nil
}

// seekAnchors finds the innermost anchor's line. A hunk that repeats it as its first context line
// matches too.
func seekAnchors(path workspace.Path, lines []textLine, h hunk, n, cursor int) (anchorPlace, *Refusal) {
	a := anchorPlace{start: cursor}
	from := 0
	for i, anchor := range h.anchors {
		at := seekAnchor(lines, anchor, from, cursor)
		last := i == len(h.anchors)-1
		switch {
		case len(at) == 0:
			r := refuseHunk(CodeNoMatch, path, n, "its anchor %q is not in the file; use a line of the file, or leave the anchor out", clip(anchor))
			r.Nearest = nearest(lines, []string{anchor})
			return a, r
		case len(at) > 1 && last && len(oldLines(h)) == 0:
			r := refuseHunk(CodeAmbiguous, path, n, "its anchor %q is found at lines %v; add a context line", clip(anchor), oneBased(at))
			r.Lines = oneBased(at)
			return a, r
		}
		a = anchorPlace{start: at[0], given: true, alone: len(at) == 1 || i > 0}
		from = at[0] + 1
	}
	return a, nil
}

// seekAnchor lists the lines that an anchor names, those after the cursor first: equal lines, else equal
// but for white space around them, else lines that begin with it, else that contain it.
func seekAnchor(lines []textLine, anchor string, from, cursor int) []int {
	anchor = strings.TrimSpace(anchor)
	for _, fits := range []func(line string) bool{
		func(l string) bool { return strings.TrimSpace(l) == anchor },
		func(l string) bool { return strings.HasPrefix(strings.TrimSpace(l), anchor) },
		func(l string) bool { return strings.Contains(l, anchor) },
	} {
		var before, after []int
		for i := from; i < len(lines); i++ {
			if !fits(lines[i].text) {
				continue
			}
			if i >= cursor {
				after = append(after, i)
			} else {
				before = append(before, i)
			}
		}
		if found := append(after, before...); len(found) > 0 {
			return found
		}
	}
	return nil
}

func overlaps(from, to int, taken []applied) bool {
	for _, t := range taken {
		if from < t.to && t.from < to {
			return true
		}
	}
	return false
}

func hasChange(h hunk) bool {
	return slices.ContainsFunc(h.lines, func(l hunkLine) bool { return l.op != ' ' })
}

func refuseHunk(code Code, path workspace.Path, n int, format string, args ...any) *Refusal {
	return &Refusal{Code: code, Path: path, Hunk: n, Message: fmt.Sprintf("%s: hunk %d: ", path, n) + fmt.Sprintf(format, args...)}
}

func oneBased(list []int) []int {
	out := make([]int, len(list))
	for i, n := range list {
		out[i] = n + 1
	}
	slices.Sort(out)
	return out
}

func lineList(places []place) string {
	var list []string
	for i, p := range places {
		if i == 10 {
			return strings.Join(list, ", ") + ", …"
		}
		list = append(list, fmt.Sprint(p.at+1))
	}
	return strings.Join(list, ", ")
}
