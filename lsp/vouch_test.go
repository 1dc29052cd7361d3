package lsp

import "testing"

func TestTrusted(t *testing.T) {
	dir := tempDir(t)
	home := dir.Join("home")
	for _, name := range []string{"home/app/.git", "home/app/src", "home/plain", "home/listed/x", "dots/.git", "dots/docs"} {
		mkdir(t, dir.Join(name))
	}
	writeFile(t, dir.Join("home/gone/.git"), "gitdir: ../nowhere\n")
	for _, tt := range []struct {
		cwd, home string
		want      bool
	}{
		{"home/app", "home", true},
		{"home/app/src", "home", true},
		{"home/plain", "home", false},
		{"home/listed/x", "home", true},
		{"home", "home", false},
		{"home/gone", "home", false},
		{"dots/docs", "dots", false}, // a repository of dot files vouches for nothing below the home folder
		{"dots/docs", "home", true},
	} {
		if got := Trusted(dir.Join(tt.cwd), dir.Join(tt.home), []string{string(home.Join("listed"))}); got != tt.want {
			t.Errorf("%s with home %s: %v", tt.cwd, tt.home, got)
		}
	}
}
