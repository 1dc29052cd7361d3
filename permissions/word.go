package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// word is one word of a command as far as it can be known without running the shell.
type word struct {
	text   string // quotes and escapes removed, ~ expanded; glob characters as written
	static bool   // text is what the command will get (but for globs)
	glob   bool   // it has unquoted glob characters
	raw    string // as written, for messages
}

// readWord evaluates a word. What depends on variables, substitutions, braces or on which shell runs
// it is not static.
func (w *walker) readWord(sw *syntax.Word) word {
	out := word{static: true, raw: w.source(sw)}
	var text strings.Builder
	for i, part := range sw.Parts {
		switch p := part.(type) {
		case *syntax.Lit:
			lit, glob, ok := unescape(p.Value)
			if i == 0 && strings.HasPrefix(p.Value, "~") {
				lit, ok = w.tilde(lit, len(sw.Parts) == 1)
			}
			text.WriteString(lit)
			out.glob = out.glob || glob
			out.static = out.static && ok
		case *syntax.SglQuoted:
			// $'…' ends at different places for bash and for dash.
			out.static = out.static && !p.Dollar
			text.WriteString(p.Value)
		case *syntax.DblQuoted:
			s, ok := quoted(p)
			text.WriteString(s)
			out.static = out.static && ok
		default:
			out.static = false
			text.WriteString(w.source(part))
		}
	}
	out.text = text.String()
	return out
}

// tilde expands a leading ~ or ~/ to the home folder. ~user and ~+ are not known here.
func (w *walker) tilde(lit string, whole bool) (string, bool) {
	home := string(w.roots.Home())
	if home == "" || lit != "~" && !strings.HasPrefix(lit, "~/") || lit == "~" && !whole {
		return lit, false
	}
	return home + lit[1:], true
}

// unescape takes backslashes off an unquoted literal. ok is false when it may be a brace expansion,
// which some shells have and some have not.
func unescape(s string) (text string, glob, ok bool) {
	var b strings.Builder
	open, comma := false, false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			i++
			b.WriteByte(s[i])
			continue
		case c == '*' || c == '?' || c == '[' && strings.IndexByte(s[i:], ']') > 0:
			glob = true
		case c == '{':
			open = true
		case open && (c == ',' || strings.HasPrefix(s[i:], "..")):
			comma = true
		}
		b.WriteByte(s[i])
	}
	return b.String(), glob, !comma
}

// quoted evaluates a double-quoted string; ok is false when something in it is only known at run time.
func quoted(q *syntax.DblQuoted) (text string, ok bool) {
	var b strings.Builder
	ok = !q.Dollar
	for _, part := range q.Parts {
		lit, isLit := part.(*syntax.Lit)
		if !isLit {
			ok = false
			continue
		}
		for i := 0; i < len(lit.Value); i++ {
			if lit.Value[i] == '\\' && i+1 < len(lit.Value) && strings.IndexByte("$`\"\\", lit.Value[i+1]) >= 0 {
				i++
			}
			b.WriteByte(lit.Value[i])
		}
	}
	return b.String(), ok
}

// special reports $?, $#, $$ and $!, which are only ever numbers.
func special(sw *syntax.Word) bool {
	if len(sw.Parts) != 1 {
		return false
	}
	part := sw.Parts[0]
	if q, ok := part.(*syntax.DblQuoted); ok && len(q.Parts) == 1 {
		part = q.Parts[0]
	}
	p, ok := part.(*syntax.ParamExp)
	return ok && p.Short && p.Param != nil && strings.Contains("?#$!", p.Param.Value)
}

// literal makes a static word.
func literal(s string) word { return word{text: s, static: true, raw: s} }

func texts(words []word) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = w.text
		if !w.static {
			out[i] = w.raw
		}
	}
	return out
}
