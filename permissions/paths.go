package permissions

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// finding is what is special about the files that a command names.
type finding struct {
	sensitive string // the built-in rule's name
	outside   string // the first path outside the roots
	denied    string // a path that the user refused in this turn
	unclear   string // why they cannot be told
}

func (f *finding) merge(g finding) {
	for _, p := range []struct{ to, from *string }{{&f.sensitive, &g.sensitive}, {&f.outside, &g.outside}, {&f.denied, &g.denied}, {&f.unclear, &g.unclear}} {
		if *p.to == "" {
			*p.to = *p.from
		}
	}
}

// lexical joins a path to a folder by name, as cd does.
func lexical(cwd workspace.Path, name string) workspace.Path {
	if filepath.IsAbs(name) {
		return workspace.Path(filepath.Clean(name))
	}
	return cwd.Join(name)
}

// physical joins a path to a folder the way the system does: each .. goes up from where the path
// before it really leads, so link/../x is not beside link.
func physical(roots *workspace.Roots, cwd workspace.Path, name string) workspace.Path {
	at := cwd
	if filepath.IsAbs(name) {
		at = workspace.Path(filepath.VolumeName(name) + string(filepath.Separator))
		name = name[len(filepath.VolumeName(name)):]
	}
	for _, c := range strings.FieldsFunc(name, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		switch c {
		case ".":
		case "..":
			at = roots.Locate(at).Real.Dir()
		default:
			at = at.Join(c)
		}
	}
	return at
}

func (w *walker) physical(cwd workspace.Path, name string) workspace.Path {
	return physical(w.roots, cwd, name)
}

// devices are files outside the roots that harm nobody.
var devices = set("/dev/null", "/dev/stdin", "/dev/stdout", "/dev/stderr", "/dev/zero", "/dev/full")

// check looks at one word as the path of a file, from each folder where the command may run.
func (e *evaluation) check(cwds []workspace.Path, w word, writing bool) finding {
	var f finding
	if !w.static {
		f.unclear = "what " + w.raw + " stands for is only known when it runs"
		return f
	}
	if devices.has(w.text) || w.text == "-" || w.text == "" {
		return f
	}
	for _, cwd := range cwds {
		f.merge(e.checkPath(physical(e.s.roots, cwd, w.text), writing))
		if !w.glob {
			continue
		}
		found, err := expand(cwd, w.text)
		if err != nil {
			f.merge(finding{unclear: w.raw + ": " + err.Error()})
		}
		for _, p := range found {
			f.merge(e.checkPath(p, writing))
		}
	}
	return f
}

// checkPath looks at one file.
func (e *evaluation) checkPath(p workspace.Path, writing bool) finding {
	loc := e.s.roots.Locate(p)
	f := finding{sensitive: e.s.sensitive(p, loc.Real, writing)}
	if !loc.Inside {
		f.outside = string(p)
		if loc.Real != p {
			f.outside += " (really " + string(loc.Real) + ")"
		}
	}
	if writing && (e.state.denied.covers(p) || e.state.denied.covers(loc.Real)) {
		f.denied = string(p)
	}
	return f
}

// checkExisting is check for a word that is probably no path, such as grep's pattern: it counts as
// one only when there is such a file.
func (e *evaluation) checkExisting(cwds []workspace.Path, w word) finding {
	if !w.static || w.text == "" || strings.ContainsRune(w.text, 0) {
		return finding{}
	}
	if w.glob { // the first file is the pattern, and the rest of them are files
		return e.checkExpanded(cwds, w)
	}
	if !e.exists(cwds, w) {
		return finding{}
	}
	return e.check(cwds, word{text: w.text, static: true, raw: w.raw}, false)
}

// checkExpanded looks at the files that a glob stands for, and not at the glob as a name.
func (e *evaluation) checkExpanded(cwds []workspace.Path, w word) finding {
	var f finding
	for _, cwd := range cwds {
		found, err := expand(cwd, w.text)
		if err != nil {
			f.merge(finding{unclear: w.raw + ": " + err.Error()})
		}
		for _, p := range found {
			f.merge(e.checkPath(p, false))
		}
	}
	return f
}

// optionFile gives a file whose name the command would take for an option, in place of a glob that
// stands for it: "find *" deletes where there is a file "-delete". "" when there is none.
func optionFile(cwds []workspace.Path, argv []word) string {
	for _, w := range argv {
		if !w.glob || w.text == "" || !strings.ContainsRune("*?[-", rune(w.text[0])) {
			continue
		}
		for _, cwd := range cwds {
			found, err := expand(cwd, w.text)
			if err != nil {
				return w.raw
			}
			for _, p := range found {
				if name := p.Rel(cwd); strings.HasPrefix(name, "-") {
					return name
				}
			}
		}
	}
	return ""
}

// pathsIn are the words that an argument may name as files: the word itself, or what follows an
// option's = or letter.
func pathsIn(w word) []word {
	if !strings.HasPrefix(w.text, "-") || len(w.text) < 2 {
		if i := strings.IndexByte(w.text, '='); i > 0 && w.static { // dd's of=file, make's VAR=value
			return []word{w, w.cut(i + 1)}
		}
		return []word{w}
	}
	if !w.static {
		return []word{w}
	}
	if i := strings.IndexByte(w.text, '='); i > 0 {
		return []word{w.cut(i + 1)}
	}
	if !strings.HasPrefix(w.text, "--") && len(w.text) > 2 {
		return []word{w.cut(2)}
	}
	return nil
}

