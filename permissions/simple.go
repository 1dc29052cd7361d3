package permissions

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// redirect notes one redirection on the part.
func (w *walker) redirect(p *part, r *syntax.Redirect) {
	w.substitutions(r.Word)
	if r.Hdoc != nil {
		w.substitutions(r.Hdoc)
	}
	switch r.Op {
	case syntax.Hdoc, syntax.DashHdoc, syntax.WordHdoc:
		p.piped = true
		return
	case syntax.DplOut, syntax.DplIn:
		if target := w.source(r.Word); target == "-" || strings.Trim(target, "0123456789-") == "" {
			return // another descriptor of the same command
		}
	}
	target := w.readWord(r.Word)
	switch r.Op {
	case syntax.RdrIn:
		p.piped = true
		p.redirs = append(p.redirs, redirect{target: target})
	case syntax.RdrOut, syntax.AppOut, syntax.RdrInOut, syntax.RdrClob, syntax.RdrAll, syntax.AppAll, syntax.DplOut:
		p.redirs = append(p.redirs, redirect{target: target, write: true})
	default:
		p.opaque = append(p.opaque, "its redirection is not understood")
	}
}

// call walks a simple command with its assignments.
func (w *walker) call(p part, c *syntax.CallExpr) {
	for _, a := range c.Assigns {
		w.assign(&p, a)
	}
	for _, sw := range c.Args {
		w.substitutions(sw)
		arg := w.readWord(sw)
		if special(sw) {
			arg = literal("0")
		}
		p.argv = append(p.argv, arg)
	}
	w.simple(p)
}

func (w *walker) assign(p *part, a *syntax.Assign) {
	w.substitutions(a)
	if a.Name == nil || a.Index != nil || a.Array != nil {
		p.opaque = append(p.opaque, "its assignment is not understood")
		return
	}
	value := literal("")
	if a.Value != nil {
		value = w.readWord(a.Value)
	}
	p.assigns = append(p.assigns, assign{name: a.Name.Value, value: value})
}

// declare walks export, declare, local, readonly and typeset.
func (w *walker) declare(p part, d *syntax.DeclClause) {
	p.argv = []word{literal(d.Variant.Value)}
	for _, a := range d.Args {
		if a.Naked && a.Name == nil {
			p.argv = append(p.argv, w.readWord(a.Value))
			w.substitutions(a.Value)
			continue
		}
		if a.Naked {
			p.argv = append(p.argv, literal(a.Name.Value))
			continue
		}
		w.assign(&p, a)
	}
	w.add(p)
}
