package provenance

import (
	"bufio"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"acp-agent/internal/workspace"
)

func openLog(t testing.TB) (*Log, string, workspace.Path) {
	t.Helper()
	dir, root := filepath.Join(t.TempDir(), "home", "provenance"), workspace.Path(t.TempDir())
	l, err := Open(dir, root)
	if err != nil {
		t.Fatal(err)
	}
	return l, dir, root
}

func mustAppend(t testing.TB, l *Log, r Record) Record {
	t.Helper()
	r, err := l.Append(r)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func mustVerify(t testing.TB, path string) Report {
	t.Helper()
	rep, err := Verify(path)
	if err != nil {
		t.Fatal(err)
	}
	return rep
}

func full(session string) Record {
	return Record{
		Kind: Applied, Session: session, Turn: 3, ToolCall: "call_1", Proposal: "p1", Model: "scripted/x",
		Files: []File{
			{Op: "update", Path: "/w/ü <&> \u2028 \"q\"\n.go", Before: workspace.HashBytes([]byte("a")), After: workspace.HashBytes([]byte("b"))},
			{Op: "move", Path: "/w/a", To: "/w/b", Before: "1", After: "2", Found: "3"},
		},
		Decision:    &Decision{By: "user", Option: "allow_once", WaitedMS: 1234},
		Diagnostics: &Counts{Before: 2, After: 1}, Note: "n",
	}
}

func TestAppendAndReadBack(t *testing.T) {
	l, dir, root := openLog(t)
	if _, err := os.Stat(filepath.Dir(dir)); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("opening made something: %v", err)
	}
	if recs, err := l.Records(); err != nil || recs != nil {
		t.Fatalf("%v %v", recs, err)
	}
	if recs, err := l.Pending(); err != nil || recs != nil {
		t.Fatalf("%v %v", recs, err)
	}
	start := time.Now()
	a := mustAppend(t, l, full("s1"))
	b := mustAppend(t, l, Record{Kind: Decided, Session: "s1"})
	if a.V != 1 || a.Seq != 1 || a.Prev != "" || len(a.Hash) != 64 || a.Time.Before(start) {
		t.Errorf("first record %+v", a)
	}
	if b.Seq != 2 || b.Prev != a.Hash {
		t.Errorf("second record %+v", b)
	}
	again, err := Open(dir, root)
	if err != nil {
		t.Fatal(err)
	}
	got, err := again.Records()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Record{a, b}, got); diff != "" {
		t.Errorf("(-appended +read)\n%s", diff)
	}
	rep := mustVerify(t, l.Path())
	if !rep.OK() || rep.Records != 2 || len(rep.Warnings) != 0 || rep.Root != l.root {
		t.Errorf("%+v", rep)
	}
	for _, path := range []string{dir, l.Path(), l.headPath()} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others: %v", path, info.Mode())
		}
	}
}

// The line is public: its members and their order are the contract's, and the hash can be computed
// from the RFC 8785 form by anybody.
func TestLineOnDisk(t *testing.T) {
	l, _, _ := openLog(t)
	r := Record{Kind: Applied, Session: "s", Turn: 1, ToolCall: "c", Proposal: "p", Model: "m/x", Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC),
		Files: []File{{Op: "create", Path: "/w/<a>", After: "ff"}}}
	mustAppend(t, l, r)
	data, err := os.ReadFile(l.Path())
	if err != nil {
		t.Fatal(err)
	}
	want := `{"v":1,"seq":1,"ts":"2026-01-02T03:04:05.000006Z","kind":"applied","session":"s","turn":1,"tool_call":"c","proposal":"p",` +
		`"files":[{"op":"create","path":"/w/<a>","before":"","after":"ff"}],"model":"m/x","prev":"","hash":"`
	if !strings.HasPrefix(string(data), want) {
		t.Errorf("line\n%swant\n%s", data, want)
	}
	canonical := `{"files":[{"after":"ff","before":"","op":"create","path":"/w/<a>"}],"kind":"applied","model":"m/x","prev":"","proposal":"p",` +
		`"seq":1,"session":"s","tool_call":"c","ts":"2026-01-02T03:04:05.000006Z","turn":1,"v":1}`
	if hash := string(workspace.HashBytes([]byte(canonical))); !strings.HasSuffix(string(data), `"hash":"`+hash+"\"}\n") {
		t.Errorf("hash in %s is not %s", data, hash)
	}
}

