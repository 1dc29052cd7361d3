// Package syntax checks a text's syntax in this process, in microseconds to a few milliseconds, so
// that a file that does not parse is known as such without a language server. Its main entry is
// [Check]. It never runs another program and never looks at other files.
package syntax

import (
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// Status of a check (the "lint" field of an edit's result).
type Status string

// Statuses.
const (
	OK      Status = "ok"
	Error   Status = "error"
	Skipped Status = "skipped" // no checker for this kind of file
)

// Problem is one syntax error; Line and Column are 1-based, Column counts code points. Column is 0
// when the parser does not tell.
type Problem struct {
	Line, Column int
	Message      string
}

// Result is the outcome for one file.
type Result struct {
	Status   Status
	Problems []Problem
}

// maxProblems bounds what one file reports: after the first few, syntax errors are echoes.
const maxProblems = 10

// maxSize is the largest text that is parsed; above it a check would no longer be quick.
const maxSize = 4 << 20

// Output is the result for the model: one line a problem, `line:col message`.
func (r Result) Output() string {
	var b strings.Builder
	for i, p := range r.Problems {
		if i > 0 {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%d:%d %s", p.Line, p.Column, p.Message)
	}
	return b.String()
}

// maxYAMLLines is the longest YAML text that is parsed: the parser's time grows with the square of a
// map's keys (30 ms at 2,000 keys of one map, 2 s at 20,000), and machine-made files are that long.
const maxYAMLLines = 4000

// checker finds the problems of one language's text.
type checker func(name, text string) []Problem

// byExtension and byName choose the checker; byName wins.
var (
	byExtension = map[string]checker{
		".go":   checkGo,
		".json": checkJSON, ".webmanifest": checkJSON,
		".jsonc": checkJSONC, ".code-workspace": checkJSONC,
		".yaml": checkYAML, ".yml": checkYAML,
		".toml": checkTOML,
		".sh":   checkShell, ".bash": checkShell,
	}
	byName = map[string]checker{
		"go.work": nil, "tsconfig.json": checkJSONC, "jsconfig.json": checkJSONC, "settings.json": checkJSONC,
		"tasks.json": checkJSONC, "launch.json": checkJSONC, "extensions.json": checkJSONC,
		"keymap.json": checkJSONC, "devcontainer.json": checkJSONC, ".eslintrc.json": checkJSONC,
		"Cargo.lock": checkTOML, "poetry.lock": checkTOML, "Pipfile": checkTOML,
		".bashrc": checkShell, ".bash_profile": checkShell, ".profile": checkShell,
	}
)

// Check looks at text by the name of the file (Go, JSON and JSONC, YAML, TOML, shell). A checker
// that panics on a text is a checker that has nothing to say.
func Check(name, text string) (r Result) {
	check := find(name, text)
	if check == nil || len(text) > maxSize || tooDeep(text) {
		return Result{Status: Skipped}
	}
	if ext := strings.ToLower(filepath.Ext(name)); (ext == ".yaml" || ext == ".yml") && strings.Count(text, "\n") > maxYAMLLines {
		return Result{Status: Skipped}
	}
	defer func() {
		if recover() != nil {
			r = Result{Status: Skipped}
		}
	}()
	problems := check(name, text)
	if len(problems) == 0 {
		return Result{Status: OK}
	}
	if len(problems) > maxProblems {
		problems = problems[:maxProblems]
	}
	return Result{Status: Error, Problems: problems}
}

// maxDepth is the deepest nesting that is parsed. The parsers recurse, some take quadratic time and
// memory on hostile input, and a stack that overflows ends the process.
const maxDepth = 400

// tooDeep counts brackets, block openers of shell and YAML's compact nesting ("- - - x"), generously:
// a file of which it says yes is no file that people write.
func tooDeep(text string) bool {
	depth, inline := 0, 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(', '[', '{', '`':
			depth++
		case ')', ']', '}':
			depth = max(depth-1, 0)
		case '\n':
			inline = 0
		case ' ':
			if i > 0 && strings.IndexByte("-?:", text[i-1]) >= 0 {
				inline++
			}
			if i > 1 && (strings.HasSuffix(text[:i], "if") || strings.HasSuffix(text[:i], "do") || strings.HasSuffix(text[:i], "then")) {
				inline++
			}
		}
		if depth > maxDepth || inline > maxDepth {
			return true
		}
	}
	return false
}

// find chooses the checker by base name, extension, and for files without one the interpreter line.
func find(name, text string) checker {
	base := filepath.Base(name)
	if c, ok := byName[base]; ok {
		return c
	}
	if strings.HasPrefix(base, "tsconfig.") && strings.HasSuffix(base, ".json") {
		return checkJSONC
	}
	ext := strings.ToLower(filepath.Ext(base))
	if c, ok := byExtension[ext]; ok {
		return c
	}
	if ext == "" && strings.HasPrefix(text, "#!") {
		first, _, _ := strings.Cut(text, "\n")
		if strings.HasSuffix(strings.TrimRight(first, "\r"), "/sh") || strings.Contains(first, "bash") {
			return checkShell
		}
	}
	return nil
}

// position turns a byte offset into a 1-based line and code point column.
func position(text string, offset int) (line, col int) {
	offset = min(max(offset, 0), len(text))
	before := text[:offset]
	line = 1 + strings.Count(before, "\n")
	start := strings.LastIndexByte(before, '\n') + 1
	return line, 1 + utf8.RuneCountInString(before[start:])
}

// column turns a 1-based byte column of a line into a code point column.
func column(text string, line, byteCol int) int {
	for ; line > 1; line-- {
		_, rest, ok := strings.Cut(text, "\n")
		if !ok {
			break
		}
		text = rest
	}
	n := min(max(byteCol-1, 0), len(text))
	return 1 + utf8.RuneCountInString(text[:n])
}
