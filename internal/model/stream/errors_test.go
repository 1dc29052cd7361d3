package stream

import (
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"acp-agent/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// What servers do is tested through the providers; here is what is hard to reach from there.

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	for value, want := range map[string]time.Duration{
		"":                              0,
		"2":                             2 * time.Second,
		"0.5":                           500 * time.Millisecond,
		"-1":                            0,
		"NaN":                           0,
		"1e300":                         24 * time.Hour,
		"soon":                          0,
		"Mon, 30 Nov 2026 12:00:07 GMT": 7 * time.Second,
		"Mon, 30 Nov 2026 11:00:00 GMT": 0,
	} {
		e := StatusError(429, http.Header{"Retry-After": {value}}, nil, now)
		if e.RetryAfter != want {
			t.Errorf("%q: %v, want %v", value, e.RetryAfter, want)
		}
	}
	if seconds(math.Inf(1)) != 24*time.Hour {
		t.Error("an endless wait")
	}
}

func TestKinds(t *testing.T) {
	for _, c := range []struct {
		status int
		body   string
		want   model.Kind
	}{
		{0, ``, model.KindServer},
		{0, `{"error":{"type":"overloaded_error"}}`, model.KindOverloaded},
		{0, `{"error":{"type":"invalid_request_error"}}`, model.KindInvalid},
		{0, `{"error":{"type":"authentication_error"}}`, model.KindAuth},
		{0, `{"error":{"status":"UNAVAILABLE"}}`, model.KindOverloaded},
		{0, `{"error":{"code":529}}`, model.KindOverloaded},
		{0, `{"error":{"code":503.5}}`, model.KindServer},
		{402, `{"error":{"message":"no credits"}}`, model.KindInvalid},
		{404, ``, model.KindInvalid},
		{408, ``, model.KindServer},
		{422, `{"detail":"x"}`, model.KindInvalid},
		{500, `{"error":{"message":"the context size of the worker"}}`, model.KindServer},
		{400, `{"error":{"message":"the request exceeds the available context size"}}`, model.KindContext},
		{400, `{"error":{"message":"input token count (9) exceeds the maximum"}}`, model.KindContext},
		{504, ``, model.KindServer},
		{529, ``, model.KindOverloaded},
	} {
		var got model.Kind
		if c.status == 0 {
			got = BodyError([]byte(c.body)).Kind
		} else {
			got = StatusError(c.status, nil, []byte(c.body), time.Time{}).Kind
		}
		if got != c.want {
			t.Errorf("%d %s: %s, want %s", c.status, c.body, got, c.want)
		}
	}
}

func TestLongMessagesAreCut(t *testing.T) {
	e := StatusError(500, nil, []byte(strings.Repeat("é ", 100_000)), time.Time{})
	if len(e.Message) > maxWords+40 || !strings.Contains(e.Message, "bytes)") || strings.Contains(e.Message, "\uFFFD") {
		t.Errorf("%d bytes: %q", len(e.Message), e.Message)
	}
}

func FuzzBodyError(f *testing.F) {
	f.Add(`[{"error":{"code":429,"details":[{"retryDelay":"1s"}],"metadata":{"raw":"x"}}}]`)
	f.Add(`{"detail":[{"msg":"x"}]}`)
	f.Fuzz(func(t *testing.T, body string) {
		if e := BodyError([]byte(body)); e.Kind == "" {
			t.Error("no kind")
		}
	})
}
