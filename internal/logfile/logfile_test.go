package logfile

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestNothingIsMadeBeforeTheFirstRecord(t *testing.T) {
	path := filepath.Join(t.TempDir(), "home", "logs", "agent.log")
	l := New(Options{Path: path, Level: slog.LevelInfo})
	l.Logger().Debug("below the level")
	if _, err := os.Stat(filepath.Dir(filepath.Dir(path))); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("something was made: %v", err)
	}
	l.Logger().Info("hello", "name", "a b")
	l.SetLevel(slog.LevelDebug)
	l.Logger().Debug("now")
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	l.Logger().Info("after the end")
	text := read(t, path)
	if !strings.Contains(text, `level=INFO msg=hello pid=`) || !strings.Contains(text, `name="a b"`) || !strings.Contains(text, "msg=now") || strings.Contains(text, "after") || strings.Contains(text, "below") {
		t.Errorf("%s", text)
	}
	if l.Dropped() != 1 {
		t.Errorf("%d dropped", l.Dropped())
	}
	for p, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(p); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v %v", p, info.Mode(), err)
		}
	}
}

func TestRotation(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.log")
	l := New(Options{Path: path, MaxBytes: 1000, Keep: 2})
	defer l.Close()
	for i := range 100 {
		l.Logger().Info("record", "n", i)
	}
	var kept []string
	for _, name := range []string{"agent.log.2", "agent.log.1", "agent.log"} {
		text := read(t, filepath.Join(dir, name))
		if len(text) > 1000 || text == "" {
			t.Errorf("%s has %d bytes", name, len(text))
		}
		kept = append(kept, strings.Split(strings.TrimSpace(text), "\n")...)
	}
	for i, line := range kept {
		if want := fmt.Sprintf("n=%d", 100-len(kept)+i); !strings.HasSuffix(line, want) {
			t.Fatalf("line %d is %q, want %s", i, line, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "agent.log.3")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a third file is kept: %v", err)
	}
}

// Several processes share the file: no record is lost or torn when they rotate it under each other.
func TestSharedFile(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "agent.log")
	var wg sync.WaitGroup
	for g := range 4 {
		l := New(Options{Path: path, MaxBytes: 4000, Keep: 100})
		wg.Go(func() {
			defer l.Close()
			for i := range 100 {
				l.Logger().Info("record", "who", g, "n", i)
			}
			if l.Dropped() > 0 {
				t.Errorf("%d dropped", l.Dropped())
			}
		})
	}
	wg.Wait()
	files, err := filepath.Glob(path + "*")
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, file := range files {
		for _, line := range strings.Split(strings.TrimSpace(read(t, file)), "\n") {
			if _, tail, ok := strings.Cut(line, "who="); ok {
				seen[tail]++
			}
		}
	}
	if len(seen) != 400 {
		t.Errorf("%d records of 400", len(seen))
	}
	for tail, n := range seen {
		if n != 1 {
			t.Errorf("%s stands %d times", tail, n)
		}
	}
}

func TestALogThatCannotBeWrittenStopsNobody(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(Options{Path: filepath.Join(file, "logs", "agent.log")})
	defer l.Close()
	l.Logger().Error("lost")
	if l.Dropped() != 1 {
		t.Errorf("%d dropped", l.Dropped())
	}
}

func TestLongRecordsAreCut(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.log")
	l := New(Options{Path: path})
	defer l.Close()
	l.Redactor().Add("hunter2-hunter2")
	l.Logger().Info("long", "text", strings.Repeat("hunter2-hunter2 ", 1<<16))
	text := read(t, path)
	if len(text) > maxRecord+20 || !strings.HasSuffix(text, "(cut)\n") || strings.Contains(text, "hun") {
		t.Errorf("%d bytes, ending %q", len(text), text[max(0, len(text)-40):])
	}
}

func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		env, configured string
		want            slog.Level
		fault           string
	}{
		{"", "", slog.LevelInfo, ""}, {"", "warn", slog.LevelWarn, ""}, {"DEBUG", "warn", slog.LevelDebug, ""}, {"error", "", slog.LevelError, ""},
		{"loud", "warn", slog.LevelInfo, "ACP_AGENT_LOG"}, {"", "loud", slog.LevelInfo, "log.level"},
	} {
		got, err := Level(func(string) string { return tt.env }, tt.configured)
		if got != tt.want || (err == nil) != (tt.fault == "") || err != nil && !strings.Contains(err.Error(), tt.fault) {
			t.Errorf("%q %q: %v %v", tt.env, tt.configured, got, err)
		}
	}
}

func TestRedaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "agent.log")
	l := New(Options{Path: path})
	defer l.Close()
	l.Redactor().Add("hunter2-hunter2")
	l.Redactor().Add(`we"ird\secret`)
	l.Redactor().Add("ab") // too short to be one
	l.Logger().Info("told of hunter2-hunter2", "a", `x we"ird\secret y`, "b", []string{"hunter2-hunter2"}, slog.Group("g", "err", errors.New("401 for hunter2-hunter2")))
	if text := read(t, path); strings.Contains(text, "hunter2") || strings.Contains(text, "ird") || strings.Contains(text, "secret y") || strings.Count(text, mask) != 4 {
		t.Errorf("%s", text)
	}
	r := NewRedactor()
	for in, want := range map[string]string{
		"Authorization: Bearer abc.def-123":                                          "Authorization: Bearer [redacted]",
		`{"authorization":["Bearer abcdefgh"]}`:                                      `{"authorization":["Bearer [redacted]"]}`,
		`headers="Authorization: Basic dXNlcjpwYXNz"`:                                `headers="Authorization: Basic [redacted]"`,
		`{\"x-api-key\":\"s3cr3tvalue\",\"n\":1}`:                                    `{\"x-api-key\":\"[redacted]\",\"n\":1}`,
		"api_key=abcdef next=1":                                                      "api_key=[redacted] next=1",
		"OPENAI_API_KEY=abcdef":                                                      "OPENAI_API_KEY=[redacted]",
		"password: hunter2x":                                                         "password: [redacted]",
		"GET https://user:pa55word@host/x?a=1":                                       "GET https://user:[redacted]@host/x?a=1",
		"https://h/x?token=abcdef&b=2":                                               "https://h/x?token=[redacted]&b=2",
		"key sk-proj-abcdefghijklmnop used":                                          "key [redacted] used",
		"ghp_abcdefghijklmnopqrstuvwxyz0123":                                         "[redacted]",
		"AKIAABCDEFGHIJKLMNOP":                                                       "[redacted]",
		"jwt eyJhbGciOiJIUzI1.eyJzdWIiOiIx.abc_def":                                  "jwt [redacted]",
		"-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY----- after": "[redacted] after",
		"-----BEGIN PRIVATE KEY-----\\nMIIE":                                         "[redacted]",
		"max_tokens=4096 input_tokens: 10 tokens=7":                                  "max_tokens=4096 input_tokens: 10 tokens=7",
		"desk-lamp sk-short secretary=bob the token is missing":                      "desk-lamp sk-short secretary=bob the token is missing",
		"path=/home/u/src/token.go:12":                                               "path=/home/u/src/token.go:12",
		"http://127.0.0.1:8000/v1":                                                   "http://127.0.0.1:8000/v1",
	} {
		if got := r.String(in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}
