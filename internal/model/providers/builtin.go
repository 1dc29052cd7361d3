package providers

import (
	"strings"

	"acp-agent/internal/model"
	"acp-agent/internal/model/anthropic"
	"acp-agent/internal/model/catalog"
	"acp-agent/internal/model/openai"
)

// builtin is a provider that needs no configuration but a key.
type builtin struct {
	name    string
	base    string // address; local servers have theirs in LocalServers
	keyEnv  string
	baseEnv string // variable that changes the address
	dialect openai.Dialect
	native  bool // speaks Anthropic's format
}

// builtins in the order in which their keys are looked for.
var builtins = []builtin{
	{name: "openai", base: "https://api.openai.com/v1", keyEnv: "OPENAI_API_KEY", baseEnv: "OPENAI_BASE_URL", dialect: openai.Official},
	{name: "anthropic", base: "https://api.anthropic.com", keyEnv: "ANTHROPIC_API_KEY", baseEnv: "ANTHROPIC_BASE_URL", native: true},
	{name: "gemini", base: "https://generativelanguage.googleapis.com/v1beta/openai", keyEnv: "GEMINI_API_KEY", dialect: openai.Gemini},
	{name: "openrouter", base: "https://openrouter.ai/api/v1", keyEnv: "OPENROUTER_API_KEY", dialect: openai.OpenRouter},
	{name: "ollama"},
	{name: "lmstudio"},
	{name: "llamacpp"},
	{name: "vllm"},
}

// provider is one provider as it is configured now.
type provider struct {
	builtin
	endpoint Endpoint
	key      string
	moved    bool // the address is not the provider's own
}

// provider looks a provider up: a named endpoint, a built-in one, or both.
func (r *Resolver) provider(name string) (provider, bool) {
	e, named := r.cfg.Endpoints[name]
	p := provider{endpoint: e}
	known := false
	for _, b := range builtins {
		if b.name == name {
			p.builtin, known = b, true
		}
	}
	if !known && !named {
		return p, false
	}
	p.name = name
	for _, l := range r.cfg.Local {
		if l.Provider == name {
			p.base = r.localBase(l)
		}
	}
	env := ""
	if p.baseEnv != "" {
		env = r.cfg.Getenv(p.baseEnv)
	}
	switch {
	case e.BaseURL != "":
		p.base, p.moved = e.BaseURL, true
	case env != "":
		p.base, p.moved = env, true
	}
	p.base = strings.TrimSuffix(p.base, "/")
	if p.moved && p.dialect == openai.Official {
		p.dialect = openai.Compatible
	}
	p.key = r.key(p)
	return p, true
}

// key takes the first key that there is: written in the configuration, in the variable named there,
// in the provider's own variable, stored.
func (r *Resolver) key(p provider) string {
	if p.endpoint.Key != "" {
		return p.endpoint.Key
	}
	for _, env := range []string{p.endpoint.KeyEnv, p.keyEnv} {
		if env != "" {
			if v := r.cfg.Getenv(env); v != "" {
				return v
			}
		}
	}
	if r.cfg.Key != nil {
		return r.cfg.Key(p.name)
	}
	return ""
}

// needsKey says that the provider is known to refuse requests without a key.
func (p provider) needsKey() bool {
	return p.keyEnv != "" && !p.moved || p.endpoint.KeyEnv != ""
}

// signIn says how to give the provider its key.
func (p provider) signIn() string {
	env := p.endpoint.KeyEnv
	if env == "" {
		env = p.keyEnv
	}
	if env == "" {
		return "put its key into api_key or api_key_env"
	}
	return "set " + env + " or providers." + p.name + ".api_key in config.yaml"
}

// build makes the model. found is what a probe told of it.
func (r *Resolver) build(p provider, name string, found listed) model.Model {
	e, known := catalog.Lookup(p.name, name)
	info := catalog.Info(p.name, name)
	if !known {
		info.Images = true // unknown: the server is the one to refuse them
	}
	found.fill(&info)
	if p.native {
		cfg := anthropic.Config{Info: info, Model: name, BaseURL: p.base, Key: p.key, SignIn: p.signIn(), MaxOutput: e.Output, Thinking: anthropic.Never, Client: r.client}
		switch e.Thinking {
		case catalog.Adaptive:
			cfg.Thinking = anthropic.Adaptive
		case catalog.Budget:
			cfg.Thinking = anthropic.Budget
		}
		return anthropic.New(cfg)
	}
	return openai.New(openai.Config{Info: info, Model: name, BaseURL: p.base, Key: p.key, SignIn: p.signIn(),
		Dialect: p.dialect, NoEffort: e.ChatNoEffort && !p.moved, Client: r.client})
}
