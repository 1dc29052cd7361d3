package lsp

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/wire"
	"acp-agent/internal/workspace"
)

// handle takes what the server sends, on the read loop. Every request gets its answer here and now: a
// server that waits for one does nothing else (case G-L06).
func (c *client) handle(r *wire.Request) {
	if r.IsNotification() {
		c.notified(r.Method, r.Params)
		return
	}
	switch r.Method {
	case "workspace/configuration":
		r.Reply(c.configuration(r.Params))
	case "client/registerCapability":
		c.register(r.Params)
		r.Reply(nil)
	case "client/unregisterCapability":
		c.unregister(r.Params)
		r.Reply(nil)
	case "workspace/workspaceFolders":
		r.Reply(c.folders())
	case "workspace/diagnostic/refresh":
		r.Reply(nil)
		c.events.refreshed(c)
	case "window/workDoneProgress/create", "window/showMessageRequest",
		"workspace/semanticTokens/refresh", "workspace/inlayHint/refresh", "workspace/codeLens/refresh",
		"workspace/inlineValue/refresh", "workspace/foldingRange/refresh":
		r.Reply(nil)
	case "window/showDocument":
		r.Reply(map[string]any{"success": false})
	case "workspace/applyEdit":
		// Only an approved proposal changes a file.
		r.Reply(map[string]any{"applied": false, "failureReason": "edits are proposed to the user, not applied"})
	default:
		r.ReplyError(&wire.Error{Code: wire.CodeMethodNotFound, Message: "method not found: " + r.Method})
	}
}

func (c *client) notified(method string, params json.RawMessage) {
	switch method {
	case "textDocument/publishDiagnostics":
		var p published
		if err := decode(params, &p); err != nil {
			c.log.Warn("diagnostics that cannot be read", "err", err)
			return
		}
		c.events.published(c, p)
	case "$/progress":
		c.progressed(params)
	case "window/logMessage", "window/showMessage":
		if !c.log.Enabled(forever{}, slog.LevelDebug) {
			return // some servers write six of them for each question
		}
		var m struct {
			Type    int    `json:"type"`
			Message string `json:"message"`
		}
		if decode(params, &m) == nil {
			c.log.Debug(oneLine(m.Message, 2000), "type", m.Type)
		}
	}
}

// configuration answers one element for each item; a section that we know nothing of is null.
func (c *client) configuration(params json.RawMessage) []any {
	var p struct {
		Items []struct {
			Section *string `json:"section"`
		} `json:"items"`
	}
	if decode(params, &p) != nil {
		return []any{}
	}
	out := make([]any, len(p.Items))
	for i, item := range p.Items {
		if item.Section == nil || *item.Section == "" {
			out[i] = c.answers
			continue
		}
		out[i] = lookupSection(c.answers, *item.Section)
	}
	return out
}

// lookupSection looks a dotted section up; nil when it is not there.
func lookupSection(settings map[string]any, path string) any {
	var at any = settings
	for _, name := range strings.Split(path, ".") {
		m, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = m[name]
	}
	return at
}

// watcher is one registered file watcher.
type watcher struct {
	base string // "" for patterns against the whole path
	glob string
	kind int // bits: create 1, change 2, delete 4
}

func (c *client) register(params json.RawMessage) {
	var p struct {
		Registrations []struct {
			ID      string          `json:"id"`
			Method  string          `json:"method"`
			Options json.RawMessage `json:"registerOptions"`
		} `json:"registrations"`
	}
	if err := decode(params, &p); err != nil {
		c.log.Warn("registration that cannot be read", "err", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range p.Registrations {
		switch r.Method {
		case "textDocument/diagnostic":
			var o rawPull
			if len(r.Options) > 0 && decode(r.Options, &o) != nil {
				continue
			}
			c.pulls[r.ID] = *o.source()
		case "workspace/didChangeWatchedFiles":
			c.watchers[r.ID] = readWatchers(r.Options)
		}
	}
	c.bump()
}

func (c *client) unregister(params json.RawMessage) {
	type entry struct {
		ID string `json:"id"`
	}
	var p struct {
		Misspelt []entry `json:"unregisterations"` // as the protocol has it
		Spelt    []entry `json:"unregistrations"`
	}
	if decode(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range append(p.Misspelt, p.Spelt...) {
		delete(c.pulls, r.ID)
		delete(c.watchers, r.ID)
	}
	c.bump()
}

func readWatchers(options json.RawMessage) []watcher {
	var o struct {
		Watchers []struct {
			Glob json.RawMessage `json:"globPattern"`
			Kind *int            `json:"kind"`
		} `json:"watchers"`
	}
	if decode(options, &o) != nil {
		return nil
	}
	var out []watcher
	for _, w := range o.Watchers {
		one := watcher{kind: 7}
		if w.Kind != nil {
			one.kind = *w.Kind
		}
		if decode(w.Glob, &one.glob) != nil {
			var rel struct {
				Base    json.RawMessage `json:"baseUri"`
				Pattern string          `json:"pattern"`
			}
			if decode(w.Glob, &rel) != nil {
				continue
			}
			var folder struct {
				URI string `json:"uri"`
			}
			uri := ""
			if decode(rel.Base, &uri) != nil && decode(rel.Base, &folder) == nil {
				uri = folder.URI
			}
			base, err := fromURI(uri)
			if err != nil {
				continue
			}
			one.base, one.glob = string(base), rel.Pattern
		}
		out = append(out, one)
	}
	return out
}

// matches says whether an event (1 created, 2 changed, 3 deleted) of a path is wanted.
func (w watcher) matches(p workspace.Path, event int) bool {
	if w.kind&(1<<(event-1)) == 0 {
		return false
	}
	name := filepath.ToSlash(string(p))
	if w.base != "" {
		if !workspace.Path(w.base).Contains(p) {
			return false
		}
		name = p.Rel(workspace.Path(w.base))
	}
	ok, err := doublestar.Match(w.glob, name)
	return ok && err == nil
}

// watches says whether the server wants to know of a file event. One that registered nothing is told
// of the files that it owns and of its project's markers.
func (c *client) watches(p workspace.Path, event int) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	registered := false
	for _, list := range c.watchers {
		for _, w := range list {
			registered = true
			if w.matches(p, event) {
				return true
			}
		}
	}
	return !registered && c.row.owns(p)
}

// registered says whether the server asked for file events.
func (c *client) registered() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.watchers {
		if len(list) > 0 {
			return true
		}
	}
	return false
}

// owns says whether the row has to do with a file: as one of its documents or as a project's marker.
func (row *spec) owns(p workspace.Path) bool {
	if row.best(p.Base()) > 0 {
		return true
	}
	for _, marker := range row.roots {
		if filepath.Base(filepath.FromSlash(marker)) == p.Base() {
			return true
		}
	}
	return false
}

// progressed follows work that the server reports, by its begin and end.
func (c *client) progressed(params json.RawMessage) {
	var p struct {
		Token json.RawMessage `json:"token"`
		Value struct {
			Kind  string `json:"kind"`
			Title string `json:"title"`
		} `json:"value"`
	}
	if decode(params, &p) != nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch p.Value.Kind {
	case "begin":
		if len(c.work) < 1000 {
			c.work[string(p.Token)] = p.Value.Title
		}
	case "end":
		delete(c.work, string(p.Token))
		c.bump()
	}
}
