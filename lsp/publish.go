package lsp

import (
	"slices"

	"acp-agent/internal/workspace"
)

// published takes findings that the server sent by itself. It runs on the read loop.
func (in *instance) published(c *client, p published) {
	path, err := fromURI(p.URI)
	if err != nil {
		in.log.Debug("findings for what is no file", "uri", oneLine(p.URI, 200))
		return
	}
	items, bad := diagnostics(p.Diagnostics, in.row.quirks.skipCodes)
	if bad > 0 {
		in.log.Warn("findings that cannot be read", "file", string(path), "count", bad)
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pushes = true
	if p.Version != nil {
		in.versioned = true
	}
	d := in.find(path)
	if d == nil || d.client != c {
		if in.overlaid == nil {
			in.keepSet(path, items)
		}
		return
	}
	switch {
	case in.overlaid != nil && !in.overlaid[d]:
		// Somebody's proposal may be what this speaks of. When it is taken back the server says
		// again what holds.
	case p.Version == nil && in.versioned, p.Version != nil && *p.Version != d.version:
		in.stale++ // without its version from a server that gives them: of the file, before it was opened
	default:
		in.credit(d, p.Version != nil, items)
	}
}

// keepSet stores a file's published findings and tells the observers what it had before. in.mu is held.
func (in *instance) keepSet(file workspace.Path, items []diag) {
	path := pathKey(file)
	before := in.sets[path]
	if slices.Equal(before, items) {
		return
	}
	for o := range in.observers {
		if _, ok := o.before[file]; !ok {
			o.before[file] = before
		}
		select {
		case o.kick <- struct{}{}:
		default:
		}
	}
	if len(items) == 0 {
		delete(in.sets, path)
		return
	}
	if len(in.sets) >= maxSets {
		for k := range in.sets {
			delete(in.sets, k)
			break
		}
	}
	in.sets[path] = items
}

// observe begins to collect what other files had before.
func (in *instance) observe() *observer {
	in.mu.Lock()
	defer in.mu.Unlock()
	o := &observer{before: map[workspace.Path][]diag{}, kick: make(chan struct{}, 1)}
	in.observers[o] = struct{}{}
	return o
}

func (in *instance) unobserve(o *observer) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.observers, o)
}

// refreshed notes that the server's findings may have changed although no file did. It runs on the
// read loop.
func (in *instance) refreshed(c *client) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.refreshes++
	if in.client != c {
		return
	}
	in.world++
	close(in.fresh)
	in.fresh = make(chan struct{})
}
