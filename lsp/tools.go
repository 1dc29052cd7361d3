package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"go.lsp.dev/protocol"

	"acp-agent/internal/workspace"
)

// startTimeout is how long a tool waits for a server that is just starting.
const startTimeout = 20 * time.Second

// Diagnostics asks for all findings of a file's present text. The notice is one sentence that
// replaces them when the file cannot be served (T3).
func (s *Session) Diagnostics(ctx context.Context, p workspace.Path, text string) (items []Finding, notice string, err error) {
	list, where := s.assign(p)
	if where.off != "" {
		return nil, where.text, nil
	}
	answered := false
	for _, a := range list {
		if a.refused != nil {
			notice = a.refused.text
			continue
		}
		var found answer
		var enc encoding
		err := s.with(ctx, a.in, p, text, func(ctx context.Context, c *client, d *document) error {
			found, enc = a.in.ask(ctx, c, d), c.caps.enc
			return nil
		})
		switch {
		case ctx.Err() != nil:
			return nil, "", ctx.Err()
		case err != nil:
			notice = asNotice(a.row, err)
		case found.reason != "":
			notice = fmt.Sprintf("%s gave no verdict on %s (%s).", a.row.id, p, strings.ReplaceAll(found.reason, "_", " "))
		default:
			answered = true
			l := newLines(found.text)
			for _, d := range found.items {
				items = append(items, finding(a.row, p, l, enc, d, false))
			}
		}
	}
	if answered {
		notice = ""
	}
	return sorted(items), notice, nil
}

// Place is a position in a file, 1-based, code points.
type Place struct {
	Path            workspace.Path
	Line, Character int
}

// Definition, References and Hover ask the file's type checker (T2, T4). Line and char are 1-based.
func (s *Session) Definition(ctx context.Context, p workspace.Path, text string, line, char int) (places []Place, notice string, err error) {
	return s.locations(ctx, p, text, line, char, "textDocument/definition", func(c capabilities) bool { return c.definition })
}

// References finds the uses of the symbol at a position.
func (s *Session) References(ctx context.Context, p workspace.Path, text string, line, char int) (places []Place, notice string, err error) {
	return s.locations(ctx, p, text, line, char, "textDocument/references", func(c capabilities) bool { return c.references })
}

// Hover gives the hover text at a position.
func (s *Session) Hover(ctx context.Context, p workspace.Path, text string, line, char int) (hover, notice string, err error) {
	notice, err = s.atPosition(ctx, p, text, line, char, "textDocument/hover",
		func(c capabilities) bool { return c.hover },
		func(_ *client, result json.RawMessage) error {
			hover, err = readHover(result)
			return err
		})
	return hover, notice, err
}

