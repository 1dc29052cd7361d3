package acp

import (
	"context"

	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

// language gives the tools the session's language servers; nil when the layer is off, so that the tools
// are not offered.
func (o *session) language() tool.Language {
	if o.lang == nil {
		return nil
	}
	return languageTools{o}
}

// languageTools joins the lsp_ tools to package lsp: they read the file as it stands now, the editor's
// unsaved text first, and ask about that very text.
type languageTools struct{ o *session }

func (l languageTools) text(ctx context.Context, p workspace.Path) (text, notice string, err error) {
	f, err := l.o.files.Read(ctx, p)
	switch {
	case err != nil:
		return "", "", err
	case !f.Exists && !f.Unsaved:
		return "", "no such file: " + p.Rel(l.o.roots.Cwd()), nil
	}
	return f.Text, "", nil
}

// Diagnostics gives all findings of a file as text in the contract's form.
func (l languageTools) Diagnostics(ctx context.Context, p workspace.Path) (string, error) {
	text, notice, err := l.text(ctx, p)
	if err != nil || notice != "" {
		return notice, err
	}
	items, notice, err := l.o.lang.Diagnostics(ctx, p, text)
	switch {
	case err != nil:
		return "", err
	case notice != "":
		return notice, nil
	case len(items) == 0:
		return "no diagnostics for " + p.String() + ".", nil
	}
	return lsp.FindingsText(items, l.o.maxDiagnostics()), nil
}

// Definition finds where the symbol at a position is defined.
func (l languageTools) Definition(ctx context.Context, p workspace.Path, line, char int) ([]tool.Place, string, error) {
	return l.places(ctx, p, line, char, l.o.lang.Definition)
}

// References finds the uses of the symbol at a position.
func (l languageTools) References(ctx context.Context, p workspace.Path, line, char int) ([]tool.Place, string, error) {
	return l.places(ctx, p, line, char, l.o.lang.References)
}

// Hover gives what the server knows of the symbol at a position.
func (l languageTools) Hover(ctx context.Context, p workspace.Path, line, char int) (string, error) {
	text, notice, err := l.text(ctx, p)
	if err != nil || notice != "" {
		return notice, err
	}
	hover, notice, err := l.o.lang.Hover(ctx, p, text, line, char)
	if notice != "" {
		return notice, err
	}
	return hover, err
}

type askPlaces func(ctx context.Context, p workspace.Path, text string, line, char int) ([]lsp.Place, string, error)

func (l languageTools) places(ctx context.Context, p workspace.Path, line, char int, ask askPlaces) ([]tool.Place, string, error) {
	text, notice, err := l.text(ctx, p)
	if err != nil || notice != "" {
		return nil, notice, err
	}
	found, notice, err := ask(ctx, p, text, line, char)
	list := make([]tool.Place, 0, len(found))
	for _, f := range found {
		list = append(list, tool.Place{Path: f.Path, Line: f.Line, Character: f.Character})
	}
	return list, notice, err
}
