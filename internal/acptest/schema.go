package acptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema checks messages against the protocol's published JSON schema (v1, as
// @agentclientprotocol/sdk ships it). On top of it, unknown keys at the root of a message's
// parameters, result or update are faults: the protocol keeps those for itself, and an editor that
// decodes strictly rejects them.
type Schema struct {
	compiler *jsonschema.Compiler
	names    map[string]string // "request fs/read_text_file" -> definition

	mu       sync.Mutex
	compiled map[string]*jsonschema.Schema // guarded by mu
}

// schemas are the compiled schemas of this test process by file: compiling takes a while.
var schemas struct {
	mu sync.Mutex
	by map[string]*Schema // guarded by mu
}

// LoadSchema reads the schema from the installed SDK; a missing part fails the test.
func LoadSchema(t testing.TB) *Schema {
	t.Helper()
	path := Part(t, "npm", "node_modules", "@agentclientprotocol", "sdk", "schema", "v1", "schema.json")
	schemas.mu.Lock()
	defer schemas.mu.Unlock()
	if s := schemas.by[path]; s != nil {
		return s
	}
	s, err := newSchema(path)
	if err != nil {
		t.Fatalf("the protocol's schema: %v", err)
	}
	if schemas.by == nil {
		schemas.by = map[string]*Schema{}
	}
	schemas.by[path] = s
	return s
}

const (
	publishedURL = "acp:///published.json"
	strictURL    = "acp:///strict.json"
)

func newSchema(path string) (*Schema, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var outline struct {
		Defs map[string]struct {
			Side   string `json:"x-side"`
			Method string `json:"x-method"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(data, &outline); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	s := &Schema{compiler: jsonschema.NewCompiler(), names: map[string]string{}, compiled: map[string]*jsonschema.Schema{}}
	strict := map[string]any{}
	for name, def := range outline.Defs {
		shape := shapeOf(name, def.Side)
		if def.Method == "" || shape == "" {
			continue
		}
		s.names[shape+" "+def.Method] = name
		strict[name] = strictDef(name)
	}
	if len(s.names) < 20 {
		return nil, fmt.Errorf("%s: only %d messages found; has the schema's form changed?", path, len(s.names))
	}
	strict["Error"] = strictDef("Error")
	if err := s.compiler.AddResource(publishedURL, doc); err != nil {
		return nil, err
	}
	err = s.compiler.AddResource(strictURL, map[string]any{
		"$schema": "https://json-schema.org/draft/2020-12/schema", "$defs": strict,
	})
	return s, err
}

// shapeOf says which kind of line of the agent a definition describes, "" for the editor's lines.
func shapeOf(name, side string) string {
	switch {
	case strings.HasSuffix(name, "Response") && side == "agent":
		return "response"
	case strings.HasSuffix(name, "Request") && side == "client":
		return "request"
	case strings.HasSuffix(name, "Notification") && (side == "client" || side == "protocol"):
		return "notification"
	}
	return ""
}

// strictDef is a definition that allows no further keys at its root, nor in a session update.
func strictDef(name string) any {
	def := map[string]any{"$ref": publishedURL + "#/$defs/" + name, "unevaluatedProperties": false}
	if name == "SessionNotification" {
		def["properties"] = map[string]any{"update": map[string]any{
			"$ref": publishedURL + "#/$defs/SessionUpdate", "unevaluatedProperties": false,
		}}
	}
	return def
}

// Check says what is wrong with a line of the agent (G3), "" when it is as the schema has it.
func (s *Schema) Check(m Message) string {
	name, body := "", m.Params
	switch {
	case m.Error != nil:
		name, body = "Error", get[json.RawMessage](m.Line, "error")
	case m.IsResponse() && m.For == "":
		return "" // an answer to nothing that we asked; the shape was checked
	case m.IsResponse():
		name, body = s.names["response "+m.For], m.Result
	case m.IsRequest():
		name = s.names["request "+m.Method]
	default:
		name = s.names["notification "+m.Method]
	}
	if name == "" {
		if strings.HasPrefix(m.Method, "_") || strings.HasPrefix(m.For, "_") {
			return ""
		}
		return fmt.Sprintf("G3: the stable schema knows no such message (%s%s)", m.Method, m.For)
	}
	schema, err := s.compile(name)
	if err != nil {
		return fmt.Sprintf("G3: definition %s does not compile: %v", name, err)
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
	if err != nil {
		return fmt.Sprintf("G3: %s has no body: %v", name, err)
	}
	if err := schema.Validate(value); err != nil {
		return fmt.Sprintf("G3: not a valid %s: %v", name, err)
	}
	return ""
}

func (s *Schema) compile(name string) (*jsonschema.Schema, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if c := s.compiled[name]; c != nil {
		return c, nil
	}
	c, err := s.compiler.Compile(strictURL + "#/$defs/" + name)
	if err == nil {
		s.compiled[name] = c
	}
	return c, err
}
