// Package scripted is a model that plays a YAML script instead of thinking: for demos, tests and
// trying an editor without any account. Its main type is [Model]. It contacts nobody.
//
//	turns:
//	  - text: I will write it.
//	    tool_calls: [{name: write_file, arguments: {path: a.go, content: "package a\n"}}]
//	  - error: {status: 429, message: slow down, retry_after: 1}
//	  - {text: again, repeat: 3}
//
// One turn answers one request of a session, in order; each session starts anew; past the end the
// answer is "done". Text before an error or a hang is said first. An error without a status is a
// connection that broke.
package scripted

import (
	"context"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/model"
	"acp-agent/internal/model/stream"
)

// Provider is the first half of a scripted model's name; the other half is its file.
const Provider = "scripted"

// Model is a [model.Model]. One Model serves any number of sessions and knows the place of each in
// its script.
type Model struct {
	name string
	load func(cwd string) (*Script, error)

	mu       sync.Mutex
	sessions map[string]*place // guarded by mu
}

// place is where one session is. A session plays the script that it began with.
type place struct {
	script *Script
	turn   int // the next turn
	told   int // how many requests that turn has answered
}

// New makes a model of a script.
func New(name string, s *Script) *Model {
	return newModel(name, func(string) (*Script, error) { return s, nil })
}

// File makes a model that reads its script when a session first asks, relative to that session's
// cwd.
func File(path string) *Model {
	return newModel(path, func(cwd string) (*Script, error) { return read(path, cwd) })
}

func newModel(name string, load func(string) (*Script, error)) *Model {
	return &Model{name: name, load: load, sessions: map[string]*place{}}
}

// Check reads the script as a session with that cwd would, so that a mistake in it is told when the
// model is chosen.
func (m *Model) Check(cwd string) error {
	_, err := m.load(cwd)
	return err
}

func read(path, cwd string) (*Script, error) {
	if !filepath.IsAbs(path) {
		if cwd == "" {
			return nil, &model.Error{Kind: model.KindInvalid, Message: fmt.Sprintf("scripted model: %s is relative, and there is no cwd to find it in", path)}
		}
		path = filepath.Join(cwd, path)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, &model.Error{Kind: model.KindInvalid, Message: "scripted model: " + err.Error(), Err: err}
	}
	s, err := Parse(path, data)
	if err != nil {
		return nil, &model.Error{Kind: model.KindInvalid, Message: "scripted model: " + err.Error(), Err: err}
	}
	return s, nil
}

// Info gives the model room enough for any test, and eyes.
func (m *Model) Info() model.Info {
	return model.Info{ID: Provider + "/" + m.name, Provider: Provider, Name: m.name, ContextWindow: 200_000, Images: true}
}

// Stream plays the session's next turn.
func (m *Model) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if err := ctx.Err(); err != nil {
			yield(model.Event{}, err)
			return
		}
		t, err := m.next(req)
		if err == nil {
			p := player{turn: t, yield: yield}
			err = p.play(ctx, req)
			if p.stopped {
				return
			}
		}
		if err != nil {
			yield(model.Event{}, err)
		}
	}
}

// next takes the session's next turn.
func (m *Model) next(req model.Request) (Turn, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.sessions[req.Session]
	if p == nil {
		s, err := m.load(req.Cwd)
		if err != nil {
			return Turn{}, err
		}
		p = &place{script: s}
		m.sessions[req.Session] = p
	}
	if p.turn >= len(p.script.Turns) {
		return Turn{Text: "done", Chunk: defaultChunk, Finish: model.FinishStop}, nil
	}
	t := p.script.Turns[p.turn]
	if p.told++; p.told >= t.Repeat {
		p.turn, p.told = p.turn+1, 0
	}
	return t, nil
}

type player struct {
	turn    Turn
	yield   func(model.Event, error) bool
	stopped bool
}

func (p *player) play(ctx context.Context, req model.Request) error {
	for text := range chunks(p.turn.Thought, p.turn.Chunk) {
		if err := p.say(ctx, model.Event{Thought: text}); err != nil || p.stopped {
			return err
		}
	}
	for text := range chunks(p.turn.Text, p.turn.Chunk) {
		if err := p.say(ctx, model.Event{Text: text}); err != nil || p.stopped {
			return err
		}
	}
	if err := p.calls(ctx, req); err != nil || p.stopped {
		return err
	}
	switch {
	case p.turn.Hang:
		<-ctx.Done()
		return ctx.Err()
	case p.turn.Error != nil:
		e := *p.turn.Error
		return &e
	}
	p.send(model.Event{Done: &model.Done{Finish: p.turn.Finish, Usage: p.turn.Usage}})
	return nil
}

// calls hands the calls over. As with a real provider, one that failed or hangs has none.
func (p *player) calls(ctx context.Context, req model.Request) error {
	used := map[string]bool{}
	for _, m := range req.Messages {
		for _, c := range m.Calls {
			used[c.ID] = true
		}
	}
	whole := p.turn.Error == nil && !p.turn.Hang
	for i, c := range p.turn.Calls {
		if err := p.say(ctx, model.Event{CallStart: c.Name}); err != nil || p.stopped {
			return err
		}
		if !whole {
			continue
		}
		if c.ID == "" {
			c.ID = fmt.Sprintf("call_%d", i+1)
		}
		c.ID = unused(c.ID, used)
		used[c.ID] = true
		if p.send(model.Event{Call: &c}); p.stopped {
			return nil
		}
	}
	return nil
}

// unused numbers an id that the conversation has had already (a turn that is repeated).
func unused(id string, used map[string]bool) string {
	name := id
	for n := 2; used[name]; n++ {
		name = fmt.Sprintf("%s_%d", id, n)
	}
	return name
}

// say waits for the turn's delay and sends.
func (p *player) say(ctx context.Context, e model.Event) error {
	if p.turn.Delay > 0 {
		t := time.NewTimer(p.turn.Delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-ctx.Done():
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	p.send(e)
	return nil
}

func (p *player) send(e model.Event) {
	if !p.stopped && !p.yield(e, nil) {
		p.stopped = true
	}
}

// chunks cuts s into pieces of n characters.
func chunks(s string, n int) iter.Seq[string] {
	return func(yield func(string) bool) {
		count, from := 0, 0
		for i := range s {
			if count == n {
				if !yield(s[from:i]) {
					return
				}
				count, from = 0, i
			}
			count++
		}
		if from < len(s) {
			yield(s[from:])
		}
	}
}

func (f errorForm) fault() *model.Error {
	e := &model.Error{Status: f.Status, Message: strings.TrimSpace(f.Message), RetryAfter: time.Duration(f.RetryAfter * float64(time.Second))}
	e.Kind = stream.KindOf(f.Status)
	if f.Status == 0 {
		e.Kind = model.KindUnreachable
	}
	if e.Message == "" {
		e.Message = "the script says so"
	}
	return e
}
