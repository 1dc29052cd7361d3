package lsp

import (
	"errors"
	"io/fs"
	"os"

	"acp-agent/internal/workspace"
)

// External tells the servers that files changed on disk by something else (commands, the user).
func (s *Session) External(paths []workspace.Path) {
	for _, in := range s.m.instances() {
		in.external(paths)
	}
}

// external notes file events and has the running server told of them. Open documents are read anew.
func (in *instance) external(paths []workspace.Path) {
	in.mu.Lock()
	c := in.client
	any := false
	for _, p := range paths {
		if !in.top.Contains(p) || c == nil {
			continue
		}
		d := in.find(p)
		_, err := os.Stat(string(p))
		kind := 2
		switch {
		case errors.Is(err, fs.ErrNotExist):
			kind = 3
		case d == nil || d.absent:
			kind = 1
			if d != nil {
				d.absent = false
			}
		}
		in.events = append(in.events, fileEvent{p, kind})
		in.world++
		any = true
	}
	in.mu.Unlock()
	if any {
		in.m.spawn(func() { in.tellNow(c) })
	}
}

// tellNow sends what is to be told, as soon as no proposal stands in the way.
func (in *instance) tellNow(c *client) {
	hold, ok := in.lease.shared(in.m.ctx)
	if !ok {
		return
	}
	defer hold.release()
	in.syncDisk()
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.client == c {
		in.flush(c)
	}
}

// tellOthers tells the servers that do not check an edit's files that these have changed, since what
// they do check may depend on them (a go.mod, a tsconfig.json).
func (m *Manager) tellOthers(changes []Change, told map[*instance]bool) {
	for _, in := range m.instances() {
		if told[in] {
			continue
		}
		in.mu.Lock()
		c, before := in.client, len(in.events)
		if c != nil {
			for _, ch := range changes {
				in.tell(ch)
			}
		}
		any := len(in.events) > before
		if any {
			in.world++
		}
		in.mu.Unlock()
		if any {
			m.spawn(func() { in.tellNow(c) })
		}
	}
}
