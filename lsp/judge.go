package lsp

import (
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// outcome is one server's word on one file of an edit, with the difference that the edit made.
type outcome struct {
	server    ServerVerdict
	findings  []Finding
	mended    int
	before    int
	after     int
	baseKnown bool
}

// judge turns an answer into an outcome: findings in our columns, those that are new marked. The
// columns are counted in the text that the verdict is about (case G-L05).
func judge(row *spec, file workspace.Path, enc encoding, base baseline, a answer) outcome {
	o := outcome{
		server:    ServerVerdict{ID: row.id, File: file, MS: (a.took + time.Millisecond/2).Milliseconds()},
		baseKnown: base.known,
	}
	if a.reason != "" {
		o.server.State, o.server.Reason = NoVerdict, a.reason
		return o
	}
	now := newLines(a.text)
	fresh := make([]bool, len(a.items))
	if base.known && len(base.items) > 0 {
		fresh, o.mended = difference(base.items, a.items, mapLines(newLines(base.text), now))
	} else {
		for i := range fresh {
			fresh[i] = true
		}
	}
	for _, d := range base.items {
		if d.severity == SevError {
			o.before++
		}
	}
	for i, d := range a.items {
		if d.severity == SevError {
			o.after++
		}
		o.findings = append(o.findings, finding(row, file, now, enc, d, fresh[i]))
	}
	o.server.State = Clean
	if o.after > 0 {
		o.server.State = Findings
	}
	return o
}

// finding puts a diagnostic into our terms.
func finding(row *spec, file workspace.Path, text *lines, enc encoding, d diag, fresh bool) Finding {
	f := Finding{
		Path: file, Severity: d.severity, Code: d.code, Source: d.source, Message: d.message, Server: row.id, New: fresh,
	}
	f.Line, f.Column = text.column(d.startLine, d.startChar, enc)
	f.EndLine, f.EndCol = text.column(d.endLine, d.endChar, enc)
	return f
}

// assemble makes one verdict of the outcomes of an edit's files and of findings elsewhere. fixed are
// words on files that no server was asked about.
func assemble(fixed []ServerVerdict, outcomes []outcome, other []Finding, threshold Severity) Verdict {
	v := Verdict{BaselineKnown: true, Other: other}
	v.Servers = append(v.Servers, fixed...)
	told := func(f Finding) bool { return f.Severity <= threshold }
	for _, o := range outcomes {
		if o.server.State == Clean && slices.ContainsFunc(o.findings, told) {
			o.server.State = Findings // by lsp.severity a warning counts as well
		}
		v.Servers = append(v.Servers, o.server)
		v.Items = append(v.Items, o.findings...)
		v.Mended += o.mended
		v.Before += o.before
		v.After += o.after
		for _, f := range o.findings {
			if f.New && told(f) {
				v.Introduced = append(v.Introduced, f)
			}
		}
		if o.server.State != NoVerdict && !o.baseKnown {
			v.BaselineKnown = false
		}
	}
	v.Introduced, v.Items = sorted(v.Introduced), sorted(v.Items)
	v.State, v.Reason = overall(v.Servers)
	return v
}
