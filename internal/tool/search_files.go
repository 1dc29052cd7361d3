package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/edits"
	"acp-agent/internal/workspace"
)

// Bounds of one search.
const (
	defaultMatches = 100
	maxMatches     = 2000
	maxContext     = 20
	maxSearchers   = 8 // files searched side by side
)

func searchFiles() *builtin {
	return &builtin{name: "search_files", group: groupFS, prepare: prepareSearch, params: []param{
		need("pattern", "string", "Regular expression (RE2), matched against each line. (?i) at its start ignores case."),
		may("path", "string", "Folder or file to search; by default the working directory."),
		may("glob", "string", "Only files that match: `*.go` by name, `src/**/*.ts` by path, `!*_test.go` for all others."),
		may("context", "integer", "Lines to show before and after each match."),
		may("limit", "integer", "How many matches to show; by default 100."),
		may("include_ignored", "boolean", "Also search what git ignores."),
	}}
}

// search is one call of search_files.
type search struct {
	env            *Env
	base           workspace.Path
	find           matcher
	glob           string
	context, limit int
	all            bool
}

func prepareSearch(_ context.Context, env *Env, raw json.RawMessage) (*Action, error) {
	a := parse("search_files", raw)
	pattern := a.text("pattern")
	s := &search{env: env, base: a.folder(env, "path"), glob: filepath.ToSlash(a.optional("glob")), all: a.flag("include_ignored"),
		context: min(a.number("context", 0, 0), maxContext), limit: min(a.number("limit", 0, 0), maxMatches)}
	if s.limit == 0 {
		s.limit = defaultMatches
	}
	re, err := regexp.Compile(pattern)
	switch {
	case err != nil:
		a.complain("argument \"pattern\" is no valid regular expression: %v. RE2 knows no lookaround and no backreferences; "+
			"write a backslash before . ( ) [ ] { } * + ? ^ $ | to mean the character itself", err)
	case pattern == "" && a.has("pattern"):
		a.complain("argument \"pattern\" is empty")
	}
	if s.glob != "" && !doublestar.ValidatePattern(s.glob) {
		a.complain("argument \"glob\" is no valid glob: %q", s.glob)
	}
	if err := a.problem(); err != nil {
		return nil, err
	}
	s.find = newMatcher(re)
	title := fmt.Sprintf("Search %s in %s", code(pattern), shown(env, s.base))
	if s.glob != "" {
		title += " (" + plain(s.glob) + ")"
	}
	return &Action{Title: title, Kind: KindSearch, Parallel: true, Reads: []workspace.Path{s.base}, Locations: []Location{{Path: s.base}},
		Run: func(ctx context.Context, _ Progress) Result { return s.run(ctx) }}, nil
}

// searched is one file on its way: from the walk to a searcher, and in the walk's order to the report.
type searched struct {
	path workspace.Path
	done chan struct{} // closed when found and err are set
	found
	err error
}

func (s *search) run(ctx context.Context) Result {
	info, err := os.Stat(s.base.String())
	if err != nil {
		return folderFailed(s.base, err)
	}
	report := &report{search: s}
	var notices []string
	if info.IsDir() {
		w := newWalk(s.env, s.base, s.all)
		s.tree(ctx, w, report)
		notices = w.notices()
	} else if !info.Mode().IsRegular() {
		return failure{Code: edits.CodeUnsupportedFile, Path: s.base.String(), Error: fmt.Sprintf("%s is not a regular file.", s.base)}.result()
	} else {
		one := &searched{path: s.base}
		one.found, one.err = s.file(ctx, s.base)
		report.add(one)
		if one.binary {
			notices = append(notices, "The file is binary and was not searched.")
		}
	}
	if ctx.Err() != nil {
		return Failed(edits.CodeCancelled, "Cancelled by the user; the search was not completed.")
	}
	return Result{Text: withNotices(report.text.String(), append(report.notices(), notices...)...)}
}

// tree searches all files of a walk, several at once, and reports them in the walk's order, which
// makes the answer the same every time. It returns when walk and searchers have ended.
func (s *search) tree(ctx context.Context, w *walk, report *report) {
	ctx, cancel := context.WithCancel(ctx)
	var wg sync.WaitGroup
	defer wg.Wait()
	defer cancel()
	searchers := min(runtime.GOMAXPROCS(0), maxSearchers)
	work, order := make(chan *searched), make(chan *searched, 4*searchers)
	for range searchers {
		wg.Go(func() {
			for f := range work {
				f.found, f.err = s.file(ctx, f.path)
				close(f.done)
			}
		})
	}
	wg.Go(func() {
		defer close(order)
		defer close(work)
		_ = w.run(ctx, func(p workspace.Path, e fs.DirEntry, _ bool) bool {
			if !e.Type().IsRegular() || !s.wanted(p) {
				return e.IsDir()
			}
			f := &searched{path: p, done: make(chan struct{})}
			for _, to := range []chan *searched{order, work} {
				select {
				case to <- f:
				case <-ctx.Done():
					return false
				}
			}
			return false
		})
	})
	for f := range order {
		select {
		case <-f.done:
		case <-ctx.Done():
			return
		}
		if report.add(f); report.full {
			return
		}
	}
}

// wanted says whether the glob takes a file in.
func (s *search) wanted(p workspace.Path) bool {
	glob, except := strings.CutPrefix(s.glob, "!")
	if glob == "" {
		return true
	}
	name := p.Rel(s.base)
	if !strings.Contains(glob, "/") {
		name = path.Base(name)
	}
	ok, err := doublestar.Match(strings.TrimPrefix(glob, "./"), name)
	return err == nil && ok != except
}

// report is the text of a search as it grows.
type report struct {
	search  *search
	text    strings.Builder
	matches int
	files   int
	failed  int
	full    bool // a limit was reached
	tooLong bool // it was the limit of the output
}

// add reports the matches of one file.
func (r *report) add(f *searched) {
	if f.err != nil {
		r.failed++
		return
	}
	if len(f.lines) == 0 {
		return
	}
	r.files++
	name, budget, last := f.path.Rel(r.search.env.Files.Roots.Cwd()), r.search.env.Limits.withDefaults().OutputBytes, 0
	for _, l := range f.lines {
		if l.match && r.matches == r.search.limit {
			r.full = true
			return
		}
		mark := "-"
		if l.match {
			mark = ":"
		}
		line := fmt.Sprintf("%s%s%d%s%s\n", name, mark, l.number, mark, l.text)
		if r.text.Len()+len(line) > budget {
			r.full, r.tooLong = true, true
			return
		}
		if r.search.context > 0 && l.number != last+1 && r.text.Len() > 0 {
			r.text.WriteString("--\n")
		}
		r.text.WriteString(line)
		last = l.number
		if l.match {
			r.matches++
		}
	}
}

func (r *report) notices() []string {
	var out []string
	switch {
	case r.tooLong:
		out = append(out, fmt.Sprintf("Only the first %s shown, the output would be too long. Use a narrower pattern, path or glob.", plural(r.matches, "match is", "matches are")))
	case r.full:
		out = append(out, fmt.Sprintf("Only the first %d matches are shown; there are more. Use a narrower pattern, path or glob, or a higher limit.", r.matches))
	case r.matches == 0:
		out = append(out, "No match.")
	default:
		out = append(out, fmt.Sprintf("%s in %s.", plural(r.matches, "match", "matches"), plural(r.files, "file", "files")))
	}
	if r.failed > 0 {
		out = append(out, plural(r.failed, "file", "files")+" could not be read.")
	}
	return out
}
