package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Priorities and statuses of a plan's entries (ACP PlanEntry).
var (
	planPriorities = []string{"high", "medium", "low"}
	planStatuses   = []string{"pending", "in_progress", "completed"}
)

func updatePlan() *builtin {
	return &builtin{name: "update_plan", prepare: preparePlan, params: []param{
		{name: "entries", kind: "array", required: true, about: "The whole plan, also what did not change.", items: []param{
			need("content", "string", "What is to be done, in a few words."),
			{name: "status", kind: "string", required: true, values: planStatuses},
			{name: "priority", kind: "string", values: planPriorities},
		}},
	}}
}

func preparePlan(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("update_plan", raw)
	if !a.has("entries") {
		a.missing("entries", "an array")
	}
	entries := []Entry{}
	for i, one := range a.objects("entries") {
		e := Entry{Content: strings.TrimSpace(one.text("content")), Status: one.choice("status", "pending", planStatuses),
			Priority: one.choice("priority", "medium", planPriorities)}
		if e.Content == "" && one.has("content") {
			one.complain("argument \"content\" is empty")
		}
		a.adopt("entries", i, one)
		entries = append(entries, e)
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	done := 0
	for _, e := range entries {
		if e.Status == "completed" {
			done++
		}
	}
	return &Action{Title: fmt.Sprintf("Update the plan (%d of %d done)", done, len(entries)), Kind: KindThink,
		Run: func(context.Context, Progress) Result {
			env.Plan(entries)
			return Result{Text: fmt.Sprintf("The user sees the plan: %d of %d done.", done, len(entries))}
		}}, nil
}

// choice is one of a few words, def when it is missing.
func (a *arguments) choice(name, def string, values []string) string {
	s := a.optional(name)
	if s == "" {
		return def
	}
	if !slices.Contains(values, s) {
		a.complain("argument %q must be one of %s, not %q", name, strings.Join(values, ", "), s)
	}
	return s
}
