// Package modelserver is a model provider for tests: it speaks the real wire formats of OpenAI Chat
// Completions and Anthropic Messages over loopback, plays scripted replies with every habit and
// fault that real servers have, and records what it was asked. Its main type is [Server].
package modelserver

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"acp-agent/internal/model"
	"acp-agent/internal/model/scripted"
)

// Server answers requests with its replies, in order; past the end the answer is "done".
type Server struct {
	URL string // without a path

	http *httptest.Server
	stop chan struct{} // closed by Close: hanging replies end

	mu       sync.Mutex
	replies  []Reply   // guarded by mu
	requests []Request // guarded by mu
	arrived  chan struct{}
	models   []Listed // guarded by mu
}

// Listed is a model that the server says it has.
type Listed struct {
	Name         string
	Context      int      // tokens; 0 says nothing
	Capabilities []string // Ollama's words: completion, tools, vision, thinking
}

// Request is one request as it came. Gone is closed when the client has hung up or was answered.
type Request struct {
	Method, Path string
	Header       http.Header
	Body         []byte
	Gone         <-chan struct{}
}

// JSON is the body as a map.
func (r Request) JSON(t testing.TB) map[string]any {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal(r.Body, &m); err != nil {
		t.Fatalf("the request is not JSON: %v\n%s", err, r.Body)
	}
	return m
}

// New starts a server that ends with the test.
func New(t testing.TB, replies ...Reply) *Server {
	t.Helper()
	s := &Server{stop: make(chan struct{}), replies: replies, arrived: make(chan struct{})}
	s.http = httptest.NewServer(http.HandlerFunc(s.serve))
	s.URL = s.http.URL
	t.Cleanup(s.Close)
	return s
}

// FromScript starts a server that plays a scripted model's YAML on the wire.
func FromScript(t testing.TB, yaml string) *Server {
	t.Helper()
	script, err := scripted.Parse("script", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	var replies []Reply
	for _, turn := range script.Turns {
		for range turn.Repeat {
			replies = append(replies, fromTurn(turn))
		}
	}
	return New(t, replies...)
}

// Close ends hanging replies and the server. A second call does nothing.
func (s *Server) Close() {
	s.mu.Lock()
	select {
	case <-s.stop:
	default:
		close(s.stop)
	}
	s.mu.Unlock()
	s.http.CloseClientConnections()
	s.http.Close()
}

// Add queues more replies.
func (s *Server) Add(replies ...Reply) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replies = append(s.replies, replies...)
}

// List sets what the server says of its models at /v1/models, /api/tags and /api/show.
func (s *Server) List(models ...Listed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.models = models
}

// Requests are the requests for an answer so far; those for lists are left out.
func (s *Server) Requests() []Request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Request(nil), s.requests...)
}

// Await waits until n requests for an answer have come and gives them.
func (s *Server) Await(t testing.TB, n int) []Request {
	t.Helper()
	for {
		s.mu.Lock()
		got, next := append([]Request(nil), s.requests...), s.arrived
		s.mu.Unlock()
		if len(got) >= n {
			return got
		}
		select {
		case <-next:
		case <-t.Context().Done():
			t.Fatalf("%d of %d requests came", len(got), n)
		}
	}
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	switch path := strings.TrimPrefix(r.URL.Path, "/v1"); {
	case path == "/models" || path == "/api/tags" || path == "/api/show":
		s.list(w, path, body)
	case strings.HasSuffix(path, "/chat/completions"):
		s.answer(w, r, body, openaiFrames)
	case strings.HasSuffix(path, "/messages"):
		s.answer(w, r, body, anthropicFrames)
	default:
		http.NotFound(w, r)
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request, body []byte, frames func(Reply) []frame) {
	reply := s.take(Request{Method: r.Method, Path: r.URL.Path, Header: r.Header.Clone(), Body: body, Gone: r.Context().Done()})
	p := &player{w: w, gone: r.Context().Done(), stop: s.stop, reply: reply}
	p.play(frames)
}

// take records a request and takes the reply to it.
func (s *Server) take(r Request) Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r)
	close(s.arrived)
	s.arrived = make(chan struct{})
	if len(s.replies) == 0 {
		return Reply{Text: "done"}
	}
	reply := s.replies[0]
	s.replies = s.replies[1:]
	return reply
}

func (s *Server) list(w http.ResponseWriter, path string, body []byte) {
	s.mu.Lock()
	models := append([]Listed(nil), s.models...)
	s.mu.Unlock()
	var out any
	switch path {
	case "/models":
		data := []any{}
		for _, m := range models {
			data = append(data, map[string]any{"id": m.Name, "object": "model"})
		}
		out = map[string]any{"object": "list", "data": data}
	case "/api/tags":
		tags := []any{}
		for _, m := range models {
			tags = append(tags, map[string]any{"name": m.Name, "model": m.Name})
		}
		out = map[string]any{"models": tags}
	default:
		var ask struct{ Model string }
		_ = json.Unmarshal(body, &ask)
		for _, m := range models {
			if m.Name == ask.Model {
				out = map[string]any{"capabilities": m.Capabilities, "model_info": map[string]any{"general.architecture": "x", "x.context_length": m.Context}}
			}
		}
		if out == nil {
			w.WriteHeader(http.StatusNotFound)
			out = map[string]any{"error": fmt.Sprintf("model %q not found", ask.Model)}
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out)
}

func fromTurn(t scripted.Turn) Reply {
	r := Reply{Thought: t.Thought, Text: t.Text, Chunk: t.Chunk, Usage: t.Usage}
	for _, c := range t.Calls {
		r.Calls = append(r.Calls, Call{ID: c.ID, Name: c.Name, Arguments: c.Arguments})
	}
	switch {
	case t.Finish == model.FinishStop && len(t.Calls) > 0, t.Finish != model.FinishStop && t.Finish != model.FinishToolCalls:
		r.Finish = string(t.Finish)
	}
	switch {
	case t.Hang:
		r.Fault, r.After = Hang, AtEnd
	case t.Error != nil && t.Error.Status == 0:
		r.Fault, r.After = Reset, AtEnd
	case t.Error != nil && (t.Text != "" || t.Thought != ""):
		r.Fault, r.After, r.Body = ErrorEvent, AtEnd, errorBody(t.Error.Status, t.Error.Message)
	case t.Error != nil:
		r.Status, r.Body = t.Error.Status, errorBody(t.Error.Status, t.Error.Message)
		if t.Error.RetryAfter > 0 {
			r.Header = http.Header{"Retry-After": {fmt.Sprint(t.Error.RetryAfter.Seconds())}}
		}
	}
	return r
}

func errorBody(status int, message string) string {
	b, err := json.Marshal(map[string]any{"type": "error", "error": map[string]any{"type": "scripted", "code": status, "message": message}})
	if err != nil {
		panic(err)
	}
	return string(b)
}
