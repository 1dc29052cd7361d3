package acp

import (
	"context"
	"slices"
	"strings"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/model"
	"acp-agent/internal/wire"
	"acp-agent/permissions"
)

// Ids of the config options.
const (
	optionMode        = "mode"
	optionModel       = "model"
	optionThought     = "thought_level"
	optionDiagnostics = "diagnostics"
)

// Values of the diagnostics option (contract §6).
const (
	diagnosticsInline  = "inline"
	diagnosticsTurnEnd = "turn_end"
	diagnosticsOff     = "off"
)

// thoughtDefault is the value of thought_level that leaves the choice to the model.
const thoughtDefault = "default"

// configOption is a select option. The same field names as the protocol library's, whose union type
// marshals twice.
type configOption struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Description string        `json:"description,omitempty"`
	Category    string        `json:"category,omitempty"`
	Type        string        `json:"type"`
	Current     string        `json:"currentValue"`
	Options     []optionValue `json:"options"`
}

type optionValue struct {
	Value       string `json:"value"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// modeState is the older form of the mode option; both are kept in step.
type modeState struct {
	Current   string            `json:"currentModeId"`
	Available []sdk.SessionMode `json:"availableModes"`
}

// modeTexts are the names of the modes as the user sees them.
var modeTexts = map[permissions.Mode]optionValue{
	permissions.ModeDefault:     {Name: "Ask", Description: "Asks for every edit and for commands that do more than read"},
	permissions.ModeAcceptEdits: {Name: "Accept edits", Description: "Edits inside the workspace go through, the rest asks"},
	permissions.ModeDontAsk:     {Name: "Don't ask", Description: "Everything inside the workspace goes through; sensitive and outside targets ask"},
	permissions.ModePlan:        {Name: "Plan", Description: "Reads only: edits are refused"},
}

// modes are the session modes that the policy offers.
func (o *session) modes() modeState {
	state := modeState{Current: string(o.policy.Mode()), Available: []sdk.SessionMode{}}
	for _, v := range o.modeValues() {
		state.Available = append(state.Available, sdk.SessionMode{
			Id: sdk.SessionModeId(v.Value), Name: v.Name, Description: &v.Description,
		})
	}
	return state
}

func (o *session) modeValues() []optionValue {
	list := []optionValue{}
	for _, m := range o.srv.policy.Modes() {
		v := modeTexts[m]
		v.Value = string(m)
		if v.Name == "" {
			v.Name = v.Value
		}
		list = append(list, v)
	}
	return list
}

// options is the complete list of config options with their present values.
func (o *session) options(ctx context.Context) []configOption {
	list := []configOption{{
		ID: optionMode, Name: "Mode", Category: optionMode, Type: "select",
		Current: string(o.policy.Mode()), Options: o.modeValues(),
	}}
	models := o.srv.o.Models.List(ctx)
	o.mu.Lock()
	chosen, thought, diagnostics := o.model, o.thought, o.diagnostics
	if chosen == "" {
		chosen = o.inUse
	}
	if chosen == "" && len(models) > 0 {
		chosen = models[0].ID
	}
	o.shown = chosen
	o.mu.Unlock()
	if chosen != "" {
		list = append(list, modelOption(chosen, models))
	}
	if levels := thoughtLevels(chosen, models); len(levels) > 0 {
		list = append(list, thoughtOption(thought, levels))
	}
	if o.lang != nil {
		list = append(list, configOption{
			ID: optionDiagnostics, Name: "Diagnostics", Type: "select", Current: diagnostics,
			Description: "When an edit's fresh diagnostics are waited for",
			Options: []optionValue{
				{Value: diagnosticsInline, Name: "Inline", Description: "With each edit, within its time budget"},
				{Value: diagnosticsTurnEnd, Name: "Turn end", Description: "Never with the edit, always before the turn ends"},
				{Value: diagnosticsOff, Name: "Off", Description: "No language server is asked"},
			},
		})
	}
	return list
}

func modelOption(chosen string, models []model.Info) configOption {
	option := configOption{ID: optionModel, Name: "Model", Category: optionModel, Type: "select", Current: chosen, Options: []optionValue{}}
	known := false
	for _, m := range models {
		name := m.Name
		if name == "" {
			name = m.ID
		}
		known = known || m.ID == chosen
		option.Options = append(option.Options, optionValue{Value: m.ID, Name: name})
	}
	if !known {
		option.Options = append([]optionValue{{Value: chosen, Name: chosen}}, option.Options...)
	}
	return option
}

func thoughtLevels(chosen string, models []model.Info) []string {
	for _, m := range models {
		if m.ID == chosen {
			return m.ThoughtLevels
		}
	}
	return nil
}

func thoughtOption(current string, levels []string) configOption {
	if !slices.Contains(levels, current) {
		current = thoughtDefault
	}
	option := configOption{
		ID: optionThought, Name: "Thinking", Category: optionThought, Type: "select", Current: current,
		Options: []optionValue{{Value: thoughtDefault, Name: "Default"}},
	}
	for _, level := range levels {
		option.Options = append(option.Options, optionValue{Value: level, Name: strings.ToUpper(level[:1]) + level[1:]})
	}
	return option
}

type setModeParams struct {
	SessionID string `json:"sessionId"`
	ModeID    string `json:"modeId"`
}

// setMode acts at once, also while a turn runs: the policy reads the mode at each decision.
func (s *Server) setMode(ctx context.Context, req *wire.Request) {
	p, err := decode[setModeParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	one, err := s.session(p.SessionID)
	if err != nil {
		req.ReplyError(err)
		return
	}
	if err := one.policy.SetMode(permissions.Mode(p.ModeID)); err != nil {
		req.ReplyError(invalidParams("%v", err))
		return
	}
	one.tellMode(ctx) // before the answer: some clients look at updates only until it has come
	req.Reply(struct{}{})
}

// tellMode tells the editor the mode in both forms. It never waits, so it may be called anywhere.
func (o *session) tellMode(ctx context.Context) {
	o.notify(modeUpdate{Kind: "current_mode_update", Mode: string(o.policy.Mode())})
	o.tellOptions(ctx)
}

// using tells the editor the model that a turn runs with, when that is not the one it was told: the
// default one may only have been found since.
func (o *session) using(ctx context.Context, id string) {
	o.mu.Lock()
	o.inUse = id
	told := o.shown == id
	o.mu.Unlock()
	if !told {
		o.tellOptions(ctx)
	}
}

func (o *session) tellOptions(ctx context.Context) {
	o.notify(optionsUpdate{Kind: "config_option_update", Options: o.options(ctx)})
}

// notify queues an update that belongs to no turn.
func (o *session) notify(u any) {
	if err := o.srv.conn.Notify(methodUpdate, update{SessionID: o.id, Update: u}); err != nil {
		o.srv.log.Debug("update not sent", "session", o.id, "error", err)
	}
}

type setOptionParams struct {
	SessionID string `json:"sessionId"`
	ConfigID  string `json:"configId"`
	Value     any    `json:"value"`
}

// setOption sets one option and answers with all of them. A value of a wrong type or an unknown
// value changes nothing.
func (s *Server) setOption(ctx context.Context, req *wire.Request) {
	p, err := decode[setOptionParams](req)
	if err != nil {
		req.ReplyError(err)
		return
	}
	one, err := s.session(p.SessionID)
	if err != nil {
		req.ReplyError(err)
		return
	}
	value, ok := p.Value.(string)
	if !ok {
		req.ReplyError(invalidParams("the value of option %q must be a string", p.ConfigID))
		return
	}
	if err := one.choose(ctx, p.ConfigID, value); err != nil {
		req.ReplyError(err)
		return
	}
	if p.ConfigID == optionMode { // before the answer, as in setMode
		one.notify(modeUpdate{Kind: "current_mode_update", Mode: string(one.policy.Mode())})
	}
	req.Reply(struct {
		Options []configOption `json:"configOptions"`
	}{one.options(ctx)})
}

// choose sets an option's value after checking it.
func (o *session) choose(ctx context.Context, id, value string) error {
	switch id {
	case optionMode:
		if err := o.policy.SetMode(permissions.Mode(value)); err != nil {
			return invalidParams("%v", err)
		}
		return nil
	case optionModel:
		if _, err := o.srv.o.Models.Resolve(ctx, value, o.roots.Cwd().String()); err != nil {
			return invalidParams("%v", err)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		o.model = value
		return nil
	}
	for _, option := range o.options(ctx) {
		if option.ID != id {
			continue
		}
		if !slices.ContainsFunc(option.Options, func(v optionValue) bool { return v.Value == value }) {
			return invalidParams("option %q has no value %q", id, value)
		}
		o.mu.Lock()
		defer o.mu.Unlock()
		switch id {
		case optionThought:
			o.thought = strings.TrimPrefix(value, thoughtDefault)
		case optionDiagnostics:
			o.diagnostics = value
		}
		return nil
	}
	return invalidParams("no option %q in this session", id)
}