// cut gives the word from byte i on, its tilde not expanded by the shell.
func (w word) cut(i int) word {
	w.text = w.text[i:]
	return w
}

// remote is a word that names something on another machine.
var remote = lazily(`^(?i:[a-z][a-z0-9+.-]*://|[a-z0-9_.-]+@[a-z0-9.-]+:)`)

const maxExpand = 4096

var errTooMany = errors.New("it stands for too many files to look at")

// expand gives at least the files that a glob stands for: a bracket expression counts as any
// character, and ** as any number of folders, which only some shells do.
func expand(cwd workspace.Path, pattern string) ([]workspace.Path, error) {
	at := []workspace.Path{cwd}
	if filepath.IsAbs(pattern) {
		at = []workspace.Path{workspace.Path(filepath.VolumeName(pattern) + string(filepath.Separator))}
		pattern = pattern[len(filepath.VolumeName(pattern)):]
	}
	steps := 0
	for _, c := range strings.FieldsFunc(pattern, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		var next []workspace.Path
		for _, dir := range at {
			if !strings.ContainsAny(c, "*?[") {
				next = append(next, dir.Join(c))
				continue
			}
			found, err := matching(dir, loose(c), strings.Contains(c, "**"), &steps)
			if err != nil {
				return nil, err
			}
			next = append(next, found...)
		}
		at = next
	}
	return at, nil
}

// matching lists the entries of dir, and of the folders below it when deep, that the pattern matches.
func matching(dir workspace.Path, pattern string, deep bool, steps *int) ([]workspace.Path, error) {
	entries, err := os.ReadDir(string(dir))
	if err != nil {
		return nil, nil // no folder, no match
	}
	var found []workspace.Path
	for _, entry := range entries {
		if *steps++; *steps > maxExpand {
			return nil, errTooMany
		}
		name := entry.Name()
		if strings.HasPrefix(name, ".") && !strings.HasPrefix(pattern, ".") {
			continue // a leading dot is only matched by a dot
		}
		if ok, err := path.Match(pattern, name); err != nil {
			return nil, err
		} else if ok {
			found = append(found, dir.Join(name))
		}
		if deep && entry.IsDir() {
			below, err := matching(dir.Join(name), pattern, deep, steps)
			if err != nil {
				return nil, err
			}
			found = append(found, below...)
		}
	}
	if deep {
		found = append(found, dir)
	}
	return found, nil
}

// loose turns a shell's glob component into one of package path that matches at least as much.
func loose(c string) string {
	if open := strings.IndexByte(c, '['); open >= 0 {
		c = c[:open] + "*"
	}
	return strings.NewReplacer("**", "*", `\`, "?").Replace(c)
}

// walkOptions say what a recursive command would look at.
type walkOptions struct {
	hidden  bool     // dot files too
	follow  bool     // through symlinks
	writing bool     // it changes what it finds
	include []string // only files of these names (grep --include)
	skip    []string // not these folders (grep --exclude-dir)
}

// maxWalk bounds the entries looked at for one recursive command.
const maxWalk = 30_000

// checkTree looks for files below dir that ask, as a recursive command would meet them. Installed
// packages (node_modules) hold nobody's secrets and are left out when reading.
func (e *evaluation) checkTree(dir workspace.Path, o walkOptions) finding {
	var f finding
	steps := 0
	err := filepath.WalkDir(string(dir), func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // what cannot be listed cannot be searched either
		}
		if steps++; steps > maxWalk {
			return errTooMany
		}
		p := workspace.Path(name)
		base := d.Name()
		if p != dir && d.IsDir() && (!o.hidden && strings.HasPrefix(base, ".") || base == "node_modules" && !o.writing || anyMatch(o.skip, base)) {
			return fs.SkipDir
		}
		if p != dir && !o.hidden && strings.HasPrefix(base, ".") {
			return nil
		}
		if !d.IsDir() && len(o.include) > 0 && !anyMatch(o.include, base) {
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 && !o.follow {
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 || d.IsDir() && p != dir && len(o.include) == 0 || !d.IsDir() {
			why := e.s.sensitivePath(p, o.writing)
			if d.Type()&fs.ModeSymlink != 0 {
				f.merge(e.checkPath(p, o.writing))
			} else if why != "" {
				f.merge(finding{sensitive: "sensitive: " + why})
			}
			if o.writing && e.state.denied.covers(p) {
				f.merge(finding{denied: string(p)})
			}
		}
		if f.sensitive != "" && f.outside != "" {
			return fs.SkipAll
		}
		return nil
	})
	if err != nil {
		f.merge(finding{unclear: "there are too many files below " + string(dir) + " to look at"})
	}
	return f
}

func anyMatch(globs []string, base string) bool {
	return slices.ContainsFunc(globs, func(g string) bool { return wildcard(g, base) })
}
