package stream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"acp-agent/internal/model"
)

// maxWords bounds what is shown of a provider's message.
const maxWords = 500

// StatusError maps an answer that is not of status 2xx. now is for a Retry-After that is a date.
func StatusError(status int, header http.Header, body []byte, now time.Time) *model.Error {
	f := parseFault(body)
	e := &model.Error{Kind: kindOf(status, f), Status: status, Message: f.message}
	if e.Message == "" {
		e.Message = plainWords(body)
	}
	if e.Message == "" {
		e.Message = strings.ToLower(http.StatusText(status))
	}
	e.RetryAfter = retryAfter(header, now)
	if e.RetryAfter == 0 {
		e.RetryAfter = f.retry
	}
	return e
}

// BodyError maps an error object that came in a stream or in an answer of status 200. A server that
// gives no reason is taken to have failed itself, which is worth another try.
func BodyError(body []byte) *model.Error {
	f := parseFault(body)
	e := &model.Error{Kind: kindOf(f.status, f), Status: f.status, Message: f.message, RetryAfter: f.retry}
	if e.Message == "" {
		e.Message = plainWords(body)
	}
	if e.Status == 0 {
		e.Message = "model reported an error: " + e.Message
	}
	return e
}

// Reports says that a JSON body, which came with a good status, tells of a failure.
func Reports(body []byte) bool { return parseFault(body).message != "" }

// KindOf groups an HTTP status; 0 is no answer at all.
func KindOf(status int) model.Kind { return kindOf(status, fault{}) }

func kindOf(status int, f fault) model.Kind {
	words := strings.ToLower(f.code + " " + f.typ)
	has := func(any ...string) bool {
		for _, w := range any {
			if strings.Contains(words, w) {
				return true
			}
		}
		return false
	}
	switch {
	case status == http.StatusRequestEntityTooLarge, has("context_length", "request_too_large", "context_window"),
		status < 500 && tooLong().MatchString(f.message):
		return model.KindContext
	case has("insufficient_quota", "billing"):
		return model.KindInvalid // asking again does not fill an account
	case status == 401 || status == 403, has("authentication", "permission", "invalid_api_key", "unauthenticated"):
		return model.KindAuth
	case status == 429, has("rate_limit", "resource_exhausted", "too_many_requests"):
		return model.KindRateLimit
	case status == 503 || status == 529, has("overloaded", "unavailable"):
		return model.KindOverloaded
	case status >= 500 || status == 408, has("server_error", "api_error", "internal", "timeout"):
		return model.KindServer
	case status >= 300, has("invalid", "not_found"):
		return model.KindInvalid
	}
	return model.KindServer
}

// tooLong matches how servers without error codes say that the prompt does not fit. It is compiled
// on first use, like all patterns here, to keep it out of the program's start.
var tooLong = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)maximum context length|context (length|window|size)|prompt is too long|` +
		`input (is too long|token count|length).{0,60}exceed|too many (input )?tokens|max(imum)?_?(prompt|seq|model)_?len`)
})

// fault is what could be read of an error body.
type fault struct {
	message string
	code    string
	typ     string
	status  int
	retry   time.Duration
}

// parseFault reads the shapes that servers use: {"error": {"message", "type", "code"}} (OpenAI,
// Anthropic, OpenRouter), {"error": "text"} (Ollama), {"detail": …} (FastAPI), {"message": …} (older
// vLLM), and any of them in a list (Gemini).
func parseFault(body []byte) fault {
	var v any
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return fault{}
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[0]
	}
	return readFault(v)
}

func readFault(v any) fault {
	switch v := v.(type) {
	case string:
		return fault{message: clip(v)}
	case map[string]any:
		for _, key := range []string{"error", "detail"} {
			if inner, ok := v[key]; ok && inner != nil {
				return readFault(inner)
			}
		}
		return readFields(v)
	case []any: // FastAPI: [{"msg": …, "loc": […]}]
		if len(v) > 0 {
			return readFault(v[0])
		}
	}
	return fault{}
}

func readFields(v map[string]any) fault {
	var f fault
	for _, key := range []string{"message", "msg"} {
		if s, ok := v[key].(string); ok && f.message == "" {
			f.message = clip(s)
		}
	}
	f.typ, _ = v["type"].(string)
	if s, ok := v["status"].(string); ok { // Gemini
		f.typ += " " + s
	}
	for _, key := range []string{"code", "status", "status_code"} {
		switch c := v[key].(type) {
		case string:
			if key == "code" {
				f.code = c
			}
		case json.Number:
			if n, err := c.Int64(); err == nil && n >= 300 && n < 600 {
				f.status = int(n)
			}
		}
	}
	if meta, ok := v["metadata"].(map[string]any); ok { // OpenRouter: what the real provider said
		if raw, ok := meta["raw"].(string); ok && raw != "" {
			f.message = clip(f.message + ": " + raw)
		}
	}
	if details, ok := v["details"].([]any); ok { // Gemini: google.rpc.RetryInfo
		for _, d := range details {
			if m, ok := d.(map[string]any); ok {
				if s, ok := m["retryDelay"].(string); ok {
					f.retry, _ = time.ParseDuration(s)
				}
			}
		}
	}
	return f
}

// retryAfter reads how long the provider asks to wait: milliseconds, seconds, or a date.
func retryAfter(h http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(h.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return seconds(ms / 1000)
	}
	v := h.Get("Retry-After")
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return seconds(s)
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}

// seconds is bounded by a day, so that no header can overflow.
func seconds(s float64) time.Duration {
	if math.IsNaN(s) || s <= 0 {
		return 0
	}
	return time.Duration(min(s, 86400) * float64(time.Second))
}

// plainWords makes one line of a body that is not JSON.
func plainWords(body []byte) string {
	if t := bytes.TrimSpace(body); len(t) > 0 && t[0] == '<' {
		if m := title().FindSubmatch(t); m != nil {
			return clip(string(m[1]))
		}
		return ""
	}
	return clip(string(body))
}

var title = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?is)<title[^>]*>(.*?)</title>`)
})

func clip(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "?")), " ")
	if len(s) <= maxWords {
		return s
	}
	n := maxWords
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return fmt.Sprintf("%s… (%d bytes)", s[:n], len(s))
}
