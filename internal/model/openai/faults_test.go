package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
	"acp-agent/internal/model/openai"
)

func TestFaults(t *testing.T) {
	const long = "a text that is longer than one delta of twenty characters"
	openaiError := `{"error":{"message":"bad thing secret-key happened","type":"t","code":"c"}}`
	cases := []struct {
		name  string
		reply modelserver.Reply
		want  model.Error // Kind, Status, RetryAfter; Message is a part of it
		text  bool        // text came before
	}{
		{"401", modelserver.Reply{Status: 401, Body: openaiError}, model.Error{Kind: model.KindAuth, Status: 401, Message: "bad thing [key] happened (set TEST_KEY)"}, false},
		{"403", modelserver.Reply{Status: 403, Body: openaiError}, model.Error{Kind: model.KindAuth, Status: 403, Message: "bad thing"}, false},
		{"400", modelserver.Reply{Status: 400, Body: openaiError}, model.Error{Kind: model.KindInvalid, Status: 400, Message: "bad thing"}, false},
		{"404", modelserver.Reply{Status: 404, Body: `{"error":"model 'm1' not found"}`}, model.Error{Kind: model.KindInvalid, Status: 404, Message: "model 'm1' not found (asked http://"}, false},
		{"context by code", modelserver.Reply{Status: 400, Body: `{"error":{"message":"too much","code":"context_length_exceeded"}}`}, model.Error{Kind: model.KindContext, Status: 400, Message: "too much"}, false},
		{"context by words", modelserver.Reply{Status: 400, Body: `{"object":"error","message":"This model's maximum context length is 4096 tokens.","code":400}`}, model.Error{Kind: model.KindContext, Status: 400, Message: "maximum context length"}, false},
		{"413", modelserver.Reply{Status: 413, Body: "too large"}, model.Error{Kind: model.KindContext, Status: 413, Message: "too large"}, false},
		{"429 with Retry-After", modelserver.Reply{Status: 429, Body: openaiError, Header: http.Header{"Retry-After": {"7"}}}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "bad thing", RetryAfter: 7 * time.Second}, false},
		{"429 with Retry-After-Ms", modelserver.Reply{Status: 429, Body: openaiError, Header: http.Header{"Retry-After-Ms": {"1500"}, "Retry-After": {"9"}}}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "bad thing", RetryAfter: 1500 * time.Millisecond}, false},
		{"429 of Gemini", modelserver.Reply{Status: 429, Body: `[{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"x","retryDelay":"21s"}]}}]`}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "quota", RetryAfter: 21 * time.Second}, false},
		{"429 that no waiting mends", modelserver.Reply{Status: 429, Body: `{"error":{"message":"pay","code":"insufficient_quota"}}`}, model.Error{Kind: model.KindInvalid, Status: 429, Message: "pay"}, false},
		{"500", modelserver.Reply{Status: 500, Body: "oops"}, model.Error{Kind: model.KindServer, Status: 500, Message: "oops"}, false},
		{"500 with nothing", modelserver.Reply{Status: 500}, model.Error{Kind: model.KindServer, Status: 500, Message: "internal server error"}, false},
		{"502 with a page", modelserver.Reply{Status: 502, Body: "<html><head><title>Bad\n gateway</title></head></html>", Header: http.Header{"Content-Type": {"text/html"}}}, model.Error{Kind: model.KindServer, Status: 502, Message: "test: Bad gateway"}, false},
		{"503", modelserver.Reply{Status: 503, Body: openaiError}, model.Error{Kind: model.KindOverloaded, Status: 503, Message: "bad thing"}, false},
		{"529", modelserver.Reply{Status: 529, Body: openaiError}, model.Error{Kind: model.KindOverloaded, Status: 529, Message: "bad thing"}, false},
		{"redirect", modelserver.Reply{Status: 307, Header: http.Header{"Location": {"http://elsewhere.invalid/"}}}, model.Error{Kind: model.KindInvalid, Status: 307, Message: "http://elsewhere.invalid/"}, false},
		{"200 with an error", modelserver.Reply{Body: openaiError}, model.Error{Kind: model.KindServer, Message: "bad thing"}, false},
		{"200 with a rate limit", modelserver.Reply{Body: `{"error":{"message":"slow down","code":429}}`}, model.Error{Kind: model.KindRateLimit, Status: 429, Message: "slow down"}, false},
		{"200 with a detail", modelserver.Reply{Body: `{"detail":[{"loc":["body"],"msg":"field required"}]}`}, model.Error{Kind: model.KindServer, Message: "field required"}, false},
		{"200 with other JSON", modelserver.Reply{Body: `{"models":[]}`}, model.Error{Kind: model.KindProtocol, Message: "not a chat completion"}, false},
		{"200 with a page", modelserver.Reply{Body: "<!doctype html><title>Welcome</title>", Header: http.Header{"Content-Type": {"text/html"}}}, model.Error{Kind: model.KindProtocol, Message: "(Welcome)"}, false},
		{"error event", modelserver.Reply{Text: long, Fault: modelserver.ErrorEvent, After: 3, Body: openaiError}, model.Error{Kind: model.KindServer, Message: "bad thing [key]"}, true},
		{"error event of words", modelserver.Reply{Text: long, Fault: modelserver.ErrorEvent, After: 3, Body: "it broke"}, model.Error{Kind: model.KindServer, Message: "it broke"}, true},
		{"error object in the stream", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 3, Body: `{"error":{"message":"overloaded","type":"overloaded_error"}}`}, model.Error{Kind: model.KindOverloaded, Message: "overloaded"}, true},
		{"error in the first event", modelserver.Reply{Fault: modelserver.ErrorData, Body: `{"error":{"message":"no","code":401}}`}, model.Error{Kind: model.KindAuth, Status: 401, Message: "no"}, false},
		{"error of older vLLM", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 3, Body: `{"object":"error","message":"no","type":"BadRequestError","code":400}`}, model.Error{Kind: model.KindInvalid, Status: 400, Message: "no"}, true},
		{"error of OpenRouter", modelserver.Reply{Text: long, Fault: modelserver.ErrorData, After: 3, Body: `{"id":"1","error":{"code":502,"message":"Provider returned error","metadata":{"raw":"upstream died"}},"choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}]}`}, model.Error{Kind: model.KindServer, Status: 502, Message: "upstream died"}, true},
		{"finish reason error", modelserver.Reply{Text: long, Finish: "error"}, model.Error{Kind: model.KindServer, Message: "without saying why"}, true},
		{"error without data:", modelserver.Reply{Text: long, Fault: modelserver.BareError, After: 3, Body: `{"error":"it broke"}`}, model.Error{Kind: model.KindServer, Message: "it broke"}, true},
		{"rubbish", modelserver.Reply{Text: long, Fault: modelserver.Garbage, After: 3}, model.Error{Kind: model.KindProtocol, Message: "not a chat completion chunk"}, true},
		{"cut off", modelserver.Reply{Text: long, Fault: modelserver.CutOff, After: 3}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"cut off inside a whole call", modelserver.Reply{Text: long, Calls: someCalls, Fault: modelserver.CutOff, After: modelserver.AtEnd}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
		{"reset", modelserver.Reply{Text: long, Fault: modelserver.Reset, After: 3}, model.Error{Kind: model.KindUnreachable, Message: "closed the connection"}, true},
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
			if !strings.HasPrefix(e.Message, "test: ") || strings.Contains(e.Error(), "secret-key") || strings.Contains(e.Error(), "\n") {
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

func TestNobodyListens(t *testing.T) {
	s := modelserver.New(t)
	m := newModel(t, s)
	s.Close()
	_, err := ask(t.Context(), t, m, model.Request{})
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindUnreachable || !e.Retryable() || !strings.Contains(e.Message, "nothing listens at 127.0.0.1:") {
		t.Errorf("error %v", err)
	}
	m = newModel(t, s, func(c *openai.Config) { c.BaseURL = "::nonsense" })
	if _, err := ask(t.Context(), t, m, model.Request{}); !errors.As(err, &e) || e.Kind != model.KindInvalid {
		t.Errorf("error %v", err)
	}
}

func TestCancelClosesTheConnection(t *testing.T) {
	for _, after := range []int{0, 2} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			s := modelserver.New(t, modelserver.Reply{Text: "abc", Fault: modelserver.Hang, After: after})
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			if after == 0 {
				go func() {
					s.Await(t, 1)
					cancel()
				}()
			}
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
		})
	}
}

func TestDeadlineIsTheCallersOwnError(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Fault: modelserver.Hang})
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := ask(ctx, t, newModel(t, s), model.Request{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v", err)
	}
}

func TestReaderMayStop(t *testing.T) {
	s := modelserver.New(t, modelserver.Reply{Text: strings.Repeat("word ", 100), Fault: modelserver.Hang, After: modelserver.AtEnd})
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
