//go:build unix

package edits

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"acp-agent/internal/workspace"
)

// tree is the content of a folder by name: text, or "-> target" for a symlink, or "dir" with a
// slash at the end of the name.
type tree map[string]string

// world is a workspace for one test.
type world struct {
	t     testing.TB
	dir   workspace.Path
	files *workspace.Files
}

func newWorld(t testing.TB, files tree) *world {
	t.Helper()
	top, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: workspace.Path(top).Join("w")}
	w.try(os.Mkdir(string(w.dir), 0o755))
	for name, content := range files {
		w.put(name, content)
	}
	roots, err := workspace.NewRoots(w.dir, "")
	w.try(err)
	w.files = &workspace.Files{Roots: roots, Charset: roots.EditorConfigCharset}
	return w
}

func (w *world) try(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) path(name string) workspace.Path { return w.dir.Join(name) }

func (w *world) put(name, content string) {
	w.t.Helper()
	p := string(w.path(name))
	w.try(os.MkdirAll(filepath.Dir(p), 0o755))
	switch {
	case strings.HasSuffix(name, "/"):
		w.try(os.MkdirAll(p, 0o755))
	case strings.HasPrefix(content, "-> "):
		w.try(os.Symlink(content[3:], p))
	default:
		w.try(os.WriteFile(p, []byte(content), 0o644))
	}
}

// tree reads everything below the workspace, temp files too. A folder with something in it is not
// listed.
func (w *world) tree() tree {
	w.t.Helper()
	out := tree{}
	w.try(filepath.WalkDir(string(w.dir), func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel := workspace.Path(p).Rel(w.dir)
		switch {
		case d.IsDir():
			if list, err := os.ReadDir(p); err == nil && len(list) == 0 && rel != "." {
				out[rel+"/"] = "dir"
			}
			return nil
		case d.Type()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			out[rel] = "-> " + target
			return err
		}
		data, err := os.ReadFile(p)
		out[rel] = string(data)
		return err
	}))
	return out
}

func (w *world) mode(name string) fs.FileMode {
	w.t.Helper()
	info, err := os.Lstat(string(w.path(name)))
	w.try(err)
	return info.Mode()
}

// call is a tool call of the model.
type call func(ctx context.Context, w *world) (*Proposal, error)

func rp(name, old, new string) call { return rps(name, Replacement{Old: old, New: new}) }

func rpAll(name, old, new string) call {
	return rps(name, Replacement{Old: old, New: new, ReplaceAll: true})
}

func rps(name string, list ...Replacement) call {
	return func(ctx context.Context, w *world) (*Proposal, error) {
		return Replace(ctx, w.files, w.path(name), list)
	}
}

func wf(name, content string) call {
	return func(ctx context.Context, w *world) (*Proposal, error) {
		return Write(ctx, w.files, w.path(name), content)
	}
}

// ap is apply_patch; the markers around the body are added.
func ap(lines ...string) call {
	return patchText("*** Begin Patch\n" + strings.Join(lines, "\n") + "\n*** End Patch\n")
}

func patchText(patch string) call {
	return func(ctx context.Context, w *world) (*Proposal, error) { return Patch(ctx, w.files, patch) }
}

// journal keeps what it is given, and can fail or do something in between.
type journal struct {
	kept     map[workspace.Hash]string
	intents  int
	onIntent func() error
}

func (j *journal) Keep(h workspace.Hash, data []byte) error {
	if j.kept == nil {
		j.kept = map[workspace.Hash]string{}
	}
	if j.intents > 0 {
		return errors.New("kept after the intent")
	}
	j.kept[h] = string(data)
	return nil
}

func (j *journal) Intent(*Proposal) error {
	j.intents++
	if j.onIntent != nil {
		return j.onIntent()
	}
	return nil
}

// edit is one case: files, a call, and what comes of it.
type edit struct {
	name  string
	files tree
	call  call
	want  tree   // what differs afterwards; "\x00" for gone
	code  Code   // refusal instead
	says  string // part of the refusal's message, or of the notes
	lines []int  // of an ambiguous refusal
	diff  [2]int // added, removed lines; not compared when both are zero
	ops   []Op   // not compared when empty
}

const gone = "\x00"

