package wire

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestIDs: an id comes back byte for byte, whatever a client thinks an id is.
func TestIDs(t *testing.T) {
	for _, id := range []string{
		`"a"`, `""`, `"1"`, `"@1"`, `"\u0061\n"`, `"\ud800"`, `"ä"`, `"<&>"`,
		`0`, `1`, `-1`, `-0`, `1.5`, `1e3`, `1E+3`, `9007199254740993`, `-9007199254740993`,
		`18446744073709551615`, `123456789012345678901234567890`, `null`,
	} {
		t.Run(id, func(t *testing.T) {
			var seen json.RawMessage
			p := start(t, func(r *Request) {
				seen = r.ID
				if r.IsNotification() {
					t.Error("taken for a notification")
				}
				r.Reply("ok")
			}, Options{})
			p.write(`{"jsonrpc":"2.0","id": ` + id + ` ,"method":"m"}` + "\n")
			if got, want := p.line(), `{"jsonrpc":"2.0","id":`+id+`,"result":"ok"}`; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
			if string(seen) != id {
				t.Errorf("the handler saw %s", seen)
			}
		})
	}
}

// TestParams: params reach the handler byte for byte, and absent is not null.
func TestParams(t *testing.T) {
	for name, tc := range map[string]struct{ member, want string }{
		"absent":   {``, "absent"},
		"null":     {`,"params":null`, `null`},
		"empty":    {`,"params":{}`, `{}`},
		"spaces":   {`,"params": { "b" : 1.50, "a":[ ] } `, `{ "b" : 1.50, "a":[ ] }`},
		"order":    {`,"params":{"z":1,"a":2,"z":3}`, `{"z":1,"a":2,"z":3}`},
		"big":      {`,"params":{"n":12345678901234567890123}`, `{"n":12345678901234567890123}`},
		"escapes":  {`,"params":{"s":"\u003c\/\ud83d"}`, `{"s":"\u003c\/\ud83d"}`},
		"envelope": {`,"params":{"id":7,"method":"x","result":{}}`, `{"id":7,"method":"x","result":{}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := make(chan string, 1)
			p := start(t, func(r *Request) {
				s := string(r.Params)
				if r.Params == nil {
					s = "absent"
				}
				got <- s
			}, Options{})
			p.write(`{"jsonrpc":"2.0","id":1,"method":"m"` + tc.member + "}\n")
			if s := <-got; s != tc.want {
				t.Errorf("got %s, want %s", s, tc.want)
			}
		})
	}
}

// TestParamsFirst: the order of members does not matter.
func TestParamsFirst(t *testing.T) {
	p := start(t, echo, Options{})
	p.write(`{"params":{"a":1},"method":"m","x":[{}],"id":4,"jsonrpc":"2.0"}` + "\n")
	if got := p.line(); !strings.Contains(got, `"id":4,"result":{"absent":false,"method":"m","params":{"a":1}}`) {
		t.Errorf("got %s", got)
	}
}

// TestOwnParams: a request may be kept, since the next message does not overwrite it.
func TestOwnParams(t *testing.T) {
	var kept []*Request
	p := start(t, func(r *Request) {
		kept = append(kept, r)
		r.Reply(nil)
	}, Options{})
	for _, n := range []string{"1", "2", "3"} {
		p.write(`{"id":` + n + `,"method":"m` + n + `","params":{"n":` + n + `}}` + "\n")
		p.line()
	}
	for i, r := range kept {
		want := string(rune('1' + i))
		if string(r.ID) != want || r.Method != "m"+want || string(r.Params) != `{"n":`+want+`}` {
			t.Errorf("request %s became %s %s %s", want, r.ID, r.Method, r.Params)
		}
	}
}
