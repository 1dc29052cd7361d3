package provenance

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}

// fill writes n records in one go, the way Append chains them.
func fill(t testing.TB, l *Log, n int) {
	t.Helper()
	if n == 0 {
		return
	}
	mustAppend(t, l, full("first"))
	var b bytes.Buffer
	next := l.tail.clone()
	for range n - 1 {
		r := full("s")
		line, err := seal(&r, next.seq+1, next.hash)
		if err != nil {
			t.Fatal(err)
		}
		next.add(linkOf(r), int64(len(line)))
		b.Write(line)
	}
	f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := f.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	if err := writeHead(l.headPath(), l.root, next.head()); err != nil {
		t.Fatal(err)
	}
}

// tampered is a log of ten records whose lines were changed by do.
func tampered(t *testing.T, do func(lines []string) []string) (*Log, string) {
	t.Helper()
	l, _, _ := openLog(t)
	for range 10 {
		mustAppend(t, l, full("s"))
	}
	data, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(string(data), "\n"), "\n")
	lines[len(lines)-1] += "\n"
	if err := os.WriteFile(l.path, []byte(strings.Join(do(lines), "")), 0o600); err != nil {
		t.Fatal(err)
	}
	return l, l.path
}

func TestVerifyFindsTampering(t *testing.T) {
	tests := []struct {
		name    string
		do      func(lines []string) []string
		bad     int64
		problem string
	}{
		{"nothing", func(l []string) []string { return l }, 0, ""},
		{"changed value", func(l []string) []string {
			l[4] = strings.Replace(l[4], "allow_once", "allow_twice", 1)
			return l
		}, 5, "content does not match"},
		{"changed number", func(l []string) []string { l[0] = strings.Replace(l[0], `"turn":3`, `"turn":4`, 1); return l }, 1, "content does not match"},
		{"added member", func(l []string) []string { l[4] = strings.Replace(l[4], `{"v":1,`, `{"v":1,"x":1,`, 1); return l }, 5, "content does not match"},
		{"member twice", func(l []string) []string {
			l[4] = strings.Replace(l[4], `{"v":1,`, `{"kind":"failed","v":1,`, 1)
			return l
		}, 5, "canonical form"},
		{"hash twice", func(l []string) []string { l[4] = strings.Replace(l[4], `{"v":1,`, `{"hash":"","v":1,`, 1); return l }, 5, "two hashes"},
		{"changed hash", func(l []string) []string {
			at, digit := len(l[4])-5, "0"
			if l[4][at:at+1] == digit {
				digit = "1"
			}
			l[4] = l[4][:at] + digit + l[4][at+1:]
			return l
		}, 5, ""},
		{"changed and hashed again", func(l []string) []string {
			k, _ := parseLink([]byte(strings.TrimSuffix(l[4], "\n")))
			body := strings.Replace(string(k.body), "allow_once", "allow_twice", 1)
			hash, _ := chainHash(k.Prev, []byte(body))
			l[4] = strings.TrimSuffix(body, "}") + `,"hash":"` + hash + "\"}\n"
			return l
		}, 6, "not chained"},
		{"deleted first", func(l []string) []string { return l[1:] }, 1, "record 2 stands where record 1"},
		{"deleted middle", func(l []string) []string { return slices.Delete(l, 4, 6) }, 5, "record 7 stands where record 5"},
		{"deleted last", func(l []string) []string { return l[:9] }, 10, "records 10 to 10 are missing"},
		{"deleted many", func(l []string) []string { return l[:3] }, 4, "records 4 to 10 are missing"},
		{"emptied", func(l []string) []string { return nil }, 1, "records 1 to 10 are missing"},
		{"cut inside a line", func(l []string) []string { l[6] = l[6][:40]; return l[:7] }, 7, "records 7 to 10 are missing"},
		{"reordered", func(l []string) []string { l[3], l[4] = l[4], l[3]; return l }, 4, "record 5 stands where record 4"},
		{"repeated", func(l []string) []string { return slices.Insert(l, 4, l[3]) }, 5, "record 4 stands where record 5"},
		{"foreign line", func(l []string) []string { l[2] = "hello\n"; return l }, 3, "line 3 is not a record"},
		{"empty line", func(l []string) []string { return slices.Insert(l, 2, "\n") }, 3, "line 3 is not a record"},
		{"zeros", func(l []string) []string { l[2] = strings.Repeat("\x00", len(l[2])-1) + "\n"; return l }, 3, "line 3 is not a record"},
		{"all hashed again", func(l []string) []string {
			prev := ""
			for i, line := range l {
				k, _ := parseLink([]byte(strings.TrimSuffix(line, "\n")))
				body := strings.Replace(string(k.body), "allow_once", "allow_twice", 1)
				body = strings.Replace(body, `"prev":"`+k.Prev, `"prev":"`+prev, 1)
				prev, _ = chainHash(prev, []byte(body))
				l[i] = strings.TrimSuffix(body, "}") + `,"hash":"` + prev + "\"}\n"
			}
			return l
		}, 10, "rewritten"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			l, path := tampered(t, tt.do)
			rep := mustVerify(t, path)
			if rep.BadSeq != tt.bad || !strings.Contains(rep.Problem, tt.problem) {
				t.Errorf("bad seq %d (%s), want %d (%s)", rep.BadSeq, rep.Problem, tt.bad, tt.problem)
			}
			// A damaged log goes on recording, and going on does not cover the damage up.
			if _, err := l.Append(full("later")); err != nil {
				t.Fatal(err)
			}
			if after := mustVerify(t, path); after.OK() != (tt.bad == 0) {
				t.Errorf("after another append: %+v", after)
			}
		})
	}
}

