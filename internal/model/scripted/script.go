package scripted

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"acp-agent/internal/model"
)

// Script is what a scripted model answers, one turn for each request of a session.
type Script struct {
	Turns []Turn
}

// Turn is one answer. Its parts come in the order thought, text, calls; then the answer hangs, fails
// or finishes.
type Turn struct {
	Thought string
	Text    string
	Chunk   int           // characters in a delta
	Delay   time.Duration // before each delta and each call
	Calls   []model.ToolCall
	Usage   model.Usage
	Finish  model.Finish
	Error   *model.Error
	Hang    bool // says nothing more until the request is cancelled
	Repeat  int  // how many requests it answers
}

const defaultChunk = 20

// The file's own form: contract of the scripted model.
type (
	fileForm struct {
		Turns []turnForm `yaml:"turns"`
	}
	turnForm struct {
		Thought   string     `yaml:"thought"`
		Text      string     `yaml:"text"`
		Chunk     *int       `yaml:"chunk"`
		DelayMS   int        `yaml:"delay_ms"`
		ToolCalls []callForm `yaml:"tool_calls"`
		Usage     usageForm  `yaml:"usage"`
		Finish    string     `yaml:"finish"`
		Error     *errorForm `yaml:"error"`
		Hang      bool       `yaml:"hang"`
		Repeat    *int       `yaml:"repeat"`
	}
	callForm struct {
		ID        string  `yaml:"id"`
		Name      string  `yaml:"name"`
		Arguments any     `yaml:"arguments"`
		Raw       *string `yaml:"raw"`
	}
	usageForm struct {
		Input  int `yaml:"input"`
		Output int `yaml:"output"`
		Cached int `yaml:"cached"`
	}
	errorForm struct {
		Status     int     `yaml:"status"`
		Message    string  `yaml:"message"`
		RetryAfter float64 `yaml:"retry_after"` // seconds
	}
)

// Parse reads a script. name is for messages, which say the line; an unknown key is an error.
func Parse(name string, data []byte) (_ *Script, err error) {
	defer func() {
		if p := recover(); p != nil { // the YAML library falls over its own feet on some broken files
			err = fmt.Errorf("%s: is not YAML that can be read (%v)", name, p)
		}
	}()
	file, err := parser.ParseBytes(data, 0)
	if err != nil {
		return nil, located(name, err)
	}
	var form fileForm
	if len(file.Docs) > 1 {
		return nil, fmt.Errorf("%s: holds %d YAML documents, a script is one", name, len(file.Docs))
	}
	if len(bytes.TrimSpace(data)) > 0 {
		if err := yaml.UnmarshalWithOptions(data, &form, yaml.Strict(), yaml.UseOrderedMap()); err != nil {
			return nil, located(name, err)
		}
	}
	s := &Script{}
	for i, f := range form.Turns {
		t, err := f.turn()
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, lineOf(file, i), err)
		}
		s.Turns = append(s.Turns, t)
	}
	return s, nil
}

// lineOf is the line where turn i begins.
func lineOf(file *ast.File, i int) int {
	path, err := yaml.PathString(fmt.Sprintf("$.turns[%d]", i))
	if err != nil {
		return 1
	}
	node, err := path.FilterFile(file)
	if err != nil {
		return 1
	}
	if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
		node = m.Values[0].Key
	}
	return node.GetToken().Position.Line
}

// located says the line first and, for an unknown key, what is known there.
func located(name string, err error) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return fmt.Errorf("%s: %w", name, err)
	}
	line := 1
	if t := y.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	msg := y.GetMessage()
	var unknown *yaml.UnknownFieldError
	if errors.As(err, &unknown) && unknown.Token != nil {
		msg = fmt.Sprintf("unknown key %q (known: %s)", unknown.Token.Value, knownKeys())
	}
	var typ *yaml.TypeError
	if errors.As(err, &typ) {
		msg = fmt.Sprintf("a value of type %s cannot stand here, %s is wanted", typ.SrcType, typ.DstType)
	}
	if unknown == nil {
		msg = keyBefore(y.GetToken()) + msg
	}
	return fmt.Errorf("%s:%d: %s", name, line, msg)
}

