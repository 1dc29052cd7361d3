package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

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
			return languageResult(text, err, env.Limits.withDefaults().OutputBytes)
		}
		return act, nil
	}}
}

func lspDefinition() *builtin {
	return &builtin{name: "lsp_definition", group: groupLSP, params: position(),
		prepare: preparePosition("lsp_definition", "Definition", KindSearch, func(ctx context.Context, env *Env, p workspace.Path, line, char int) Result {
			places, notice, err := env.Language.Definition(ctx, p, line, char)
			return placesResult(places, notice, err, env.Limits.withDefaults().OutputBytes)
		})}
}

func lspReferences() *builtin {
	return &builtin{name: "lsp_references", group: groupLSP, params: position(),
		prepare: preparePosition("lsp_references", "References", KindSearch, func(ctx context.Context, env *Env, p workspace.Path, line, char int) Result {
			places, notice, err := env.Language.References(ctx, p, line, char)
			return placesResult(places, notice, err, env.Limits.withDefaults().OutputBytes)
		})}
}

func lspHover() *builtin {
	return &builtin{name: "lsp_hover", group: groupLSP, params: position(),
		prepare: preparePosition("lsp_hover", "Type and documentation", KindRead, func(ctx context.Context, env *Env, p workspace.Path, line, char int) Result {
			text, err := env.Language.Hover(ctx, p, line, char)
			return languageResult(text, err, env.Limits.withDefaults().OutputBytes)
		})}
}

// preparePosition plans a question about a place.
func preparePosition(tool, what string, kind Kind, ask func(ctx context.Context, env *Env, p workspace.Path, line, char int) Result) func(context.Context, *Env, json.RawMessage) (*Action, error) {
	return func(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
		a := parse(tool, raw)
		line, char := a.required("line", 1), a.required("character", 1)
		p := a.path(env, "path")
		if err := a.problem(); err != nil {
			return nil, err
		}
		return &Action{Title: fmt.Sprintf("%s at %s:%d:%d", what, shown(env, p), line, char), Kind: kind, Parallel: true,
			Reads: []workspace.Path{p}, Locations: []Location{{Path: p, Line: line}},
			Run: func(ctx context.Context, _ Progress) Result { return ask(ctx, env, p, line, char) }}, nil
	}
}

// languageResult is an answer in words, within size bytes.
func languageResult(text string, err error, size int) Result {
	if err != nil {
		return Failed(edits.CodeIO, "The language server could not answer: "+err.Error())
	}
	if len(text) > size {
		cut := strings.ToValidUTF8(text[:size], "")
		text = fmt.Sprintf("%s… (%d more bytes)", cut, len(text)-len(cut))
	}
	return Result{Text: text}
}

// placesResult is the answer of definition and references in the contract's form, within size bytes; a
// notice is one sentence instead, not an error.
func placesResult(places []Place, notice string, err error, size int) Result {
	if err != nil || notice != "" {
		return languageResult(notice, err, size)
	}
	answer := struct {
		Locations []Place `json:"locations"`
		More      int     `json:"more,omitempty"` // places that did not fit
	}{Locations: []Place{}}
	const frame = len(`{"locations":[],"more":99999}`)
	left := size - frame
	for i, p := range places {
		if left -= len(encode(p)) + 1; left < 0 {
			answer.More = len(places) - i
			break
		}
		answer.Locations = append(answer.Locations, p)
	}
	return Result{Text: encode(answer), Raw: answer}
}
