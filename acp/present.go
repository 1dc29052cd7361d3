package acp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	sdk "github.com/coder/acp-go-sdk"

	"acp-agent/edits"
	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
)

// Bounds of what an editor is shown.
const (
	diffBytes  = 256 << 10 // a side of a diff; larger files show hunks
	allBytes   = 2 << 20   // all diffs of a proposal; above it every file shows hunks
	shownBytes = 64 << 10  // text of a tool call
	inputBytes = 16 << 10  // rawInput; longer strings in it are cut
	itemsShown = 100       // diagnostics in _meta
)

// announce shows the proposal: diffs first, then what is foreseen as one text. Some editors show only
// the title, or only the first diff, so the title alone must be enough to decide by.
func (e *editing) announce() {
	items := e.diffs()
	if text := e.foreseenText(); text != "" {
		items = append(items, textContent(text))
	}
	e.call.announce(toolCall{Title: e.title(), Kind: string(e.kind), Content: items, Locations: e.places(), Meta: e.meta()})
}

// oneFile is the request for the i-th file alone, under the same id.
func (e *editing) oneFile(i int) toolCall {
	one := e.shown
	c := e.p.Changes[i]
	items := []content{e.diff(c)}
	if e.client.profile.othersBehind {
		for k := range e.p.Changes {
			if k != i {
				items = append(items, e.diff(e.p.Changes[k]))
			}
		}
	}
	if text := e.foreseenText(); text != "" {
		items = append(items, textContent(text))
	}
	one.Title = fmt.Sprintf("%s (%d/%d)", e.titleOf([]edits.Change{c}), i+1, len(e.p.Changes))
	one.Content, one.Locations = items, []sdk.ToolCallLocation{location(c.Target(), c.FirstChangedLine())}
	return one
}

func (e *editing) title() string { return e.titleOf(e.p.Changes) }

// titleOf is `Edit src/app.go (+3 −1, +2 errors)` with whatever else the user must know to decide.
func (e *editing) titleOf(changes []edits.Change) string {
	var more []string
	switch n := e.introduced(); {
	case n == 1:
		more = append(more, "+1 error")
	case n > 1:
		more = append(more, fmt.Sprintf("+%d errors", n))
	}
	title := tool.EditTitle(e.env, changes, more...)
	for _, note := range e.titleNotes(changes) {
		title += ", " + note
	}
	return title
}

// titleNotes are the facts that change what a yes means.
func (e *editing) titleNotes(changes []edits.Change) []string {
	var notes []string
	add := func(note string) {
		if !slices.Contains(notes, note) {
			notes = append(notes, note)
		}
	}
	for _, c := range changes {
		if !c.Inside {
			real := c.Real
			if c.Op == edits.Move && e.roots.Locate(c.Real).Inside {
				real = c.ToReal
			}
			add("outside the workspace: " + visible(real.String()))
		}
		if c.Unsaved {
			add("on top of unsaved text")
		}
		if c.EditorRead != "" {
			add("without the editor's text") // there may be unsaved text that nobody but the editor sees
		}
	}
	if e.decision.Sensitive {
		add(e.decision.Rule)
	}
	return notes
}

// visible makes what does not print visible: a title must not be able to hide anything.
func visible(s string) string {
	if strings.IndexFunc(s, func(r rune) bool { return !unicode.IsGraphic(r) }) < 0 {
		return s
	}
	return strings.Trim(strconv.QuoteToGraphic(s), `"`)
}

// places are the first changed lines, one for each file.
func (e *editing) places() []sdk.ToolCallLocation {
	list := make([]sdk.ToolCallLocation, 0, len(e.p.Changes))
	for _, c := range e.p.Changes {
		list = append(list, location(c.Target(), c.FirstChangedLine()))
	}
	return list
}

// diffs are the proposal's diff blocks, one for each file.
func (e *editing) diffs() []content {
	list := make([]content, 0, len(e.p.Changes))
	for _, c := range e.p.Changes {
		list = append(list, e.diff(c))
	}
	return list
}

func (e *editing) diff(c edits.Change) content {
	old, new := c.OldText, c.NewText
	partial := e.partial(c)
	if partial {
		old, new = hunkTexts(c, min(diffBytes, allBytes/2/len(e.p.Changes)))
	}
	item := content{Type: "diff", Path: wirePath(c.Target()), OldText: &old, NewText: &new}
	if partial {
		item.Meta = map[string]any{"acpAgent": map[string]any{"v": 1, "edit": map[string]any{"partial": true}}}
	}
	if c.Op == edits.Create {
		item.OldText = nil // "" would be an empty file that exists
	}
	return item
}

// partial says that a change is too large to be shown whole: by itself, or with all the others. One
// line on the wire holds them all.
func (e *editing) partial(c edits.Change) bool {
	if len(c.OldText) > diffBytes || len(c.NewText) > diffBytes {
		return true
	}
	all := 0
	for _, c := range e.p.Changes {
		all += len(c.OldText) + len(c.NewText)
	}
	return all > allBytes
}

// hunkTexts are the changed places of both sides, each side within the limit.
func hunkTexts(c edits.Change, limit int) (old, new string) {
	var a, b strings.Builder
	for i, h := range c.Hunks(3) {
		if i > 0 {
			a.WriteString("⋯\n")
			b.WriteString("⋯\n")
		}
		a.WriteString(h.Old)
		b.WriteString(h.New)
		if a.Len() > limit || b.Len() > limit {
			break
		}
	}
	return shorten(a.String(), limit), shorten(b.String(), limit)
}

