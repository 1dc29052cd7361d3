package lsp

import "testing"

// Case G-L04: equivalent spellings of a URI are one file.
func TestURISpellings(t *testing.T) {
	tests := []struct {
		windows bool
		uri     string
		path    string
	}{
		{false, "file:///w/a%20b/%C3%BC%2B1.txt", "/w/a b/ü+1.txt"},
		{false, "file:///w/a%20b/%c3%bc+1.txt", "/w/a b/ü+1.txt"},
		{false, "file:///w/a b/ü+1.txt", "/w/a b/ü+1.txt"},
		{false, "FILE:///w/x", "/w/x"},
		{false, "file:/w/x", "/w/x"},
		{false, "file://localhost/w/x", "/w/x"},
		{false, "file:///w/50%zz", "/w/50%zz"},
		{true, "file:///c%3A/x/y.go", `c:\x\y.go`},
		{true, "file:///C:/x/y.go", `c:\x\y.go`},
		{true, "file:///c:/x/y.go", `c:\x\y.go`},
		{true, "file://server/share/y.go", `\\server\share\y.go`},
	}
	for _, tt := range tests {
		if got, err := uriToPath(tt.uri, tt.windows); err != nil || got != tt.path {
			t.Errorf("%s: %q %v, want %q", tt.uri, got, err, tt.path)
		}
	}
	for _, bad := range []string{"untitled:Untitled-1", "http://x/y", "nothing", "file://host"} {
		if got, err := uriToPath(bad, false); err == nil {
			t.Errorf("%s: %q", bad, got)
		}
	}
	for path, want := range map[string]string{"/w/a b/ü+1.txt": "file:///w/a%20b/%C3%BC%2B1.txt", "/": "file:///"} {
		if got := pathToURI(path, false); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
	for path, want := range map[string]string{`C:\x y\z.go`: "file:///c%3A/x%20y/z.go", `\\server\share\a`: "file://server/share/a"} {
		if got := pathToURI(path, true); got != want {
			t.Errorf("%s: %s, want %s", path, got, want)
		}
	}
}
