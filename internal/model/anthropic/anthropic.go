// Package anthropic speaks Anthropic's Messages API, streaming, with tools, extended thinking and
// prompt caching. Its main type is [Model]. One call of Stream is one HTTP request.
package anthropic

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strings"
	"time"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

// Thinking is how a model is told to think.
type Thinking int

// Ways to think (Messages API, thinking).
const (
	Adaptive Thinking = iota // effort levels; the model decides how much: since 4.6
	Budget                   // a number of tokens, by thought level
	Never
)

// Config is one model at one address.
type Config struct {
	Info      model.Info
	Model     string // the name on the wire
	BaseURL   string // with or without /v1
	Key       string
	SignIn    string // what to do when the key is refused
	MaxOutput int    // tokens of an answer, which the API demands to be told; 0 for 32,000
	Thinking  Thinking
	Client    *http.Client
}

// Model is a [model.Model].
type Model struct {
	cfg    Config
	target stream.Target
}

const (
	apiVersion = "2023-06-01"
	// interleaved lets models that think by budget think between tool calls as well; others do so
	// by themselves.
	interleaved   = "interleaved-thinking-2025-05-14"
	defaultOutput = 32_000
)

// New makes a model; it contacts nobody.
func New(cfg Config) *Model {
	if cfg.MaxOutput == 0 {
		cfg.MaxOutput = defaultOutput
	}
	header := http.Header{"Anthropic-Version": {apiVersion}}
	if cfg.Key != "" {
		header.Set("X-Api-Key", cfg.Key)
	}
	if cfg.Thinking == Budget {
		header.Set("Anthropic-Beta", interleaved)
	}
	base := strings.TrimSuffix(strings.TrimSuffix(cfg.BaseURL, "/"), "/v1")
	return &Model{cfg: cfg, target: stream.Target{
		Provider: cfg.Info.Provider,
		URL:      base + "/v1/messages",
		Header:   header,
		Secret:   cfg.Key,
		Client:   cfg.Client,
		SignIn:   cfg.SignIn,
	}}
}

// Info tells what is known of the model.
func (m *Model) Info() model.Info { return m.cfg.Info }

// afterFinish is how long the stream may go on after the stop reason.
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
		return err
	}
	defer func() { _ = a.Close() }()
	if a.Whole != nil {
		if err := d.whole(a.Whole); err != nil {
			return m.explain(err)
		}
		return d.end()
	}
	return m.read(ctx, cancel, a.Events, d)
}

// read plays the stream to its end. cancel ends the connection.
func (m *Model) read(ctx context.Context, cancel func(), events *stream.Events, d *decoder) error {
	var grace *time.Timer
	for {
		name, data, err := events.Next()
		if err != nil {
			if d.stop != "" && ctx.Err() == nil {
				return d.end() // the answer is whole, whatever the connection does
			}
			return m.target.ReadError(ctx, err)
		}
		over, err := d.event(string(name), data)
		if err != nil {
			return m.explain(err)
		}
		if over || d.stopped {
			return d.end()
		}
		if d.stop != "" && grace == nil {
			grace = time.AfterFunc(afterFinish, cancel)
			defer grace.Stop()
		}
	}
}

func (m *Model) explain(err error) error {
	var e *model.Error
	if errors.As(err, &e) {
		return m.target.Explain(e)
	}
	return err
}