var forms = [...]any{fileForm{}, turnForm{}, callForm{}, usageForm{}, errorForm{}}

// knownKeys lists all keys of the format: the decoder does not say which mapping it was in.
func knownKeys() string {
	var all []string
	for _, f := range forms {
		t := reflect.TypeOf(f)
		for i := range t.NumField() {
			all = append(all, t.Field(i).Tag.Get("yaml"))
		}
	}
	return strings.Join(all, ", ")
}

// keyBefore names the key that a value stands behind, "" when it has none.
func keyBefore(value *token.Token) string {
	if value == nil || value.Prev == nil || value.Prev.Type != token.MappingValueType || value.Prev.Prev == nil {
		return ""
	}
	return value.Prev.Prev.Value + ": "
}

func (f turnForm) turn() (Turn, error) {
	t := Turn{
		Thought: f.Thought, Text: f.Text, Chunk: defaultChunk, Repeat: 1, Hang: f.Hang,
		Delay: time.Duration(f.DelayMS) * time.Millisecond,
		Usage: model.Usage{Input: f.Usage.Input, Output: f.Usage.Output, Cached: f.Usage.Cached},
	}
	if f.Chunk != nil {
		t.Chunk = *f.Chunk
	}
	if f.Repeat != nil {
		t.Repeat = *f.Repeat
	}
	switch {
	case t.Chunk < 1:
		return t, fmt.Errorf("chunk is %d, it must be 1 or more", t.Chunk)
	case t.Repeat < 1:
		return t, fmt.Errorf("repeat is %d, it must be 1 or more", t.Repeat)
	case f.DelayMS < 0:
		return t, fmt.Errorf("delay_ms is %d, it must not be negative", f.DelayMS)
	case f.Hang && f.Error != nil:
		return t, errors.New("a turn either hangs or ends in an error")
	}
	for i, c := range f.ToolCalls {
		call, err := c.call()
		if err != nil {
			return t, fmt.Errorf("tool call %d: %w", i+1, err)
		}
		t.Calls = append(t.Calls, call)
	}
	switch f.Finish {
	case "":
		t.Finish = model.FinishStop
		if len(t.Calls) > 0 {
			t.Finish = model.FinishToolCalls
		}
	case "stop", "tool_calls", "length", "refusal":
		t.Finish = model.Finish(f.Finish)
	default:
		return t, fmt.Errorf("finish is %q, it must be stop, tool_calls, length or refusal", f.Finish)
	}
	if f.Error != nil {
		t.Error = f.Error.fault()
	}
	return t, nil
}

func (f callForm) call() (model.ToolCall, error) {
	c := model.ToolCall{ID: f.ID, Name: f.Name, Arguments: "{}"}
	switch {
	case f.Name == "":
		return c, errors.New("it has no name")
	case f.Raw != nil && f.Arguments != nil:
		return c, errors.New("it has both arguments and raw")
	case f.Raw != nil:
		c.Arguments = *f.Raw
	case f.Arguments != nil:
		if _, ok := f.Arguments.(yaml.MapSlice); !ok {
			return c, errors.New("arguments must be a mapping (raw takes anything)")
		}
		var b bytes.Buffer
		if err := writeJSON(&b, f.Arguments); err != nil {
			return c, fmt.Errorf("arguments: %w", err)
		}
		c.Arguments = b.String()
	}
	return c, nil
}

// writeJSON keeps the order of the keys, as a model would.
func writeJSON(b *bytes.Buffer, v any) error {
	switch v := v.(type) {
	case yaml.MapSlice:
		b.WriteByte('{')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, fmt.Sprint(item.Key)); err != nil {
				return err
			}
			b.WriteByte(':')
			if err := writeJSON(b, item.Value); err != nil {
				return err
			}
		}
		b.WriteByte('}')
		return nil
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := writeJSON(b, item); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1) // the newline
	return nil
}
