package anthropic_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
)

func TestFaults(t *testing.T) {
	const long = "a text that is longer than one delta of twenty characters"
	body := func(typ, message string) string {
		return `{"type":"error","error":{"type":"` + typ + `","message":"` + message + `"},"request_id":"r"}`
	}
	cases := []struct {
		name  string
		reply modelserver.Reply
		want  model.Error
		text  bool
	}{
		{"401", modelserver.Reply{Status: 401, Body: body("authentication_error", "invalid x-api-key secret-key")}, model.Error{Kind: model.KindAuth, Status: 401, Message: "invalid x-api-key [key] (set TEST_KEY)"}, false},
		{"400", modelserver.Reply{Status: 400, Body: body("invalid_request_error", "messages.1: odd")}, model.Error{Kind: model.KindInvalid, Status: 400, Message: "messages.1: odd"}, false},
		{"too long", modelserver.Reply{Status: 400, Body: body("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")}, model.Error{Kind: model.KindContext, Status: 400, Message: "prompt is too long"}, false},
		{"404", modelserver.Reply{Status: 404, Body: body("not_found_error", "model: m1")}, model.Error{Kind: model.KindInvalid, Status: 404, Message: "model: m1"}, false},
		{"413", modelserver.Reply{Status: 413, Body: body("request_too_large", "big")}, model.Error{Kind: model.KindContext, Status: 413, Message: "big"}, false},
		{"429", modelserver.Reply{Status: 429, Body: body("rate_limit_error", "slow"), Header: http.Header{"Retry-After": {"3"}}}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "slow", RetryAfter: 3 * time.Second}, false},
		{"500", modelserver.Reply{Status: 500, Body: body("api_error", "oops")}, model.Error{Kind: model.KindServer, Status: 500, Message: "oops"}, false},
		{"529", modelserver.Reply{Status: 529, Body: body("overloaded_error", "Overloaded")}, model.Error{Kind: model.KindOverloaded, Status: 529, Message: "Overloaded"}, false},
		{"200 with an error", modelserver.Reply{Body: body("overloaded_error", "Overloaded")}, model.Error{Kind: model.KindOverloaded, Message: "Overloaded"}, false},
		{"200 with other JSON", modelserver.Reply{Body: `{"ok":true}`}, model.Error{Kind: model.KindProtocol, Message: "not a message"}, false},
		{"200 with a list", modelserver.Reply{Body: `[1]`}, model.Error{Kind: model.KindProtocol, Message: "not an event"}, false},
		{"200 with a page", modelserver.Reply{Body: "<html></html>"}, model.Error{Kind: model.KindProtocol, Message: "web page"}, false},
		{"error event", modelserver.Reply{Text: long, Fault: modelserver.ErrorEvent, After: 4, Body: body("overloaded_error", "Overloaded")}, model.Error{Kind: model.KindOverloaded, Message: "Overloaded"}, true},
		{"error event before all", modelserver.Reply{Fault: modelserver.ErrorEvent, Body: body("rate_limit_error", "slow")}, model.Error{Kind: model.KindRateLimit, Message: "slow"}, false},
		{"error object in the stream", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 4, Body: `{"error":{"message":"upstream"}}`}, model.Error{Kind: model.KindServer, Message: "upstream"}, true},
		{"error without data:", modelserver.Reply{Text: long, Fault: modelserver.BareError, After: 4, Body: body("api_error", "oops")}, model.Error{Kind: model.KindServer, Message: "oops"}, true},
		{"rubbish", modelserver.Reply{Text: long, Fault: modelserver.Garbage, After: 4}, model.Error{Kind: model.KindProtocol, Message: "not an event"}, true},
		{"cut off", modelserver.Reply{Text: long, Fault: modelserver.CutOff, After: 4}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"cut off behind whole calls", modelserver.Reply{Text: long, Calls: someCalls, Fault: modelserver.CutOff, After: modelserver.AtEnd}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"reset", modelserver.Reply{Text: long, Fault: modelserver.Reset, After: 4}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			s := modelserver.New(t, c.reply)
			got, err := ask(t.Context(), t, newModel(t, s), model.Request{})
			var e *model.Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if e.Kind != c.want.Kind || e.Status != c.want.Status || e.RetryAfter != c.want.RetryAfter || !strings.Contains(e.Message, c.want.Message) {
				t.Errorf("error %s %d %v %q\nwant  %s %d %v %q", e.Kind, e.Status, e.RetryAfter, e.Message, c.want.Kind, c.want.Status, c.want.RetryAfter, c.want.Message)
			}
			if !strings.HasPrefix(e.Message, "test: ") || strings.Contains(e.Error(), "secret-key") {
				t.Errorf("message %q", e.Message)
			}
			if got.Calls != nil || got.Done != nil || (got.Text != "") != c.text {
				t.Errorf("before the error came %+v", got)
			}
			if n := len(s.Requests()); n != 1 {
				t.Errorf("%d requests: retrying is not ours", n)
			}
		})
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Text: "abc", Fault: modelserver.Hang, After: 3})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var err error
	for e, e2 := range newModel(t, s).Stream(ctx, model.Request{}) {
		if e.Text != "" {
			cancel()
		}
		err = e2
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	<-s.Requests()[0].Gone
}

func TestReaderMayStop(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Thought: "a", Text: strings.Repeat("word ", 100), Calls: someCalls, Fault: modelserver.Hang, After: modelserver.AtEnd})
	for e, err := range newModel(t, s).Stream(t.Context(), model.Request{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Text != "" {
			break
		}
	}
	<-s.Requests()[0].Gone
}