// locations asks for places in files.
func (s *Session) locations(ctx context.Context, p workspace.Path, text string, line, char int, method string, offers func(capabilities) bool) (places []Place, notice string, err error) {
	var raw []rawLocation
	var server *client
	notice, err = s.atPosition(ctx, p, text, line, char, method, offers, func(c *client, result json.RawMessage) (err error) {
		server = c
		raw, err = readLocations(result)
		return err
	})
	if err != nil || notice != "" {
		return nil, notice, err
	}
	texts := map[workspace.Path]*lines{}
	for _, l := range raw {
		path, err := fromURI(l.uri())
		if err != nil {
			continue
		}
		if texts[path] == nil {
			texts[path] = newLines(s.readFor(p, path, text))
		}
		start := l.start()
		line, col := texts[path].column(start.Line, start.Character, server.caps.enc)
		if at := (Place{path, line, col}); !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return places, "", nil
}

// readFor is the text of a file that an answer points into, "" when it cannot be read; columns are
// then the server's own.
func (s *Session) readFor(asked, path workspace.Path, text string) string {
	if path == asked {
		return text
	}
	seen := lookAt(&document{path: path}, stamp{})
	got, _, err := workspace.Decode(seen.data, "")
	if err != nil {
		return ""
	}
	return got
}

// atPosition asks the type checker of a file something about a position. An answer that is null goes
// to read like any other; "not served" is a notice.
func (s *Session) atPosition(ctx context.Context, p workspace.Path, text string, line, char int, method string, offers func(capabilities) bool, read func(*client, json.RawMessage) error) (notice string, err error) {
	list, where := s.assign(p)
	if where.off != "" {
		return where.text, nil
	}
	a := list[0] // the checker stands before the linters
	if a.refused != nil {
		return a.refused.text, nil
	}
	if line < 1 || char < 1 {
		return "", fmt.Errorf("line %d, character %d: both count from 1", line, char)
	}
	err = s.with(ctx, a.in, p, text, func(ctx context.Context, c *client, d *document) error {
		if !offers(c.caps) {
			return &refusal{ReasonFailed, a.row.id + " offers no " + strings.TrimPrefix(method, "textDocument/") + "."}
		}
		l, ch := newLines(text).position(line, char, c.caps.enc)
		params := map[string]any{
			"textDocument": map[string]any{"uri": d.uri},
			"position":     map[string]any{"line": l, "character": ch},
		}
		if method == "textDocument/references" {
			params["context"] = map[string]any{"includeDeclaration": true}
		}
		var result json.RawMessage
		if err := c.conn.Call(ctx, method, params, &result); err != nil {
			return err
		}
		return read(c, result)
	})
	if err == nil || ctx.Err() != nil {
		return "", ctx.Err()
	}
	return asNotice(a.row, err), nil
}

// with has the server ready with a file's text and calls f, which has 5 s (T4). A text that is not
// the disk's is put back afterwards, under an exclusive lease.
func (s *Session) with(ctx context.Context, in *instance, p workspace.Path, text string, f func(context.Context, *client, *document) error) error {
	defer in.use()()
	start, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	c, err := in.get(start)
	if err != nil {
		in.refusedFor(err)
		return err
	}
	ctx, cancel2 := context.WithTimeout(ctx, requestTimeout)
	defer cancel2()
	g := &group{in: in, files: []*editFile{{change: Change{Op: Update, Path: p, OldText: text, NewText: text}, file: p}}}
	hold, ok := in.lease.shared(ctx)
	if !ok {
		return &refusal{ReasonBusy, in.row.id + " is busy with a proposal."}
	}
	in.syncDisk(in.adopt(g)...)
	d := g.files[0].doc
	in.mu.Lock()
	in.flush(c)
	unsaved := d.absent || d.truth != text
	if !unsaved {
		in.show(c, d, text)
	}
	in.mu.Unlock()
	if unsaved {
		hold.release()
		if hold, ok = in.lease.exclusive(ctx); !ok {
			return &refusal{ReasonBusy, in.row.id + " is busy with other questions."}
		}
		in.overlay(c, map[*document]string{d: text})
		defer in.putBack(c)
	}
	defer hold.release()
	return f(ctx, c, d)
}

// asNotice turns what went wrong into one sentence for the model.
func asNotice(row *spec, err error) string {
	if r, ok := errors.AsType[*refusal](err); ok {
		if r.reason == ReasonStarting {
			return row.id + " is still starting; ask again in a moment."
		}
		return r.text
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Sprintf("%s did not answer within %s.", row.id, requestTimeout)
	}
	return fmt.Sprintf("%s could not answer: %s.", row.id, oneLine(err.Error(), maxMessage))
}

// rawLocation is a Location or a LocationLink.
type rawLocation struct {
	URI       string    `json:"uri"`
	Range     rawRange  `json:"range"`
	TargetURI string    `json:"targetUri"`
	Selection *rawRange `json:"targetSelectionRange"`
}

func (l rawLocation) uri() string {
	if l.TargetURI != "" {
		return l.TargetURI
	}
	return l.URI
}

func (l rawLocation) start() rawPosition {
	if l.Selection != nil {
		return l.Selection.Start
	}
	return l.Range.Start
}

// readLocations reads one location, a list of them, a list of links, or null.
func readLocations(result json.RawMessage) ([]rawLocation, error) {
	var list []rawLocation
	if len(result) == 0 || string(result) == "null" {
		return nil, nil
	}
	if result[0] == '{' {
		list = make([]rawLocation, 1)
		return list, decode(result, &list[0])
	}
	return list, decode(result, &list)
}

// readHover gives the text of a hover's contents in any of their forms; "" for null.
func readHover(result json.RawMessage) (string, error) {
	if len(result) == 0 || string(result) == "null" {
		return "", nil
	}
	var h protocol.Hover
	if err := protocol.Unmarshal(result, &h); err != nil {
		return "", err
	}
	switch c := h.Contents.(type) {
	case *protocol.MarkupContent:
		return c.Value, nil
	case protocol.String:
		return string(c), nil
	//lint:ignore SA1019 servers of older LSP versions still answer in this form
	case *protocol.MarkedStringWithLanguage:
		return c.Value, nil
	case protocol.MarkedStringSlice:
		var parts []string
		for _, m := range c {
			switch m := m.(type) {
			case protocol.String:
				parts = append(parts, string(m))
			//lint:ignore SA1019 as above
			case *protocol.MarkedStringWithLanguage:
				parts = append(parts, m.Value)
			}
		}
		return strings.Join(parts, "\n\n"), nil
	}
	return "", nil
}
