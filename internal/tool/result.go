package tool

import (
	"bytes"
	"encoding/json"
	"errors"

	"acp-agent/edits"
)

// failure is the form of a call that did not succeed (contract of the edit tools, used by all).
type failure struct {
	Error   string     `json:"error"`
	Code    edits.Code `json:"code"`
	Path    string     `json:"path,omitempty"`
	Hunk    int        `json:"hunk,omitempty"`
	Lines   []int      `json:"lines,omitempty"`
	Nearest string     `json:"nearest,omitempty"`
}

// unchanged is an edit that the file already has, which is no error.
type unchanged struct {
	Applied bool       `json:"applied"`
	Path    string     `json:"path,omitempty"`
	Code    edits.Code `json:"code"`
	Message string     `json:"message"`
}

// Failed is a result that says what went wrong and what to do next, under a public code.
func Failed(code edits.Code, message string) Result {
	return failure{Error: message, Code: code}.result()
}

// Refused turns an error of [Tool.Prepare] that the model can act on into its result: an
// *[edits.Refusal] with all that it knows, or an *[ArgumentError]. Any other error is a fault of
// ours, and false.
func Refused(err error) (Result, bool) {
	var refusal *edits.Refusal
	if errors.As(err, &refusal) && refusal.Code == edits.CodeAlreadyApplied {
		same := unchanged{Path: refusal.Path.String(), Code: refusal.Code, Message: refusal.Message}
		return Result{Text: encode(same), Raw: same}, true
	}
	if errors.As(err, &refusal) {
		return failure{Error: refusal.Message, Code: refusal.Code, Path: refusal.Path.String(), Hunk: refusal.Hunk,
			Lines: refusal.Lines, Nearest: refusal.Nearest}.result(), true
	}
	var bad *ArgumentError
	if errors.As(err, &bad) {
		return Failed(edits.CodeInvalidArguments, bad.Error()), true
	}
	return Result{}, false
}

func (f failure) result() Result { return Result{Text: encode(f), Raw: f, IsError: true} }

// encode is v as JSON that a model reads: without the escapes that are meant for HTML.
func encode(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return `{"error":"the result cannot be told: ` + err.Error() + `"}`
	}
	return string(bytes.TrimSuffix(buf.Bytes(), []byte("\n")))
}
