package wire

import (
	"strings"
	"testing"
)

// TestLines feeds whole inputs and compares every answer: what is wrong is answered and the
// connection lives, so that each input ends with a request that must be answered too.
func TestLines(t *testing.T) {
	const ok = `{"jsonrpc":"2.0","id":99,"method":"last"}`
	const okAnswer = `{"jsonrpc":"2.0","id":99,"result":"last"}`
	refused := func(id, code, why string) string {
		return `{"jsonrpc":"2.0","id":` + id + `,"error":{"code":` + code + `,"message":"` + why + `"}}`
	}
	const needs = "a message needs a method, a result or an error"
	const badID = "an id must be a string, a number or null"
	for name, tc := range map[string]struct {
		in   string
		want []string // answers before the last
	}{
		"crlf":                     {"{\"id\":1,\"method\":\"a\"}\r\n", []string{`{"jsonrpc":"2.0","id":1,"result":"a"}`}},
		"blank lines":              {"\n\r\n  \t\n\n", nil},
		"spaces":                   {"   {\"id\":1, \"method\" : \"a\"}  \n", []string{`{"jsonrpc":"2.0","id":1,"result":"a"}`}},
		"byte order mark":          {"\xef\xbb\xbf{\"id\":1,\"method\":\"a\"}\n", []string{`{"jsonrpc":"2.0","id":1,"result":"a"}`}},
		"truncated":                {`{"jsonrpc":"2.0","id":1,"meth` + "\n", []string{refused("null", "-32700", "the message ends in the middle of its JSON")}},
		"trailing comma":           {`{"id":1,"method":"a",}` + "\n", []string{"-32700"}},
		"two on a line":            {`{"id":1,"method":"a"}{"id":2,"method":"b"}` + "\n", []string{refused("null", "-32700", "more than one value in one message")}},
		"no JSON":                  {"hello\n", []string{"-32700"}},
		"deep":                     {`{"id":1,"method":"a","params":` + strings.Repeat("[", 100000) + "\n", []string{"-32700"}},
		"no UTF-8":                 {"{\"id\":1,\"method\":\"a\xff\"}\n", []string{refused("null", "-32700", "invalid JSON: it is not UTF-8")}},
		"lone surrogate":           {`{"id":1,"method":"\ud800"}` + "\n", []string{`{"jsonrpc":"2.0","id":1,"result":"` + "\uFFFD" + `"}`}},
		"batch":                    {`[{"id":1,"method":"a"}]` + "\n", []string{refused("null", "-32600", "batches are not supported: send one message at a time")}},
		"empty batch":              {"[]\n", []string{"-32600"}},
		"broken batch":             {"[1,\n", []string{"-32700"}},
		"string":                   {`"a"` + "\n", []string{refused("null", "-32600", "a message must be a JSON object")}},
		"number":                   {"1\n", []string{"-32600"}},
		"null":                     {"null\n", []string{"-32600"}},
		"empty object":             {"{}\n", []string{refused("null", "-32600", needs)}},
		"jsonrpc only":             {`{"jsonrpc":"2.0"}` + "\n", []string{refused("null", "-32600", needs)}},
		"id only":                  {`{"jsonrpc":"2.0","id":3}` + "\n", []string{refused("3", "-32600", needs)}},
		"method is no string":      {`{"id":3,"method":5}` + "\n", []string{refused("3", "-32600", "a method must be a string")}},
		"method is null":           {`{"id":3,"method":null}` + "\n", []string{refused("3", "-32600", needs)}},
		"wrong case":               {`{"id":3,"Method":"a"}` + "\n", []string{refused("3", "-32600", needs)}},
		"method and result":        {`{"id":3,"method":"a","result":1}` + "\n", []string{"-32600"}},
		"method and error":         {`{"id":3,"method":"a","error":{}}` + "\n", []string{"-32600"}},
		"object id":                {`{"id":{},"method":"a"}` + "\n", []string{refused("null", "-32600", badID)}},
		"array id":                 {`{"id":[1],"method":"a"}` + "\n", []string{refused("null", "-32600", badID)}},
		"bool id":                  {`{"id":true,"method":"a"}` + "\n", []string{refused("null", "-32600", badID)}},
		"string params":            {`{"id":3,"method":"a","params":"x"}` + "\n", []string{refused("3", "-32602", "params of a must be an object")}},
		"number params":            {`{"id":3,"method":"a","params":1}` + "\n", []string{"-32602"}},
		"bool params":              {`{"id":3,"method":"a","params":false}` + "\n", []string{"-32602"}},
		"array params":             {`{"id":3,"method":"a","params":[1]}` + "\n", []string{`{"jsonrpc":"2.0","id":3,"result":"a"}`}},
		"scalar params, no id":     {`{"method":"a","params":"x"}` + "\n", nil},
		"wrong jsonrpc":            {`{"jsonrpc":"1.0","id":3,"method":"a"}` + "\n", []string{`{"jsonrpc":"2.0","id":3,"result":"a"}`}},
		"escaped member name":      {`{"i\u0064":3,"method":"a"}` + "\n", []string{`{"jsonrpc":"2.0","id":3,"result":"a"}`}},
		"name twice":               {`{"id":3,"method":"a","method":"b"}` + "\n", []string{`{"jsonrpc":"2.0","id":3,"result":"b"}`}},
		"result with unknown id":   {`{"id":77,"result":{}}` + "\n", nil},
		"result with null id":      {`{"id":null,"result":{}}` + "\n", nil},
		"result without id":        {`{"result":{}}` + "\n", nil},
		"error with unknown id":    {`{"id":"x","error":{"code":1,"message":"m"}}` + "\n", nil},
		"result with an object id": {`{"id":{},"result":1}` + "\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			p := start(t, func(r *Request) { r.Reply(r.Method) }, Options{})
			go p.write(tc.in + ok + "\n")
			for _, want := range tc.want {
				got := p.line()
				if strings.HasPrefix(want, "-") && strings.Contains(got, `"error":{"code":`+want+",") {
					continue
				}
				if got != want {
					t.Errorf("got  %s\nwant %s", got, want)
				}
			}
			if got := p.line(); got != okAnswer {
				t.Errorf("the request behind it: got %s", got)
			}
		})
	}
}