func TestVerifyWithoutLogOrHead(t *testing.T) {
	l, path := tampered(t, func(l []string) []string { return l })
	if err := os.Remove(l.headPath()); err != nil {
		t.Fatal(err)
	}
	if rep := mustVerify(t, path); !rep.OK() || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "no head file") {
		t.Errorf("%+v", rep)
	}
	if err := os.WriteFile(l.headPath(), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if rep := mustVerify(t, path); !rep.OK() || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "cannot be read") {
		t.Errorf("%+v", rep)
	}
	mustAppend(t, l, full("s"))
	if rep := mustVerify(t, path); !rep.OK() || rep.Records != 11 {
		t.Errorf("%+v", rep)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	logs, err := Logs(filepath.Dir(path))
	if err != nil || !slices.Equal(logs, []string{path}) {
		t.Errorf("%v %v", logs, err)
	}
	if rep := mustVerify(t, path); rep.OK() || !strings.Contains(rep.Problem, "the log is gone") {
		t.Errorf("%+v", rep)
	}
	if _, err := Verify(filepath.Join(t.TempDir(), "none.jsonl")); err == nil {
		t.Error("no error for a file that never was")
	}
}

func TestTornLineIsHealed(t *testing.T) {
	for _, torn := range []string{"{", `{"v":1,"seq":11,"ts":"2026-`, "\x00\x00\x00\x00", strings.Repeat("x", 200_000)} {
		for _, by := range []string{"open", "append", "append by a log opened before"} {
			t.Run(fmt.Sprintf("%.10q %s", torn, by), func(t *testing.T) {
				l, dir, root := openLog(t)
				for range 10 {
					mustAppend(t, l, full("s"))
				}
				f, err := os.OpenFile(l.path, os.O_WRONLY|os.O_APPEND, 0)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := f.WriteString(torn); err != nil {
					t.Fatal(err)
				}
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				if rep := mustVerify(t, l.path); !rep.OK() || len(rep.Warnings) != 1 || !strings.Contains(rep.Warnings[0], "torn") {
					t.Errorf("before: %+v", rep)
				}
				want := 11
				if by != "append by a log opened before" {
					if l, err = Open(dir, root); err != nil {
						t.Fatal(err)
					}
				}
				if by == "open" {
					want = 10
				} else {
					mustAppend(t, l, full("s"))
				}
				rep := mustVerify(t, l.path)
				if !rep.OK() || rep.Records != want || len(rep.Warnings) != 1 ||
					!strings.Contains(rep.Warnings[0], fmt.Sprintf("a torn line of %d bytes behind record 10", len(torn))) {
					t.Errorf("after: %+v", rep)
				}
			})
		}
	}
}

// A log that was cut at any byte is either noticed or still whole.
func TestEveryCutIsNoticed(t *testing.T) {
	l, _, _ := openLog(t)
	for range 4 {
		mustAppend(t, l, Record{Kind: Applied, Session: "s"})
	}
	data, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(data) {
		if err := os.WriteFile(l.path, data[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		if rep := mustVerify(t, l.path); rep.OK() {
			t.Fatalf("cut at byte %d of %d is not noticed", n, len(data))
		}
	}
}

// Any change of any byte of a record is noticed, or is one that JSON does not see.
func TestEveryChangeIsNoticed(t *testing.T) {
	l, _, _ := openLog(t)
	for range 3 {
		mustAppend(t, l, full("s"))
	}
	data, err := os.ReadFile(l.path)
	if err != nil {
		t.Fatal(err)
	}
	before, err := l.Records()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(rt *rapid.T) {
		i := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
		c := rapid.Byte().Draw(rt, "byte")
		changed := bytes.Clone(data)
		changed[i] = c
		if err := os.WriteFile(l.path, changed, 0o600); err != nil {
			rt.Fatal(err)
		}
		if rep := mustVerify(t, l.path); rep.OK() {
			after, err := ReadFile(l.path)
			if err != nil || !cmp.Equal(after, before) {
				rt.Fatalf("byte %d set to %q is not noticed (%v)", i, c, err)
			}
		}
	})
}