// run proposes, applies and compares; on refusal nothing may have changed.
func (c edit) run(t *testing.T) {
	t.Helper()
	defer syscall.Umask(syscall.Umask(0o022))
	w := newWorld(t, c.files)
	before := w.tree()
	p, err := c.call(t.Context(), w)
	if got := w.tree(); !maps.Equal(got, before) {
		t.Fatalf("proposing changed files: %q", got)
	}
	if c.code != "" {
		c.checkRefusal(t, p, err)
		return
	}
	if err != nil {
		t.Fatalf("refused: %v", err)
	}
	if !strings.Contains(strings.Join(p.Notes, "\n"), c.says) || c.says == "" && len(p.Notes) > 0 {
		t.Errorf("notes %q, want %q", p.Notes, c.says)
	}
	c.checkProposal(t, w, p)
	j := &journal{onIntent: func() error {
		for name, content := range w.tree() {
			if !strings.Contains(name, ".acp-agent-") && before[name] != content && !strings.HasSuffix(name, "/") {
				t.Errorf("%s was changed before the intent", name)
			}
		}
		return nil
	}}
	p.State = Approved
	landed, err := p.Apply(t.Context(), w.files, j)
	if err != nil || p.State != Applied || j.intents != 1 {
		t.Fatalf("apply: %v, state %s, %d intents", err, p.State, j.intents)
	}
	want := maps.Clone(before)
	for name, content := range c.want {
		want[name] = content
		if content == gone {
			delete(want, name)
		}
	}
	if got := w.tree(); !maps.Equal(got, want) {
		t.Errorf("files %q\nwant  %q", got, want)
	}
	for i, l := range landed {
		ch := p.Changes[i]
		if l.Change != &p.Changes[i] || l.Found != ch.After || l.Written != ch.After || ch.Op != Delete && l.Text != ch.NewText && ch.Format.Encoding != workspace.Binary {
			t.Errorf("landed %+v of %s", l, ch.Path)
		}
		if ch.OldBytes != nil && j.kept[ch.Before] != string(ch.OldBytes) {
			t.Errorf("old content of %s was not kept", ch.Path)
		}
	}
}

func (c edit) checkRefusal(t *testing.T, p *Proposal, err error) {
	t.Helper()
	var r *Refusal
	if !errors.As(err, &r) || p != nil {
		t.Fatalf("got %+v, %v; want refusal %s", p, err, c.code)
	}
	if r.Code != c.code || !strings.Contains(r.Message, c.says) && !strings.Contains(r.Nearest, c.says) || !slices.Equal(r.Lines, c.lines) {
		t.Errorf("refusal %s, lines %v: %s\n%s\nwant %s, lines %v: %s", r.Code, r.Lines, r.Message, r.Nearest, c.code, c.lines, c.says)
	}
}

// checkProposal holds what is true of every proposal.
func (c edit) checkProposal(t *testing.T, w *world, p *Proposal) {
	t.Helper()
	if p.ID == "" || p.State != Pending || len(p.Changes) == 0 {
		t.Fatalf("proposal %+v", p)
	}
	var ops []Op
	for _, ch := range p.Changes {
		ops = append(ops, ch.Op)
		if (ch.OldBytes == nil) != (ch.Before == "") || ch.OldBytes != nil && ch.Before != workspace.HashBytes(ch.OldBytes) {
			t.Errorf("%s: before %q does not fit its bytes", ch.Path, ch.Before)
		}
		if (ch.NewBytes == nil) != (ch.Op == Delete) || ch.NewBytes != nil && ch.After != workspace.HashBytes(ch.NewBytes) {
			t.Errorf("%s: after %q does not fit its bytes", ch.Path, ch.After)
		}
		if strings.Contains(ch.OldText+ch.NewText, "\uFFFD") {
			t.Errorf("%s: a replacement character in the diff", ch.Path)
		}
		if got := applyUnified(t, ch.OldText, ch.Unified("a", "b")); got != ch.NewText {
			t.Errorf("%s: its diff gives %q, want %q\n%s", ch.Path, got, ch.NewText, ch.Unified("a", "b"))
		}
	}
	if len(c.ops) > 0 && !slices.Equal(ops, c.ops) {
		t.Errorf("operations %v, want %v", ops, c.ops)
	}
	if added, removed := p.Counts(); c.diff != [2]int{} && c.diff != [2]int{added, removed} {
		t.Errorf("+%d -%d, want %v", added, removed, c.diff)
	}
}