func TestFileNameIsOfTheRealPath(t *testing.T) {
	dir, root := t.TempDir(), t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(root, link); err != nil {
		t.Fatal(err)
	}
	a, err := Open(dir, workspace.Path(root))
	if err != nil {
		t.Fatal(err)
	}
	b, err := Open(dir, workspace.Path(link))
	if err != nil {
		t.Fatal(err)
	}
	real, err := filepath.EvalSymlinks(root)
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(dir, string(workspace.HashBytes([]byte(real)))[:16]+".jsonl")
	if a.Path() != want || b.Path() != want {
		t.Errorf("%s and %s, want %s", a.Path(), b.Path(), want)
	}
}

func TestSeveralLogsAndGoroutinesOnOneFile(t *testing.T) {
	_, dir, root := openLog(t)
	var wg sync.WaitGroup
	for range 4 {
		l, err := Open(dir, root)
		if err != nil {
			t.Fatal(err)
		}
		for g := range 5 {
			wg.Go(func() {
				for i := range 10 {
					if _, err := l.Append(Record{Kind: Applied, Turn: i, Session: strconv.Itoa(g)}); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
	}
	wg.Wait()
	paths, err := Logs(dir)
	if err != nil || len(paths) != 1 {
		t.Fatalf("%v %v", paths, err)
	}
	if rep := mustVerify(t, paths[0]); !rep.OK() || rep.Records != 200 || len(rep.Warnings) != 0 {
		t.Errorf("%+v", rep)
	}
}

func childCommand(t *testing.T, job string, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, args...)
	cmd.Env = append(os.Environ(), childEnv+"="+job)
	cmd.Stderr = os.Stderr
	return cmd
}

func TestTwoProcesses(t *testing.T) {
	l, dir, root := openLog(t)
	const each = 60
	var cmds []*exec.Cmd
	for _, name := range []string{"a", "b"} {
		cmd := childCommand(t, "append", dir, string(root), name, strconv.Itoa(each))
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds = append(cmds, cmd)
	}
	for i := range each {
		mustAppend(t, l, Record{Kind: Applied, Session: "parent", Turn: i})
	}
	for _, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
	}
	if rep := mustVerify(t, l.Path()); !rep.OK() || rep.Records != 3*each || len(rep.Warnings) != 0 {
		t.Errorf("%+v", rep)
	}
	recs, err := l.Records()
	if err != nil {
		t.Fatal(err)
	}
	turns := map[string]int{}
	for _, r := range recs {
		if r.Turn != turns[r.Session] {
			t.Fatalf("%s: turn %d where %d belongs", r.Session, r.Turn, turns[r.Session])
		}
		turns[r.Session]++
	}
}

func proposals(recs []Record) []string {
	var names []string
	for _, r := range recs {
		names = append(names, r.Proposal)
	}
	return names
}

func mustPending(t *testing.T, l *Log, want ...string) {
	t.Helper()
	recs, err := l.Pending()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, proposals(recs)); diff != "" {
		t.Errorf("pending (-want +got)\n%s", diff)
	}
}

// An intent belongs to a crash only when its process is gone.
func TestPendingLeavesRunningProcessesAlone(t *testing.T) {
	l, dir, root := openLog(t)
	cmd := childCommand(t, "intent", dir, string(root), "p-child")
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "begun\n" {
		t.Fatalf("%q %v", line, err)
	}
	mustAppend(t, l, Record{Kind: Intent, Session: "s", Proposal: "p-own"})
	mustPending(t, l)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // killed
	mustPending(t, l, "p-child")
	other, err := Open(dir, root)
	if err != nil {
		t.Fatal(err)
	}
	mustPending(t, other, "p-child")

	mustAppend(t, other, Record{Kind: Failed, Session: "p-child", Proposal: "p-child", Note: "rolled back at start"})
	mustAppend(t, l, Record{Kind: Applied, Session: "s", Proposal: "p-own"})
	mustPending(t, l)
	left, err := filepath.Glob(filepath.Join(dir, "*.live"))
	if err != nil || left != nil {
		t.Errorf("lock files left: %v %v", left, err)
	}
}

func TestPendingPairsIntentsWithTheirEnds(t *testing.T) {
	write, dir, root := openLog(t)
	for _, r := range []Record{
		{Kind: Intent, Session: "s", Proposal: "1"},
		{Kind: Intent, Session: "s", Proposal: "2"},
		{Kind: Applied, Session: "s", Proposal: "1"},
		{Kind: Intent, Session: "other", Proposal: "1"},
		{Kind: External, Session: "s", Proposal: "2"},
		{Kind: Intent, Session: "s", ToolCall: "c", Proposal: ""},
		{Kind: Decided, Session: "other", Proposal: "1"},
		{Kind: Intent, Session: "s", Proposal: "4"},
		{Kind: Undo, Session: "s", Proposal: "4"},
		{Kind: Intent, Session: "s", Proposal: "5"},
		{Kind: Failed, Session: "s", Proposal: "5"},
	} {
		mustAppend(t, write, r)
	}
	// The process "dies": its lock files are let go, as the system does.
	for seq, lock := range write.live {
		if err := lock.Unlock(); err != nil {
			t.Fatalf("%d: %v", seq, err)
		}
	}
	for _, headGone := range []bool{false, true} {
		if headGone {
			if err := os.Remove(write.headPath()); err != nil {
				t.Fatal(err)
			}
		}
		l, err := Open(dir, root)
		if err != nil {
			t.Fatal(err)
		}
		mustPending(t, l, "2", "1", "")
	}
}

func TestAppendToADamagedFolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(dir, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l, err := Open(filepath.Join(dir, "provenance"), workspace.Path(t.TempDir()))
	if err == nil {
		_, err = l.Append(Record{Kind: Applied})
	}
	if err == nil || !strings.Contains(err.Error(), dir) {
		t.Errorf("error %v does not name %s", err, dir)
	}
}

// The cost of an append must not grow with the log: 100,000 records are a year of work.
func BenchmarkAppend(b *testing.B) {
	for _, n := range []int{0, 100_000} {
		b.Run(strconv.Itoa(n), func(b *testing.B) {
			l, dir, root := openLog(b)
			if err := os.MkdirAll(dir, 0o700); err != nil {
				b.Fatal(err)
			}
			fill(b, l, n)
			l, err := Open(dir, root)
			if err != nil {
				b.Fatal(err)
			}
			r := full("s")
			var syncs, appends []time.Duration
			f, err := os.OpenFile(filepath.Join(dir, "bare"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			line := make([]byte, 700)
			for b.Loop() {
				start := time.Now()
				if _, err := f.Write(line); err != nil {
					b.Fatal(err)
				}
				if err := f.Sync(); err != nil {
					b.Fatal(err)
				}
				middle := time.Now()
				if _, err := l.Append(r); err != nil {
					b.Fatal(err)
				}
				syncs, appends = append(syncs, middle.Sub(start)), append(appends, time.Since(middle))
			}
			b.ReportMetric(float64(median(syncs).Microseconds()), "µs-bare-sync")
			b.ReportMetric(float64(median(appends).Microseconds()), "µs-append")
		})
	}
}

func BenchmarkVerify(b *testing.B) {
	l, _, _ := openLog(b)
	fill(b, l, 10_000)
	for b.Loop() {
		if rep := mustVerify(b, l.path); !rep.OK() {
			b.Fatalf("%+v", rep)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N)/10_000, "µs/record")
}
