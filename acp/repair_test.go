package acp

import (
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
	home, root := t.TempDir(), t.TempDir()
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	w := &wreck{t: t, root: workspace.Path(real), s: NewServer(Options{Home: config.Home{Dir: workspace.Path(home)}})}
	w.log, err = provenance.Open(w.s.recordDir().String(), w.root)
	if err != nil {
		t.Fatal(err)
	}
	return w
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

func (w *wreck) write(name, text string) {
	w.t.Helper()
	if err := os.WriteFile(w.root.Join(name).String(), []byte(text), 0o644); err != nil {
		w.t.Fatal(err)
	}
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
		data, err := os.ReadFile(w.root.Join(name).String())
		got := string(data)
		if os.IsNotExist(err) {
			got = "-"
		}
		if got != want {
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

func TestRepair(t *testing.T) {
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
