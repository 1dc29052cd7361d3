// Package catalog is the table of what is known of models before anybody is asked: context windows,
// what they see and hear, and how they are told to think. Its main call is [Lookup]. It contacts
// nobody; a model that is not in it works all the same, with less known of it.
package catalog

import (
	"strings"

	"acp-agent/internal/model"
)

// Thinking is how a model is told how much to think.
type Thinking int

// Ways to think.
const (
	None     Thinking = iota
	Effort            // a word in the request
	Adaptive          // Anthropic since 4.6: adaptive thinking and a word of effort
	Budget            // Anthropic before: a number of tokens
)

// Entry is one model, or a family of them.
type Entry struct {
	Name     string // the provider's name; later versions of it with a suffix (-2025-09-29) match too
	Context  int    // tokens
	Output   int    // tokens of one answer; 0 unknown
	Images   bool
	Audio    bool
	Thinking Thinking
	Levels   []string
	// ChatNoEffort: Chat Completions takes this model's tools only with effort "none" (OpenAI).
	ChatNoEffort bool
	// Hidden entries are families, not names to choose.
	Hidden bool
}

// Lookup finds a model of a provider: its own entry, or that of the longest name that it continues.
// Models that a reseller (openrouter) offers are found under their maker.
func Lookup(provider, name string) (Entry, bool) {
	if provider == "openrouter" {
		if e, ok := resold(name); ok {
			return e, true
		}
	}
	var best Entry
	for _, e := range table[provider] {
		if name == e.Name {
			return e, true
		}
		if rest, ok := strings.CutPrefix(name, e.Name); ok && strings.IndexByte("-:@[", rest[0]) >= 0 && len(e.Name) > len(best.Name) {
			best = e
		}
	}
	best.Hidden = true
	return best, best.Name != ""
}

// resold finds a model that OpenRouter offers under its maker.
func resold(name string) (Entry, bool) {
	maker, rest, _ := strings.Cut(name, "/")
	switch maker {
	case "google":
		maker = "gemini"
	case "anthropic":
		rest = strings.ReplaceAll(rest, ".", "-") // 4.5 there, 4-5 at home
	case "openai":
	default:
		return Entry{}, false
	}
	e, ok := Lookup(maker, rest)
	if e.Thinking != None || e.ChatNoEffort { // the reseller asks in its own way
		e.Thinking, e.Levels = Effort, low2high
	}
	e.ChatNoEffort = false
	return e, ok
}

// Names lists the models of a provider that can be chosen, the default one first.
func Names(provider string) []string {
	var out []string
	for _, e := range table[provider] {
		if !e.Hidden {
			out = append(out, e.Name)
		}
	}
	return out
}

// Info is an entry in the words of package model; what is not known stays zero.
func Info(provider, name string) model.Info {
	e, _ := Lookup(provider, name)
	return model.Info{ID: provider + "/" + name, Provider: provider, Name: name, ContextWindow: e.Context,
		Images: e.Images, Audio: e.Audio, ThoughtLevels: append([]string(nil), e.Levels...)}
}
