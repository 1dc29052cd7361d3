package acp

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/edits"
	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
	"acp-agent/provenance"
)

// watchlist is the files that the session's model has read or written, as they were then. After a
// command they are compared with the disk: the model must not go on with what it remembers of them.
type watchlist struct {
	mu    sync.Mutex
	files map[workspace.Path]known // guarded by mu
}

// known is a file as it was last seen.
type known struct {
	size int64
	time time.Time
	hash workspace.Hash
}

// watched bounds the list: a search may touch every file of a large workspace.
const watched = 2000

// add notes a file as it is on disk now.
func (w *watchlist) add(p workspace.Path) {
	st, err := os.Stat(p.String())
	if err != nil || !st.Mode().IsRegular() {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.files == nil {
		w.files = map[workspace.Path]known{}
	}
	if old, ok := w.files[p]; ok && old.size == st.Size() && old.time.Equal(st.ModTime()) {
		return
	}
	if len(w.files) < watched {
		w.files[p] = known{size: st.Size(), time: st.ModTime()}
	}
}

// landed notes a file that was just written.
func (w *watchlist) landed(l edits.Landed) {
	w.mu.Lock()
	delete(w.files, l.Change.Path)
	w.mu.Unlock()
	w.add(l.Change.Target())
	w.mu.Lock()
	defer w.mu.Unlock()
	if k, ok := w.files[l.Change.Target()]; ok {
		k.hash = l.Found
		w.files[l.Change.Target()] = k
	}
}

// paths are the files of the list, in order.
func (w *watchlist) paths() []workspace.Path {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.files))
}

// externalChange is a file that something else changed. Hashes that nobody knew are empty.
type externalChange struct {
	path          workspace.Path
	gone          bool
	before, after workspace.Hash
}

// changed compares the list with the disk, takes the new state over, and gives what differs.
func (w *watchlist) changed() []externalChange {
	w.mu.Lock()
	defer w.mu.Unlock()
	var list []externalChange
	for p, k := range w.files {
		st, err := os.Stat(p.String())
		switch {
		case os.IsNotExist(err):
			delete(w.files, p)
			list = append(list, externalChange{path: p, gone: true, before: k.hash})
		case err != nil || (st.Size() == k.size && st.ModTime().Equal(k.time)):
		default:
			now := known{size: st.Size(), time: st.ModTime(), hash: hashFile(p, st.Size())}
			w.files[p] = now
			if now.hash == "" || now.hash != k.hash {
				list = append(list, externalChange{path: p, before: k.hash, after: now.hash})
			}
		}
	}
	slices.SortFunc(list, func(a, b externalChange) int { return strings.Compare(string(a.path), string(b.path)) })
	return list
}

// hashFile hashes a file of moderate size; "" when it cannot.
func hashFile(p workspace.Path, size int64) workspace.Hash {
	const most = 16 << 20
	if size > most {
		return ""
	}
	data, err := workspace.ReadRegular(p, most)
	if err != nil {
		return ""
	}
	return workspace.HashBytes(data)
}

// noticeChanges looks for known files that a command changed: the language servers, the record and the
// model are told.
func (c *call) noticeChanges(_ context.Context, r tool.Result) tool.Result {
	changes := c.seen.changed()
	if len(changes) == 0 {
		return r
	}
	var paths []workspace.Path
	var names []string
	for _, x := range changes {
		paths = append(paths, x.path)
		name := x.path.Rel(c.roots.Cwd())
		if x.gone {
			name += " (gone)"
		}
		names = append(names, name)
	}
	if c.lang != nil {
		c.lang.External(paths)
	}
	c.recordExternal(changes)
	const most = 20
	if len(names) > most {
		names = append(names[:most], fmt.Sprintf("%d more", len(names)-most))
	}
	r.Text += "\n\nFiles that you know and that changed meanwhile: " + strings.Join(names, ", ") + ". Read them again before you edit them."
	return r
}

// recordExternal records changes that no edit of ours made. The cwd's log has them all.
func (c *call) recordExternal(changes []externalChange) {
	r := c.record(provenance.External)
	r.Note = "found after a command"
	for _, x := range changes {
		op := edits.Update
		if x.gone {
			op = edits.Delete
		}
		r.Files = append(r.Files, provenance.File{Op: string(op), Path: x.path, Before: x.before, After: x.after})
	}
	log, err := c.srv.recordOf(c.real(c.roots.Cwd()))
	if err == nil {
		_, err = log.Append(r)
	}
	if err != nil {
		c.srv.log.Error("provenance record not written", "kind", r.Kind, "err", err)
	}
}
