package acp

import (
	"context"
	"time"

	"acp-agent/edits"
	"acp-agent/internal/tool"
	"acp-agent/permissions"
)

// edit is the one path by which an edit changes files. Its lines are the story: the tool has
// proposed; then foresee, permit, apply and record, diagnose, report. Every way out is a result that
// the model can read, except cancellation, which is ctx's error and comes with nothing changed.
func (c *call) edit(ctx context.Context, a *tool.Action) (tool.Result, error) {
	c.isEdit = true
	e := &editing{call: c, kind: a.Kind, p: a.Proposal, decision: c.policy.Edit(targets(a.Proposal))}
	if e.decision.Verdict == permissions.Deny {
		e.announce()
		code, message := denial(e.decision)
		return e.refuse(edits.Rejected, code, message), nil
	}
	e.lint = checkSyntax(e.p)
	e.foresee(ctx)
	e.announce()
	got := e.permit(ctx)
	if !got.yes {
		e.recordDecision(got)
		return e.refuse(stateOf(got.refusal), got.refusal, got.message), ctx.Err()
	}
	if ctx.Err() != nil {
		return e.refuse(edits.Cancelled, edits.CodeCancelled, "cancelled before anything was written"), ctx.Err()
	}
	if err := e.takeEdited(ctx, got.edited); err != nil {
		return e.applyFailed(err), nil
	}
	c.update(toolCall{Status: statusInProgress})
	e.p.State = edits.Approved
	start := time.Now()
	landed, err := e.apply(ctx, got)
	if err != nil {
		return e.applyFailed(err), nil
	}
	e.diagnose(ctx, landed, start)
	return e.report(landed), nil
}

// editing is one edit under way.
type editing struct {
	*call
	kind     tool.Kind
	p        *edits.Proposal
	decision permissions.Decision
	lint     lint
	foreseen foresight
	verdict  verdict
	record   recorded
}

// permit asks when the policy says so. Editors that show only the first diff are asked once a file;
// nothing is written before the last yes.
func (e *editing) permit(ctx context.Context) answer {
	d := e.decision
	if d.Verdict == permissions.Allow {
		return answer{yes: true, option: string(d.Verdict), by: d.By, rule: d.Rule}
	}
	options := editOptions(d)
	late := e.tellLateForesight(ctx)
	defer late()
	if !e.client.profile.firstDiffOnly || len(e.p.Changes) == 1 {
		return e.settle(ctx, e.ask(ctx, e.shown, options, d))
	}
	var got answer
	for i := range e.p.Changes {
		waited := got.waited
		got = e.ask(ctx, e.oneFile(i), options, d)
		got.waited += waited
		if !got.yes {
			return e.settle(ctx, got)
		}
		if got.option == allowSession {
			break
		}
	}
	return e.settle(ctx, got)
}

// settle draws the consequences of an answer for the rest of the turn and of the session.
func (e *editing) settle(ctx context.Context, got answer) answer {
	switch {
	case got.yes && got.option == allowSession:
		if err := e.policy.SetMode(permissions.ModeAcceptEdits); err != nil {
			e.srv.log.Warn("mode not changed", "err", err)
			break
		}
		e.tellMode(ctx)
	case got.refusal == edits.CodeRejected:
		e.policy.Denied(targets(e.p))
	}
	return got
}

// takeEdited puts the text that the user wrote in place of the proposed one. It is their own, so it is
// not asked for again; the model is told.
func (e *editing) takeEdited(ctx context.Context, edited *string) error {
	if edited == nil || len(e.p.Changes) != 1 || *edited == e.p.Changes[0].NewText {
		return nil
	}
	was := e.p.Changes[0]
	if was.Op != edits.Update && was.Op != edits.Create {
		return nil
	}
	p, err := edits.Write(ctx, e.files, was.Path, *edited)
	if err != nil {
		return err
	}
	if p.Changes[0].Before != was.Before {
		return &edits.Refusal{Code: edits.CodeStale, Path: was.Path,
			Message: was.Path.String() + " changed while the user was editing your proposal, so nothing was written. Read it again."}
	}
	theirs := edits.Change{Op: edits.Update, Path: was.Path, OldText: was.NewText, NewText: *edited}
	p.ID, p.Kind, p.Args = e.p.ID, e.p.Kind, e.p.Args
	p.Notes = append(p.Notes, "The user changed your proposal before it was applied:\n"+shorten(theirs.Unified("proposed", "applied"), savedDiff))
	e.p, e.lint, e.foreseen = p, checkSyntax(p), foresight{}
	return nil
}

// apply writes the proposal and records it. A cancel cannot come between the two, nor into either:
// the section has a deadline of its own.
func (e *editing) apply(ctx context.Context, got answer) ([]edits.Landed, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeLimit)
	defer cancel()
	unlock := e.srv.locks.lock(realPaths(e.p))
	defer unlock()
	j := e.newJournal(got)
	if err := j.open(); err != nil {
		return nil, err
	}
	landed, err := e.p.Apply(ctx, e.files, j)
	if err != nil {
		j.failed(err)
		return nil, err
	}
	e.record = j.applied(landed)
	for i := range landed {
		e.seen.landed(landed[i])
	}
	return landed, nil
}

// refuse ends the call without a change.
func (e *editing) refuse(state edits.State, code edits.Code, message string) tool.Result {
	e.p.State = state
	e.shown.Meta, e.shown.Content = e.meta(), e.diffs()
	return e.failed(e.failure(code, message))
}

// failure is a result that names the proposal's first file.
func (e *editing) failure(code edits.Code, message string) tool.Result {
	r, _ := tool.Refused(&edits.Refusal{Code: code, Path: e.p.Changes[0].Path, Message: message}) // a refusal always is one
	return r
}

func stateOf(code edits.Code) edits.State {
	if code == edits.CodeRejected {
		return edits.Rejected
	}
	return edits.Cancelled
}

func targets(p *edits.Proposal) []permissions.Target {
	var list []permissions.Target
	for _, c := range p.Changes {
		list = append(list, permissions.Target{Path: c.Path, Real: c.Real})
		if c.Op == edits.Move {
			list = append(list, permissions.Target{Path: c.To, Real: c.ToReal})
		}
	}
	return list
}
