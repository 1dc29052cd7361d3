package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"acp-agent/internal/workspace"
)

// Bounds of the search for files that an edit may break.
const (
	exploreTime     = 2 * time.Second // while the user decides
	exploreSymbols  = 8
	dependentsLimit = 20
)

// mayExplore says whether the server can tell which files depend on a symbol, and would say
// something else of them after an edit.
func (c *client) mayExplore() bool {
	return c.caps.symbols && c.caps.references && c.interFile()
}

// explore finds the files that use what a proposal changes and takes their baselines, while the user
// decides. After the edit these are asked about again.
func (g *group) explore(ctx context.Context) {
	in := g.in
	ctx, cancel := context.WithTimeout(ctx, exploreTime)
	defer cancel()
	defer in.use()()
	c, err := in.get(ctx)
	if err != nil {
		return
	}
	ctx, hold, ok := in.lease.background(ctx, 1)
	if !ok {
		return
	}
	defer hold.release()
	for _, f := range g.opened(c).files {
		in.mu.Lock()
		world := in.world
		in.mu.Unlock()
		in.exploreFile(ctx, c, f, g, world)
	}
}

// exploreFile opens the files that use what f's edit changes and asks about them, unless what the
// server said of them up to a state of the world is known. The server has f's old text.
func (in *instance) exploreFile(ctx context.Context, c *client, f *editFile, g *group, world uint64) {
	if f.change.OldText == f.change.NewText {
		return
	}
	list, ok := in.dependents(ctx, c, f, g)
	for _, path := range list {
		if ctx.Err() != nil {
			return
		}
		in.mu.Lock()
		d := in.find(path)
		known := false
		if d != nil && d.client == c {
			r, found := in.recall(d, d.truth, true)
			known = found && r.at <= world
		}
		in.mu.Unlock()
		if known {
			continue
		}
		if d := in.openFromDisk(c, path); d != nil {
			in.question(ctx, c, d)
		}
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if ok && ctx.Err() == nil && f.doc.sent == f.change.OldText {
		f.doc.explored = f.change.OldText
	}
}

// openFromDisk shows the server a file as it is on disk.
func (in *instance) openFromDisk(c *client, path workspace.Path) *document {
	seen := lookAt(&document{path: path}, stamp{})
	text, _, err := workspace.Decode(seen.data, "")
	if err != nil || seen.gone {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	d := in.doc(path)
	if d.client != c {
		d.truth, d.was, d.absent, d.stamp, d.accepted = text, text, false, seen.stamp, ""
		in.show(c, d, text)
	}
	return d
}

// dependents asks the server where the symbols that an edit touches are used. ok is false when it did
// not say.
func (in *instance) dependents(ctx context.Context, c *client, f *editFile, g *group) (out []workspace.Path, ok bool) {
	var result json.RawMessage
	doc := map[string]any{"uri": f.doc.uri}
	if err := c.conn.Call(ctx, "textDocument/documentSymbol", map[string]any{"textDocument": doc}, &result); err != nil {
		return nil, false
	}
	touched := touchedLines(mapLines(newLines(f.change.OldText), newLines(f.change.NewText)))
	ok = true
	for _, at := range touchedSymbols(result, touched) {
		var result json.RawMessage
		err := c.conn.Call(ctx, "textDocument/references", map[string]any{
			"textDocument": doc,
			"position":     map[string]any{"line": at.Line, "character": at.Character},
			"context":      map[string]any{"includeDeclaration": false},
		}, &result)
		if err != nil {
			ok = false
			if ctx.Err() != nil {
				return out, false
			}
			continue
		}
		list, _ := readLocations(result)
		for _, l := range list {
			path, err := fromURI(l.uri())
			if err != nil || !in.top.Contains(path) || in.row.best(path.Base()) == 0 || slices.Contains(out, path) {
				continue
			}
			own := slices.ContainsFunc(g.files, func(o *editFile) bool { return o.file == path || o.change.Path == path })
			if !own {
				out = append(out, path)
			}
			if len(out) == dependentsLimit {
				return out, ok
			}
		}
	}
	return out, ok
}

// rawSymbol is a DocumentSymbol, or the older SymbolInformation.
type rawSymbol struct {
	Name      string      `json:"name"`
	Range     rawRange    `json:"range"`
	Selection rawRange    `json:"selectionRange"`
	Children  []rawSymbol `json:"children"`
	Location  *struct {
		Range rawRange `json:"range"`
	} `json:"location"`
}

// touchedSymbols lists where the symbols are declared whose code lies on touched lines, the outer ones
// first: a change inside a function may change what it gives, and so what its callers may do.
func touchedSymbols(result json.RawMessage, touched []int) []rawPosition {
	var list []rawSymbol
	if decode(result, &list) != nil {
		return nil
	}
	var out []rawPosition
	for level := list; len(level) > 0 && len(out) < exploreSymbols; {
		var next []rawSymbol
		for _, s := range level {
			if s.Location != nil {
				s.Range, s.Selection = s.Location.Range, s.Location.Range
			}
			hit := slices.ContainsFunc(touched, func(line int) bool {
				return line >= s.Range.Start.Line && line <= s.Range.End.Line
			})
			if !hit {
				continue
			}
			if len(out) < exploreSymbols {
				out = append(out, s.Selection.Start)
			}
			next = append(next, s.Children...)
		}
		level = next
	}
	return out
}

// touchedLines are the lines of the old text that an edit removes or changes, or adds something
// right behind.
func touchedLines(m *lineMap) []int {
	var out []int
	last := -1 // new line that the line before ended up in
	for i, to := range m.to {
		switch {
		case to < 0:
			out = append(out, i)
		case to != last+1 && i > 0 && m.to[i-1] >= 0:
			out = append(out, i-1)
		}
		if to >= 0 {
			last = to
		}
	}
	return out
}

// stands says whether the file is still as the edit left it. The instance's mu is held.
func (f *editFile) stands() bool {
	if f.change.Op == Delete {
		return f.doc.absent
	}
	return !f.doc.absent && f.doc.truth == f.change.NewText
}

// exploreLate does explore's work for an edit that was applied at once, by showing the server the old
// texts once more. It is work in the background, and gives way to everybody.
func (p *part) exploreLate(ctx context.Context, c *client) {
	in := p.in
	if !c.mayExplore() || !in.asks(c) || !p.newest() {
		return
	}
	var files []*editFile
	in.mu.Lock()
	if in.slowExplore {
		in.mu.Unlock()
		return
	}
	all := &group{in: in, files: slices.Concat(p.files, p.gone)}
	old := map[*document]string{}
	for _, f := range all.files {
		if f.created || f.change.Op == Move || !f.stands() {
			continue
		}
		old[f.doc] = f.change.OldText
		if f.doc.explored != f.change.OldText {
			files = append(files, f)
		}
	}
	in.mu.Unlock()
	if len(files) == 0 {
		return
	}
	given, began := ctx, time.Now()
	ctx, hold, ok := in.lease.background(given, leaseAll)
	if !ok {
		return
	}
	defer hold.release()
	in.overlay(c, old)
	defer in.putBack(c)
	for _, f := range files {
		in.exploreFile(ctx, c, f, all, p.before)
	}
	if errors.Is(given.Err(), context.DeadlineExceeded) && time.Since(began) > 2*elsewhereTime {
		in.mu.Lock()
		in.slowExplore = true // much time was not enough, and nobody else was in the way
		in.mu.Unlock()
	}
}
