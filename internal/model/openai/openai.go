// Package openai speaks OpenAI's Chat Completions, streaming, to any address that understands them:
// OpenAI itself, Gemini's compatible endpoint, OpenRouter, Ollama, LM Studio, llama.cpp, vLLM. Its
// main type is [Model]. One call of Stream is one HTTP request.
package openai

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

// Dialect is what a server wants beside the common format.
type Dialect int

// Dialects.
const (
	Compatible Dialect = iota // anybody
	Official                  // OpenAI: prompt_cache_key
	Gemini                    // thought signatures are echoed, and demanded
	OpenRouter                // effort is an object
)

// Config is one model at one address.
type Config struct {
	Info    model.Info
	Model   string // the name on the wire
	BaseURL string // up to and without /chat/completions
	Key     string // "" sends no Authorization
	SignIn  string // what to do when the key is refused
	Dialect Dialect
	// NoEffort sends effort "none" with tools, which is all that Chat Completions of newer OpenAI
	// models accept.
	NoEffort bool
	Client   *http.Client
}

// Model is a [model.Model]. It remembers what it has learnt of its server's habits.
type Model struct {
	cfg    Config
	target stream.Target

	noUsage   atomic.Bool            // the server refuses stream_options
	noEffort  atomic.Bool            // effort must be "none" when there are tools
	reasoning atomic.Pointer[string] // the field that reasoning comes in; it is echoed in it
}

// New makes a model; it contacts nobody.
func New(cfg Config) *Model {
	header := http.Header{}
	if cfg.Key != "" {
		header.Set("Authorization", "Bearer "+cfg.Key)
	}
	m := &Model{cfg: cfg, target: stream.Target{
		Provider: cfg.Info.Provider,
		URL:      strings.TrimSuffix(cfg.BaseURL, "/") + "/chat/completions",
		Header:   header,
		Secret:   cfg.Key,
		Client:   cfg.Client,
		SignIn:   cfg.SignIn,
	}}
	m.noEffort.Store(cfg.NoEffort)
	return m
}

// Info tells what is known of the model.
func (m *Model) Info() model.Info { return m.cfg.Info }

// afterFinish is how long the stream may go on after the finish reason (usage, [DONE]): some servers
// keep the connection open for ever.
const afterFinish = 2 * time.Second

// Stream asks the model once.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		d := &decoder{calls: stream.NewCalls(req.Messages), yield: yield}
		if err := m.run(ctx, req, d); err != nil && !d.stopped {
			yield(model.Event{}, err)
		}
	}
}

func (m *Model) run(ctx context.Context, req model.Request, d *decoder) error {
	body, err := m.encode(req)
	if err != nil {
		return err
	}
	inner, cancel := context.WithCancel(ctx)
	defer cancel()
	a, err := stream.Post(inner, m.target, body)
	if err != nil {
		return m.learn(err)
	}
	defer func() { _ = a.Close() }()
	if a.Whole != nil {
		if err := d.whole(a.Whole); err != nil {
			return m.learn(m.explain(err))
		}
		return m.end(d)
	}
	return m.read(ctx, cancel, a.Events, d)
}

// read plays the stream to its end. cancel ends the connection.
func (m *Model) read(ctx context.Context, cancel func(), events *stream.Events, d *decoder) error {
	var grace *time.Timer
	for {
		name, data, err := events.Next()
		if err != nil {
			if d.finish != "" && ctx.Err() == nil {
				return m.end(d) // the answer is whole, whatever the connection does
			}
			return m.target.ReadError(ctx, err)
		}
		over, err := d.event(string(name), data)
		if err != nil {
			return m.learn(m.explain(err))
		}
		if over || d.stopped {
			return m.end(d)
		}
		if d.finish != "" && grace == nil {
			grace = time.AfterFunc(afterFinish, cancel)
			defer grace.Stop()
		}
	}
}

func (m *Model) end(d *decoder) error {
	if d.stopped {
		return nil
	}
	if d.reasoning != "" {
		m.reasoning.Store(&d.reasoning)
	}
	return d.end()
}

func (m *Model) explain(err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		return m.target.Explain(e)
	}
	return err
}

// learn notes what the server has just refused, so that the next try leaves it out. The error then
// counts as one that a retry can mend.
func (m *Model) learn(err error) error {
	var e *model.Error
	if !errors.As(err, &e) || e.Kind != model.KindInvalid {
		return err
	}
	switch {
	case strings.Contains(e.Message, "stream_options") && !m.noUsage.Swap(true),
		strings.Contains(e.Message, "reasoning_effort") && strings.Contains(e.Message, "tools") && !m.noEffort.Swap(true):
		e.Kind = model.KindServer
	}
	return err
}
