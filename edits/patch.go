package edits

import (
	"context"
	"fmt"
	"strings"

	"acp-agent/internal/workspace"
)

// Patch proposes a V4A patch over any number of files. Operations see each other; the proposal has
// each file's end state; one hunk that does not apply refuses the whole patch.
func Patch(ctx context.Context, files *workspace.Files, patch string) (*Proposal, error) {
	ops, refusal := parsePatch(patch)
	if refusal != nil {
		return nil, refusal
	}
	pl := newPlan(files)
	var first workspace.Path
	for _, op := range ops {
		p, err := pl.resolve(op.path)
		if err != nil {
			return nil, err
		}
		if first == "" {
			first = p
		}
		if err := pl.apply(ctx, op, p); err != nil {
			if wasApplied(ctx, files, ops) {
				return nil, alreadyApplied(first)
			}
			return nil, err
		}
	}
	if onlyAdditions(ops) && wasApplied(ctx, files, ops) {
		return nil, alreadyApplied(first)
	}
	prop, err := pl.proposal(KindV4A)
	if err != nil {
		return nil, err
	}
	if len(prop.Changes) == 0 {
		return nil, &Refusal{Code: CodeInvalidPatch, Path: first, Message: "The patch would change nothing: every file would stay as it is. Send the lines that shall be different."}
	}
	return prop, nil
}

func (pl *plan) resolve(arg string) (workspace.Path, error) {
	p, err := pl.files.Roots.Resolve(arg)
	if err != nil {
		return "", &Refusal{Code: CodeInvalidArguments, Message: fmt.Sprintf("The patch names a file that cannot be found: %v.", err), Err: err}
	}
	return p, nil
}

// apply does one operation on the plan.
func (pl *plan) apply(ctx context.Context, op patchOp, p workspace.Path) error {
	switch op.op {
	case Create:
		return pl.addFile(ctx, op, p)
	case Delete:
		return pl.delete(ctx, p)
	}
	if len(op.hunks) > 0 {
		if err := pl.update(ctx, op, p); err != nil {
			return err
		}
	}
	if op.to == "" {
		return nil
	}
	to, err := pl.resolve(op.to)
	if err != nil {
		return err
	}
	return pl.move(ctx, p, to)
}

func (op patchOp) content() string {
	text := strings.Join(op.lines, "\n")
	if len(op.lines) > 0 && !op.open {
		text += "\n"
	}
	return text
}

func (pl *plan) addFile(ctx context.Context, op patchOp, p workspace.Path) error {
	s, err := pl.at(ctx, p)
	if err != nil {
		return err
	}
	if s.now.exists {
		return pl.exists(p, "*** Add File:")
	}
	return pl.writeNew(p, s, op.content())
}

func (pl *plan) update(ctx context.Context, op patchOp, p workspace.Path) error {
	s, err := pl.text(ctx, p)
	if err != nil {
		return err
	}
	if s.now.format.Encoding == workspace.Opaque {
		for _, h := range op.hunks {
			for _, l := range h.lines {
				if l.sign != ' ' && !isASCII(l.text) {
					return opaque(pl.name(p), p)
				}
			}
		}
	}
	place := placer{name: pl.name(p), lines: splitLines(s.now.text), hunks: op.hunks}
	edits, refusal := place.place()
	if refusal != nil {
		refusal.Path = p
		return refusal
	}
	pl.notes = append(pl.notes, place.notes...)
	s.now.text = joinLines(applyLines(place.lines, edits))
	return nil
}

func alreadyApplied(p workspace.Path) *Refusal {
	return &Refusal{Code: CodeAlreadyApplied, Path: p, Message: "Nothing to do: every change of this patch is in the files already."}
}

// onlyAdditions: a patch that only adds lines to existing files still fits after it was applied, so
// fitting does not show that it was not.
func onlyAdditions(ops []patchOp) bool {
	for _, op := range ops {
		if op.op != Update || op.to != "" {
			return false
		}
		for _, h := range op.hunks {
			if !h.onlyAdds() {
				return false
			}
		}
	}
	return true
}

// wasApplied says that every operation of the patch is done on disk. It is asked only when the patch
// does not apply; a missing file alone proves nothing, so something else must be there.
func wasApplied(ctx context.Context, files *workspace.Files, ops []patchOp) bool {
	pl := newPlan(files)
	proof := false
	for _, op := range ops {
		p, err := pl.resolve(op.path)
		if err != nil {
			return false
		}
		s, err := pl.at(ctx, p)
		if err != nil {
			return false
		}
		switch {
		case op.op == Delete:
			if s.old.exists {
				return false
			}
			continue
		case op.op == Create:
			if !s.old.exists || s.noText != nil || strings.TrimSuffix(workspace.WithEOL(s.old.text, workspace.LF), "\n") != strings.TrimSuffix(op.content(), "\n") {
				return false
			}
		case op.to != "":
			if len(op.hunks) == 0 {
				return false // any file there looks like one that was moved
			}
			to, err := pl.resolve(op.to)
			if err != nil || s.old.exists {
				return false
			}
			if s, err = pl.at(ctx, to); err != nil {
				return false
			}
		}
		if op.op == Update && !updated(s, op) {
			return false
		}
		proof = true
	}
	return proof
}

func updated(s *slot, op patchOp) bool {
	if !s.old.exists || s.noText != nil {
		return false
	}
	place := placer{lines: splitLines(s.old.text)}
	for _, h := range op.hunks {
		if h.changes() && !place.alreadyIn(h) {
			return false
		}
	}
	return true
}
