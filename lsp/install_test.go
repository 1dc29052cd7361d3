package lsp

import (
	"archive/zip"
	"bytes"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/workspace"
)

// moduleProxy makes a file: module proxy with one tool that prints a line.
func moduleProxy(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "example.com", "tool", "@v")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var buf bytes.Buffer
	z := zip.NewWriter(&buf)
	for name, text := range map[string]string{
		"go.mod":  "module example.com/tool\n\ngo 1.22\n",
		"main.go": "package main\n\nfunc main() { println(\"tool\") }\n",
	} {
		w, err := z.Create("example.com/tool@v1.0.0/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"list":        []byte("v1.0.0\n"),
		"v1.0.0.info": []byte(`{"Version":"v1.0.0","Time":"2026-01-02T03:04:05Z"}`),
		"v1.0.0.mod":  []byte("module example.com/tool\n\ngo 1.22\n"),
		"v1.0.0.zip":  buf.Bytes(),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return "file://" + filepath.ToSlash(filepath.Dir(filepath.Dir(filepath.Dir(dir))))
}

// installEnv is our own environment pointed at the proxy, with a secret that no installer may see.
func installEnv(proxy string) []string {
	return append(os.Environ(), "GOPROXY="+proxy, "GONOSUMDB=*", "GOFLAGS=", "OPENAI_API_KEY=sk-secret")
}

func TestGoInstallStaysInTheHome(t *testing.T) {
	home := workspace.Path(t.TempDir())
	o := Options{Home: home, Environ: installEnv(moduleProxy(t))}
	bin := home.Join("lsp", "bin")
	if err := os.MkdirAll(string(bin), 0o700); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	var lines []string
	err := goInstall(t.Context(), o, "example.com/tool@v1.0.0", bin, &log, func(l string) { lines = append(lines, l) })
	if err != nil {
		t.Fatalf("%v\n%s", err, log.String())
	}
	out, err := exec.Command(string(bin.Join("tool"))).CombinedOutput()
	if err != nil || strings.TrimSpace(string(out)) != "tool" {
		t.Fatalf("installed tool says %q, %v", out, err)
	}
	if len(lines) == 0 || !strings.Contains(log.String(), "example.com/tool") {
		t.Errorf("no progress: %d lines, log %q", len(lines), log.String())
	}
	for _, dir := range []string{"go-mod", "go-build"} {
		if _, err := os.Stat(string(home.Join("cache", dir))); err != nil {
			t.Errorf("cache is not in the home: %v", err)
		}
	}
	// A person can delete the home: nothing in it is read-only for its owner.
	err = filepath.WalkDir(string(home), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			if info, ierr := d.Info(); ierr == nil && info.Mode().Perm()&0o200 == 0 {
				t.Errorf("%s is read-only", path)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestInstallTellsWhatToDo(t *testing.T) {
	tests := []struct {
		name, id, proxy, want string
	}{
		{"unknown", "nonsense", "off", `no language server "nonsense"`},
		{"not ours", "pyright", "off", "npm install -g pyright"},
		{"offline", "gopls", "off", "go install golang.org/x/tools/gopls@"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := Options{Home: workspace.Path(t.TempDir()), Environ: installEnv(tt.proxy)}
			_, err := Install(t.Context(), o, tt.id, func(string) {})
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want it to say %q", err, tt.want)
			}
		})
	}
}
