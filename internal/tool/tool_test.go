package tool

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"acp-agent/internal/workspace"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newEnv makes a session over a folder with the files of a txtar archive; a name that ends with a
// slash is a folder.
func newEnv(t *testing.T, archive string) *Env {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range txtar.Parse([]byte(archive)).Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data), strings.HasSuffix(f.Name, "/"))
	}
	roots, err := workspace.NewRoots(workspace.Path(dir), "")
	if err != nil {
		t.Fatal(err)
	}
	terminals := NewTerminals(&LocalSpawner{Env: os.Environ()})
	t.Cleanup(func() { terminals.Close(context.Background()) })
	return &Env{Files: &workspace.Files{Roots: roots}, Terminals: terminals, Plan: func([]Entry) {}}
}

func write(t *testing.T, name, data string, folder bool) {
	t.Helper()
	parent := filepath.Dir(name)
	if folder {
		parent = name
	}
	if err := os.MkdirAll(parent, 0o755); err != nil {
		t.Fatal(err)
	}
	if !folder {
		if err := os.WriteFile(name, []byte(data), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func (env *Env) at(name string) string { return filepath.Join(env.Files.Roots.Cwd().String(), name) }

// shownOutput records what a running call shows.
type shownOutput struct {
	mu       sync.Mutex
	texts    []string
	terminal string
	more     chan struct{} // receives when there is a new text
}

func newShown() *shownOutput { return &shownOutput{more: make(chan struct{}, 1000)} }

func (s *shownOutput) Output(text string) {
	s.mu.Lock()
	s.texts = append(s.texts, text)
	s.mu.Unlock()
	s.more <- struct{}{}
}

func (s *shownOutput) Terminal(id string) { s.terminal = id }

func (s *shownOutput) last() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.texts) == 0 {
		return ""
	}
	return s.texts[len(s.texts)-1]
}

// prepare plans a call as the adapter does.
func prepare(t *testing.T, env *Env, name, args string) (*Action, error) {
	t.Helper()
	found, _ := NewSet(env, Selection{}).Find(name)
	if found == nil {
		t.Fatalf("no tool %s", name)
	}
	return found.Prepare(t.Context(), env, json.RawMessage(args))
}

// call plans and runs a call; a plan that is refused gives the result that the model would get.
func call(t *testing.T, env *Env, name, args string) Result {
	t.Helper()
	a, err := prepare(t, env, name, args)
	if err != nil {
		r, ok := Refused(err)
		if !ok {
			t.Fatalf("%s %s: %v", name, args, err)
		}
		return r
	}
	return a.Run(t.Context(), newShown())
}

// check compares a result's text, with the session's folder written as W.
func check(t *testing.T, env *Env, r Result, want string) {
	t.Helper()
	if got := strings.ReplaceAll(r.Text, env.Files.Roots.Cwd().String(), "W"); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if failed := strings.HasPrefix(r.Text, `{"error"`); failed != r.IsError {
		t.Errorf("IsError is %v for %s", r.IsError, r.Text)
	}
}

// object writes a JSON object from names and values in turn.
func object(pairs ...any) string {
	m := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		m[pairs[i].(string)] = pairs[i+1]
	}
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func TestArguments(t *testing.T) {
	env := newEnv(t, "-- a.txt --\none\ntwo\nthree\n")
	for name, tc := range map[string]struct{ tool, args, want string }{
		"missing":             {"read_file", `{}`, `required argument "path" is missing`},
		"nothing at all":      {"read_file", ``, `required argument "path" is missing`},
		"null is missing":     {"read_file", `{"path":null}`, `required argument "path" is missing`},
		"several at once":     {"edit_file", `{"path":"a.txt"}`, `required argument "old_string" is missing (a string); required argument "new_string" is missing`},
		"missing content":     {"write_file", `{"path":"a.txt"}`, `required argument "content" is missing`},
		"content of an alias": {"write", `{"file_path":"a.txt"}`, `required argument "content" is missing`},
		"an object for text":  {"write_file", `{"path":"a.txt","content":{"a":1}}`, `argument "content" must be a string, not an object`},
		"no number":           {"read_file", `{"path":"a.txt","offset":"two"}`, `argument "offset" must be a whole number, not "two"`},
		"a half":              {"read_file", `{"path":"a.txt","limit":1.5}`, `argument "limit" must be a whole number`},
		"negative":            {"read_file", `{"path":"a.txt","offset":-3}`, `argument "offset" must be 0 or more, not -3`},
		"no boolean":          {"terminal", `{"command":"true","background":"maybe"}`, `argument "background" must be true or false`},
		"no object":           {"read_file", `[1]`, `the arguments are not a JSON object`},
		"empty path":          {"read_file", `{"path":""}`, `argument "path": `},
		"no array":            {"update_plan", `{"entries":7}`, `argument "entries" must be an array`},
		"a broken edit":       {"edit_file", `{"path":"a.txt","edits":[{"old_string":"a","new_string":"b"},{"old_string":"c"}]}`, `element 2 of "edits": required argument "new_string" is missing`},
		"an edit of another":  {"edit_file", `{"path":"a.txt","edits":["a"]}`, `element 1 of "edits" must be an object, not a string`},
		"no edits":            {"edit_file", `{"path":"a.txt","edits":[]}`, `argument "edits" is empty`},
		"bad regexp":          {"search_files", `{"pattern":"(?=x)"}`, `RE2 knows no lookaround`},
		"bad glob":            {"find_files", `{"pattern":"[a"}`, `no valid glob`},
		"unknown mode":        {"patch", `{"mode":"sed"}`, `must be \"replace\" or \"v4a\"`},
		"empty command":       {"terminal", `{"command":" "}`, `argument "command" is empty`},
		"no such folder":      {"terminal", `{"command":"true","cwd":"nowhere"}`, `argument "cwd": `},
		"no such status":      {"update_plan", `{"entries":[{"content":"a","status":"done"}]}`, `must be one of pending, in_progress, completed, not "done"`},
		"unknown background":  {"terminal_output", `{"id":"t9"}`, `there is no background command "t9"; there is: none`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, env, tc.tool, tc.args)
			var bad *ArgumentError
			if !errors.As(err, &bad) || !strings.Contains(err.Error(), strings.ReplaceAll(tc.want, `\"`, `"`)) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
	for name, args := range map[string]string{
		"text for a number": `{"path":"a.txt","offset":"2","limit":"1"}`,
		"a float":           `{"path":"a.txt","offset":2.0,"limit":1e0}`,
		"another name":      `{"file_path":"a.txt","offset":2,"limit":1}`,
		"both names":        `{"path":"a.txt","file_path":"b.txt","offset":2,"limit":1}`,
		"unknown fields":    `{"path":"a.txt","offset":2,"limit":1,"encoding":"utf-8","why":{"a":[1]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			check(t, env, call(t, env, "read_file", args), "two\n[Lines 2-2 of 3. There is more: read on with offset 3.]")
		})
	}
}

func TestSet(t *testing.T) {
	env := newEnv(t, "")
	env.Language = fakeLanguage{}
	env.Ask = func(context.Context, string, []string) (string, error) { return "", nil }
	names := func(s *Set) string { return strings.Join(s.Names(), " ") }
	const fs, edit = "read_file list_directory find_files search_files", "write_file edit_file apply_patch"
	const term, lsp = "terminal terminal_output terminal_kill", "lsp_diagnostics lsp_definition lsp_references lsp_hover"
	for name, tc := range map[string]struct {
		sel  Selection
		want string
	}{
		"all":           {Selection{}, fs + " " + edit + " " + term + " update_plan ask_user " + lsp},
		"a group":       {Selection{Enabled: []string{"group:fs"}}, fs},
		"group and one": {Selection{Enabled: []string{"group:edit", "terminal"}}, edit + " terminal"},
		"without":       {Selection{Disabled: []string{"group:lsp", "ask_user", "group:terminal"}}, fs + " " + edit + " update_plan"},
		"both":          {Selection{Enabled: []string{"group:edit"}, Disabled: []string{"write"}}, "edit_file apply_patch"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := names(NewSet(env, tc.sel)); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
	sel := Selection{Enabled: []string{"group:fs", "group:mail", "patch", "ask_user", "read_files"}, Disabled: []string{"write", "lsp_hover", "mcp-github", "mcp__github__x", ""}}
	if got, want := strings.Join(sel.Unknown(), "|"), "group:mail|read_files|"; got != want {
		t.Errorf("unknown are %q, want %q", got, want)
	}
	if got, want := names(NewSet(&Env{Files: env.Files}, Selection{})), fs+" "+edit; got != want {
		t.Errorf("a session that offers nothing has %s, want %s", got, want)
	}

	s := NewSet(env, Selection{})
	for alias, want := range map[string]string{"write": "write_file", "create_file": "write_file", "edit": "edit_file", "str_replace": "edit_file",
		"replace": "edit_file", "patch": "apply_patch", "Read_File": "read_file", "terminal": "terminal", "nothing": ""} {
		if found, name := s.Find(alias); name != want || (found == nil) != (want == "") {
			t.Errorf("Find(%s) gave %q, want %q", alias, name, want)
		}
	}
	if found, _ := NewSet(env, Selection{Disabled: []string{"apply_patch"}}).Find("patch"); found != nil {
		t.Error("patch is found although apply_patch is switched off")
	}
	for _, spec := range s.Specs() {
		var schema struct {
			Type       string
			Properties map[string]struct{ Type, Description string }
			Required   []string
		}
		if err := json.Unmarshal(spec.Schema, &schema); err != nil || schema.Type != "object" {
			t.Errorf("schema of %s: %v: %s", spec.Name, err, spec.Schema)
		}
		for _, r := range schema.Required {
			if schema.Properties[r].Type == "" {
				t.Errorf("%s requires %s, which it does not describe", spec.Name, r)
			}
		}
		if len(spec.Description) < 40 {
			t.Errorf("description of %s: %q", spec.Name, spec.Description)
		}
	}
}

func TestPlan(t *testing.T) {
	env := newEnv(t, "")
	var got []Entry
	env.Plan = func(e []Entry) { got = e }
	r := call(t, env, "update_plan", `{"entries":[{"content":"a","status":"completed","priority":"high"},{"content":"b"}]}`)
	check(t, env, r, "The user sees the plan: 1 of 2 done.")
	if want := "[{a high completed} {b medium pending}]"; fmt.Sprint(got) != want {
		t.Errorf("plan %v, want %s", got, want)
	}
}

func TestAskUser(t *testing.T) {
	env := newEnv(t, "")
	env.Ask = func(_ context.Context, q string, options []string) (string, error) {
		if q == "fail" {
			return "", errors.New("no form")
		}
		return q + fmt.Sprint(options), nil
	}
	check(t, env, call(t, env, "ask_user", `{"question":"Which?","options":["a","b"]}`), "Which?[a b]")
	check(t, env, call(t, env, "ask_user", `{"question":"fail"}`),
		`{"error":"The user could not be asked: no form. Go on without the answer, or end the turn with the question.","code":"io"}`)
}

// fakeLanguage answers with what it was asked.
type fakeLanguage struct{}

func (fakeLanguage) Diagnostics(_ context.Context, p workspace.Path) (string, error) {
	if p.Base() == "bad.go" {
		return "", errors.New("broken")
	}
	return "checked " + p.Base(), nil
}

func (fakeLanguage) Definition(_ context.Context, p workspace.Path, line, char int) ([]Place, string, error) {
	return []Place{{Path: p, Line: line, Character: char}}, "", nil
}

func (fakeLanguage) References(context.Context, workspace.Path, int, int) ([]Place, string, error) {
	return nil, "gopls is not installed", nil
}

func (fakeLanguage) Hover(_ context.Context, _ workspace.Path, line, char int) (string, error) {
	return fmt.Sprintf("type at %d:%d", line, char), nil
}

func TestLanguageTools(t *testing.T) {
	env := newEnv(t, "-- a.go --\npackage a\n")
	env.Language = fakeLanguage{}
	at := `{"path":"a.go","line":"3","character":4}`
	for tool, tc := range map[string]struct{ args, want string }{
		"lsp_diagnostics": {`{"path":"a.go"}`, "checked a.go"},
		"lsp_definition":  {at, `{"locations":[{"path":"W/a.go","line":3,"character":4}]}`},
		"lsp_references":  {at, "gopls is not installed"},
		"lsp_hover":       {at, "type at 3:4"},
	} {
		check(t, env, call(t, env, tool, tc.args), tc.want)
	}
	check(t, env, call(t, env, "lsp_diagnostics", `{}`), "checked .")
	check(t, env, call(t, env, "lsp_diagnostics", `{"path":"bad.go"}`), `{"error":"The language server could not answer: broken","code":"io"}`)
	check(t, env, call(t, env, "lsp_hover", `{"path":"a.go","line":0,"character":1}`), `{"error":"lsp_hover: argument \"line\" must be 1 or more, not 0","code":"invalid_arguments"}`)
}

func TestLanguageAnswersAreBounded(t *testing.T) {
	var places []Place
	for i := range 5000 {
		places = append(places, Place{Path: "/w/a.go", Line: i + 1, Character: 1})
	}
	r := placesResult(places, "", nil, 10_000)
	var answer struct {
		Locations []Place `json:"locations"`
		More      int     `json:"more"`
	}
	if err := json.Unmarshal([]byte(r.Text), &answer); err != nil || len(r.Text) > 10_000 || answer.More == 0 || len(answer.Locations)+answer.More != 5000 {
		t.Errorf("%d bytes, %d places and %d more: %v", len(r.Text), len(answer.Locations), answer.More, err)
	}
	if got := languageResult(strings.Repeat("é", 1000), nil, 1001).Text; len(got) > 1100 || !strings.Contains(got, "more bytes") {
		t.Errorf("%d bytes: …%s", len(got), got[len(got)-40:])
	}
}
