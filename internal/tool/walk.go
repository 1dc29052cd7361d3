package tool

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"acp-agent/internal/workspace"
)

// walk goes through the files below a folder in a stable order, names sorted, without following
// symlinks, and leaves out what git ignores, sensitive files and git's own folder.
type walk struct {
	base      workspace.Path
	rules     *ignoreRules
	all       bool                      // ignored entries too
	sensitive func(workspace.Path) bool // nil: nothing is

	// What was left out, told to the model: a file that is not found is not a file that is not there.
	ignored int
	names   []string // the first of them, below base
	secret  int
	unread  int // folders that could not be read
}

// newWalk starts at base. A base that is sensitive itself was asked for by name, so nothing below it
// is left out for that.
func newWalk(env *Env, base workspace.Path, all bool) *walk {
	w := &walk{base: base, rules: ignoreRulesFor(env.Files.Roots, base), all: all, sensitive: env.Sensitive}
	if w.sensitive != nil && w.sensitive(base) {
		w.sensitive = nil
	}
	return w
}

// visit is called for each entry that is not left out, ignored ones only in a walk through all; for a
// folder it says whether to go inside.
type visit func(p workspace.Path, e fs.DirEntry, ignored bool) bool

// run calls do for each entry until ctx is cancelled.
func (w *walk) run(ctx context.Context, do visit) error {
	entries, err := os.ReadDir(w.base.String())
	if err != nil {
		return err
	}
	w.folder(ctx, w.base, entries, w.rules, do)
	return ctx.Err()
}

func (w *walk) folder(ctx context.Context, dir workspace.Path, entries []fs.DirEntry, rules *ignoreRules, do visit) {
	for _, e := range entries {
		if ctx.Err() != nil {
			return
		}
		p := dir.Join(e.Name())
		if e.Name() == ".git" {
			continue
		}
		ignored := rules.ignores(p, e.IsDir())
		if ignored && !w.all {
			w.leaveOut(p, e)
			continue
		}
		if w.sensitive != nil && w.sensitive(p) {
			w.secret++
			continue
		}
		if !do(p, e, ignored) || !e.IsDir() {
			continue
		}
		inside, err := os.ReadDir(p.String())
		if err != nil {
			w.unread++
			continue
		}
		w.folder(ctx, p, inside, rules.enter(p), do)
	}
}

func (w *walk) leaveOut(p workspace.Path, e fs.DirEntry) {
	w.ignored++
	if len(w.names) < 5 {
		name := p.Rel(w.base)
		if e.IsDir() {
			name += "/"
		}
		w.names = append(w.names, name)
	}
}

// notices say what was left out and how to get it.
func (w *walk) notices() []string {
	var out []string
	if w.ignored > 0 {
		more := ""
		if w.ignored > len(w.names) {
			more = ", …"
		}
		out = append(out, fmt.Sprintf("%s ignored by git and left out (%s%s). To include them, set include_ignored to true or give one of them as path.",
			plural(w.ignored, "entry is", "entries are"), strings.Join(w.names, ", "), more))
	}
	if w.secret > 0 {
		out = append(out, fmt.Sprintf("%s left out. To read one, name it with read_file, which asks the user.",
			plural(w.secret, "sensitive entry is", "sensitive entries are")))
	}
	if w.unread > 0 {
		out = append(out, plural(w.unread, "folder", "folders")+" could not be read.")
	}
	return out
}

func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// withNotices puts what the model must know beside a result under it, each in brackets.
func withNotices(text string, notices ...string) string {
	if len(notices) == 0 {
		return text
	}
	var b strings.Builder
	b.WriteString(text)
	for _, n := range notices {
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
		b.WriteString("[" + n + "]\n")
	}
	return strings.TrimSuffix(b.String(), "\n")
}
