package permissions

import (
	"fmt"
	"slices"
	"strings"
	"unicode"

	"mvdan.cc/sh/v3/syntax"

	"acp-agent/internal/workspace"
)

// part is one simple command of a line, a wrapper such as env included, with all that bears on it.
type part struct {
	argv    []word
	assigns []assign
	redirs  []redirect
	cwds    []workspace.Path // where it may run; more than one after a cd that may fail
	piped   bool             // its input comes from a pipe, a here-document or a file
	wrapper bool             // it only starts the next part
	more    bool             // unknown further arguments are appended (xargs)
	opaque  []string         // why it cannot be judged by its words
}

type assign struct {
	name  string
	value word
}

// redirect is a file that a command reads or writes by <, > and kin.
type redirect struct {
	target word
	write  bool
}

// line is a command line taken apart.
type line struct {
	parts  []part
	simple bool // the whole line is one plain command: no redirection, substitution, assignment or wrapper
}

// maxLine bounds what is parsed: nobody decides on a longer command by reading it.
const maxLine = 32 << 10

// maxParts bounds the commands of a line, each of which is looked up on disk.
const maxParts = 200

// maxDepth bounds sh -c inside sh -c.
const maxDepth = 6

// parseLine takes a command line apart. An error says why it is not understood.
func parseLine(text string, cwd workspace.Path, roots *workspace.Roots) (line, error) {
	w := &walker{roots: roots, cwds: []workspace.Path{cwd}}
	if err := w.script(text); err != nil {
		return line{}, err
	}
	if len(w.parts) > maxParts {
		return line{}, fmt.Errorf("it has more than %d commands", maxParts)
	}
	l := line{parts: w.parts}
	l.simple = w.plain && len(w.parts) == 1 && !w.parts[0].wrapper && len(w.parts[0].opaque) == 0
	return l, nil
}

// walker collects the parts of a line.
type walker struct {
	roots *workspace.Roots
	src   string
	cwds  []workspace.Path // where the next command may run
	ok    []workspace.Path // the same when the last statement succeeded
	parts []part
	depth int
	loops int
	plain bool // the outermost script is one statement of one plain call
}

// script parses and walks one script: the line itself, or the string of sh -c and eval.
func (w *walker) script(text string) error {
	if w.depth >= maxDepth {
		return fmt.Errorf("shells are nested more than %d deep", maxDepth)
	}
	if len(text) > maxLine {
		return fmt.Errorf("the command is longer than %d bytes", maxLine)
	}
	if i := strings.IndexFunc(text, unreadable); i >= 0 {
		return fmt.Errorf("the command has an invisible or control character at byte %d", i)
	}
	if windowsShell && strings.ContainsFunc(text, notPlainOnWindows) {
		return fmt.Errorf("the command has characters that the shells of this system read in different ways")
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), "")
	if err != nil {
		return fmt.Errorf("it cannot be parsed: %w", err)
	}
	outer := w.src
	w.src = text
	if w.depth == 0 {
		w.plain = len(file.Stmts) == 1 && plainStmt(file.Stmts[0])
	}
	w.depth++
	w.stmts(file.Stmts, false)
	w.depth--
	w.src = outer
	return nil
}

// unreadable characters hide what a command does from the person who is asked about it.
func unreadable(r rune) bool {
	return unicode.IsControl(r) && r != '\n' && r != '\t' || unicode.Is(unicode.Cf, r) || r == unicode.ReplacementChar ||
		unicode.IsSpace(r) && r > unicode.MaxASCII
}

// plainStmt says whether a statement is a call and nothing else.
func plainStmt(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if !ok || s.Negated || s.Background || s.Coprocess || s.Disown || len(s.Redirs) > 0 || len(call.Assigns) > 0 {
		return false
	}
	plain := true
	syntax.Walk(call, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst, *syntax.ParamExp, *syntax.ArithmExp, *syntax.ExtGlob:
			plain = false
		}
		return plain
	})
	return plain
}

func (w *walker) source(n syntax.Node) string {
	from, to := int(n.Pos().Offset()), int(n.End().Offset())
	if from > to || to > len(w.src) {
		return "…"
	}
	return w.src[from:to]
}

func (w *walker) stmts(list []*syntax.Stmt, piped bool) {
	for _, s := range list {
		w.stmt(s, piped)
	}
}

