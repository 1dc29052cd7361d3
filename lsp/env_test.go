package lsp

import (
	"slices"
	"testing"
)

func TestScrubbedEnvironment(t *testing.T) {
	got := scrub([]string{
		"PATH=/bin", "HOME=/home/u", "LC_ALL=C", "GOPATH=/go", "VIRTUAL_ENV=/venv",
		"OPENAI_API_KEY=sk-1", "ANTHROPIC_API_KEY=x", "GH_TOKEN=x", "AWS_SECRET_ACCESS_KEY=x", "SSH_AUTH_SOCK=/s", "MY_PASSWORD=x",
		"NODE_OPTIONS=--require evil", "LD_PRELOAD=/evil.so", "XDG_CACHE_HOME=/home/u/.cache",
		"GOPROXY=https://user:secret@proxy.example", "HTTPS_PROXY=http://proxy:8080", "NO_PROXY=user@host", "broken", "=odd",
	}, "/home/u/.acp-agent/cache")
	want := []string{"PATH=/bin", "HOME=/home/u", "LC_ALL=C", "GOPATH=/go", "VIRTUAL_ENV=/venv", "HTTPS_PROXY=http://proxy:8080",
		"NO_PROXY=user@host", "XDG_CACHE_HOME=/home/u/.acp-agent/cache"}
	if !slices.Equal(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestEnvironmentFromSettings(t *testing.T) {
	got, refused := overlay([]string{"PATH=/bin", "GOFLAGS=-x"}, map[string]string{
		"GOFLAGS": "-mod=mod", "API_KEY": "meant", "Ld_Preload": "x", "DYLD_ANYTHING": "x", "node_options": "x", "PATH": "/mine",
		"BASH_ENV": "x", "BAD=NAME": "x", "PYTHONSTARTUP": "x",
	})
	if want := []string{"API_KEY=meant", "GOFLAGS=-mod=mod", "PATH=/mine"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if want := []string{"BAD=NAME", "BASH_ENV", "DYLD_ANYTHING", "Ld_Preload", "PYTHONSTARTUP", "node_options"}; !slices.Equal(refused, want) {
		t.Errorf("refused %q, want %q", refused, want)
	}
}