// editMeta is _meta.acpAgent of an edit's tool call (contract §5).
type editMeta struct {
	V           int              `json:"v"`
	Edit        editFacts        `json:"edit"`
	Diagnostics *diagnosticsMeta `json:"diagnostics,omitempty"`
	Provenance  *provenanceMeta  `json:"provenance,omitempty"`
}

type editFacts struct {
	ID      edits.ID    `json:"id"`
	Kind    edits.Kind  `json:"kind"`
	State   edits.State `json:"state"`
	Partial bool        `json:"partial,omitempty"`
	Files   []fileFacts `json:"files"`
}

type fileFacts struct {
	Path     string             `json:"path"`
	Op       edits.Op           `json:"op"`
	To       string             `json:"to,omitempty"`
	Before   workspace.Hash     `json:"before"`
	After    workspace.Hash     `json:"after"`
	Encoding workspace.Encoding `json:"encoding"`
	EOL      workspace.EOL      `json:"eol"`
}

type diagnosticsMeta struct {
	State    lsp.State      `json:"state"`
	Reason   string         `json:"reason,omitempty"`
	Foreseen bool           `json:"foreseen,omitempty"`
	Late     bool           `json:"late,omitempty"`
	Servers  []serverResult `json:"servers"`
	Items    []itemMeta     `json:"items"`
	Mended   int            `json:"mended"`
}

// itemMeta is one finding; lines and characters of its range are 1-based and count code points.
type itemMeta struct {
	Path     string    `json:"path"`
	Range    rangeMeta `json:"range"`
	Severity int       `json:"severity"`
	Code     string    `json:"code,omitempty"`
	Source   string    `json:"source,omitempty"`
	Message  string    `json:"message"`
	New      bool      `json:"new"`
}

type rangeMeta struct {
	Start pointMeta `json:"start"`
	End   pointMeta `json:"end"`
}

type pointMeta struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// meta is the edit's _meta as it stands.
func (e *editing) meta() any {
	v := e.verdict
	if v.State == "" && e.foreseen.asked {
		v.Verdict = e.foreseen.verdict
		v.Foreseen = true
	}
	return e.metaWith(v)
}

func (e *editing) metaWith(v verdict) any {
	m := editMeta{V: 1, Edit: editFacts{ID: e.p.ID, Kind: e.p.Kind, State: e.p.State, Files: []fileFacts{}}, Provenance: e.record.meta}
	for _, c := range e.p.Changes {
		m.Edit.Partial = m.Edit.Partial || e.partial(c)
		f := fileFacts{Path: wirePath(c.Path), Op: c.Op, Before: c.Before, After: c.After, Encoding: c.Format.Encoding, EOL: c.Format.EOL}
		if c.To != "" {
			f.To = wirePath(c.To)
		}
		m.Edit.Files = append(m.Edit.Files, f)
	}
	if v.State != "" {
		m.Diagnostics = diagnosticsOf(v)
	}
	return map[string]any{"acpAgent": m}
}

func diagnosticsOf(v verdict) *diagnosticsMeta {
	d := &diagnosticsMeta{State: v.State, Reason: v.Reason, Foreseen: v.Foreseen, Late: v.late,
		Servers: lspOf(v.Verdict).Servers, Items: []itemMeta{}, Mended: v.Mended}
	items := append(v.Items[:len(v.Items):len(v.Items)], v.Other...)
	for _, f := range items[:min(len(items), itemsShown)] {
		d.Items = append(d.Items, itemMeta{
			Path: wirePath(f.Path), Severity: int(f.Severity), Code: f.Code, Source: f.Source, Message: f.Message, New: f.New,
			Range: rangeMeta{pointMeta{f.Line, f.Column}, pointMeta{f.EndLine, f.EndCol}},
		})
	}
	return d
}

// rawInput is the call's arguments for the editor: an object, with long strings cut, since a file's
// whole content is in the diff already. What is no object is not shown.
func rawInput(args json.RawMessage) json.RawMessage {
	if !isObject(args) || !json.Valid(args) {
		return nil
	}
	if len(args) <= inputBytes {
		return args
	}
	var fields map[string]any
	if json.Unmarshal(args, &fields) != nil {
		return nil
	}
	for name, v := range fields {
		switch v := v.(type) {
		case string:
			fields[name] = shorten(v, 1<<10)
		case []any, map[string]any:
			if raw, err := json.Marshal(v); err != nil || len(raw) > 4<<10 {
				fields[name] = "…"
			}
		}
	}
	short, err := json.Marshal(fields)
	if err != nil || len(short) > inputBytes {
		return nil
	}
	return short
}

// failureText is the message of a failed result, which the model gets as JSON.
func failureText(r tool.Result) string {
	if !r.IsError || !bytes.HasPrefix([]byte(r.Text), []byte(`{"error"`)) {
		return ""
	}
	var f struct{ Error, Nearest string }
	if json.Unmarshal([]byte(r.Text), &f) != nil {
		return ""
	}
	if f.Nearest != "" {
		return f.Error + "\n" + f.Nearest
	}
	return f.Error
}

// shorten cuts s to limit bytes at a character and says how much is missing.
func shorten(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	cut := string(trimRune([]byte(s[:limit])))
	return fmt.Sprintf("%s… (%d more bytes)", cut, len(s)-len(cut))
}
