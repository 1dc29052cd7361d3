// Package syntax checks a text's syntax in this process, in microseconds to a few milliseconds, so
// that a file that does not parse is known as such without a language server. Its main entry is
// [Check]. It never runs another program and never looks at other files.
package syntax

// Status of a check (the "lint" field of an edit's result).
type Status string

// Statuses.
const (
	OK      Status = "ok"
	Error   Status = "error"
	Skipped Status = "skipped" // no checker for this kind of file
)

// Problem is one syntax error; Line and Column are 1-based, Column counts code points.
type Problem struct {
	Line, Column int
	Message      string
}

// Result is the outcome for one file.
type Result struct {
	Status   Status
	Problems []Problem
}

// Output is the result for the model: one line a problem, `line:col message`.
func (r Result) Output() string { panic("TODO(syntax)") }

// Check looks at text by the name of the file (Go, JSON and JSONC, YAML, TOML, shell).
func Check(name, text string) Result { panic("TODO(syntax)") }
