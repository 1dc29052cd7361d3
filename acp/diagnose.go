package acp

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"acp-agent/edits"
	"acp-agent/internal/syntax"
	"acp-agent/internal/tool"
	"acp-agent/lsp"
)

// verdict is what is known of an applied edit's text when its result is given.
type verdict struct {
	lsp.Verdict
	late bool // more may come with a later result
}

// inlineBudget is how long a result waits for its verdict, from the start of writing.
func (o *session) inlineBudget() time.Duration {
	return time.Duration(o.srv.o.Config.LSP.InlineBudgetMS) * time.Millisecond
}

// diagnose tells the servers what is on disk now and waits for the verdict as long as the inline
// budget lasts, which began when writing began. Text that does not parse is told by the syntax
// check: no result waits to hear it again. A verdict that is still out comes late.
func (e *editing) diagnose(ctx context.Context, landed []edits.Landed, start time.Time) {
	switch {
	case e.lang == nil:
		e.verdict.Verdict = lsp.Verdict{State: lsp.Off, Reason: "the language-server layer is switched off"}
		return
	case e.diagnosticsOption() == diagnosticsOff:
		e.lang.External(realPaths(e.p))
		e.verdict.Verdict = lsp.Verdict{State: lsp.Off, Reason: "diagnostics are switched off in this session"}
		return
	}
	e.remember()
	check := e.lang.Applied(e.id, landedChanges(landed))
	deadline := start.Add(e.inlineBudget())
	reason := "still checking"
	switch {
	case e.diagnosticsOption() == diagnosticsTurnEnd:
		deadline = start
	case e.lint.status == syntax.Error:
		deadline, reason = start, "the text does not parse"
	}
	v, ok := check.Wait(ctx, deadline)
	if !ok {
		v = lsp.Verdict{State: lsp.NoVerdict, Reason: reason, Servers: v.Servers}
	}
	e.verdict = verdict{Verdict: v, late: !ok}
}

// landedChanges are the changes with the text that really landed.
func landedChanges(landed []edits.Landed) []lsp.Change {
	var list []lsp.Change
	for _, l := range landed {
		c := l.Change
		list = append(list, lsp.Change{Op: lsp.Op(c.Op), Path: c.Path, To: c.To, OldText: c.OldText, NewText: l.Text})
	}
	return list
}

// Headings of the diagnostics that the model reads (contract §4).
const headingEarlier = "LSP diagnostics introduced by your earlier edit of "
const headingNow = "LSP diagnostics introduced by this edit"

// shownEdit is what is kept of an applied edit to show a late verdict on its tool call.
type shownEdit struct {
	turn     *turn
	diffs    []content
	meta     func(v verdict) any
	reported bool      // the call has ended, so a late verdict may be shown
	late     *lsp.Late // came before that
}

// keptEdits is how many edits of earlier turns are kept.
const keptEdits = 64

// remember keeps what a late verdict needs.
func (e *editing) remember() {
	e.mu.Lock()
	defer e.mu.Unlock()
	for id, old := range e.edited {
		if len(e.edited) < keptEdits {
			break
		}
		if old.turn != e.turn {
			delete(e.edited, id)
		}
	}
	e.edited[e.id] = &shownEdit{turn: e.turn, diffs: e.diffs(), meta: e.metaWith}
}

// reported lets late verdicts be shown: before it, the call's own end would hide them again.
func (e *editing) reported() {
	e.mu.Lock()
	var late *lsp.Late
	if shown := e.edited[e.id]; shown != nil {
		shown.reported, late = true, shown.late
	}
	e.mu.Unlock()
	if late != nil {
		e.showLate(*late)
	}
}

// showLate shows a late verdict on its edit's tool call, with content only. It is called from a
// goroutine of the language-server session. Once the turn has answered, nothing is shown.
func (o *session) showLate(l lsp.Late) {
	o.mu.Lock()
	shown, t := o.edited[l.Edit], o.running
	if shown != nil && !shown.reported {
		shown.late, shown = &l, nil
	}
	o.mu.Unlock()
	if shown == nil || t == nil {
		return
	}
	body := o.diagnosticsText(l.Verdict)
	if body == "" {
		return
	}
	t.out.send(toolCall{Update: updateToolCallDelta, ID: l.Edit,
		Content: append(shown.diffs[:len(shown.diffs):len(shown.diffs)], textContent(body)),
		Meta:    shown.meta(verdict{Verdict: l.Verdict, late: true})})
}

// lateTexts are late verdicts as the model reads them; those that say nothing are left out.
func (o *session) lateTexts(list []lsp.Late) []string {
	var texts []string
	for _, l := range list {
		var names []string
		for _, p := range l.Paths {
			names = append(names, p.Rel(o.roots.Cwd()))
		}
		if s := o.told(l.Verdict, headingEarlier+strings.Join(names, ", ")); s != "" {
			texts = append(texts, s)
		}
	}
	return texts
}

// withLate adds the verdicts that came since the last tool result. Earlier messages are never
// rewritten, so this is the model's first chance to hear of them.
func (t *turn) withLate(r tool.Result) tool.Result {
	if t.lang == nil || t.diagnosticsOption() == diagnosticsOff {
		return r
	}
	texts := t.lateTexts(t.lang.Late())
	if len(texts) == 0 {
		return r
	}
	joined := strings.Join(texts, "\n\n")
	if e, ok := r.Raw.(*editResult); ok {
		// The answer of an edit stays one JSON object.
		copied := *e
		copied.Diagnostics = strings.TrimPrefix(copied.Diagnostics+"\n\n"+joined, "\n\n")
		r.Raw, r.Text = &copied, encodeResult(&copied)
		return r
	}
	r.Text += "\n\n" + joined
	return r
}

// diagnosticsText is a verdict as the editor shows it below the diff.
func (o *session) diagnosticsText(v lsp.Verdict) string {
	switch v.State {
	case lsp.Findings, lsp.Clean:
		if text := o.told(v, headingNow); text != "" {
			return text
		}
		text := "Fresh diagnostics: no new errors"
		if v.Mended > 0 {
			text += fmt.Sprintf(", %d mended", v.Mended)
		}
		if v.After > 0 {
			text += fmt.Sprintf(", %d older", v.After)
		}
		return text + "."
	case lsp.NoVerdict:
		return "No verdict: " + noVerdict(v) + "."
	}
	return ""
}

// noVerdict says why there is none, by server where servers were asked.
func noVerdict(v lsp.Verdict) string {
	var parts []string
	for _, s := range v.Servers {
		if s.State == lsp.NoVerdict && s.Reason != "" {
			if part := s.ID + " " + strings.ReplaceAll(s.Reason, "_", " "); !slices.Contains(parts, part) {
				parts = append(parts, part)
			}
		}
	}
	if len(parts) == 0 {
		return strings.ReplaceAll(v.Reason, "_", " ")
	}
	return strings.Join(parts, ", ")
}
