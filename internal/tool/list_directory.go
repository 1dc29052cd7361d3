package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// maxEntries bounds what list_directory and find_files name.
const maxEntries = 1000

func listDirectory() *builtin {
	return &builtin{name: "list_directory", group: groupFS, prepare: prepareList, params: []param{
		may("path", "string", "Folder to list; by default the working directory."),
		may("depth", "integer", "How many levels to list; 1, the default, is the folder itself."),
	}}
}

func prepareList(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("list_directory", raw)
	dir, depth := a.folder(env, "path"), max(a.number("depth", 1, 0), 1)
	if err := a.problem(); err != nil {
		return nil, err
	}
	title := "List " + shown(env, dir)
	if depth > 1 {
		title += fmt.Sprintf(", %d levels", depth)
	}
	return &Action{Title: title, Kind: KindRead, Parallel: true, Reads: []workspace.Path{dir}, Locations: []Location{{Path: dir}},
		Run: func(ctx context.Context, _ Progress) Result { return list(ctx, env, dir, depth) }}, nil
}

// list names everything in a folder, what git ignores too, but goes into such folders only when they
// are asked for.
func list(ctx context.Context, env *Env, dir workspace.Path, depth int) Result {
	var b strings.Builder
	n, more, size := 0, false, env.Limits.withDefaults().OutputBytes
	w := newWalk(env, dir, true)
	w.sensitive = nil // names only
	err := w.run(ctx, func(p workspace.Path, e fs.DirEntry, ignored bool) bool {
		if more = more || n == maxEntries || b.Len() >= size; more {
			return false
		}
		n++
		inside := e.IsDir() && strings.Count(p.Rel(dir), "/")+1 < depth
		note := ""
		if inside && ignored {
			inside, note = false, " (ignored by git, not listed)"
		}
		b.WriteString(entryName(p, dir, e) + note + "\n")
		return inside
	})
	if err != nil {
		return folderFailed(dir, err)
	}
	var notices []string
	if n == 0 {
		notices = append(notices, "The folder is empty.")
	}
	if more {
		notices = append(notices, fmt.Sprintf("Only the first %d entries are shown. List a folder below, or use find_files.", n))
	}
	return Result{Text: withNotices(b.String(), append(notices, w.notices()...)...)}
}

// entryName is an entry as a list shows it: folders with a slash, symlinks with their target.
func entryName(p, base workspace.Path, e fs.DirEntry) string {
	name := p.Rel(base)
	switch {
	case e.IsDir():
		return name + "/"
	case e.Type()&fs.ModeSymlink != 0:
		if target, err := os.Readlink(p.String()); err == nil {
			return name + " -> " + target
		}
	}
	return name
}

// folderFailed says why a folder cannot be gone through.
func folderFailed(dir workspace.Path, err error) Result {
	f := failure{Code: edits.CodeIO, Path: dir.String(), Error: fmt.Sprintf("%s cannot be listed: %v.", dir, err)}
	switch info, statErr := os.Stat(dir.String()); {
	case os.IsNotExist(statErr):
		f.Code, f.Error = edits.CodeNotFound, fmt.Sprintf("%s does not exist.%s", dir, similar(dir))
	case statErr == nil && !info.IsDir():
		f.Code, f.Error = edits.CodeUnsupportedFile, fmt.Sprintf("%s is a file, not a folder.", dir)
	}
	return f.result()
}
