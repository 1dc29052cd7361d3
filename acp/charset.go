package acp

import (
	"bufio"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"

	"acp-agent/internal/workspace"
)

// charset gives the encoding that somebody named for a file: the operator in config.yaml (globs below
// the session's roots), else the project in .editorconfig. "" when nobody did.
func (s *Server) charset(roots *workspace.Roots) func(workspace.Path) string {
	globs := s.o.Config.Encodings
	names := slices.Sorted(maps.Keys(globs))
	return func(p workspace.Path) string {
		for _, glob := range names {
			for _, root := range roots.Named() {
				if ok, _ := doublestar.Match(glob, p.Rel(root)); ok {
					return globs[glob]
				}
			}
		}
		return editorConfigCharset(p)
	}
}

// editorConfigBytes bounds an .editorconfig: it is read for every file that is no UTF-8.
const editorConfigBytes = 64 << 10

// editorConfigCharset looks for charset in the .editorconfig files from the file's folder up, the
// nearest first, until one says root = true.
func editorConfigCharset(p workspace.Path) string {
	for dir := p.Dir(); ; dir = dir.Dir() {
		charset, root := readEditorConfig(dir, p)
		if charset != "" {
			return charset
		}
		if root || dir == dir.Dir() {
			return ""
		}
	}
}

// readEditorConfig gives the charset of the last section of dir's .editorconfig that fits p.
func readEditorConfig(dir, p workspace.Path) (charset string, root bool) {
	name := dir.Join(".editorconfig").String()
	if st, err := os.Stat(name); err != nil || !st.Mode().IsRegular() || st.Size() > editorConfigBytes {
		return "", false
	}
	f, err := os.Open(name)
	if err != nil {
		return "", false
	}
	defer f.Close()
	preamble, fits := true, false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			preamble, fits = false, sectionFits(line[1:len(line)-1], dir, p)
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok || strings.HasPrefix(line, "#") || strings.HasPrefix(line, ";") {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(value))
		switch {
		case preamble && key == "root":
			root = value == "true"
		case fits && key == "charset" && value != "unset":
			charset = value
		}
	}
	return charset, root
}

// sectionFits matches a section's glob: without a slash anywhere below dir, else from dir on.
func sectionFits(glob string, dir, p workspace.Path) bool {
	rel := filepath.ToSlash(p.Rel(dir))
	if strings.Contains(glob, "/") {
		glob = strings.TrimPrefix(glob, "/")
	} else {
		glob = "**/" + glob
	}
	ok, err := doublestar.Match(glob, rel)
	return ok && err == nil
}
