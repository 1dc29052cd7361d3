package edits

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"acp-agent/internal/workspace"
)

// Write proposes the whole content of a file, new or not. Content takes the file's encoding, BOM
// and, where it is uniform and content has only \n, its line ending.
func Write(ctx context.Context, files *workspace.Files, p workspace.Path, content string) (*Proposal, error) {
	pl := newPlan(files)
	if err := pl.write(ctx, p, content); err != nil {
		return nil, err
	}
	return pl.single(KindWrite, p, "it has exactly this content")
}

func (pl *plan) write(ctx context.Context, p workspace.Path, text string) error {
	if !utf8.ValidString(text) {
		return &Refusal{Code: CodeInvalidArguments, Path: p, Message: fmt.Sprintf("The content for %s is not valid Unicode. Send it again as UTF-8 text.", pl.name(p))}
	}
	s, err := pl.at(ctx, p)
	if err != nil {
		return err
	}
	if s.noText != nil {
		return pl.refuse(p, s.noText)
	}
	if !s.now.exists {
		return pl.writeNew(p, s, text)
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	if s.now.format.Encoding == workspace.Opaque && !isASCII(text) {
		return opaque(pl.name(p), p)
	}
	if strings.IndexByte(text, '\r') < 0 {
		text = workspace.WithEOL(text, s.now.format.EOL)
	}
	s.now.text = text
	return nil
}

func (pl *plan) writeNew(p workspace.Path, s *slot, text string) error {
	if err := pl.parentIsFolder(p, s); err != nil {
		return err
	}
	format := s.base.Format
	if strings.HasPrefix(text, "\uFEFF") {
		text = strings.TrimPrefix(text, "\uFEFF")
		if format.Encoding == workspace.UTF8 {
			format.Encoding = workspace.UTF8BOM
		}
	}
	s.create(text, format)
	return nil
}

// opaque refuses non-ASCII text for a file whose encoding is not known.
func opaque(name string, p workspace.Path) *Refusal {
	return &Refusal{Code: CodeEncoding, Path: p, Err: workspace.ErrEncoding, Message: fmt.Sprintf(
		"%s is not UTF-8 and its encoding is not known, so only ASCII text of it can be edited; all its other bytes are kept. "+
			"Make the edit with ASCII text only, or let the user name the encoding (charset in .editorconfig, encodings in config.yaml).", name)}
}

// single is the proposal of a plan for one file.
func (pl *plan) single(kind Kind, p workspace.Path, already string) (*Proposal, error) {
	prop, err := pl.proposal(kind)
	if err != nil {
		return nil, err
	}
	if len(prop.Changes) == 0 {
		return nil, &Refusal{Code: CodeAlreadyApplied, Path: p, Message: fmt.Sprintf("Nothing to do for %s: %s already.", pl.name(p), already)}
	}
	return prop, nil
}

// FromFiles proposes given new texts for files (rename, code action). The texts have the form of
// [workspace.File].Text, so their line endings are taken as they are.
func FromFiles(ctx context.Context, files *workspace.Files, kind Kind, texts map[workspace.Path]string) (*Proposal, error) {
	pl := newPlan(files)
	paths := slices.Sorted(maps.Keys(texts))
	if len(paths) == 0 {
		return nil, &Refusal{Code: CodeAlreadyApplied, Message: "Nothing to do: no file would change."}
	}
	for _, p := range paths {
		if err := pl.set(ctx, p, texts[p]); err != nil {
			return nil, err
		}
	}
	return pl.single(kind, paths[0], "it has the new text")
}

func (pl *plan) set(ctx context.Context, p workspace.Path, text string) error {
	s, err := pl.at(ctx, p)
	if err != nil {
		return err
	}
	if s.noText != nil {
		return pl.refuse(p, s.noText)
	}
	if !s.now.exists {
		return pl.writeNew(p, s, text)
	}
	if s.now.format.Encoding == workspace.Opaque {
		for _, d := range diffTexts(s.now.text, text).changed() {
			if !isASCII(d) {
				return opaque(pl.name(p), p)
			}
		}
	}
	s.now.text = text
	return nil
}

// changed are the removed and added lines.
func (d lineDiff) changed() []string {
	var out []string
	for _, s := range d.spans {
		out = append(out, d.old[s.oldFrom:s.oldTo]...)
		out = append(out, d.new[s.newFrom:s.newTo]...)
	}
	return out
}
