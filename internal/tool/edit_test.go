package tool

import (
	"fmt"
	"strings"
	"testing"

	"acp-agent/edits"
)

const patched = `*** Begin Patch
*** Update File: a.txt
@@
 one
-two
+TWO
*** Add File: new/b.txt
+fresh
*** Delete File: gone.txt
*** Update File: old.txt
*** Move to: dir/moved.txt
@@
-keep
+kept
*** End Patch
`

func editEnv(t *testing.T) *Env {
	t.Helper()
	return newEnv(t, `
-- .gitignore --
dist
-- a.txt --
one
two
three
-- gone.txt --
bye
-- old.txt --
keep
-- dist/out.js --
x
`)
}

func TestEditActions(t *testing.T) {
	for name, tc := range map[string]struct {
		tool, args string
		title      string
		kind       Kind
		places     string // locations with their lines
	}{
		"write":            {"write_file", `{"path":"a.txt","content":"one\ntwo\nthree\nfour\n"}`, "Edit a.txt (+1 −0)", KindEdit, "a.txt:4"},
		"empty on purpose": {"write_file", `{"path":"a.txt","content":""}`, "Edit a.txt (+0 −3)", KindEdit, "a.txt:1"},
		"create":           {"create_file", `{"file_path":"x/new.go","content":"package x\n"}`, "Create x/new.go", KindEdit, "x/new.go:1"},
		"replace":          {"edit_file", `{"path":"a.txt","old_string":"two","new_string":"2\n2b"}`, "Edit a.txt (+2 −1)", KindEdit, "a.txt:2"},
		"other names":      {"str_replace", `{"file_path":"a.txt","old_str":"two","new_str":"2"}`, "Edit a.txt (+1 −1)", KindEdit, "a.txt:2"},
		"old names":        {"edit", `{"path":"a.txt","old_text":"two","new_text":"2"}`, "Edit a.txt (+1 −1)", KindEdit, "a.txt:2"},
		"everywhere":       {"replace", `{"path":"a.txt","old_string":"t","new_string":"T","replace_all":"true"}`, "Edit a.txt (+2 −2)", KindEdit, "a.txt:2"},
		"several": {"edit_file", `{"path":"a.txt","edits":[{"old_string":"one","new_string":"1"},{"old_string":"three","new_string":"3"}]}`,
			"Edit a.txt (+2 −2)", KindEdit, "a.txt:1"},
		"several as text": {"edit_file", object("path", "a.txt", "edits", `[{"old_string":"one","new_string":"1"}]`), "Edit a.txt (+1 −1)", KindEdit, "a.txt:1"},
		"ignored":         {"write_file", `{"path":"dist/out.js","content":"y\n"}`, "Edit dist/out.js (ignored by git) (+1 −1)", KindEdit, "dist/out.js:1"},
		"patch": {"apply_patch", object("patch", patched), "Edit 4 files (+3 −3): a.txt, create new/b.txt, delete gone.txt, move old.txt to dir/moved.txt", KindEdit,
			"a.txt:2 new/b.txt:1 gone.txt:0 dir/moved.txt:1"},
		"patch as input": {"apply_patch", object("input", "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch"), "Delete gone.txt", KindEdit, "gone.txt:0"},
		"move":           {"patch", object("diff", "*** Begin Patch\n*** Update File: old.txt\n*** Move to: new.txt\n*** End Patch"), "Move old.txt to new.txt", KindEdit, "new.txt:1"},
		"mode replace":   {"patch", `{"mode":"replace","path":"a.txt","old_string":"two","new_string":"2"}`, "Edit a.txt (+1 −1)", KindEdit, "a.txt:2"},
		"no mode":        {"patch", `{"path":"a.txt","old_string":"two","new_string":"2"}`, "Edit a.txt (+1 −1)", KindEdit, "a.txt:2"},
		"mode v4a":       {"patch", object("mode", "v4a", "patch", "*** Begin Patch\n*** Delete File: gone.txt\n*** End Patch"), "Delete gone.txt", KindEdit, "gone.txt:0"},
	} {
		t.Run(name, func(t *testing.T) {
			env := editEnv(t)
			a, err := prepare(t, env, tc.tool, tc.args)
			if err != nil {
				t.Fatal(err)
			}
			var places []string
			for _, l := range a.Locations {
				places = append(places, fmt.Sprintf("%s:%d", l.Path.Rel(env.Files.Roots.Cwd()), l.Line))
			}
			if a.Title != tc.title || a.Kind != tc.kind || strings.Join(places, " ") != tc.places {
				t.Errorf("title %q, kind %s, places %q\nwant  %q, %s, %q", a.Title, a.Kind, places, tc.title, tc.kind, tc.places)
			}
			if a.Proposal == nil || a.Run != nil || a.Parallel || string(a.Proposal.Args) != tc.args {
				t.Errorf("action %+v", a)
			}
		})
	}
}

