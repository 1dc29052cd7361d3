package tool

import (
	"encoding/json"
	"strings"
)

// param is one field of a tool's arguments.
type param struct {
	name, kind, about string
	required          bool
	values            []string // of an enumeration
	items             []param  // fields of the objects of an array; nil for an array of strings
}

func need(name, kind, about string) param {
	return param{name: name, kind: kind, about: about, required: true}
}
func may(name, kind, about string) param { return param{name: name, kind: kind, about: about} }

// schema writes the JSON schema of an object with these fields, in this order: models read it.
func schema(params ...param) json.RawMessage {
	var b strings.Builder
	writeObject(&b, params)
	return json.RawMessage(b.String())
}

func writeObject(b *strings.Builder, params []param) {
	b.WriteString(`{"type":"object","properties":{`)
	var required []string
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(encode(p.name) + ":")
		writeParam(b, p)
		if p.required {
			required = append(required, p.name)
		}
	}
	b.WriteByte('}')
	if len(required) > 0 {
		b.WriteString(`,"required":` + encode(required))
	}
	b.WriteByte('}')
}

func writeParam(b *strings.Builder, p param) {
	b.WriteString(`{"type":` + encode(p.kind))
	if p.about != "" {
		b.WriteString(`,"description":` + encode(p.about))
	}
	if len(p.values) > 0 {
		b.WriteString(`,"enum":` + encode(p.values))
	}
	if p.kind == "array" {
		b.WriteString(`,"items":`)
		if p.items == nil {
			b.WriteString(`{"type":"string"}`)
		} else {
			writeObject(b, p.items)
		}
	}
	b.WriteByte('}')
}
