package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"acp-agent/internal/workspace"
)

// aliases are field names that models send instead of ours.
var aliases = map[string]string{
	"file_path": "path", "old_text": "old_string", "new_text": "new_string", "old_str": "old_string",
	"new_str": "new_string", "diff": "patch", "input": "patch",
}

// arguments read the fields of one call. They are strict about what must be there and kind about how
// it is written: numbers and booleans may be strings, fields that nobody reads are ignored. Problems
// are collected, so that the model learns of all at once; ask problem when all fields were read.
type arguments struct {
	tool     string
	fields   map[string]json.RawMessage
	broken   bool // no object at all; more complaints would only hide that
	problems []string
}

func parse(tool string, raw json.RawMessage) *arguments {
	a := &arguments{tool: tool}
	if len(bytes.TrimSpace(raw)) == 0 {
		return a
	}
	if err := json.Unmarshal(raw, &a.fields); err != nil {
		a.complain("the arguments are not a JSON object (%v)", err)
		a.broken = true
		return a
	}
	a.rename()
	return a
}

// rename gives aliased fields their own name, unless a field of that name is there as well.
func (a *arguments) rename() {
	for alias, name := range aliases {
		if v, ok := a.fields[alias]; ok {
			if _, taken := a.fields[name]; !taken {
				a.fields[name] = v
			}
		}
	}
	for name, v := range a.fields {
		if string(bytes.TrimSpace(v)) == "null" {
			delete(a.fields, name)
		}
	}
}

func (a *arguments) complain(format string, args ...any) {
	a.problems = append(a.problems, fmt.Sprintf(format, args...))
}

// problem is an *ArgumentError that names all that is wrong, nil for nothing.
func (a *arguments) problem() error {
	if len(a.problems) == 0 {
		return nil
	}
	return &ArgumentError{Tool: a.tool, Message: strings.Join(a.problems, "; ")}
}

func (a *arguments) has(name string) bool { _, ok := a.fields[name]; return ok }

func (a *arguments) missing(name, kind string) {
	if !a.broken {
		a.complain("required argument %q is missing (%s)", name, kind)
	}
}

// text is a required string, which may be empty.
func (a *arguments) text(name string) string {
	if !a.has(name) {
		a.missing(name, "a string")
		return ""
	}
	return a.optional(name)
}

// optional is a string, "" when it is missing.
func (a *arguments) optional(name string) string {
	v, ok := a.fields[name]
	if !ok {
		return ""
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		return s
	}
	if v[0] != '{' && v[0] != '[' { // a number or a boolean
		return string(v)
	}
	a.complain("argument %q must be a string, not %s", name, jsonType(v))
	return ""
}

// number is a whole number of at least min, def when it is missing.
func (a *arguments) number(name string, def, min int) int {
	v, ok := a.fields[name]
	if !ok {
		return def
	}
	n, ok := wholeNumber(v)
	if !ok {
		a.complain("argument %q must be a whole number, not %s", name, shorten(string(v), 40))
		return def
	}
	if n < min {
		a.complain("argument %q must be %d or more, not %d", name, min, n)
	}
	return n
}

// required is number for a field that must be there.
func (a *arguments) required(name string, min int) int {
	if !a.has(name) {
		a.missing(name, "a number")
		return min
	}
	return a.number(name, min, min)
}

func wholeNumber(v json.RawMessage) (int, bool) {
	var s string
	if json.Unmarshal(v, &s) != nil {
		s = string(v)
	}
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || f != math.Trunc(f) || math.Abs(f) > 1e9 {
		return 0, false
	}
	return int(f), true
}

// flag is a boolean, false when it is missing.
func (a *arguments) flag(name string) bool {
	v, ok := a.fields[name]
	if !ok {
		return false
	}
	b, err := strconv.ParseBool(strings.ToLower(strings.Trim(string(v), `"`)))
	if err != nil {
		a.complain("argument %q must be true or false, not %s", name, shorten(string(v), 40))
	}
	return b
}

// list is an array of any values, nil when it is missing. An array that was written as a string is
// taken as well.
func (a *arguments) list(name string) []json.RawMessage {
	v, ok := a.fields[name]
	if !ok {
		return nil
	}
	var s string
	if json.Unmarshal(v, &s) == nil {
		v = json.RawMessage(s)
	}
	list := []json.RawMessage{}
	if err := json.Unmarshal(v, &list); err != nil || list == nil {
		a.complain("argument %q must be an array, not %s", name, jsonType(v))
	}
	return list
}

// objects are the arguments of each element of an array of objects; their problems are ours.
func (a *arguments) objects(name string) []*arguments {
	var out []*arguments
	for i, v := range a.list(name) {
		one := &arguments{tool: a.tool}
		if err := json.Unmarshal(v, &one.fields); err != nil || one.fields == nil {
			a.complain("element %d of %q must be an object, not %s", i+1, name, jsonType(v))
			continue
		}
		one.rename()
		out = append(out, one)
	}
	return out
}

// adopt takes over the problems of an element.
func (a *arguments) adopt(name string, i int, one *arguments) {
	for _, p := range one.problems {
		a.complain("element %d of %q: %s", i+1, name, p)
	}
}

// path is a required path, resolved.
func (a *arguments) path(env *Env, name string) workspace.Path {
	s := a.text(name)
	if len(a.problems) > 0 {
		return ""
	}
	return a.resolve(env, name, s)
}

// folder is an optional path, by default the session's cwd.
func (a *arguments) folder(env *Env, name string) workspace.Path {
	s := a.optional(name)
	if s == "" {
		return env.Files.Roots.Cwd()
	}
	return a.resolve(env, name, s)
}

func (a *arguments) resolve(env *Env, name, s string) workspace.Path {
	p, err := env.Files.Roots.Resolve(s)
	if err != nil {
		a.complain("argument %q: %v", name, err)
	}
	return p
}

func jsonType(v json.RawMessage) string {
	switch v = bytes.TrimSpace(v); {
	case len(v) == 0:
		return "nothing"
	case v[0] == '{':
		return "an object"
	case v[0] == '[':
		return "an array"
	case v[0] == '"':
		return "a string"
	}
	return string(v)
}

// shorten cuts s to about n bytes with a visible mark.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
