package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/internal/agent"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

// turn is the host of agent.Run.
var _ agent.Host = (*turn)(nil)

// play is the turn's story: read the prompt, run a slash command or find the model, let the loop run,
// keep what was said.
func (t *turn) play(ctx context.Context) (agent.StopReason, error) {
	blocks, err := parseBlocks(t.prompt)
	if err != nil {
		return "", err
	}
	if err := t.srv.checkSignedIn(); err != nil {
		return "", err
	}
	t.greet(ctx)
	if line, ok := slashLine(blocks); ok {
		rest, handled, err := t.command(ctx, line)
		if err != nil || handled {
			return agent.EndTurn, err
		}
		blocks[0].text = rest
	}
	m, err := t.findModel(ctx)
	if err != nil {
		return "", modelError(err)
	}
	info := m.Info()
	t.modelID, t.window = info.ID, info.ContextWindow
	t.using(ctx, info.ID)
	parts, err := t.parts(ctx, blocks, info)
	if err != nil {
		return "", err
	}
	if !t.srv.repair.wait(ctx, t.roots) {
		return agent.Cancelled, nil
	}
	return t.think(ctx, m, parts)
}

// think runs the loop and appends what it added to the history.
func (t *turn) think(ctx context.Context, m model.Model, parts []model.Part) (agent.StopReason, error) {
	if t.system == "" {
		t.system = t.systemPrompt(ctx)
	}
	t.policy.BeginTurn()
	t.mu.Lock()
	history, thought := t.history[:len(t.history):len(t.history)], t.thought
	t.mu.Unlock()
	if !slices.Contains(m.Info().ThoughtLevels, thought) {
		thought = "" // chosen for another model; it counts again when that one does
	}
	limits := t.srv.o.Config.Limits
	outcome, err := agent.Run(ctx, t, agent.Turn{
		Model:   m,
		System:  t.system,
		Tools:   t.tools.Specs(),
		Thought: thought,
		Session: t.session.id,
		Cwd:     t.roots.Cwd().String(),
		History: history,
		Prompt:  parts,
		Options: agent.Options{
			MaxRounds:   limits.ToolRounds,
			IdleTimeout: time.Duration(limits.ModelIdle) * time.Second,
		},
	})
	t.mu.Lock()
	t.history = append(history, outcome.Added...)
	t.mu.Unlock()
	if err != nil {
		return "", modelError(err)
	}
	t.title(parts)
	return outcome.Stop, nil
}

// findModel gives the model chosen in this session, else the default one.
func (t *turn) findModel(ctx context.Context) (model.Model, error) {
	t.mu.Lock()
	name := t.session.model
	t.mu.Unlock()
	if name != "" {
		return t.srv.o.Models.Resolve(ctx, name, t.roots.Cwd().String())
	}
	return t.srv.o.Models.Default(ctx)
}

// greet does what the first prompt of a session owes: editors may have dropped the first list of
// commands, and servers that were asked for are named.
func (t *turn) greet(ctx context.Context) {
	t.mu.Lock()
	first := !t.greeted
	t.greeted = true
	t.mu.Unlock()
	if !first {
		return
	}
	t.tellCommands(ctx)
	if len(t.unmet) > 0 {
		t.Notice("MCP servers are not started yet: " + strings.Join(t.unmet, ", ") + ". Their tools are missing in this session.")
	}
}

// Begin starts a new message.
func (t *turn) Begin() { t.messages++ }

// Say streams the model's text.
func (t *turn) Say(s string) { t.out.say(updateMessage, t.messageID(""), s) }

// Think streams the model's reasoning.
func (t *turn) Think(s string) { t.out.say(updateThought, t.messageID("-thought"), s) }

func (t *turn) messageID(suffix string) string {
	return fmt.Sprintf("%s-%d.%d%s", t.session.id, t.number, t.messages, suffix)
}

// Notice tells the user something that the model did not say: as a notice where the editor shows
// them, else as a message of its own.
func (t *turn) Notice(s string) {
	if t.client.notices {
		t.out.send(noticeUpdate{Kind: "notice", Severity: "warning", Title: s})
		return
	}
	t.messages++
	t.out.say(updateMessage, t.messageID("-notice"), s+"\n\n")
	t.messages++
}

// Usage shows how full the model's window is. Without a known window there is nothing to compare
// with, and the protocol wants both numbers.
func (t *turn) Usage(u model.Usage) {
	used := u.Input + u.Output
	if t.window <= 0 || used <= 0 {
		return
	}
	t.out.latest("usage", usageUpdate{Kind: "usage_update", Used: min(used, t.window), Size: t.window})
}

// maxHolds is how often the end of a turn is held for late diagnostics (contract §4).
const maxHolds = 2

// settleLimit is how long the end of a turn waits for checks that still run.
const settleLimit = 5 * time.Second

// Pending holds the end of the turn for verdicts that are still out, and gives the model what the
// turn's edits brought in.
func (t *turn) Pending(ctx context.Context) string {
	if t.lang == nil || t.holds >= maxHolds || t.diagnosticsOption() == diagnosticsOff {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, settleLimit)
	defer cancel()
	texts := t.lateTexts(t.lang.Settle(ctx))
	if len(texts) == 0 {
		return ""
	}
	t.holds++
	return "[diagnostics]\n" + strings.Join(texts, "\n\n")
}

// showPlan shows the plan of the running turn.
func (o *session) showPlan(entries []tool.Entry) {
	if t := o.current(); t != nil {
		t.out.send(planUpdate{Kind: "plan", Entries: planEntries(entries)})
	}
}

// titleRunes bounds a session's title.
const titleRunes = 72

// title names the session after its first prompt.
func (t *turn) title(parts []model.Part) {
	t.mu.Lock()
	first := !t.titled
	t.titled = true
	t.mu.Unlock()
	if !first {
		return
	}
	for _, p := range parts {
		line, _, _ := strings.Cut(strings.TrimSpace(p.Text), "\n")
		if line = strings.Join(strings.Fields(line), " "); line == "" {
			continue
		}
		if utf8.RuneCountInString(line) > titleRunes {
			line = string([]rune(line)[:titleRunes-1]) + "…"
		}
		t.out.latest("info", infoUpdate{Kind: "session_info_update", Title: line, UpdatedAt: time.Now().UTC().Format(time.RFC3339)})
		return
	}
}

// diagnosticsOption is the session's present choice.
func (o *session) diagnosticsOption() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.diagnostics
}

// planEntries are a plan as the editor takes it; never nil.
func planEntries(entries []tool.Entry) []sdk.PlanEntry {
	list := make([]sdk.PlanEntry, 0, len(entries))
	for _, e := range entries {
		entry := sdk.PlanEntry{
			Content: e.Content, Priority: sdk.PlanEntryPriority(e.Priority), Status: sdk.PlanEntryStatus(e.Status),
		}
		if entry.Priority == "" {
			entry.Priority = sdk.PlanEntryPriorityMedium
		}
		if entry.Status == "" {
			entry.Status = sdk.PlanEntryStatusPending
		}
		list = append(list, entry)
	}
	return list
}
