package agent

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"

	"acp-agent/edits"
	"acp-agent/internal/model"
	"acp-agent/internal/tool"
)

// What every provider accepts as the name of a call or a tool.
const maxName = 64

var oddRunes = regexp.MustCompile(`[^A-Za-z0-9_-]+`)

// ids are the call ids of a history, which must not come twice: providers match results by them, and
// editors show a call under its id for the whole session.
type ids map[string]bool

func newIDs(history []model.Message) ids {
	seen := ids{}
	for _, m := range history {
		for _, c := range m.Calls {
			seen[c.ID] = true
		}
	}
	return seen
}

// clean gives calls that every provider takes back: unique ids and names of plain characters, and
// arguments that are an object or not JSON at all.
func (s ids) clean(calls []model.ToolCall) []model.ToolCall {
	out := make([]model.ToolCall, len(calls))
	for i, c := range calls {
		c.ID = oddRunes.ReplaceAllString(c.ID, "_")
		if c.ID == "" || len(c.ID) > maxName || s[c.ID] {
			c.ID = "call_" + strings.ToLower(rand.Text()[:20])
		}
		s[c.ID] = true
		c.Name = oddRunes.ReplaceAllString(strings.TrimPrefix(c.Name, "functions."), "_")
		if c.Name == "" {
			c.Name = "unnamed"
		}
		c.Name = c.Name[:min(len(c.Name), maxName)]
		c.Arguments = plainArguments(c.Arguments)
		out[i] = c
	}
	return out
}

// plainArguments mends what models often do to an object: nothing for no arguments, or the object
// written as a JSON string. Other values than objects are quoted, so that they are no JSON any more
// and the provider sends them back as raw text.
func plainArguments(args string) string {
	trimmed := strings.TrimSpace(args)
	if trimmed == "" || trimmed == "null" {
		return "{}"
	}
	if !json.Valid([]byte(trimmed)) || trimmed[0] == '{' {
		return args
	}
	var inner string
	if json.Unmarshal([]byte(trimmed), &inner) == nil {
		if s := strings.TrimSpace(inner); strings.HasPrefix(s, "{") && json.Valid([]byte(s)) {
			return s
		}
	}
	return "not an object: " + args
}

// argumentProblem says what is wrong with a call's arguments, "" for nothing.
func argumentProblem(args string) string {
	var object map[string]json.RawMessage
	dec := json.NewDecoder(strings.NewReader(args))
	err := dec.Decode(&object)
	if err == nil {
		if json.Valid([]byte(args)) {
			return ""
		}
		return fmt.Sprintf("there is more text after the JSON object, at character %d", dec.InputOffset()+1)
	}
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &syntax):
		return fmt.Sprintf("they are not valid JSON (%s, at character %d, near %q)", syntax, syntax.Offset, near(args, int(syntax.Offset)))
	case strings.HasPrefix(err.Error(), "unexpected EOF"):
		return fmt.Sprintf("the JSON is incomplete, it ends after %q", near(args, len(args)))
	}
	return fmt.Sprintf("they are not a JSON object (%s)", err)
}

// near is the text around a place, short enough for a message.
func near(s string, at int) string {
	at = min(max(at, 0), len(s))
	return strings.ToValidUTF8(s[max(at-30, 0):min(at+10, len(s))], "")
}

// failed is a result that tells the model what went wrong, in the form of contract §4.
func failed(code edits.Code, message string) tool.Result { return tool.Failed(code, message) }

func cancelledResult() tool.Result {
	return failed(edits.CodeCancelled, "Cancelled by the user; the call was not completed.")
}

// signature tells calls apart: the name and the arguments without regard to spacing and key order.
func signature(c model.ToolCall) string {
	args := c.Arguments
	var v any
	dec := json.NewDecoder(bytes.NewReader([]byte(args)))
	dec.UseNumber()
	if dec.Decode(&v) == nil {
		if b, err := json.Marshal(v); err == nil {
			args = string(b)
		}
	}
	return c.Name + "\x00" + args
}
