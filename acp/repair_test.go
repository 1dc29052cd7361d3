package acp

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/config"
	"acp-agent/internal/workspace"
	"acp-agent/provenance"
)

// wreck is a workspace with an intent whose process is gone.
type wreck struct {
	t    *testing.T
	s    *Server
	root workspace.Path
	log  *provenance.Log
}

func newWreck(t *testing.T) *wreck {
	t.Helper()
	w := &wreck{t: t, s: NewServer(Options{Home: config.Home{Dir: workspace.Path(t.TempDir())}})}
	return w.beside()
}

// beside is a further root of the same server.
func (w *wreck) beside() *wreck {
	w.t.Helper()
	real, err := filepath.EvalSymlinks(w.t.TempDir())
	if err != nil {
		w.t.Fatal(err)
	}
	other := &wreck{t: w.t, s: w.s, root: workspace.Path(real)}
	if other.log, err = provenance.Open(w.s.recordDir().String(), other.root); err != nil {
		w.t.Fatal(err)
	}
	return other
}

// deadProcess gives the number of a process that has ended.
func deadProcess(t *testing.T) int {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	return cmd.Process.Pid
}

// keep stores contents as an application does before its intent.
func (w *wreck) keep(text string) workspace.Hash {
	w.t.Helper()
	h := workspace.HashBytes([]byte(text))
	if err := w.s.blobs.Put(h, []byte(text)); err != nil {
		w.t.Fatal(err)
	}
	return h
}

