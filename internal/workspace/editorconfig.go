package workspace

import (
	"bufio"
	"bytes"
	"path/filepath"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// maxEditorConfig bounds an .editorconfig that is read at all.
const maxEditorConfig = 256 << 10

// EditorConfigCharset is the charset that .editorconfig files name for p, looking from p's folder
// upwards to the root that contains it (or a file that says root = true). "" when none does, or
// when it names one that we do not know. It reads the files anew on each call: there are few, and a
// changed one must count at once.
func (r *Roots) EditorConfigCharset(p Path) string {
	_, top, ok := r.owner(p)
	if !ok {
		loc := r.Locate(p)
		if _, top, ok = r.owner(loc.Real); !ok {
			return ""
		}
		p = loc.Real
	}
	for dir := p.Dir(); top.Contains(dir); dir = dir.Dir() {
		data, _, err := readRegular(string(dir.Join(".editorconfig")), maxEditorConfig)
		if err == nil {
			found, root := editorConfigCharset(data, p.Rel(dir))
			if found != "" {
				if found == "unset" || !KnownCharset(found) {
					return ""
				}
				return found
			}
			if root {
				return ""
			}
		}
		if dir == dir.Dir() {
			break
		}
	}
	return ""
}

// editorConfigCharset reads one file: the last section that matches rel and names a charset counts.
func editorConfigCharset(data []byte, rel string) (charset string, root bool) {
	section, matches := false, false
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\uFEFF"))
		if line == "" || line[0] == '#' || line[0] == ';' {
			continue
		}
		if line[0] == '[' && strings.HasSuffix(line, "]") {
			section, matches = true, editorConfigMatch(line[1:len(line)-1], rel)
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		if !ok {
			continue
		}
		key, value = strings.ToLower(strings.TrimSpace(key)), strings.ToLower(strings.TrimSpace(value))
		switch {
		case key == "root" && !section:
			root = value == "true"
		case key == "charset" && matches:
			charset = value
		}
	}
	return charset, root
}

// editorConfigMatch: a pattern without a slash is for names at any depth, others are relative to
// the file's folder.
func editorConfigMatch(pattern, rel string) bool {
	if strings.Contains(pattern, "/") {
		pattern = strings.TrimPrefix(pattern, "/")
	} else {
		pattern = "**/" + pattern
	}
	ok, err := doublestar.Match(pattern, filepath.ToSlash(rel))
	return err == nil && ok
}
