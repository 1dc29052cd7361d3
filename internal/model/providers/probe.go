package providers

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"acp-agent/internal/model"
)

const (
	probeTime  = 900 * time.Millisecond // of one round, all servers side by side, so that nobody waits longer than a second
	probeFound = time.Minute            // that a finding is believed
	probeEmpty = 2 * time.Second        // that finding nothing is believed
	maxShown   = 8                      // of Ollama's models that are asked about
)

// target is one address to look at.
type target struct {
	provider, title, base string
	ollama                bool
}

// finding is what was found there.
type finding struct {
	target
	models []listed
	why    string // why there is no model
}

// listed is a model that a server says it has.
type listed struct {
	name    string
	context int
	caps    []string // Ollama's capabilities; empty when unknown
}

func (l listed) can(capability string) bool {
	return len(l.caps) == 0 || slices.Contains(l.caps, capability)
}

// fill adds what the server told.
func (l listed) fill(info *model.Info) {
	if l.context > 0 {
		info.ContextWindow = l.context
	}
	if len(l.caps) > 0 {
		info.Images = l.can("vision")
		if l.can("thinking") {
			info.ThoughtLevels = []string{"low", "medium", "high"}
		}
	}
}

// prober looks for servers on this machine, one round at a time, in the background.
type prober struct {
	client  *http.Client
	targets func() []target

	mu      sync.Mutex
	closed  bool               // guarded by mu
	running chan struct{}      // guarded by mu; closed at the end of the round; nil when there is none
	cancel  context.CancelFunc // guarded by mu; of the running round
	last    []finding          // guarded by mu
	at      time.Time          // guarded by mu; when last was found
	done    sync.WaitGroup
}

// start begins a round when what is known is too old, and gives the channel that is closed when the
// running round ends; nil when what is known is good enough. The round outlives ctx.
func (p *prober) start(ctx context.Context) <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil || p.closed {
		return p.running
	}
	keep := probeEmpty
	if slices.ContainsFunc(p.last, func(f finding) bool { return len(f.models) > 0 }) {
		keep = probeFound
	}
	if !p.at.IsZero() && time.Since(p.at) < keep {
		return nil
	}
	targets := p.targets()
	if len(targets) == 0 {
		p.last, p.at = nil, time.Now()
		return nil
	}
	round, cancel := context.WithTimeout(context.WithoutCancel(ctx), probeTime)
	running := make(chan struct{})
	p.running, p.cancel = running, cancel
	p.done.Go(func() {
		found := p.round(round, targets)
		cancel()
		p.mu.Lock()
		p.last, p.at, p.running = found, time.Now(), nil
		p.mu.Unlock()
		close(running)
	})
	return running
}

// wait starts a round when one is due, waits for it, and gives what is known.
func (p *prober) wait(ctx context.Context) []finding {
	if running := p.start(ctx); running != nil {
		select {
		case <-running:
		case <-ctx.Done():
		}
	}
	return p.known()
}

func (p *prober) known() []finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.last
}

// model gives what the last round told of a model at an address.
func (p *prober) model(provider, base, name string) (listed, bool) {
	for _, f := range p.known() {
		if f.provider == provider && f.base == base {
			for _, m := range f.models {
				if m.name == name {
					return m, true
				}
			}
		}
	}
	return listed{}, false
}

func (p *prober) close() {
	p.mu.Lock()
	p.closed = true
	if p.cancel != nil {
		p.cancel()
	}
	p.mu.Unlock()
	p.done.Wait()
}

// round looks at all targets side by side.
func (p *prober) round(ctx context.Context, targets []target) []finding {
	found := make([]finding, len(targets))
	var wg sync.WaitGroup
	for i, t := range targets {
		wg.Go(func() {
			models, err := p.look(ctx, t)
			found[i] = finding{target: t, models: models, why: whyNot(models, err)}
		})
	}
	wg.Wait()
	return found
}

func whyNot(models []listed, err error) string {
	switch {
	case err == nil && len(models) == 0:
		return "answers, but has no model that can chat"
	case err == nil:
		return ""
	case errors.Is(err, syscall.ECONNREFUSED):
		return "nothing listens"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return "no answer in time"
	}
	return "no list of models: " + err.Error()
}

// look asks one server for its models.
func (p *prober) look(ctx context.Context, t target) ([]listed, error) {
	if t.ollama {
		return p.lookOllama(ctx, t)
	}
	var list struct {
		Data []struct {
			ID       string `json:"id"`
			MaxLen   int    `json:"max_model_len"`  // vLLM
			Context  int    `json:"context_length"` // OpenRouter and others
			LMStudio int    `json:"max_context_length"`
			Meta     struct {
				Train int `json:"n_ctx_train"` // llama.cpp
			} `json:"meta"`
		} `json:"data"`
	}
	if err := p.get(ctx, t.base+"/models", nil, &list); err != nil {
		return nil, err
	}
	if list.Data == nil {
		return nil, errors.New("no data in it")
	}
	var out []listed
	for _, d := range list.Data {
		if d.ID != "" && chats(d.ID) {
			out = append(out, listed{name: d.ID, context: max(d.MaxLen, d.Context, d.LMStudio, d.Meta.Train)})
		}
	}
	return out, nil
}

// chats guesses by the name whether a model is one to talk with.
func chats(name string) bool {
	name = strings.ToLower(name)
	return !slices.ContainsFunc([]string{"embed", "rerank", "whisper", "tts"}, func(s string) bool { return strings.Contains(name, s) })
}

// lookOllama asks for the models and what the newest of them can do.
func (p *prober) lookOllama(ctx context.Context, t target) ([]listed, error) {
	base := strings.TrimSuffix(t.base, "/v1")
	var tags struct {
		Models []struct{ Name string } `json:"models"`
	}
	if err := p.get(ctx, base+"/api/tags", nil, &tags); err != nil {
		return nil, err
	}
	var out []listed
	for i, m := range tags.Models {
		l := listed{name: m.Name}
		if i < maxShown {
			var show struct {
				Capabilities []string                   `json:"capabilities"`
				Info         map[string]json.RawMessage `json:"model_info"`
			}
			if p.get(ctx, base+"/api/show", map[string]string{"model": m.Name}, &show) == nil {
				l.caps = show.Capabilities
				for k, v := range show.Info {
					if strings.HasSuffix(k, ".context_length") {
						_ = json.Unmarshal(v, &l.context) // stays unknown when it is no number
					}
				}
			}
		}
		if l.can("completion") && chats(l.name) {
			out = append(out, l)
		}
	}
	return out, nil
}

// get asks for JSON; with a body it is a POST.
func (p *prober) get(ctx context.Context, url string, body, into any) error {
	method, reader := http.MethodGet, io.Reader(nil)
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return err
		}
		method, reader = http.MethodPost, bytes.NewReader(raw)
	}
	req, err := http.NewRequestWithContext(ctx, method, url, reader)
	if err != nil {
		return err
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return err
	}
	defer func() { _ = resp.Body.Close() }()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("HTTP %d", resp.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(resp.Body, 4<<20))
	if err != nil {
		return err
	}
	if json.Unmarshal(raw, into) != nil {
		return errors.New("not JSON")
	}
	return nil
}
