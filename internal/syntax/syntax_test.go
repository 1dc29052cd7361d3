package syntax

import (
	"fmt"
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	tests := []struct {
		name, text string
		status     Status
		at         string // line:col of the first problem
		message    string // part of it
	}{
		{"a.go", "package a\n\nfunc f() {}\n", OK, "", ""},
		{"a.go", "package a\n\nfunc f() { x := }\n", Error, "3:17", "expected operand"},
		{"a.go", "package a\n\n// é😀\nvar s = \"é😀\" +\n", Error, "4:16", "expected"},
		{"a.go", "package a\nvar s = \"é😀\" )\n", Error, "2:14", "expected"},
		{"a.json", `{"a": [1, 2, {"b": null}]}` + "\n", OK, "", ""},
		{"a.json", "{\n  \"a\": 1,\n}\n", Error, "3:1", "invalid character"},
		{"a.json", "", Error, "1:1", "empty"},
		{"a.json", "{\"a\": 1", Error, "1:8", "unexpected end"},
		{"a.json", "{} {}", Error, "1:4", "after the JSON value"},
		{"a.json", "{\"é😀\": x}", Error, "1:8", "invalid character"},
		{"tsconfig.json", "{\n  // note\n  \"a\": [1, 2,], /* b */\n}\n", OK, "", ""},
		{"tsconfig.build.json", "{\"u\": \"http://x/y\",}", OK, "", ""},
		{"settings.json", "{\"a\": }", Error, "1:7", "invalid character"},
		{"a.jsonc", "{\"a\": \"// not a comment\", \"b\": \"/*\"}", OK, "", ""},
		{"a.jsonc", "{ /* open", Error, "1:3", "invalid character"},
		{"a.yaml", "a: 1\nb:\n  - x\n---\nc: 2\n", OK, "", ""},
		{"a.yml", "a: [1, 2\n", Error, "", ""},
		{"a.yaml", "a: 1\n b: 2\n", Error, "", ""},
		{"long.yaml", strings.Repeat("a: [\n", maxYAMLLines+1), Skipped, "", ""},
		{"chart.yaml", "a: {{ .Values.x }}\n", OK, "", ""},
		{"a.toml", "a = 1\n[b]\nc = \"x\"\n", OK, "", ""},
		{"a.toml", "a = \n", Error, "1:5", "expected value"},
		{"a.sh", "if true; then echo hi; fi\n", OK, "", ""},
		{"a.sh", "if true; then echo hi\n", Error, "1:1", "if"},
		{"run", "#!/usr/bin/env bash\necho \"hi\n", Error, "2:6", "quote"},
		{"run", "#!/usr/bin/env python3\nprint(\n", Skipped, "", ""},
		{"a.py", "def f(:\n", Skipped, "", ""},
		{"big.json", strings.Repeat("[", maxSize+1), Skipped, "", ""},
		{"deep.json", strings.Repeat("[", 20000), Skipped, "", ""},
	}
	for i, tt := range tests {
		t.Run(fmt.Sprintf("%d-%s", i, tt.name), func(t *testing.T) {
			r := Check(tt.name, tt.text)
			if r.Status != tt.status {
				t.Fatalf("status %s, want %s (%v)", r.Status, tt.status, r.Problems)
			}
			if tt.status != Error {
				return
			}
			if len(r.Problems) == 0 || len(r.Problems) > maxProblems {
				t.Fatalf("%d problems", len(r.Problems))
			}
			p := r.Problems[0]
			if at := fmt.Sprintf("%d:%d", p.Line, p.Column); tt.at != "" && at != tt.at {
				t.Errorf("at %s, want %s: %s", at, tt.at, p.Message)
			}
			if !strings.Contains(p.Message, tt.message) {
				t.Errorf("message %q lacks %q", p.Message, tt.message)
			}
			if out := r.Output(); !strings.HasPrefix(out, fmt.Sprintf("%d:%d ", p.Line, p.Column)) {
				t.Errorf("output %q", out)
			}
		})
	}
}

// Nesting that no person writes must cost neither the stack nor minutes: every language, every opener,
// just below the bound and far above it.
func TestHostileNesting(t *testing.T) {
	for _, name := range []string{"a.go", "a.json", "a.jsonc", "a.yaml", "a.toml", "a.sh"} {
		for _, unit := range []string{"[", "{", "(", "`", "$(", "$((", "- ", "? ", "a: ", "{a: ", "if ", "if true; then ", "a=[", "a={", "[[", "'", "\"$(", "\n- ", "\n[", "<<E\n"} {
			for _, n := range []int{maxDepth - 1, 200_000} {
				prefix := map[string]string{"a.go": "package a; var x = ", "a.toml": "a = "}[name]
				if r := Check(name, prefix+strings.Repeat(unit, n)); r.Status == OK && name == "a.go" {
					t.Errorf("%s of %d %q is ok", name, n, unit)
				}
			}
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add("a.jsonc", "{ // x\n\"a\": [1,], }")
	f.Add("a.yaml", "a: [")
	f.Add("a.go", "package a\nfunc(")
	f.Add("a.toml", "a=")
	f.Add("a.sh", "$((")
	f.Fuzz(func(t *testing.T, name, text string) {
		lines := 1 + strings.Count(text, "\n") + strings.Count(text, "\r")
		for _, p := range Check(name, text).Problems {
			if p.Line < 1 || p.Line > lines+1 || p.Column < 0 {
				t.Errorf("problem at %d:%d of %d lines", p.Line, p.Column, lines)
			}
		}
	})
}

func BenchmarkCheckGo(b *testing.B) {
	text := "package a\n" + strings.Repeat("func f(x int) int {\n\treturn x + 1\n}\n", 333)
	for b.Loop() {
		if Check("a.go", text).Status != OK {
			b.Fatal("not ok")
		}
	}
}
