package tool

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// maxTitle bounds a title, in bytes; a command in it is cut with a mark that says how much is missing.
const maxTitle = 1000

// shown is a path in a title: below the session's cwd, and with what the user should know of it.
func shown(env *Env, p workspace.Path) string {
	s := plain(p.Rel(env.Files.Roots.Cwd()))
	if gitIgnores(env.Files.Roots, p) {
		s += " (ignored by git)"
	}
	return s
}

// plain makes what does not print, or turns the reading direction, visible: a title is what the user
// decides by, and must not be able to hide anything.
func plain(s string) string {
	if strings.IndexFunc(s, func(c rune) bool { return !unicode.IsGraphic(c) || c == unicode.ReplacementChar }) < 0 {
		return s
	}
	var b strings.Builder
	for _, c := range s {
		switch {
		case c == '\n':
			b.WriteString(" ⏎ ")
		case c == '\t':
			b.WriteByte(' ')
		case unicode.IsGraphic(c):
			b.WriteRune(c)
		default:
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(c), "'"))
		}
	}
	return b.String()
}

// code puts a command into backticks that its own backticks do not end.
func code(line string) string {
	line = plain(strings.TrimSpace(line))
	if len(line) > maxTitle {
		cut := strings.ToValidUTF8(line[:maxTitle], "")
		line = fmt.Sprintf("%s… (+%d characters)", cut, len([]rune(line[len(cut):])))
	}
	switch {
	case !strings.Contains(line, "`"):
		return "`" + line + "`"
	case strings.Contains(line, "``"):
		return "``` " + line + " ```"
	}
	return "`` " + line + " ``"
}

// EditTitle says what changes would do, alone enough to decide by: `Edit src/app.go (+3 −1)`. more
// joins the counts in the parentheses ("+2 errors"), for what becomes known later.
func EditTitle(env *Env, changes []edits.Change, more ...string) string {
	added, removed := (&edits.Proposal{Changes: changes}).Counts()
	counts := parenthesis(append([]string{fmt.Sprintf("+%d −%d", added, removed)}, more...))
	title := ""
	if len(changes) == 1 {
		title = fileTitle(env, changes[0], counts, parenthesis(more))
	} else {
		names := make([]string, len(changes))
		for i, c := range changes {
			names[i] = operation(c.Op) + shown(env, c.Path)
			if c.Op == edits.Move {
				names[i] += " to " + shown(env, c.To)
			}
		}
		title = fmt.Sprintf("Edit %d files%s: %s", len(changes), counts, strings.Join(names, ", "))
	}
	for _, why := range routes(changes) {
		title += ", " + why
	}
	return title
}

// fileTitle is the title for a single file. Where the whole file comes or goes, counting its lines
// tells nothing.
func fileTitle(env *Env, c edits.Change, counts, more string) string {
	name := shown(env, c.Path)
	if c.Link && c.Real != c.Path {
		name += " (link to " + plain(c.Real.Rel(env.Files.Roots.Cwd())) + ")"
	}
	switch {
	case c.Op == edits.Create:
		return "Create " + name + more
	case c.Op == edits.Delete:
		return "Delete " + name + more
	case c.Op == edits.Move && c.OldText == c.NewText:
		return "Move " + name + " to " + shown(env, c.To) + more
	case c.Op == edits.Move:
		return "Move " + name + " to " + shown(env, c.To) + counts
	}
	return "Edit " + name + counts
}

func parenthesis(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return " (" + strings.Join(list, ", ") + ")"
}

// operation marks a file of several that is not simply edited.
func operation(op edits.Op) string {
	switch op {
	case edits.Create:
		return "create "
	case edits.Delete:
		return "delete "
	case edits.Move:
		return "move "
	}
	return ""
}

// routes are the reasons why files are written to the disk although the editor offers writing, each once.
func routes(changes []edits.Change) []string {
	var out []string
	seen := map[string]bool{"": true}
	for _, c := range changes {
		if !seen[c.RouteWhy] {
			seen[c.RouteWhy] = true
			out = append(out, c.RouteWhy)
		}
	}
	return out
}

// editLocations are the first changed lines of a proposal's files.
func editLocations(p *edits.Proposal) []Location {
	var out []Location
	for _, c := range p.Changes {
		l := Location{Path: c.Target()}
		if c.Op != edits.Delete {
			l.Line = c.FirstChangedLine()
		}
		out = append(out, l)
	}
	return out
}
