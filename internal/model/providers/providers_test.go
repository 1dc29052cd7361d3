package providers

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type env map[string]string

func (e env) get(name string) string { return e[name] }

// newResolver has no local servers unless the test names them.
func newResolver(t *testing.T, cfg Config, vars env) *Resolver {
	t.Helper()
	cfg.Getenv = vars.get
	if cfg.Local == nil {
		cfg.Local = []Local{}
	}
	r := New(cfg)
	t.Cleanup(r.Close)
	return r
}

// address gives a server's host:port.
func address(s *modelserver.Server) string { return strings.TrimPrefix(s.URL, "http://") }

// nobody is an address where nothing listens.
func nobody(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// silent is an address that takes connections and says nothing.
func silent(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return l.Addr().String()
}

func kind(err error) model.Kind {
	var e *model.Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

func TestResolve(t *testing.T) {
	endpoints := map[string]Endpoint{
		"work":      {BaseURL: "http://127.0.0.1:8000/v1", KeyEnv: "WORK_KEY", Models: []string{"coder"}},
		"open":      {BaseURL: "http://127.0.0.1:9000/v1"},
		"anthropic": {Key: "written"},
	}
	cases := []struct {
		name string
		vars env
		kind model.Kind // "" when it resolves
		want string     // part of the message
	}{
		{"openai/gpt-5.2", env{"OPENAI_API_KEY": "k"}, "", ""},
		{"openai/never-heard-of", env{"OPENAI_API_KEY": "k"}, "", ""},
		{"openai/gpt-5.2", nil, model.KindAuth, "set OPENAI_API_KEY"},
		{"openai/gpt-5.2", env{"OPENAI_BASE_URL": "http://127.0.0.1:1/v1"}, "", ""},
		{"gemini/gemini-2.5-pro", nil, model.KindAuth, "set GEMINI_API_KEY"},
		{"openrouter/qwen/qwen3-coder", env{"OPENROUTER_API_KEY": "k"}, "", ""},
		{"anthropic/claude-sonnet-5-5", nil, "", ""},
		{"ollama/qwen3-coder:30b", nil, "", ""},
		{"vllm/org/model", nil, "", ""},
		{"work/coder", env{"WORK_KEY": "k"}, "", ""},
		{"work/coder", nil, model.KindAuth, "set WORK_KEY"},
		{"open/any", nil, "", ""},
		{"scripted/dir/m.yaml", nil, "", ""},
		{"nobody/x", nil, model.KindInvalid, "anthropic, gemini, llamacpp, lmstudio, ollama, open, openai, openrouter, scripted, vllm, work"},
		{"gpt-5.2", nil, model.KindInvalid, "did you mean openai/gpt-5.2?"},
		{"coder", nil, model.KindInvalid, "did you mean work/coder?"},
		{"what", nil, model.KindInvalid, "not of the form provider/model"},
		{"openai/", nil, model.KindInvalid, "not of the form provider/model"},
		{"/x", nil, model.KindInvalid, "not of the form provider/model"},
		{"", nil, model.KindInvalid, "not of the form provider/model"},
	}
	for _, c := range cases {
		r := newResolver(t, Config{Endpoints: endpoints}, c.vars)
		m, err := r.Resolve(t.Context(), c.name, "")
		if kind(err) != c.kind || (err == nil) != (c.kind == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q %v: error %v, want %q %q", c.name, c.vars, err, c.kind, c.want)
		}
		if err != nil {
			continue
		}
		if m.Info().ID != c.name {
			t.Errorf("%q: id %q", c.name, m.Info().ID)
		}
		if again, _ := r.Resolve(t.Context(), c.name, ""); again != m {
			t.Errorf("%q: another model for the same name", c.name)
		}
	}
}

func TestScriptedIsCheckedWhenThereIsACwd(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "m.yaml"), []byte("turns:\n  - nonsense: 1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := newResolver(t, Config{}, nil)
	if _, err := r.Resolve(t.Context(), "scripted/m.yaml", dir); kind(err) != model.KindInvalid || !strings.Contains(err.Error(), "m.yaml:2:") {
		t.Errorf("error %v", err)
	}
	if _, err := r.Resolve(t.Context(), "scripted/m.yaml", ""); err != nil {
		t.Errorf("error %v", err)
	}
}

// What is resolved really asks the configured address with the configured key.
func TestWhereAndHowModelsAreAsked(t *testing.T) {
	s := modelserver.New(t)
	cases := []struct {
		name      string
		cfg       Config
		vars      env
		path      string
		header    string
		value     string
		cacheKeys bool
	}{
		{"openai/x", Config{}, env{"OPENAI_BASE_URL": s.URL + "/v1/", "OPENAI_API_KEY": "k1"}, "/v1/chat/completions", "Authorization", "Bearer k1", false},
		{"openai/x", Config{}, env{"OPENAI_BASE_URL": s.URL + "/v1"}, "/v1/chat/completions", "Authorization", "", false},
		{"openai/x", Config{Key: func(p string) string { return "stored-" + p }}, env{"OPENAI_BASE_URL": s.URL + "/v1"}, "/v1/chat/completions", "Authorization", "Bearer stored-openai", false},
		{"anthropic/x", Config{}, env{"ANTHROPIC_BASE_URL": s.URL, "ANTHROPIC_API_KEY": "k2"}, "/v1/messages", "X-Api-Key", "k2", false},
		{"anthropic/x", Config{Endpoints: map[string]Endpoint{"anthropic": {BaseURL: s.URL + "/v1", KeyEnv: "OTHER"}}}, env{"OTHER": "k3", "ANTHROPIC_API_KEY": "k2"}, "/v1/messages", "X-Api-Key", "k3", false},
		{"work/x", Config{Endpoints: map[string]Endpoint{"work": {BaseURL: s.URL + "/v1", Key: "k4"}}}, nil, "/v1/chat/completions", "Authorization", "Bearer k4", false},
		{"ollama/x", Config{Local: LocalServers}, env{"OLLAMA_HOST": address(s)}, "/v1/chat/completions", "Authorization", "", false},
		{"gemini/x", Config{Endpoints: map[string]Endpoint{"gemini": {BaseURL: s.URL + "/v1"}}}, env{"GEMINI_API_KEY": "k5"}, "/v1/chat/completions", "Authorization", "Bearer k5", false},
	}
	for i, c := range cases {
		m, err := newResolver(t, c.cfg, c.vars).Resolve(t.Context(), c.name, "")
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		for _, err := range m.Stream(t.Context(), model.Request{Session: "s"}) {
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
		}
		got := s.Await(t, i+1)[i]
		if got.Path != c.path || got.Header.Get(c.header) != c.value {
			t.Errorf("%s: %s, %s %q", c.name, got.Path, c.header, got.Header.Get(c.header))
		}
		if body := got.JSON(t); body["model"] != "x" || body["prompt_cache_key"] != nil {
			t.Errorf("%s: body %v", c.name, body)
		}
	}
}

func TestDefaultOrder(t *testing.T) {
	local := modelserver.New(t)
	local.List(modelserver.Listed{Name: "small-embed"}, modelserver.Listed{Name: "local-model"})
	servers := []Local{{Provider: "lmstudio", Title: "LM Studio", Address: address(local)}}
	work := map[string]Endpoint{"work": {BaseURL: "http://127.0.0.1:1/v1", Models: []string{"coder", "other"}}, "bare": {BaseURL: "http://127.0.0.1:1/v1"}}
	cases := []struct {
		what string
		cfg  Config
		vars env
		want string
	}{
		{"the variable goes first", Config{Model: "gemini/b", Endpoints: work}, env{EnvModel: "openai/a", "OPENAI_API_KEY": "k"}, "openai/a"},
		{"then the configuration", Config{Model: "ollama/b", Endpoints: work}, env{"OPENAI_API_KEY": "k"}, "ollama/b"},
		{"then endpoints with models", Config{Endpoints: work}, env{"OPENAI_API_KEY": "k"}, "work/coder"},
		{"then keys", Config{}, env{"ANTHROPIC_API_KEY": "k"}, "anthropic/claude-sonnet-5-5"},
		{"keys in their order", Config{}, env{"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k"}, "openai/gpt-5.2"},
		{"a stored key", Config{Key: func(p string) string { return map[string]string{"gemini": "k"}[p] }}, nil, "gemini/gemini-3.7-flash"},
		{"an address with its own models", Config{}, env{"OPENAI_BASE_URL": local.URL + "/v1"}, "openai/local-model"},
		{"an address that tells nothing", Config{}, env{"OPENAI_BASE_URL": "http://" + nobody(t) + "/v1"}, "openai/gpt-5.2"},
		{"then local servers", Config{}, nil, "lmstudio/local-model"},
	}
	for _, c := range cases {
		c.cfg.Local = servers
		r := newResolver(t, c.cfg, c.vars)
		m, err := r.Default(t.Context())
		if err != nil {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		if m.Info().ID != c.want {
			t.Errorf("%s: %s, want %s", c.what, m.Info().ID, c.want)
		}
		if list := r.List(t.Context()); len(list) == 0 || list[0].ID != c.want {
			t.Errorf("%s: the list begins with %+v", c.what, list)
		}
	}
}

// A setting that is wrong is an error that names it; nothing else is taken in its place.
func TestDefaultThatIsWrong(t *testing.T) {
	for _, c := range []struct {
		cfg  Config
		vars env
		kind model.Kind
		want string
	}{
		{Config{}, env{EnvModel: "nope"}, model.KindInvalid, EnvModel + ": "},
		{Config{Model: "openai/x", ConfigFile: "/h/config.yaml"}, nil, model.KindAuth, "model in /h/config.yaml: openai needs a key"},
	} {
		_, err := newResolver(t, c.cfg, c.vars).Default(t.Context())
		if kind(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
