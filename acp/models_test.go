package acp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"testing"

	"acp-agent/internal/acptest"
	"acp-agent/internal/model"
	"acp-agent/internal/model/scripted"
)

// named is a scripted model under another name, with levels of thinking.
type named struct {
	model.Model
	id     string
	levels []string
}

func (n named) Info() model.Info {
	return model.Info{ID: n.id, Provider: "test", Name: "The " + n.id, ThoughtLevels: n.levels, ContextWindow: 1000}
}

// shelf holds several models, the default one first.
type shelf []named

func (s shelf) Resolve(_ context.Context, name, _ string) (model.Model, error) {
	for _, m := range s {
		if m.id == name {
			return m, nil
		}
	}
	return nil, &model.Error{Kind: model.KindInvalid, Message: "no model " + name}
}

func (s shelf) Default(ctx context.Context) (model.Model, error) {
	if len(s) == 0 {
		return nil, &model.Error{Kind: model.KindAuth, Message: "no model; looked at OPENAI_API_KEY and 127.0.0.1:11434"}
	}
	return s[0], nil
}

func (s shelf) List(context.Context) []model.Info {
	var list []model.Info
	for _, m := range s {
		list = append(list, m.Info())
	}
	return list
}

func newShelf(t *testing.T) shelf {
	t.Helper()
	var s shelf
	for id, levels := range map[string][]string{"test/plain": nil, "test/thinker": {"low", "high"}} {
		script, err := scripted.Parse(id, []byte(fmt.Sprintf("turns: [{text: \"I am %s. \", repeat: 20}]", id)))
		if err != nil {
			t.Fatal(err)
		}
		m := named{scripted.New(id, script), id, levels}
		if id == "test/plain" {
			s = append(shelf{m}, s...)
		} else {
			s = append(s, m)
		}
	}
	return s
}

// option is one of a list of config options, nil for none.
func option(raw json.RawMessage, id string) json.RawMessage {
	for _, o := range acptest.Get[[]json.RawMessage](raw, "configOptions") {
		if acptest.Get[string](o, "id") == id {
			return o
		}
	}
	return nil
}

// The model changes between two turns of a session, which keeps its history; the thinking option is
// there with the models that have levels, and what is chosen reaches the model.
func TestTheModelIsSwitchedInASession(t *testing.T) {
	d := newDesk(t, deskOptions{resolver: newShelf(t), script: hello})
	opened := d.Call("session/new", map[string]any{"cwd": d.dir, "mcpServers": []any{}})
	d.session = acptest.Get[string](opened, "sessionId")
	models := option(opened, "model")
	if acptest.Get[string](models, "category") != "model" || acptest.Get[string](models, "currentValue") != "test/plain" ||
		len(acptest.Get[[]json.RawMessage](models, "options")) != 2 || option(opened, "thought_level") != nil {
		t.Errorf("options of a new session: %s", opened)
	}
	set := func(id, value string) json.RawMessage {
		t.Helper()
		return d.Call("session/set_config_option", map[string]any{"sessionId": d.session, "configId": id, "value": value})
	}
	d.play("one", "end_turn")
	answer := set("model", "test/thinker")
	thought := option(answer, "thought_level")
	var values []string
	for _, v := range acptest.Get[[]json.RawMessage](thought, "options") {
		values = append(values, acptest.Get[string](v, "value"))
	}
	if got := strings.Join(values, " "); got != "default low high" || acptest.Get[string](thought, "category") != "thought_level" ||
		acptest.Get[string](thought, "currentValue") != "default" {
		t.Errorf("the thinking option: %s", thought)
	}
	if got := acptest.Get[string](option(set("thought_level", "high"), "thought_level"), "currentValue"); got != "high" {
		t.Errorf("thought_level is %q", got)
	}
	d.Go("session/set_config_option", map[string]any{"sessionId": d.session, "configId": "thought_level", "value": "huge"}).Error(-32602)
	d.play("two", "end_turn")
	set("model", "test/plain")
	d.Go("session/set_config_option", map[string]any{"sessionId": d.session, "configId": "thought_level", "value": "low"}).Error(-32602)
	d.play("three", "end_turn")
	if got := d.Text(d.session); got != "I am test/plain. I am test/thinker. I am test/plain. " {
		t.Errorf("said %q", got)
	}
	var told []string
	for i, req := range d.models.Requests() {
		told = append(told, fmt.Sprintf("%d:%s", len(req.Messages), req.Thought))
		if fault := acptest.HistoryFault(req); fault != "" {
			t.Errorf("request %d: %s", i, fault)
		}
	}
	if got := strings.Join(told, " "); got != "1: 3:high 5:" {
		t.Errorf("messages and thought of the requests: %q", got)
	}
}

// Without a usable model session/new succeeds all the same; a prompt says where was looked.
func TestNoModelIsToldByThePrompt(t *testing.T) {
	d := newDesk(t, deskOptions{resolver: shelf{}, script: hello})
	if failure := d.Prompt(d.session, "x").Error(-32000); !strings.Contains(failure.Message, "OPENAI_API_KEY and 127.0.0.1:11434") {
		t.Errorf("message %q", failure.Message)
	}
	d.Go("authenticate", map[string]any{"methodId": "env"}).Error(-32000)
}

// frail is a model that panics in its first request.
type frail struct {
	model.Model
	asked *int
}

func (f frail) Stream(ctx context.Context, req model.Request) iter.Seq2[model.Event, error] {
	if *f.asked++; *f.asked == 1 {
		panic("out of tune")
	}
	return f.Model.Stream(ctx, req)
}

// A panic in one turn is that turn's error; the session and the process go on.
func TestAPanicEndsOneTurn(t *testing.T) {
	s := newShelf(t)
	s[0].Model = frail{s[0].Model, new(int)}
	d := newDesk(t, deskOptions{resolver: s, script: hello})
	if failure := d.Prompt(d.session, "one").Error(-32603); strings.Contains(failure.Message, "goroutine") || !strings.Contains(failure.Message, "usable") {
		t.Errorf("message %q", failure.Message)
	}
	d.play("two", "end_turn")
	if got := d.Text(d.session); got != "I am test/plain. " {
		t.Errorf("said %q", got)
	}
}
