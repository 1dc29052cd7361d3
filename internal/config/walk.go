package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode"

	"github.com/goccy/go-yaml/ast"
)

// walker checks the file's tree against the Go types before it is decoded: the decoder would accept
// a fraction for a whole number and can name no nearest key. It also turns the JSON-style spellings
// into ours (requirement T7), drops empty values, and remembers where each key stands.
type walker struct {
	file       string
	at         map[string]*ast.MappingValueNode // by path, "lsp.severity"
	problems   []error
	warnings   []string
	excludeAll bool
	timeoutMS  *float64
}

func (w *walker) fail(n ast.Node, format string, args ...any) {
	w.problems = append(w.problems, problemAt(w.file, n, format, args...))
}

// mapping walks one section; t is its struct type.
func (w *walker) mapping(m *ast.MappingNode, t reflect.Type, path string) {
	fields := fieldsOf(t)
	kept := m.Values[:0]
	for _, mv := range m.Values {
		key, ok := mv.Key.(*ast.StringNode)
		if !ok {
			kept = append(kept, mv) // merge keys and the like: the strict decoder judges them
			continue
		}
		if w.special(mv, key.Value, path) {
			continue
		}
		name := key.Value
		if strings.HasPrefix(path, "lsp") {
			name = snake(name)
		}
		ft, known := fields[name]
		if !known {
			w.fail(key, "unknown key %q%s; %s", key.Value, in(path), nearest(key.Value, path, fields))
			continue
		}
		full := join(path, name)
		if _, twice := w.at[full]; twice {
			w.fail(key, "%q is given twice%s (%q is the same key)", name, in(path), key.Value)
			continue
		}
		w.at[full] = mv
		key.Value = name
		if _, null := mv.Value.(*ast.NullNode); null {
			continue // "lsp:" with everything below it commented out means the defaults
		}
		w.value(mv, ft, full)
		kept = append(kept, mv)
	}
	m.Values = kept
}

// special takes the keys that have no field of their own form. It reports whether mv is done with.
func (w *walker) special(mv *ast.MappingValueNode, key, path string) bool {
	switch join(path, key) {
	case "lsp.diagnosticsTimeoutMs":
		if _, twice := w.at["lsp.wait_timeout"]; twice {
			w.fail(mv.Key, "diagnosticsTimeoutMs and wait_timeout are the same setting; keep one")
		}
		w.at["lsp.wait_timeout"] = mv
		if ms, ok := number(mv.Value); ok {
			w.timeoutMS = &ms
		} else {
			w.fail(mv.Value, "lsp.diagnosticsTimeoutMs wants milliseconds, found %s", kindOf(mv.Value))
		}
		return true
	case "lsp.exclude_roots", "lsp.excludeRoots":
		if isStringList(mv.Value) {
			return false
		}
		// A rule that keeps folders out must not be lost by a slip of the pen.
		w.excludeAll = true
		p := problemAt(w.file, mv.Value, "lsp.exclude_roots wants a list of globs, found %s: every root is excluded until this is mended", kindOf(mv.Value))
		w.warnings = append(w.warnings, p.Error())
		return true
	}
	return false
}

// value checks one value against the type that it will be decoded into.
func (w *walker) value(mv *ast.MappingValueNode, t reflect.Type, path string) {
	n := bare(mv.Value)
	if n == nil {
		return // an alias: the strict decoder judges it
	}
	switch t.Kind() {
	case reflect.Pointer:
		w.value(mv, t.Elem(), path)
	case reflect.Struct:
		if m, ok := n.(*ast.MappingNode); ok {
			w.mapping(m, t, path)
		} else {
			w.fail(n, "%s is a section with keys below it, found %s", path, kindOf(n))
		}
	case reflect.Map:
		w.table(n, t.Elem(), path)
	case reflect.Slice:
		w.list(mv, n, t.Elem(), path)
	default:
		if want := scalarFault(n, t.Kind()); want != "" {
			w.fail(n, "%s wants %s, found %s", path, want, kindOf(n))
		}
	}
}

