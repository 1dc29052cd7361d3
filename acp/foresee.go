package acp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"acp-agent/edits"
	"acp-agent/internal/syntax"
	"acp-agent/lsp"
	"acp-agent/permissions"
)

// lint is the syntax check of an edit's new texts, made in this process.
type lint struct {
	status     syntax.Status
	output     string // one line a problem; with the file's name when the edit has several
	introduced int    // problems in files that had none before
}

// checkSyntax looks at every text that the edit would leave.
func checkSyntax(p *edits.Proposal) lint {
	l := lint{status: syntax.Skipped}
	var out []string
	for _, c := range p.Changes {
		if c.Op == edits.Delete {
			continue
		}
		r := syntax.Check(c.Target().Base(), c.NewText)
		switch r.Status {
		case syntax.Skipped:
			continue
		case syntax.OK:
			if l.status == syntax.Skipped {
				l.status = syntax.OK
			}
			continue
		}
		l.status = syntax.Error
		if c.Op == edits.Create || syntax.Check(c.Path.Base(), c.OldText).Status != syntax.Error {
			l.introduced += len(r.Problems)
		}
		text := r.Output()
		if len(p.Changes) > 1 {
			text = c.Target().String() + ":\n" + text
		}
		out = append(out, text)
	}
	l.output = strings.Join(out, "\n")
	return l
}

// foresight is what is known of the proposed texts before anybody is asked.
type foresight struct {
	verdict lsp.Verdict
	asked   bool               // a language server was asked
	late    <-chan lsp.Verdict // set when the budget ran out; gets the verdict once, or is closed
	cancel  context.CancelFunc // ends the asking that goes on; nil when none does
}

// foreseeLimit bounds the asking that goes on after the budget, while the question is open.
const foreseeLimit = 10 * time.Second

// foresee asks the language servers about the proposed texts, within the budget. Nobody is asked when
// the texts do not parse, which is told already, when no question will be asked, and when the user
// switched diagnostics off.
func (e *editing) foresee(ctx context.Context) {
	if e.lang == nil || e.lint.status == syntax.Error || e.decision.Verdict != permissions.Ask ||
		e.diagnosticsOption() == diagnosticsOff {
		return
	}
	budget := time.Duration(e.srv.o.Config.LSP.ForeseeBudgetMS) * time.Millisecond
	if !e.client.profile.lateContent {
		ctx, cancel := context.WithTimeout(ctx, budget)
		defer cancel()
		e.foreseen = foresight{verdict: e.lang.Foresee(ctx, lspChanges(e.p)), asked: true}
		return
	}
	// The editor bears a late result, so the asking may go on behind the question.
	ctx, cancel := context.WithTimeout(ctx, budget+foreseeLimit)
	result := make(chan lsp.Verdict, 1)
	changes := lspChanges(e.p)
	if !e.srv.spawn(ctx, func(ctx context.Context) {
		defer close(result)
		result <- e.lang.Foresee(ctx, changes)
	}) {
		cancel()
		return
	}
	e.foreseen = foresight{verdict: lsp.Verdict{State: lsp.NoVerdict, Reason: "timeout", Foreseen: true}, asked: true, late: result, cancel: cancel}
	timer := time.NewTimer(budget)
	defer timer.Stop()
	select {
	case v, ok := <-result:
		if ok {
			e.foreseen.verdict = v
		}
		e.foreseen.late = nil
		cancel()
		e.foreseen.cancel = nil
	case <-timer.C:
	}
}

// tellLateForesight shows a verdict that comes while the question is open, as one update with content
// only. The returned function ends the waiting for it: from the answer on nothing is foreseen.
func (e *editing) tellLateForesight(ctx context.Context) (stop func()) {
	late := e.foreseen.late
	if late == nil {
		return func() {}
	}
	diffs := e.diffs()
	var came lsp.Verdict // written by the goroutine below, read when it has ended
	answered, ended := make(chan struct{}), make(chan struct{})
	wait := func(context.Context) {
		defer close(ended)
		select {
		case v, ok := <-late:
			if !ok {
				return
			}
			came = v
			if text := e.verdictText(v); text != "" {
				e.update(toolCall{Content: append(diffs, textContent(text))})
			}
		case <-answered:
		}
	}
	if !e.srv.spawn(ctx, wait) {
		close(ended)
	}
	return func() {
		close(answered)
		e.foreseen.cancel()
		<-ended
		for range late { // until the servers are put back, which the edit must not overtake
		}
		if came.State != "" {
			e.foreseen.verdict = came
		}
	}
}

// introduced is the number of errors that the edit is known to bring in, for the title.
func (e *editing) introduced() int {
	if e.lint.introduced > 0 {
		return e.lint.introduced
	}
	if !e.foreseen.asked || e.foreseen.verdict.State != lsp.Findings {
		return 0
	}
	n := 0
	for _, list := range [][]lsp.Finding{e.foreseen.verdict.Introduced, e.foreseen.verdict.Other} {
		for _, f := range list {
			if f.Severity == lsp.SevError { // by lsp.severity there may be warnings as well
				n++
			}
		}
	}
	return n
}

// foreseenText tells the user what the edit would bring, below its diff.
func (e *editing) foreseenText() string {
	if e.lint.introduced > 0 {
		return "This edit would leave text that does not parse:\n" + e.lint.output
	}
	if !e.foreseen.asked {
		return ""
	}
	return e.verdictText(e.foreseen.verdict)
}

// verdictText is a foreseen verdict as the user reads it.
func (e *editing) verdictText(v lsp.Verdict) string {
	switch v.State {
	case lsp.Findings, lsp.Clean:
		if text := e.told(v, "LSP diagnostics that this edit would introduce"); text != "" {
			return text
		}
		text := "Checked: brings in no errors"
		if v.Mended > 0 {
			text += fmt.Sprintf(" and mends %d", v.Mended)
		}
		switch {
		case v.After == 1:
			text += "; 1 was there before"
		case v.After > 1:
			text += fmt.Sprintf("; %d were there before", v.After)
		}
		return text + "."
	case lsp.NoVerdict:
		return "Not checked: " + noVerdict(v) + "."
	}
	return ""
}

// maxDiagnostics is the longest text of diagnostics, in characters.
func (o *session) maxDiagnostics() int { return o.srv.o.Config.LSP.MaxDiagnosticsChars }

// told is what an edit brought in, under a heading and within the configured bounds; "" for nothing.
func (o *session) told(v lsp.Verdict, heading string) string {
	v.PerFile = o.srv.o.Config.Limits.DiagnosticsPerFile
	return v.ForModel(heading, o.maxDiagnostics())
}

// lspChanges are the proposed changes as the language-server layer takes them.
func lspChanges(p *edits.Proposal) []lsp.Change {
	var list []lsp.Change
	for _, c := range p.Changes {
		list = append(list, lsp.Change{Op: lsp.Op(c.Op), Path: c.Path, To: c.To, OldText: c.OldText, NewText: c.NewText})
	}
	return list
}
