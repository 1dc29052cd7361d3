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
		in.wrote(p, nil)
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
func (m *Manager) tellOthers(changes []Change, told map[*instance]bool, by *Session) {
	for _, in := range m.instances() {
		if told[in] {
			continue
		}
		in.mu.Lock()
		c, before := in.client, len(in.events)
		if c != nil {
			for _, ch := range changes {
				in.tell(ch, by)
			}
		}
		any := len(in.events) > before
		in.mu.Unlock()
		if any {
			m.spawn(func() { in.tellNow(c) })
		}
	}
}

// tell notes one change of the disk, made by a session. in.mu is held.
func (in *instance) tell(ch Change, by *Session) {
	event := func(p workspace.Path, kind int) {
		if in.top.Contains(p) {
			in.events = append(in.events, fileEvent{p, kind})
		}
	}
	owned := func(p workspace.Path) bool { return in.row.best(p.Base()) > 0 }
	set := func(p workspace.Path, text string) {
		if !owned(p) {
			in.world++ // what it means to the server, only the server knows
			return
		}
		d := in.doc(p)
		d.was, d.stamp, d.accepted = ch.OldText, stamp{}, ""
		in.setTruth(d, text)
		in.saved = append(in.saved, d)
	}
	switch ch.Op {
	case Create:
		event(ch.Path, 1)
		set(ch.Path, ch.NewText)
	case Update:
		event(ch.Path, 2)
		set(ch.Path, ch.NewText)
	case Delete, Move:
		event(ch.Path, 3)
		if d := in.find(ch.Path); d != nil {
			in.setAbsent(d)
		}
		if ch.Op == Move {
			event(ch.To, 1)
			set(ch.To, ch.NewText)
			in.wrote(ch.To, by)
		}
	}
	in.wrote(ch.Path, by)
}
