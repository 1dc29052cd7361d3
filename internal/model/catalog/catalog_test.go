package catalog_test

import (
	"testing"

	"acp-agent/internal/model/catalog"
)

func TestLookup(t *testing.T) {
	cases := []struct {
		provider, name string
		found          bool
		context        int
		thinking       catalog.Thinking
	}{
		{"openai", "gpt-5.2", true, 400_000, catalog.Effort},
		{"openai", "gpt-5.2-2025-12-11", true, 400_000, catalog.Effort},
		{"openai", "gpt-5", true, 400_000, catalog.Effort},
		{"openai", "gpt-5.9", false, 0, catalog.None},
		{"openai", "gpt-4.1-mini-2025-04-14", true, 1_047_576, catalog.None},
		{"openai", "gpt-4", false, 0, catalog.None},
		{"openai", "o3", true, 200_000, catalog.Effort},
		{"anthropic", "claude-sonnet-4-5-20250929", true, 200_000, catalog.Budget},
		{"anthropic", "claude-sonnet-4-20250514", true, 200_000, catalog.Budget},
		{"anthropic", "claude-opus-4-7", true, 1_000_000, catalog.Adaptive},
		{"anthropic", "claude-3-5-haiku-latest", true, 200_000, catalog.None},
		{"anthropic", "claude-of-next-year", true, 200_000, catalog.Adaptive},
		{"anthropic", "kimi", false, 0, catalog.None},
		{"gemini", "gemini-9", true, 1_048_576, catalog.None},
		{"openrouter", "anthropic/claude-sonnet-4.5", true, 200_000, catalog.Effort},
		{"openrouter", "openai/gpt-5.2:free", true, 400_000, catalog.Effort},
		{"openrouter", "openai/gpt-5.6-terra", true, 1_050_000, catalog.Effort},
		{"openrouter", "qwen/qwen3-coder", false, 0, catalog.None},
		{"openrouter", "openrouter/auto", true, 0, catalog.None},
		{"work", "gpt-5.2", false, 0, catalog.None},
	}
	for _, c := range cases {
		e, ok := catalog.Lookup(c.provider, c.name)
		if ok != c.found || e.Context != c.context || e.Thinking != c.thinking {
			t.Errorf("%s/%s: %v %+v", c.provider, c.name, ok, e)
		}
	}
	if e, _ := catalog.Lookup("openai", "gpt-6.1-sol"); !e.ChatNoEffort {
		t.Error("gpt-6.1-sol thinks beside tools")
	}
	if e, _ := catalog.Lookup("openrouter", "openai/gpt-5.6-sol"); e.ChatNoEffort {
		t.Error("OpenRouter takes effort for gpt-5.6")
	}
}

func TestTableIsWhole(t *testing.T) {
	for _, provider := range []string{"openai", "anthropic", "gemini", "openrouter"} {
		names := catalog.Names(provider)
		if len(names) == 0 {
			t.Fatalf("%s has no default", provider)
		}
		seen := map[string]bool{}
		for _, name := range names {
			info := catalog.Info(provider, name)
			if seen[name] || info.ID != provider+"/"+name || info.Name != name || info.Provider != provider {
				t.Errorf("%s: %+v", name, info)
			}
			seen[name] = true
			e, ok := catalog.Lookup(provider, name)
			if (e.Thinking == catalog.None) != (len(e.Levels) == 0) {
				t.Errorf("%s: thinks %v with levels %v", name, e.Thinking, e.Levels)
			}
			if provider != "openrouter" && (!ok || e.Context == 0 || e.Output == 0) {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}
