package wire

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestReplies: what a handler does, and the lines that the peer gets for it.
func TestReplies(t *testing.T) {
	const head = `{"jsonrpc":"2.0","id":1,`
	for name, tc := range map[string]struct {
		do   Handler
		want []string
	}{
		"result":         {func(r *Request) { r.Reply(map[string]int{"a": 1}) }, []string{head + `"result":{"a":1}}`}},
		"nil":            {func(r *Request) { r.Reply(nil) }, []string{head + `"result":null}`}},
		"raw":            {func(r *Request) { r.Reply(json.RawMessage(`{"b":1.50, "a":"\u003c"}`)) }, []string{head + `"result":{"b":1.50, "a":"\u003c"}}`}},
		"raw with lines": {func(r *Request) { r.Reply(json.RawMessage("{\r\n \"a\": 1\n}")) }, []string{head + `"result":{"a":1}}`}},
		"raw nil":        {func(r *Request) { r.Reply(json.RawMessage(nil)) }, []string{head + `"result":null}`}},
		"raw broken":     {func(r *Request) { r.Reply(json.RawMessage(`{"a":`)) }, []string{head + `"error":{"code":-32603,"message":"the answer of m could not be sent: encode raw JSON: it is broken"}}`}},
		"unencodable": {func(r *Request) { r.Reply(func() {}) }, []string{
			head + `"error":{"code":-32603,"message":"the answer of m could not be sent: encode func(): json: unsupported type: func()"}}`}},
		"twice":       {func(r *Request) { r.Reply(1); r.Reply(2); r.ReplyError(errors.New("x")) }, []string{head + `"result":1}`}},
		"error":       {func(r *Request) { r.ReplyError(&Error{Code: 7, Message: "m", Data: json.RawMessage(`[1]`)}) }, []string{head + `"error":{"code":7,"message":"m","data":[1]}}`}},
		"wrapped":     {func(r *Request) { r.ReplyError(fmt.Errorf("in x: %w", &Error{Code: 7, Message: "m"})) }, []string{head + `"error":{"code":7,"message":"m"}}`}},
		"plain error": {func(r *Request) { r.ReplyError(errors.New("no room")) }, []string{head + `"error":{"code":-32603,"message":"no room"}}`}},
		"cancelled":   {func(r *Request) { r.ReplyError(context.Canceled) }, []string{head + `"error":{"code":-32603,"message":"context canceled"}}`}},
		"nil error":   {func(r *Request) { r.ReplyError(nil) }, []string{head + `"error":{"code":-32603,"message":"internal error"}}`}},
		"broken data": {func(r *Request) { r.ReplyError(&Error{Code: 7, Message: "m", Data: json.RawMessage(`[`)}) }, []string{head + `"error":{"code":7,"message":"m"}}`}},
		"panic": {func(*Request) { panic("boom") }, []string{
			head + `"error":{"code":-32603,"message":"internal error in m; the log has the details"}}`}},
		"panic after the answer": {func(r *Request) { r.Reply(1); panic("boom") }, []string{head + `"result":1}`}},
		"too long": {func(r *Request) { r.Reply(strings.Repeat("x", 2000)) }, []string{
			head + `"error":{"code":-32603,"message":"the answer of m could not be sent: message is longer than the limit: 2036 bytes, limit 2000"}}`}},
		"error too long": {func(r *Request) { r.ReplyError(errors.New(strings.Repeat("ä", 3000))) }, []string{
			head + `"error":{"code":-32603,"message":"` + strings.Repeat("ä", 500) + `"}}`}},
	} {
		t.Run(name, func(t *testing.T) {
			in := `{"id":1,"method":"m"}` + "\n"
			got := answers(t, strings.NewReader(in+`{"id":2,"method":"next"}`), func(r *Request) {
				if r.Method == "m" {
					tc.do(r)
					return
				}
				r.Reply("next")
			}, Options{MaxOut: 2000})
			want := strings.Join(tc.want, "\n") + "\n" + `{"jsonrpc":"2.0","id":2,"result":"next"}` + "\n"
			if got != want {
				t.Errorf("got\n%swant\n%s", got, want)
			}
		})
	}
}

// TestNotificationsAreNotAnswered, whatever the handler does with them.
func TestNotificationsAreNotAnswered(t *testing.T) {
	got := answers(t, strings.NewReader(`{"method":"a"}`+"\n"+`{"method":"b"}`+"\n"+`{"method":"c","params":null}`+"\n"), func(r *Request) {
		switch {
		case !r.IsNotification():
			t.Errorf("%s is no notification", r.Method)
		case r.Method == "a":
			r.Reply(1)
		case r.Method == "b":
			r.ReplyError(errors.New("x"))
		default:
			panic("boom")
		}
	}, Options{})
	if got != "" {
		t.Errorf("sent %s", got)
	}
}

// TestStaleRequest: a refused message leaves nothing behind that the next response could run.
func TestStaleRequest(t *testing.T) {
	got := answers(t, strings.NewReader(`{"id":1.5.5,"method":"bad"}`+"\n"+`{"id":3,"method":"bad","params":"x"}`+"\n"+`{"id":1,"result":{}}`+"\n"), func(r *Request) {
		t.Errorf("%s ran", r.Method)
	}, Options{})
	if strings.Count(got, "\n") != 2 {
		t.Errorf("sent %s", got)
	}
}

// TestCancelBehindRequest: a handler sees a cancellation that came in the same write only after it
// has returned from the request, so what it registered is found.
func TestCancelBehindRequest(t *testing.T) {
	open := map[string]bool{}
	missed := 0
	var in strings.Builder
	for i := range 300 {
		fmt.Fprintf(&in, `{"id":%d,"method":"session/prompt","params":{"sessionId":"%d"}}`+"\n"+`{"method":"session/cancel","params":{"sessionId":"%d"}}`+"\n", i, i, i)
	}
	got := answers(t, strings.NewReader(in.String()), func(r *Request) {
		if r.Method == "session/prompt" {
			open[string(r.Params)] = true
			r.Reply(nil)
			return
		}
		if !open[string(r.Params)] {
			missed++
		}
	}, Options{})
	if missed > 0 || strings.Count(got, "\n") != 300 {
		t.Errorf("%d missed, %d answers", missed, strings.Count(got, "\n"))
	}
}
