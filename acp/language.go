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

// Diagnostics gives all findings of a file as text in the contract's form; without a path, of every
// file that this session's model has read or written.
func (l languageTools) Diagnostics(ctx context.Context, p workspace.Path) (string, error) {
	if p == "" {
		return l.allDiagnostics(ctx)
	}
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

// diagnosed bounds the files of one question without a path.
const diagnosed = 50

// allDiagnostics asks for one file after the other, as servers answer; files that nothing serves are
// left out.
func (l languageTools) allDiagnostics(ctx context.Context) (string, error) {
	var found []lsp.Finding
	files := l.o.seen.paths()
	for _, p := range files[:min(len(files), diagnosed)] {
		text, notice, err := l.text(ctx, p)
		if err != nil || notice != "" {
			continue // gone, or no text by now
		}
		items, _, err := l.o.lang.Diagnostics(ctx, p, text)
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if err == nil {
			found = append(found, items...)
		}
	}
	if len(found) == 0 {
		return "no diagnostics for the files of this session.", nil
	}
	return lsp.FindingsText(found, l.o.maxDiagnostics()), nil
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
