package tool

import (
	"context"
	"encoding/json"
	"strings"

	"acp-agent/edits"
)

func writeFile() *builtin {
	return &builtin{name: "write_file", group: groupEdit, aliases: []string{"write", "create_file"}, prepare: prepareWrite, params: []param{
		need("path", "string", "File to write: absolute, or relative to the working directory."),
		need("content", "string", "The whole new content of the file."),
	}}
}

func prepareWrite(ctx context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("write_file", raw)
	content := a.text("content") // a missing content must never empty a file (case G-M02)
	p := a.path(env, "path")
	if err := a.problem(); err != nil {
		return nil, err
	}
	return propose(env, raw)(edits.Write(ctx, env.Files, p, content))
}

func editFile() *builtin {
	fields := []param{
		need("old_string", "string", "Text to replace, exactly as it stands in the file, with enough lines around it to be found once."),
		need("new_string", "string", "Text to put in its place."),
		may("replace_all", "boolean", "Replace every occurrence instead of exactly one."),
	}
	return &builtin{name: "edit_file", group: groupEdit, aliases: []string{"edit", "str_replace", "replace"}, prepare: prepareEdit, params: []param{
		need("path", "string", "File to edit: absolute, or relative to the working directory."),
		may("old_string", "string", fields[0].about), may("new_string", "string", fields[1].about), fields[2],
		{name: "edits", kind: "array", about: "Several replacements in this file instead of one, made in order, all or none.", items: fields},
	}}
}

func prepareEdit(ctx context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("edit_file", raw)
	p := a.path(env, "path")
	var list []edits.Replacement
	if a.has("edits") {
		for i, one := range a.objects("edits") {
			list = append(list, replacement(one))
			a.adopt("edits", i, one)
		}
		if len(list) == 0 && len(a.problems) == 0 {
			a.complain("argument %q is empty", "edits")
		}
	}
	if !a.has("edits") || a.has("old_string") || a.has("new_string") {
		list = append(list, replacement(a))
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	return propose(env, raw)(edits.Replace(ctx, env.Files, p, list))
}

func replacement(a *arguments) edits.Replacement {
	return edits.Replacement{Old: a.text("old_string"), New: a.text("new_string"), ReplaceAll: a.flag("replace_all")}
}

func applyPatch() *builtin {
	return &builtin{name: "apply_patch", group: groupEdit, prepare: preparePatch, params: []param{
		need("patch", "string", "The patch, from *** Begin Patch to *** End Patch."),
	}}
}

func preparePatch(ctx context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("apply_patch", raw)
	patch := a.text("patch")
	if err := a.problem(); err != nil {
		return nil, err
	}
	return propose(env, raw)(edits.Patch(ctx, env.Files, patch))
}

// patchAlias is a tool of other agents that some models were trained on: one name for both ways to
// edit, told apart by mode.
func patchAlias() *builtin {
	return &builtin{name: "apply_patch", prepare: func(ctx context.Context, env *Env, raw json.RawMessage) (*Action, error) {
		a := parse("patch", raw)
		switch mode := strings.ToLower(a.optional("mode")); {
		case mode == "replace", mode == "" && a.has("old_string") && !a.has("patch"):
			return prepareEdit(ctx, env, raw)
		case mode == "", mode == "v4a", mode == "patch":
			return preparePatch(ctx, env, raw)
		default:
			a.complain("argument \"mode\" must be \"replace\" or \"v4a\", not %q", mode)
			return nil, a.problem()
		}
	}}
}

// propose makes the action of a proposal, or passes on why there is none. Whatever it does to files, it is
// an edit: editors choose by the kind whether they show its diffs.
func propose(env *Env, raw json.RawMessage) func(*edits.Proposal, error) (*Action, error) {
	return func(p *edits.Proposal, err error) (*Action, error) {
		if err != nil {
			return nil, err
		}
		p.Args = raw
		return &Action{Title: EditTitle(env, p.Changes), Kind: KindEdit, Locations: editLocations(p), Proposal: p}, nil
	}
}
