package providers

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
)

func TestOllamaIsAskedWhatItsModelsCan(t *testing.T) {
	s := modelserver.New(t)
	s.List(
		modelserver.Listed{Name: "nomic", Capabilities: []string{"embedding"}},
		modelserver.Listed{Name: "chatty", Capabilities: []string{"completion"}, Context: 4096},
		modelserver.Listed{Name: "qwen3-vl:8b", Capabilities: []string{"completion", "tools", "vision", "thinking"}, Context: 262144},
		modelserver.Listed{Name: "coder", Capabilities: []string{"completion", "tools"}, Context: 8192},
	)
	r := newResolver(t, Config{Local: LocalServers[:1]}, env{"OLLAMA_HOST": address(s)})
	m, err := r.Default(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want := []model.Info{
		{ID: "ollama/qwen3-vl:8b", Provider: "ollama", Name: "qwen3-vl:8b", ContextWindow: 262144, Images: true, ThoughtLevels: []string{"low", "medium", "high"}},
		{ID: "ollama/coder", Provider: "ollama", Name: "coder", ContextWindow: 8192},
	}
	if d := cmp.Diff(want[0], m.Info()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff(want, r.List(t.Context())); d != "" {
		t.Error(d)
	}
}

func TestNothingIsFound(t *testing.T) {
	empty, toolless, page := modelserver.New(t), modelserver.New(t), modelserver.New(t)
	toolless.List(modelserver.Listed{Name: "chatty", Capabilities: []string{"completion"}})
	locals := []Local{
		{Provider: "ollama", Title: "Ollama", Address: address(toolless), Ollama: true},
		{Provider: "lmstudio", Title: "LM Studio", Address: nobody(t)},
		{Provider: "llamacpp", Title: "llama.cpp", Address: address(empty)},
		{Provider: "vllm", Title: "vLLM", Address: address(page) + "/other"},
	}
	r := newResolver(t, Config{Local: locals, ConfigFile: "/h/config.yaml", Endpoints: map[string]Endpoint{
		"bare": {BaseURL: "http://127.0.0.1:1"}, "locked": {BaseURL: "http://127.0.0.1:1", KeyEnv: "LOCKED", Models: []string{"m"}}}}, nil)
	_, err := r.Default(t.Context())
	if kind(err) != model.KindAuth {
		t.Fatalf("error %v", err)
	}
	for _, place := range []string{EnvModel, "/h/config.yaml", "providers.bare (lists no models)", "providers.locked (LOCKED is not set)",
		"OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY",
		"Ollama at " + toolless.URL + " (has no model that can use tools)",
		"LM Studio at http://" + locals[1].Address + " (nothing listens)",
		"llama.cpp at " + empty.URL + " (answers, but has no model that can chat)",
		"vLLM at " + page.URL + "/other (no list of models: HTTP 404)"} {
		if !strings.Contains(err.Error(), place) {
			t.Errorf("%q is not named in %v", place, err)
		}
	}
	if list := r.List(t.Context()); len(list) != 0 {
		t.Errorf("list %v", list)
	}
	// The user starts a server and tries again: soon after it is found.
	if f := r.probe.known(); len(f) != 4 {
		t.Errorf("%d findings", len(f))
	}
}

func TestDefaultWaitsAtMostASecond(t *testing.T) {
	r := newResolver(t, Config{Local: []Local{{Provider: "lmstudio", Title: "LM Studio", Address: silent(t)}}}, nil)
	start := time.Now()
	_, err := r.Default(t.Context())
	if d := time.Since(start); d > 1500*time.Millisecond {
		t.Errorf("waited %v", d)
	}
	if kind(err) != model.KindAuth || !strings.Contains(err.Error(), "no answer in time") {
		t.Errorf("error %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newResolver(t, Config{Local: r.cfg.Local}, nil).Default(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestListNeverWaits(t *testing.T) {
	s := modelserver.New(t)
	s.List(modelserver.Listed{Name: "m"})
	r := newResolver(t, Config{Local: []Local{
		{Provider: "lmstudio", Title: "LM Studio", Address: silent(t)}, {Provider: "vllm", Title: "vLLM", Address: address(s)}}}, nil)
	if list := r.List(t.Context()); len(list) != 0 {
		t.Errorf("list %v before anybody answered", list)
	}
	running := r.probe.start(t.Context())
	if running == nil {
		t.Fatal("List has not started a probe")
	}
	<-running
	if list := r.List(t.Context()); len(list) != 1 || list[0].ID != "vllm/m" {
		t.Errorf("list %v", list)
	}
	if r.probe.start(t.Context()) != nil {
		t.Error("what was just found is looked for again")
	}
}

// Nothing on another machine is probed, and nothing that the user has not named once a model is
// configured.
func TestTargets(t *testing.T) {
	cases := []struct {
		what string
		cfg  Config
		vars env
		want []string
	}{
		{"nothing configured", Config{}, nil, []string{"http://127.0.0.1:11434/v1", "http://127.0.0.1:1234/v1", "http://127.0.0.1:8080/v1", "http://127.0.0.1:8000/v1"}},
		{"a key", Config{}, env{"OPENAI_API_KEY": "k"}, nil},
		{"a model", Config{Model: "openai/x"}, nil, nil},
		{"a local model", Config{Model: "vllm/x"}, nil, []string{"http://127.0.0.1:8000/v1"}},
		{"a key and Ollama", Config{}, env{"OPENAI_API_KEY": "k", "OLLAMA_HOST": "localhost:1"}, []string{"http://localhost:1/v1"}},
		{"Ollama elsewhere", Config{Model: "ollama/x"}, env{"OLLAMA_HOST": "gpu-box"}, nil},
		{"OpenAI's address here", Config{}, env{"OPENAI_BASE_URL": "http://[::1]:9/v1"}, []string{"http://[::1]:9/v1"}},
		{"OpenAI's address elsewhere", Config{}, env{"OPENAI_BASE_URL": "http://10.0.0.1:9/v1"}, nil},
		{"LM Studio on another port", Config{Model: "openai/x", Endpoints: map[string]Endpoint{"lmstudio": {BaseURL: "http://127.0.0.1:5/v1/"}}}, nil, []string{"http://127.0.0.1:5/v1"}},
	}
	for _, c := range cases {
		c.cfg.Local = LocalServers
		var got []string
		for _, target := range newResolver(t, c.cfg, c.vars).targets() {
			got = append(got, target.base)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.what, got, c.want)
		}
	}
}

func TestLocalURL(t *testing.T) {
	for value, want := range map[string]string{
		"":                         "http://127.0.0.1:11434",
		"localhost":                "http://localhost:11434",
		"localhost:1":              "http://localhost:1",
		":1":                       "http://127.0.0.1:1",
		"0.0.0.0":                  "http://127.0.0.1:11434",
		"0.0.0.0:1":                "http://127.0.0.1:1",
		"[::]:1":                   "http://127.0.0.1:1",
		"[::1]":                    "http://[::1]:11434",
		"http://box":               "http://box:80",
		"https://box/ollama/":      "https://box:443/ollama",
		"http://box:1":             "http://box:1",
		" \"http://box:1\" ":       "http://box:1",
		"http://user.example:1/a/": "http://user.example:1/a",
	} {
		if got := localURL(value, "127.0.0.1:11434"); got != want {
			t.Errorf("%q: %q, want %q", value, got, want)
		}
	}
	for base, want := range map[string]bool{"http://127.0.0.1:1/v1": true, "http://127.9.9.9": true, "http://[::1]:1": true, "http://localhost:1": true,
		"http://localhost.example.com": false, "http://10.0.0.1": false, "http://gpu": false, "::": false} {
		if loopback(base) != want {
			t.Errorf("loopback(%q) is %v", base, !want)
		}
	}
}
