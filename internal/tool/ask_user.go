package tool

import (
	"context"
	"encoding/json"
	"strings"

	"acp-agent/edits"
)

func askUser() *builtin {
	return &builtin{name: "ask_user", prepare: prepareAsk, params: []param{
		need("question", "string", "One question, with what the user must know to answer it."),
		{name: "options", kind: "array", about: "Answers to choose from, at most a few."},
	}}
}

func prepareAsk(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("ask_user", raw)
	question := strings.TrimSpace(a.text("question"))
	if question == "" && a.has("question") {
		a.complain("argument \"question\" is empty")
	}
	var options []string
	for i, v := range a.list("options") {
		var s string
		if json.Unmarshal(v, &s) != nil || strings.TrimSpace(s) == "" {
			a.complain("element %d of \"options\" must be a text", i+1)
			continue
		}
		options = append(options, s)
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	return &Action{Title: "Ask: " + shorten(plain(question), maxTitle), Kind: KindOther,
		Run: func(ctx context.Context, _ Progress) Result {
			answer, err := env.Ask(ctx, question, options)
			switch {
			case ctx.Err() != nil:
				return Failed(edits.CodeCancelled, "Cancelled by the user before the question was answered.")
			case err != nil:
				return Failed(edits.CodeIO, "The user could not be asked: "+err.Error()+". Go on without the answer, or end the turn with the question.")
			}
			return Result{Text: answer}
		}}, nil
}
