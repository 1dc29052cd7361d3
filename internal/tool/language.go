package tool

import (
	"context"
	"encoding/json"
	"fmt"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// position are the arguments of a question about a place in a file.
func position() []param {
	return []param{
		need("path", "string", "File: absolute, or relative to the working directory."),
		need("line", "integer", "Line, counted from 1."),
		need("character", "integer", "Character within the line, counted from 1; anywhere in the name that you ask about."),
	}
}

func lspDiagnostics() *builtin {
	return &builtin{name: "lsp_diagnostics", group: groupLSP, params: []param{
		may("path", "string", "File to check; by default every file that was edited or asked about in this session."),
	}, prepare: func(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
		a := parse("lsp_diagnostics", raw)
		act := &Action{Title: "Check the session's files", Kind: KindRead, Parallel: true}
		var p workspace.Path
		if a.optional("path") != "" {
			p = a.path(env, "path")
		}
		if err := a.problem(); err != nil {
			return nil, err
		}
		if p != "" {
			act.Title, act.Reads, act.Locations = "Check "+shown(env, p), []workspace.Path{p}, []Location{{Path: p}}
		}
		act.Run = func(ctx context.Context, _ Progress) Result {
			text, err := env.Language.Diagnostics(ctx, p)
			return languageResult(text, err)
		}
		return act, nil
	}}
}

func lspDefinition() *builtin {
	return &builtin{name: "lsp_definition", group: groupLSP, params: position(),
		prepare: preparePosition("lsp_definition", "Definition", KindSearch, func(ctx context.Context, l Language, p workspace.Path, line, char int) Result {
			places, notice, err := l.Definition(ctx, p, line, char)
			return placesResult(places, notice, err)
		})}
}

func lspReferences() *builtin {
	return &builtin{name: "lsp_references", group: groupLSP, params: position(),
		prepare: preparePosition("lsp_references", "References", KindSearch, func(ctx context.Context, l Language, p workspace.Path, line, char int) Result {
			places, notice, err := l.References(ctx, p, line, char)
			return placesResult(places, notice, err)
		})}
}

func lspHover() *builtin {
	return &builtin{name: "lsp_hover", group: groupLSP, params: position(),
		prepare: preparePosition("lsp_hover", "Type and documentation", KindRead, func(ctx context.Context, l Language, p workspace.Path, line, char int) Result {
			text, err := l.Hover(ctx, p, line, char)
			return languageResult(text, err)
		})}
}

// preparePosition plans a question about a place.
func preparePosition(tool, what string, kind Kind, ask func(ctx context.Context, l Language, p workspace.Path, line, char int) Result) func(context.Context, *Env, json.RawMessage) (*Action, error) {
	return func(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
		a := parse(tool, raw)
		line, char := a.required("line", 1), a.required("character", 1)
		p := a.path(env, "path")
		if err := a.problem(); err != nil {
			return nil, err
		}
		return &Action{Title: fmt.Sprintf("%s at %s:%d:%d", what, shown(env, p), line, char), Kind: kind, Parallel: true,
			Reads: []workspace.Path{p}, Locations: []Location{{Path: p, Line: line}},
			Run: func(ctx context.Context, _ Progress) Result { return ask(ctx, env.Language, p, line, char) }}, nil
	}
}

func languageResult(text string, err error) Result {
	if err != nil {
		return Failed(edits.CodeIO, "The language server could not answer: "+err.Error())
	}
	return Result{Text: text}
}

// placesResult is the answer of definition and references in the contract's form; a notice is one
// sentence instead, not an error.
func placesResult(places []Place, notice string, err error) Result {
	if err != nil || notice != "" {
		return languageResult(notice, err)
	}
	if places == nil {
		places = []Place{}
	}
	answer := struct {
		Locations []Place `json:"locations"`
	}{places}
	return Result{Text: encode(answer), Raw: answer}
}
