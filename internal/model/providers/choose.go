package providers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"acp-agent/internal/model"
	"acp-agent/internal/model/catalog"
)

// choice is a model that somebody chose, and who.
type choice struct {
	name, by string
}

// chosen gives the model that the environment or the configuration names.
func (r *Resolver) chosen() (choice, bool) {
	if name := r.cfg.Getenv(EnvModel); name != "" {
		return choice{name, EnvModel}, true
	}
	if r.cfg.Model != "" {
		return choice{r.cfg.Model, "model in " + r.cfg.ConfigFile}, true
	}
	return choice{}, false
}

// keyed gives the first model of the providers that have what they need: endpoints that list their
// models, then built-in providers by their keys. sure is false when the address may know better
// which model it has.
func (r *Resolver) keyed() (name string, sure, ok bool) {
	for _, id := range slices.Sorted(maps.Keys(r.cfg.Endpoints)) {
		p, _ := r.provider(id)
		if models := p.endpoint.Models; len(models) > 0 && (p.key != "" || !p.needsKey()) {
			return id + "/" + models[0], true, true
		}
	}
	for _, b := range builtins {
		p, _ := r.provider(b.name)
		if b.keyEnv == "" || p.key == "" && !p.moved {
			continue
		}
		return b.name + "/" + catalog.Names(b.name)[0], !p.moved || !loopback(p.base), true
	}
	return "", false, false
}

// targets are the addresses that a probe looks at: all local servers when nothing is configured,
// else only those that the user has named. None is on another machine.
func (r *Resolver) targets() []target {
	chosen, isChosen := r.chosen()
	_, sure, isKeyed := r.keyed()
	var out []target
	for _, l := range r.cfg.Local {
		p, _ := r.provider(l.Provider)
		wanted := !isChosen && !isKeyed || strings.HasPrefix(chosen.name, l.Provider+"/") ||
			p.endpoint.BaseURL != "" || l.HostEnv != "" && r.cfg.Getenv(l.HostEnv) != ""
		if wanted && loopback(p.base) {
			out = append(out, target{provider: l.Provider, title: l.Title, base: p.base, ollama: l.Ollama})
		}
	}
	if isKeyed && !sure {
		if p, _ := r.provider("openai"); p.moved && loopback(p.base) {
			out = append(out, target{provider: "openai", title: p.baseEnv, base: p.base})
		}
	}
	return out
}

// Default gives the model that is used when nobody chose one; see [model.Resolver].
func (r *Resolver) Default(ctx context.Context) (model.Model, error) {
	if c, ok := r.chosen(); ok {
		m, err := r.Resolve(ctx, c.name, "")
		if err != nil {
			return nil, because(c.by, err)
		}
		return m, nil
	}
	if name, sure, ok := r.keyed(); ok {
		if !sure {
			name = better(name, r.probe.wait(ctx))
		}
		return r.Resolve(ctx, name, "")
	}
	found := r.probe.wait(ctx)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if name, ok := localChoice(found); ok {
		return r.Resolve(ctx, name, "")
	}
	return nil, r.nothing(found)
}

// because says which setting an error is about.
func because(by string, err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		c := *e
		c.Message = by + ": " + e.Message
		return &c
	}
	return fmt.Errorf("%s: %w", by, err)
}

// better gives the model that an address really has, when it tells and does not have name.
func better(name string, found []finding) string {
	provider, want, _ := strings.Cut(name, "/")
	for _, f := range found {
		if f.provider != provider || len(f.models) == 0 {
			continue
		}
		if !slices.ContainsFunc(f.models, func(l listed) bool { return l.name == want }) {
			return provider + "/" + f.models[0].name
		}
	}
	return name
}

// localChoice takes the first model that can use tools.
func localChoice(found []finding) (string, bool) {
	for _, f := range found {
		for _, m := range f.models {
			if m.can("tools") {
				return f.provider + "/" + m.name, true
			}
		}
	}
	return "", false
}

// nothing names every place that was looked at.
func (r *Resolver) nothing(found []finding) error {
	places := []string{EnvModel + " (not set)", "model in " + r.cfg.ConfigFile + " (not set)"}
	for _, id := range slices.Sorted(maps.Keys(r.cfg.Endpoints)) {
		if p, _ := r.provider(id); len(p.endpoint.Models) == 0 {
			places = append(places, "providers."+id+" (lists no models)")
		} else if p.key == "" {
			places = append(places, "providers."+id+" ("+p.endpoint.KeyEnv+" is not set)")
		}
	}
	for _, b := range builtins {
		if b.keyEnv != "" {
			places = append(places, b.keyEnv+" (not set)")
		}
	}
	seen := map[string]bool{}
	for _, f := range found {
		seen[f.provider] = true
		why := f.why
		if why == "" {
			why = "has no model that can use tools"
		}
		places = append(places, fmt.Sprintf("%s at %s (%s)", f.title, strings.TrimSuffix(f.base, "/v1"), why))
	}
	for _, l := range r.cfg.Local {
		if seen[l.Provider] {
			continue
		}
		p, _ := r.provider(l.Provider)
		why := "no answer in time"
		if !loopback(p.base) {
			why = "not this machine, so not probed: name its model, " + l.Provider + "/MODEL"
		}
		places = append(places, fmt.Sprintf("%s at %s (%s)", l.Title, strings.TrimSuffix(p.base, "/v1"), why))
	}
	return &model.Error{Kind: model.KindAuth, Message: "no model is configured and none was found. Looked at: " + strings.Join(places, ", ") +
		". Set one of the keys, start a local server, or set model to provider/model"}
}

// List gives the models that can be chosen now, the default one first. It never waits; a probe that
// is due is started beside it.
func (r *Resolver) List(ctx context.Context) []model.Info {
	r.probe.start(ctx)
	found := r.probe.known()
	var names []string
	if c, ok := r.chosen(); ok {
		names = append(names, c.name)
	} else if name, _, ok := r.keyed(); ok {
		names = append(names, better(name, found))
	} else if name, ok := localChoice(found); ok {
		names = append(names, name)
	}
	for _, id := range slices.Sorted(maps.Keys(r.cfg.Endpoints)) {
		for _, m := range r.cfg.Endpoints[id].Models {
			names = append(names, id+"/"+m)
		}
	}
	for _, b := range builtins {
		if p, _ := r.provider(b.name); b.keyEnv != "" && p.key != "" && !p.moved {
			for _, m := range catalog.Names(b.name) {
				names = append(names, b.name+"/"+m)
			}
		}
	}
	for _, f := range found {
		for _, m := range f.models {
			if m.can("tools") {
				names = append(names, f.provider+"/"+m.name)
			}
		}
	}
	var out []model.Info
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			continue
		}
		seen[name] = true
		if m, err := r.Resolve(ctx, name, ""); err == nil {
			out = append(out, m.Info())
		}
	}
	return out
}