func (w *walker) stmt(s *syntax.Stmt, piped bool) {
	w.ok = nil
	w.oneStmt(s, piped)
	if w.ok == nil || s.Negated || s.Background {
		w.ok = w.cwds
	}
}

func (w *walker) oneStmt(s *syntax.Stmt, piped bool) {
	p := part{cwds: slices.Clone(w.cwds), piped: piped}
	if s.Coprocess || s.Disown {
		p.opaque = append(p.opaque, "it uses a coprocess or disowns a job")
	}
	for _, r := range s.Redirs {
		w.redirect(&p, r)
	}
	switch cmd := s.Cmd.(type) {
	case nil:
		w.add(p)
	case *syntax.CallExpr:
		w.call(p, cmd)
	case *syntax.DeclClause:
		w.declare(p, cmd)
	default:
		if len(p.redirs) > 0 || len(p.opaque) > 0 {
			p.wrapper = true
			w.add(p) // the redirections of a group are judged on their own
		}
		w.compound(s.Cmd, p.piped)
	}
}

// compound walks commands that hold other commands.
func (w *walker) compound(cmd syntax.Command, piped bool) {
	switch c := cmd.(type) {
	case *syntax.BinaryCmd:
		w.binary(c, piped)
	case *syntax.Block:
		w.stmts(c.Stmts, piped)
	case *syntax.Subshell:
		w.stmts(c.Stmts, piped)
	case *syntax.IfClause:
		for clause := c; clause != nil; clause = clause.Else {
			w.stmts(clause.Cond, piped)
			w.stmts(clause.Then, piped)
		}
	case *syntax.WhileClause:
		w.loops++
		w.stmts(c.Cond, piped)
		w.stmts(c.Do, piped)
		w.loops--
	case *syntax.ForClause:
		iter, ok := c.Loop.(*syntax.WordIter)
		if !ok || c.Select {
			w.opaque(cmd, "this kind of loop is not understood")
			return
		}
		w.words(iter.Items)
		w.loops++
		w.stmts(c.Do, piped)
		w.loops--
	case *syntax.CaseClause:
		w.substitutions(c.Word)
		for _, item := range c.Items {
			for _, pattern := range item.Patterns {
				w.substitutions(pattern)
			}
			w.stmts(item.Stmts, piped)
		}
	case *syntax.TimeClause:
		if c.Stmt != nil {
			w.stmt(c.Stmt, piped)
		}
	default:
		w.opaque(cmd, "it uses shell syntax whose effect is not known before it runs")
	}
}

// binary walks pipes and lists. Behind "cd x &&" the folder before is no longer possible.
func (w *walker) binary(c *syntax.BinaryCmd, piped bool) {
	w.stmt(c.X, piped)
	if c.Op != syntax.AndStmt {
		w.stmt(c.Y, piped || c.Op == syntax.Pipe || c.Op == syntax.PipeAll)
		w.ok = w.cwds
		return
	}
	before := w.cwds
	w.cwds = slices.Clone(w.ok)
	w.stmt(c.Y, piped)
	ok := w.ok
	for _, cwd := range before {
		if !slices.Contains(w.cwds, cwd) {
			w.cwds = append(w.cwds, cwd)
		}
	}
	w.ok = ok
}

// opaque adds a part that cannot be understood, after the commands that can be seen inside it.
func (w *walker) opaque(n syntax.Node, why string) {
	w.substitutions(n)
	w.add(part{argv: []word{{text: w.source(n), raw: w.source(n)}}, cwds: slices.Clone(w.cwds), opaque: []string{why}})
}

func (w *walker) add(p part) { w.parts = append(w.parts, p) }

// words reads words that are data of the shell's own (the list of a for loop).
func (w *walker) words(list []*syntax.Word) {
	for _, sw := range list {
		w.substitutions(sw)
	}
}

// substitutions walks the commands inside a node's $(…), `…`, <(…) and >(…).
func (w *walker) substitutions(n syntax.Node) {
	if n == nil {
		return
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch s := n.(type) {
		case *syntax.CmdSubst:
			w.stmts(s.Stmts, false)
			return false
		case *syntax.ProcSubst:
			w.stmts(s.Stmts, true)
			return false
		case *syntax.Stmt: // of a function or another thing that is opaque as a whole
			w.stmt(s, false)
			return false
		}
		return true
	})
}