// table checks a mapping whose keys are the user's own.
func (w *walker) table(n ast.Node, elem reflect.Type, path string) {
	m, ok := n.(*ast.MappingNode)
	if !ok {
		w.fail(n, "%s is a mapping of names, found %s", path, kindOf(n))
		return
	}
	for _, mv := range m.Values {
		full := join(path, keyText(mv.Key))
		w.at[full] = mv
		switch {
		case elem.Kind() == reflect.Struct:
			if _, null := mv.Value.(*ast.NullNode); !null {
				w.value(mv, elem, full)
			}
		case elem.Kind() == reflect.String && !isScalar(bare(mv.Value)):
			w.fail(mv.Value, "%s wants text, found %s", full, kindOf(mv.Value))
		}
	}
}

func (w *walker) list(mv *ast.MappingValueNode, n ast.Node, elem reflect.Type, path string) {
	seq, ok := n.(*ast.SequenceNode)
	if !ok && strings.HasSuffix(path, ".command") && isScalar(n) {
		// JSON-style entries give the command as one word with its args beside it.
		seq = ast.Sequence(n.GetToken(), true)
		seq.Values = []ast.Node{n}
		mv.Value = seq
	} else if !ok {
		w.fail(n, "%s wants a list, found %s", path, kindOf(n))
		return
	}
	for _, v := range seq.Values {
		if v = bare(v); v == nil {
			continue
		}
		if want := scalarFault(v, elem.Kind()); want != "" {
			w.fail(v, "%s wants a list of %s, found %s in it", path, strings.TrimPrefix(want, "a "), kindOf(v))
		}
	}
}

// scalarFault says what a value of kind k should have been; "" when n fits.
func scalarFault(n ast.Node, k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		if _, ok := n.(*ast.BoolNode); !ok {
			return "true or false"
		}
	case reflect.Int, reflect.Int64:
		if _, ok := n.(*ast.IntegerNode); !ok {
			return "a whole number"
		}
	case reflect.Float64:
		if _, ok := number(n); !ok {
			return "a number"
		}
	case reflect.String:
		if !isScalar(n) {
			return "text"
		}
	}
	return ""
}

func number(n ast.Node) (float64, bool) {
	switch v := n.(type) {
	case *ast.FloatNode:
		return v.Value, true
	case *ast.IntegerNode:
		switch i := v.Value.(type) {
		case int64:
			return float64(i), true
		case uint64:
			return float64(i), true
		}
	}
	return 0, false
}

func isScalar(n ast.Node) bool {
	switch n.(type) {
	case *ast.StringNode, *ast.LiteralNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode:
		return true
	}
	return false
}

func isStringList(n ast.Node) bool {
	seq, ok := bare(n).(*ast.SequenceNode)
	return ok && !slices.ContainsFunc(seq.Values, func(v ast.Node) bool {
		_, text := bare(v).(*ast.StringNode)
		return !text
	})
}

// bare takes anchors and tags off a node; nil for an alias.
func bare(n ast.Node) ast.Node {
	for {
		switch v := n.(type) {
		case *ast.AnchorNode:
			n = v.Value
		case *ast.TagNode:
			n = v.Value
		case *ast.AliasNode:
			return nil
		default:
			return n
		}
	}
}

func keyText(k ast.MapKeyNode) string {
	if s, ok := k.(*ast.StringNode); ok {
		return s.Value
	}
	return k.String()
}

func kindOf(n ast.Node) string {
	switch v := n.(type) {
	case *ast.MappingNode:
		return "a mapping"
	case *ast.SequenceNode:
		return "a list"
	case *ast.NullNode:
		return "nothing"
	case *ast.StringNode:
		return fmt.Sprintf("the text %q", v.Value)
	default:
		return strings.TrimSpace(n.String())
	}
}

// fieldsOf maps the yaml names of a struct's fields to their types.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	fields := map[string]reflect.Type{}
	for f := range t.Fields() {
		if name := f.Tag.Get("yaml"); name != "" && name != "-" {
			fields[name] = f.Type
		}
	}
	return fields
}

// snake turns rootMarkers into root_markers.
func snake(s string) string {
	var b strings.Builder
	for i, r := range s {
		if unicode.IsUpper(r) && i > 0 {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}

func join(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

func in(path string) string {
	if path == "" {
		return ""
	}
	return " in " + path
}
