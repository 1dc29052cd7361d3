package config

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"reflect"
	"runtime"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// Problem is one fault of a configuration file.
type Problem struct {
	File    string
	Line    int // 1-based; 0 when the fault has no place
	Column  int
	Message string
}

// Error is "file:line:column: message", the form that editors and terminals make clickable.
func (p *Problem) Error() string {
	if p.Line == 0 {
		return p.File + ": " + p.Message
	}
	return fmt.Sprintf("%s:%d:%d: %s", p.File, p.Line, p.Column, p.Message)
}

// Load reads <home>/config.yaml over the defaults; a missing file is Default. An error has the
// file's name, line and, for an unknown key, the nearest known one; several faults are joined, each
// a [Problem].
func Load(h Home) (Config, error) {
	name := string(h.ConfigFile())
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Default(), nil
	}
	if err != nil {
		return Config{}, err
	}
	c, err := Parse(name, data)
	if err != nil {
		return Config{}, err
	}
	if w := exposedKey(name, c); w != "" {
		c.Warnings = append(c.Warnings, w)
	}
	return c, nil
}

// exposedKey warns of an API key in a file that other users can read.
func exposedKey(name string, c Config) string {
	info, err := os.Stat(name)
	if err != nil || runtime.GOOS == "windows" || info.Mode().Perm()&0o077 == 0 {
		return ""
	}
	for id, p := range c.Providers {
		if p.APIKey != "" {
			return fmt.Sprintf("%s holds the api_key of provider %s and is readable by others (mode %04o): chmod 600 it, or use api_key_env", name, id, info.Mode().Perm())
		}
	}
	return ""
}

// Parse reads config.yaml's content over the defaults; name is for messages.
func Parse(name string, data []byte) (c Config, err error) {
	defer func() {
		// The YAML library panics on some broken files; the user wrote one and is told so.
		if p := recover(); p != nil {
			c, err = Config{}, &Problem{File: name, Message: fmt.Sprintf("the file is not YAML that can be read (%v)", p)}
		}
	}()
	body, err := parseBody(name, data)
	if err != nil {
		return Config{}, err
	}
	c = Default()
	if body == nil {
		return c, nil
	}
	w := &walker{file: name, at: map[string]*ast.MappingValueNode{}}
	w.mapping(body, reflect.TypeFor[Config](), "")
	if len(w.problems) > 0 {
		return Config{}, errors.Join(w.problems...)
	}
	// What the walk cannot see (keys behind aliases and merge keys) the strict decoder refuses.
	if err := yaml.NodeToValue(body, &c, yaml.DisallowUnknownField()); err != nil {
		return Config{}, yamlProblem(name, err)
	}
	c.Warnings = w.warnings
	if w.excludeAll {
		c.LSP.ExcludeRoots = []string{"**"}
	}
	if w.timeoutMS != nil {
		c.LSP.WaitTimeout = *w.timeoutMS / 1000
	}
	for id, s := range c.LSP.Servers {
		if len(s.Command) > 0 && len(s.Args) > 0 {
			s.Command, s.Args = append(s.Command, s.Args...), nil
			c.LSP.Servers[id] = s
		}
	}
	if v := (&validator{walker: w}); !v.check(&c) {
		return Config{}, errors.Join(w.problems...)
	}
	return c, nil
}

// parseBody gives the one mapping of the file; nil when it holds nothing but comments.
func parseBody(name string, data []byte) (*ast.MappingNode, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")) // Windows editors put a BOM in front
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, yamlProblem(name, err)
	}
	var body *ast.MappingNode
	for _, doc := range file.Docs {
		switch b := doc.Body.(type) {
		case nil, *ast.NullNode:
		case *ast.CommentGroupNode:
		case *ast.MappingNode:
			if body != nil {
				return nil, problemAt(name, b, "a second document; the configuration is one document")
			}
			body = b
		default:
			return nil, problemAt(name, b, "the file must be a mapping of sections, for example \"model: ollama/qwen3-coder\"")
		}
	}
	return body, nil
}

func yamlProblem(name string, err error) error {
	var e yaml.Error
	if !errors.As(err, &e) {
		return &Problem{File: name, Message: err.Error()}
	}
	p := &Problem{File: name, Message: strings.TrimSpace(e.GetMessage())}
	if tk := e.GetToken(); tk != nil && tk.Position != nil {
		p.Line, p.Column = tk.Position.Line, tk.Position.Column
	}
	return p
}

func problemAt(name string, n ast.Node, format string, args ...any) *Problem {
	p := &Problem{File: name, Message: fmt.Sprintf(format, args...)}
	if n != nil && n.GetToken() != nil && n.GetToken().Position != nil {
		p.Line, p.Column = n.GetToken().Position.Line, n.GetToken().Position.Column
	}
	return p
}