// TestEditsThatCannotBeMade holds that the model gets a code and the next step, and nothing is proposed.
func TestEditsThatCannotBeMade(t *testing.T) {
	for name, tc := range map[string]struct {
		tool, args string
		code       edits.Code
	}{
		"no match":  {"edit_file", `{"path":"a.txt","old_string":"four","new_string":"4"}`, edits.CodeNoMatch},
		"ambiguous": {"edit_file", `{"path":"a.txt","old_string":"e\n","new_string":"4"}`, edits.CodeAmbiguous},
		"not found": {"edit_file", `{"path":"b.txt","old_string":"a","new_string":"4"}`, edits.CodeNotFound},
		"no patch":  {"apply_patch", `{"patch":"nonsense"}`, edits.CodeInvalidPatch},
	} {
		t.Run(name, func(t *testing.T) {
			r := call(t, editEnv(t), tc.tool, tc.args)
			if codeOf(r) != string(tc.code) || !r.IsError || !strings.Contains(r.Text, `"error":"`) {
				t.Errorf("%+v", r)
			}
		})
	}
}

func TestRefusedTellsEverything(t *testing.T) {
	r, ok := Refused(fmt.Errorf("prepare: %w", &edits.Refusal{Code: edits.CodeAmbiguous, Path: "/w/a", Message: "2 places <match>", Hunk: 2, Lines: []int{3, 9}, Nearest: "3: x"}))
	if want := `{"error":"2 places <match>","code":"ambiguous","path":"/w/a","hunk":2,"lines":[3,9],"nearest":"3: x"}`; !ok || r.Text != want || !r.IsError {
		t.Errorf("got %s, want %s", r.Text, want)
	}
	r, ok = Refused(&edits.Refusal{Code: edits.CodeAlreadyApplied, Path: "/w/a", Message: "is so already"})
	if want := `{"applied":false,"path":"/w/a","code":"already_applied","message":"is so already"}`; !ok || r.Text != want || r.IsError {
		t.Errorf("got %s (error %v), want %s", r.Text, r.IsError, want)
	}
	if _, ok := Refused(fmt.Errorf("a fault")); ok {
		t.Error("a fault of ours is told as the model's")
	}
}

func TestEditTitles(t *testing.T) {
	env := editEnv(t)
	cwd := env.Files.Roots.Cwd()
	change := edits.Change{Op: edits.Update, Path: cwd.Join("a.txt"), Real: cwd.Join("a.txt"), OldText: "a\n", NewText: "b\n"}
	with := func(f func(c *edits.Change)) []edits.Change {
		c := change
		f(&c)
		return []edits.Change{c}
	}
	for want, changes := range map[string][]edits.Change{
		"Edit a.txt (+1 −1, +2 errors)":                       {change},
		"Edit a.txt (link to dist/x) (+1 −1, +2 errors)":      with(func(c *edits.Change) { c.Link, c.Real = true, cwd.Join("dist/x") }),
		"Edit a.txt (+1 −1, +2 errors), on disk: has a BOM":   with(func(c *edits.Change) { c.RouteWhy = "on disk: has a BOM" }),
		"Create a.txt (+2 errors)":                            with(func(c *edits.Change) { c.Op, c.OldText = edits.Create, "" }),
		"Edit 2 files (+2 −2, +2 errors): a.txt, /other/b\\a": {change, {Op: edits.Update, Path: "/other/b\a", Real: "/other/b\a", OldText: "a\n", NewText: "b\n"}},
	} {
		if got := EditTitle(env, changes, "+2 errors"); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
