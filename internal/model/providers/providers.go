// Package providers finds models by name: it knows every provider, where its key and address come
// from, and which local servers answer. Its main type is [Resolver], a [model.Resolver]. Nothing is
// contacted before somebody asks for a model, and probing looks at this machine only.
package providers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"

	"acp-agent/internal/model"
	"acp-agent/internal/model/catalog"
	"acp-agent/internal/model/scripted"
	"acp-agent/internal/model/stream"
)

// EnvModel is the variable that names the model and goes before the configuration.
const EnvModel = "ACP_AGENT_MODEL"

// Config is what the resolver is told; it reads no file and no environment by itself.
type Config struct {
	Model      string              // the configured model, "" for none
	ConfigFile string              // where that is configured, for messages
	Endpoints  map[string]Endpoint // named endpoints, and changes to built-in providers
	Getenv     func(string) string
	// Key gives a stored key of a provider, "" when there is none; nil when nothing is stored. It is
	// asked often, so it has to answer from memory.
	Key    func(provider string) string
	Client *http.Client // nil for one of our own
	Local  []Local      // local servers to look for; nil for [LocalServers]
}

// Endpoint is an OpenAI-compatible address, or what is different about a built-in provider.
type Endpoint struct {
	BaseURL string
	KeyEnv  string // the variable that holds the key
	Key     string
	Models  []string
}

// Resolver finds models. The same name gives the same [model.Model] as long as its key and address
// stay the same, so what a model has learnt of its server, and how far a scripted one is, is shared.
type Resolver struct {
	cfg    Config
	client *http.Client
	probe  *prober

	mu     sync.Mutex
	models map[made]model.Model // guarded by mu
}

// made identifies a model by everything that it is made of.
type made struct {
	name, base, key string
	info            string // what a probe told of it
}

// New makes a resolver; it starts nothing. Close ends what later calls start.
func New(cfg Config) *Resolver {
	r := &Resolver{cfg: cfg, client: cfg.Client, models: map[made]model.Model{}}
	if r.client == nil {
		r.client = stream.NewClient()
	}
	if r.cfg.Getenv == nil {
		r.cfg.Getenv = func(string) string { return "" }
	}
	if r.cfg.Local == nil {
		r.cfg.Local = LocalServers
	}
	if r.cfg.ConfigFile == "" {
		r.cfg.ConfigFile = "config.yaml"
	}
	r.probe = &prober{client: r.client, targets: r.targets}
	return r
}

// Close ends a running probe, waits for it, and closes idle connections.
func (r *Resolver) Close() {
	r.probe.close()
	r.client.CloseIdleConnections()
}

// Resolve gives the model of a name of the form provider/model; see [model.Resolver].
func (r *Resolver) Resolve(_ context.Context, name, cwd string) (model.Model, error) {
	provider, rest, ok := strings.Cut(name, "/")
	if !ok || provider == "" || rest == "" {
		return nil, r.notAName(name)
	}
	if provider == scripted.Provider {
		m := r.keep(made{name: name}, func() model.Model { return scripted.File(rest) }).(*scripted.Model)
		if cwd != "" {
			if err := m.Check(cwd); err != nil {
				return nil, err
			}
		}
		return m, nil
	}
	p, ok := r.provider(provider)
	if !ok {
		return nil, &model.Error{Kind: model.KindInvalid, Message: fmt.Sprintf("there is no provider %q (known: %s); an OpenAI-compatible address gets a name under providers in %s",
			provider, strings.Join(r.providerNames(), ", "), r.cfg.ConfigFile)}
	}
	if p.key == "" && p.needsKey() {
		return nil, &model.Error{Kind: model.KindAuth, Message: fmt.Sprintf("%s needs a key: %s", provider, p.signIn())}
	}
	found, _ := r.probe.model(provider, p.base, rest)
	return r.keep(made{name, p.base, p.key, fmt.Sprint(found)}, func() model.Model { return r.build(p, rest, found) }), nil
}

// keep gives the model that was made before, else makes it.
func (r *Resolver) keep(k made, build func() model.Model) model.Model {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m, ok := r.models[k]; ok {
		return m
	}
	m := build()
	r.models[k] = m
	return m
}

// notAName is the answer to a name without a provider, with what was probably meant.
func (r *Resolver) notAName(name string) error {
	msg := fmt.Sprintf("%q is not of the form provider/model", name)
	var meant []string
	for _, p := range builtins {
		if slices.Contains(catalog.Names(p.name), name) {
			meant = append(meant, p.name+"/"+name)
		}
	}
	for provider, e := range r.cfg.Endpoints {
		if slices.Contains(e.Models, name) {
			meant = append(meant, provider+"/"+name)
		}
	}
	if slices.Sort(meant); len(meant) > 0 {
		msg += "; did you mean " + strings.Join(slices.Compact(meant), " or ") + "?"
	}
	return &model.Error{Kind: model.KindInvalid, Message: msg}
}

func (r *Resolver) providerNames() []string {
	var names []string
	for _, p := range builtins {
		names = append(names, p.name)
	}
	for name := range r.cfg.Endpoints {
		names = append(names, name)
	}
	names = append(names, scripted.Provider)
	slices.Sort(names)
	return slices.Compact(names)
}