// write makes a file, or a link for a text that begins with an arrow.
func (w *wreck) write(name, text string) {
	w.t.Helper()
	path := w.root.Join(name).String()
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if target, link := strings.CutPrefix(text, "-> "); link {
		err = errors.Join(err, os.Symlink(target, path))
	} else {
		err = errors.Join(err, os.WriteFile(path, []byte(text), 0o644))
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// read is write's other half: "-" is no file.
func (w *wreck) read(name string) string {
	w.t.Helper()
	path := w.root.Join(name).String()
	if target, err := os.Readlink(path); err == nil {
		return "-> " + target
	}
	data, err := os.ReadFile(path)
	switch {
	case os.IsNotExist(err):
		return "-"
	case err != nil:
		w.t.Fatal(err)
	}
	return string(data)
}

func (w *wreck) intent(files ...provenance.File) {
	w.t.Helper()
	for i := range files {
		files[i].Path = w.root.Join(string(files[i].Path))
		if files[i].To != "" {
			files[i].To = w.root.Join(string(files[i].To))
		}
	}
	if _, err := w.log.Append(provenance.Record{Kind: provenance.Intent, Session: "s", ToolCall: "c", Proposal: "p", Files: files}); err != nil {
		w.t.Fatal(err)
	}
	// The lock of a process that died is gone with it; its file may stay.
	live, err := filepath.Glob(filepath.Join(w.s.recordDir().String(), "*.live"))
	if err != nil || len(live) != 1 {
		w.t.Fatalf("live files: %v %v", live, err)
	}
	if err := os.Remove(live[0]); err != nil {
		w.t.Fatal(err)
	}
}

// mend runs the repair and checks the record that it ends the intent with, and the files: "-" is none.
func (w *wreck) mend(kind provenance.Kind, note string, files map[string]string) {
	w.t.Helper()
	done := make(chan struct{})
	w.s.repairRoot(w.t.Context(), w.root, done)
	<-done
	records, err := w.log.Records()
	if err != nil || len(records) != 2 {
		w.t.Fatalf("records: %v %v", records, err)
	}
	if last := records[1]; last.Kind != kind || !strings.Contains(last.Note, note) || last.Proposal != "p" {
		w.t.Errorf("the end is %s %q, want %s with %q", last.Kind, last.Note, kind, note)
	}
	for name, want := range files {
		if got := w.read(name); got != want {
			w.t.Errorf("%s is %q, want %q", name, got, want)
		}
	}
	if pending, err := w.log.Pending(); err != nil || len(pending) != 0 {
		w.t.Errorf("still pending: %v %v", pending, err)
	}
	if left, _ := filepath.Glob(w.root.Join(".acp-agent-*.tmp").String()); len(left) > 0 {
		w.t.Errorf("temp files left: %v", left)
	}
}

const linkMode = "120777"

// gone is the removal of what held text, of a mode as a record has it.
func (w *wreck) gone(name, text, mode string) provenance.File {
	return provenance.File{Op: "delete", Path: workspace.Path(name), Before: w.keep(text), Mode: mode}
}

func TestRepair(t *testing.T) {
	aside := workspace.TempName(deadProcess(t))
	for name, tc := range map[string]struct {
		disk   map[string]string
		files  func(w *wreck) []provenance.File
		kind   provenance.Kind
		note   string
		expect map[string]string
	}{
		"nothing was written": {
			disk: map[string]string{"a": "old"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{{Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")}}
			},
			kind: provenance.Failed, note: "rolled back", expect: map[string]string{"a": "old"},
		},
		"everything was written": {
			disk: map[string]string{"a": "new", "b": "made", "moved": "m2"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{
					{Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")},
					{Op: "create", Path: "b", After: w.keep("made")},
					{Op: "delete", Path: "c", Before: w.keep("gone")},
					{Op: "move", Path: "from", To: "moved", Before: w.keep("m1"), After: w.keep("m2")},
				}
			},
			kind: provenance.Applied, note: "finished", expect: map[string]string{"a": "new", "b": "made", "c": "-", "moved": "m2"},
		},
		"half was written": {
			disk: map[string]string{"a": "new", "b": "made", "from": "m1", "moved": "m2", "d": "old d"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{
					{Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")},
					{Op: "create", Path: "b", After: w.keep("made")},
					{Op: "delete", Path: "c", Before: w.keep("gone")},
					{Op: "move", Path: "from", To: "moved", Before: w.keep("m1"), After: w.keep("m2")},
					{Op: "update", Path: "d", Before: w.keep("old d"), After: w.keep("new d")},
				}
			},
			kind: provenance.Failed, note: "rolled back",
			expect: map[string]string{"a": "old", "b": "-", "c": "gone", "from": "m1", "moved": "-", "d": "old d"},
		},
		"a file was torn": {
			disk: map[string]string{"a": "NEW TEXt of before"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{{Op: "update", Path: "a", Before: w.keep("old text of before"), After: w.keep("NEW TEXT")}}
			},
			kind: provenance.Failed, note: "rolled back", expect: map[string]string{"a": "old text of before"},
		},
		"somebody changed it since": {
			disk: map[string]string{"a": "mine", "b": "made"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{
					{Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")},
					{Op: "create", Path: "b", After: w.keep("made")},
				}
			},
			kind: provenance.Failed, note: "changed since and stays", expect: map[string]string{"a": "mine", "b": "-"},
		},
		"a file was put aside to be renamed by case": {
			disk: map[string]string{aside: "same"},
			files: func(w *wreck) []provenance.File {
				f := w.gone("readme", "same", "100644")
				f.Op, f.To, f.After = "move", "README", f.Before
				return []provenance.File{f}
			},
			kind: provenance.Failed, note: "rolled back", expect: map[string]string{"readme": "same", "README": "-"},
		},
		"a link was not yet deleted": {
			disk:  map[string]string{"l": "-> nowhere"},
			files: func(w *wreck) []provenance.File { return []provenance.File{w.gone("l", "nowhere", linkMode)} },
			kind:  provenance.Failed, note: "rolled back", expect: map[string]string{"l": "-> nowhere"},
		},
		"a link to a folder was not yet deleted": {
			disk:  map[string]string{"d/x": "x", "l": "-> d"},
			files: func(w *wreck) []provenance.File { return []provenance.File{w.gone("l", "d", linkMode)} },
			kind:  provenance.Failed, note: "rolled back", expect: map[string]string{"l": "-> d", "d/x": "x"},
		},
		"a link was deleted, and nothing else": {
			disk: map[string]string{"a": "old", "d/x": "x"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{w.gone("l", "d/x", linkMode), {Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")}}
			},
			kind: provenance.Failed, note: "rolled back", expect: map[string]string{"l": "-> d/x", "d/x": "x", "a": "old"},
		},
		"a link was put aside, and nothing else done": {
			disk: map[string]string{"a": "old", "d/x": "x", ".acp-agent-y.tmp": "-> d/x"},
			files: func(w *wreck) []provenance.File {
				return []provenance.File{w.gone("l", "d/x", linkMode), {Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")}}
			},
			kind: provenance.Failed, note: "rolled back", expect: map[string]string{"l": "-> d/x", "d/x": "x", "a": "old"},
		},
		"a link was deleted, as all that was to be done": {
			disk:  map[string]string{"d/x": "x"},
			files: func(w *wreck) []provenance.File { return []provenance.File{w.gone("l", "d/x", linkMode)} },
			kind:  provenance.Applied, note: "finished", expect: map[string]string{"l": "-", "d/x": "x"},
		},
		"a file of a link's content stands in a link's place": {
			disk:  map[string]string{"l": "nowhere"},
			files: func(w *wreck) []provenance.File { return []provenance.File{w.gone("l", "nowhere", linkMode)} },
			kind:  provenance.Failed, note: "changed since and stays", expect: map[string]string{"l": "nowhere"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWreck(t)
			for name, text := range tc.disk {
				w.write(name, text)
			}
			w.write(workspace.TempName(deadProcess(t)), "gone")
			w.intent(tc.files(w)...)
			w.mend(tc.kind, tc.note, tc.expect)
		})
	}
}

// A file that comes back from checkpoints has the mode that it had.
func TestRepairKeepsModes(t *testing.T) {
	w := newWreck(t)
	w.write("a", "old")
	w.intent(w.gone("run.sh", "#!/bin/sh\n", "100750"),
		provenance.File{Op: "update", Path: "a", Before: w.keep("old"), After: w.keep("new")})
	w.mend(provenance.Failed, "rolled back", map[string]string{"a": "old", "run.sh": "#!/bin/sh\n"})
	st, err := os.Stat(w.root.Join("run.sh").String())
	if err != nil || st.Mode() != fs.FileMode(0o750) {
		t.Errorf("mode %v, %v", st.Mode(), err)
	}
}
