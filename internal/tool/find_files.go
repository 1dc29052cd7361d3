package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/workspace"
)

func findFiles() *builtin {
	return &builtin{name: "find_files", group: groupFS, prepare: prepareFind, params: []param{
		need("pattern", "string", "Glob: `*.go` for a name anywhere below, `src/**/*.ts` for a path; `**` stands for any folders."),
		may("path", "string", "Folder to look in; by default the working directory."),
		may("include_ignored", "boolean", "Also look at what git ignores."),
	}}
}

func prepareFind(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("find_files", raw)
	pattern, dir, all := filepath.ToSlash(a.text("pattern")), a.folder(env, "path"), a.flag("include_ignored")
	if pattern != "" && !doublestar.ValidatePattern(pattern) {
		a.complain("argument \"pattern\" is no valid glob: %q", pattern)
	} else if a.has("pattern") && pattern == "" {
		a.complain("argument \"pattern\" is empty; use \"**\" for all files")
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	base, glob := globBase(dir, pattern)
	title := fmt.Sprintf("Find %s in %s", code(pattern), shown(env, dir))
	return &Action{Title: title, Kind: KindSearch, Parallel: true, Reads: []workspace.Path{base}, Locations: []Location{{Path: base}},
		Run: func(ctx context.Context, _ Progress) Result { return find(ctx, env, base, glob, all) }}, nil
}

// globBase splits a pattern into the folder that it names and what must match below it. A pattern
// without a folder matches at any depth.
func globBase(dir workspace.Path, pattern string) (workspace.Path, string) {
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		return dir, "**/" + pattern
	}
	fixed, glob := doublestar.SplitPattern(pattern)
	if p, err := workspace.ParsePath(filepath.FromSlash(fixed)); err == nil {
		return p, glob
	}
	return dir.Join(filepath.FromSlash(fixed)), glob
}

// find names the files whose path below base matches, folders only for a pattern that ends in a slash.
func find(ctx context.Context, env *Env, base workspace.Path, glob string, all bool) Result {
	glob, folders := strings.CutSuffix(glob, "/")
	var b strings.Builder
	n, more, size := 0, false, env.Limits.withDefaults().OutputBytes
	w := newWalk(env, base, all)
	w.sensitive = nil // names only
	err := w.run(ctx, func(p workspace.Path, e fs.DirEntry, _ bool) bool {
		if more {
			return false
		}
		if ok, err := doublestar.Match(glob, p.Rel(base)); ok && err == nil && e.IsDir() == folders {
			if more = n == maxEntries || b.Len() >= size; more {
				return false
			}
			n++
			b.WriteString(entryName(p, env.Files.Roots.Cwd(), e) + "\n")
		}
		return true
	})
	if err != nil {
		return folderFailed(base, err)
	}
	var notices []string
	if n == 0 {
		notices = append(notices, "No file matches.")
	}
	if more {
		notices = append(notices, fmt.Sprintf("Only the first %d are shown. Use a narrower pattern or path.", n))
	}
	return Result{Text: withNotices(b.String(), append(notices, w.notices()...)...)}
}
