package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/syntax"
	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

// editResult is what the model gets for an edit (contract §4), and the tool call's rawOutput.
type editResult struct {
	Path        workspace.Path `json:"path"`
	Bytes       int            `json:"bytes_written"`
	Dirs        bool           `json:"dirs_created"`
	Files       []fileResult   `json:"files"`
	Lint        lintResult     `json:"lint"`
	Diagnostics string         `json:"lsp_diagnostics,omitempty"`
	LSP         lspResult      `json:"lsp"`
	Notes       []string       `json:"notes,omitempty"`
}

type fileResult struct {
	Path  workspace.Path `json:"path"`
	Op    edits.Op       `json:"op"`
	To    workspace.Path `json:"to,omitempty"`
	Bytes int            `json:"bytes_written"`
	// Written and Found differ when the editor changed the file while saving it; Changed shows how.
	Written workspace.Hash `json:"written,omitempty"`
	Found   workspace.Hash `json:"found,omitempty"`
	Changed string         `json:"changed_on_save,omitempty"`
}

type lintResult struct {
	Status string `json:"status"`
	Output string `json:"output"`
}

type lspResult struct {
	State      lsp.State      `json:"state"`
	Reason     string         `json:"reason"`
	Introduced int            `json:"introduced"`
	Mended     int            `json:"mended"`
	OtherFiles int            `json:"other_files"`
	Servers    []serverResult `json:"servers"`
}

type serverResult struct {
	ID     string         `json:"id"`
	File   workspace.Path `json:"file,omitempty"`
	State  lsp.State      `json:"state"`
	Reason string         `json:"reason"`
	MS     int64          `json:"ms"`
}

// savedDiff bounds the diff that shows what a save changed.
const savedDiff = 4 << 10

// report ends the call and gives the model its result.
func (e *editing) report(landed []edits.Landed) tool.Result {
	r := &editResult{
		Lint:        lintResult{Status: string(e.lint.status), Output: e.lint.output},
		Diagnostics: e.told(e.verdict.Verdict, headingNow),
		LSP:         lspOf(e.verdict.Verdict),
		Notes:       e.p.Notes,
	}
	for i, l := range landed {
		c := l.Change
		f := fileResult{Path: c.Path, Op: c.Op, To: c.To, Bytes: l.Bytes}
		if l.Found != l.Written {
			f.Written, f.Found, f.Changed = l.Written, l.Found, shorten(savedChange(c, l.Text), savedDiff)
		}
		if i == 0 {
			r.Path, r.Bytes = c.Path, l.Bytes
		}
		r.Dirs = r.Dirs || l.Dirs
		r.Files = append(r.Files, f)
	}
	e.shown.Title = e.title()
	e.shown.Content = e.diffs()
	e.shown.Meta = e.meta()
	res := tool.Result{Text: encodeResult(r), Raw: r, Display: e.appliedText(r)}
	e.end(statusCompleted, res)
	e.reported()
	return res
}

// savedChange is the difference between what was written and what was found after it.
func savedChange(c *edits.Change, found string) string {
	saved := edits.Change{Op: edits.Update, Path: c.Target(), OldText: c.NewText, NewText: found}
	return saved.Unified("written", "found")
}

func lspOf(v lsp.Verdict) lspResult {
	r := lspResult{State: v.State, Reason: v.Reason, Introduced: len(v.Introduced), Mended: v.Mended,
		OtherFiles: len(v.Other), Servers: []serverResult{}}
	for _, s := range v.Servers {
		r.Servers = append(r.Servers, serverResult{ID: s.ID, File: s.File, State: s.State, Reason: s.Reason, MS: s.MS})
	}
	return r
}

// appliedText is what the editor shows of an applied edit, below its diffs. That there are no
// language servers here is said once a session.
func (e *editing) appliedText(r *editResult) string {
	var parts []string
	if e.lint.introduced > 0 {
		parts = append(parts, "The text does not parse:\n"+e.lint.output)
	}
	switch e.verdict.State {
	case lsp.Off:
		if why := e.tellOff(e.verdict.Reason); why != "" {
			parts = append(parts, "No language server: "+why+".")
		}
	default:
		if e.lint.introduced == 0 {
			parts = append(parts, e.diagnosticsText(e.verdict.Verdict))
		}
	}
	for _, f := range r.Files {
		if f.Changed != "" {
			parts = append(parts, fmt.Sprintf("%s was changed while it was saved:\n%s", f.Path.Base(), f.Changed))
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, "\n\n")
	case e.lint.status == syntax.OK:
		return "Applied; the text parses."
	}
	return "Applied." // for nothing to say, the model's JSON would be shown
}

// offTexts say why the language servers of a whole session are asleep. That nothing serves one kind of
// file is no news.
var offTexts = map[string]string{
	lsp.ReasonNoGit:    "they work inside git repositories only (lsp.require_git: false in config.yaml lifts this)",
	lsp.ReasonExcluded: "the project is excluded by lsp.exclude_roots in config.yaml",
}

// tellOff gives the text for a reason the first time that it is asked for, and "" later.
func (o *session) tellOff(reason string) string {
	why := offTexts[reason]
	if why == "" {
		return ""
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.toldOff {
		return ""
	}
	o.toldOff = true
	return why
}

// applyFailed ends an edit that was allowed and could not be written.
func (e *editing) applyFailed(err error) tool.Result {
	res, ok := tool.Refused(err)
	if !ok {
		res = e.failure(edits.CodeIO, err.Error())
	}
	if e.p.State == edits.Pending || e.p.State == edits.Approved {
		e.p.State = edits.Failed
	}
	e.shown.Meta, e.shown.Content = e.meta(), e.diffs()
	return e.failed(res)
}

// alreadyApplied is the answer to an edit that changes nothing, which is no failure.
func alreadyApplied(r *edits.Refusal) tool.Result {
	raw := struct {
		Applied bool           `json:"applied"`
		Code    edits.Code     `json:"code"`
		Path    workspace.Path `json:"path,omitempty"`
		Message string         `json:"message"`
	}{false, r.Code, r.Path, r.Message}
	return tool.Result{Text: encodeResult(raw), Raw: raw, Display: r.Message}
}

// encodeResult is v as the model reads it: without the escapes that are meant for HTML.
func encodeResult(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return fmt.Sprintf(`{"error": %q}`, err.Error())
	}
	return strings.TrimSuffix(buf.String(), "\n")
}
