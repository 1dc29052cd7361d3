package syntax

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/scanner"
	"go/token"
	"io"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/goccy/go-yaml"
	yamlparser "github.com/goccy/go-yaml/parser"
	"mvdan.cc/sh/v3/syntax"
)

// checkGo parses a whole file with the standard parser, all errors.
func checkGo(name, text string) []Problem {
	_, err := parser.ParseFile(token.NewFileSet(), name, text, parser.AllErrors|parser.SkipObjectResolution)
	var list scanner.ErrorList
	if !errors.As(err, &list) {
		return nil
	}
	list.RemoveMultiples() // one a line: the rest are echoes
	problems := make([]Problem, 0, len(list))
	for _, e := range list {
		problems = append(problems, Problem{e.Pos.Line, column(text, e.Pos.Line, e.Pos.Column), e.Msg})
	}
	return problems
}

// checkJSON wants exactly one JSON value.
func checkJSON(_, text string) []Problem {
	dec := json.NewDecoder(strings.NewReader(text))
	var v json.RawMessage
	err := dec.Decode(&v)
	if err == nil {
		rest := text[dec.InputOffset():]
		if trimmed := strings.TrimLeft(rest, " \t\r\n"); trimmed != "" {
			line, col := position(text, len(text)-len(trimmed))
			return []Problem{{line, col, "unexpected text after the JSON value"}}
		}
		return nil
	}
	offset, message := len(text), err.Error()
	var se *json.SyntaxError
	switch {
	case errors.As(err, &se):
		// Offset counts the bytes read, the offending one included.
		offset = int(se.Offset) - 1
		if strings.Contains(message, "unexpected end") {
			offset = len(text)
		}
	case errors.Is(err, io.EOF):
		message = "the file is empty; JSON needs a value"
	case errors.Is(err, io.ErrUnexpectedEOF):
		message = "unexpected end of JSON input"
	}
	line, col := position(text, offset)
	return []Problem{{line, col, message}}
}

// checkJSONC allows comments and trailing commas, as editors' settings and tsconfig files do.
func checkJSONC(name, text string) []Problem {
	plain := blankComments(text)
	if strings.TrimSpace(plain) == "" {
		return nil // an empty settings file is fine
	}
	return checkJSON(name, plain)
}

// blankComments replaces comments and trailing commas by spaces, so that offsets stay.
func blankComments(text string) string {
	b := []byte(text)
	comma := -1 // offset of a comma with only blanks since
	for i := 0; i < len(b); i++ {
		switch c := b[i]; {
		case c == '"':
			comma = -1
			for i++; i < len(b) && b[i] != '"' && b[i] != '\n'; i++ {
				if b[i] == '\\' {
					i++
				}
			}
		case c == '/' && i+1 < len(b) && b[i+1] == '/':
			for ; i < len(b) && b[i] != '\n'; i++ {
				b[i] = ' '
			}
		case c == '/' && i+1 < len(b) && b[i+1] == '*':
			end := strings.Index(string(b[i+2:]), "*/")
			if end < 0 {
				return string(b) // an open comment: the parser says where
			}
			for j := i; j < i+end+4; j++ {
				if b[j] != '\n' && b[j] != '\r' {
					b[j] = ' '
				}
			}
			i += end + 3
		case c == ',':
			comma = i
		case c == '}' || c == ']':
			if comma >= 0 {
				b[comma] = ' '
			}
			comma = -1
		case c != ' ' && c != '\t' && c != '\r' && c != '\n':
			comma = -1
		}
	}
	return string(b)
}

// checkYAML parses all documents; templates (Helm, Jinja) are no YAML and are left alone.
func checkYAML(_, text string) []Problem {
	if strings.Contains(text, "{{") {
		return nil
	}
	_, err := yamlparser.ParseBytes([]byte(text), 0)
	if err == nil {
		return nil
	}
	var ye yaml.Error
	if !errors.As(err, &ye) {
		return []Problem{{1, 1, err.Error()}}
	}
	p := Problem{Line: 1, Column: 1, Message: ye.GetMessage()}
	if tok := ye.GetToken(); tok != nil && tok.Position != nil {
		p.Line, p.Column = tok.Position.Line, max(tok.Position.Column, 1)
	}
	return []Problem{p}
}

// checkTOML decodes into nothing in particular.
func checkTOML(_, text string) []Problem {
	var v map[string]any
	_, err := toml.Decode(text, &v)
	var pe toml.ParseError
	if !errors.As(err, &pe) {
		return nil
	}
	line, col := position(text, pe.Position.Start)
	return []Problem{{line, col, pe.Message}}
}

// checkShell parses as bash, which accepts what sh does.
func checkShell(name, text string) []Problem {
	_, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(text), name)
	var pe syntax.ParseError
	if errors.As(err, &pe) {
		return []Problem{{int(pe.Pos.Line()), column(text, int(pe.Pos.Line()), int(pe.Pos.Col())), pe.Text}}
	}
	return nil
}
