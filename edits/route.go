package edits

import (
	"fmt"

	"acp-agent/internal/workspace"
)

// maxEditorBytes is the largest text that goes through the editor (contract §5).
const maxEditorBytes = 4 << 20

// route chooses where a change is written, before the user is asked. Editors take text and only
// text, so what else must be kept of a file goes to disk.
func (pl *plan) route(c *Change) {
	c.Route = ViaDisk
	if pl.files.Editor == nil || !pl.files.Editor.CanWrite() {
		return
	}
	switch {
	case c.Op == Delete:
		c.RouteWhy = "the editor cannot delete"
	case c.Op == Move:
		c.RouteWhy = "the editor cannot move"
	case !c.Inside:
		c.RouteWhy = "outside the workspace"
	case c.Format.Encoding == workspace.UTF8BOM:
		c.RouteWhy = "keeps its byte order mark"
	case c.Format.Encoding != workspace.UTF8:
		c.RouteWhy = fmt.Sprintf("keeps its encoding %s", c.Format.Encoding)
	case len(c.NewBytes) > maxEditorBytes:
		c.RouteWhy = "larger than 4 MiB"
	case c.Op == Update && c.Mode.Perm()&0o222 == 0:
		c.RouteWhy = "read-only"
	default:
		c.Route = ViaEditor
	}
}
