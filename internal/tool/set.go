package tool

import (
	"context"
	"embed"
	"encoding/json"
	"slices"
	"strings"

	"acp-agent/internal/model"
)

// descriptions are what the model reads about each tool, in NAME.md.
//
//go:embed *.md
var descriptions embed.FS

// builtin is a tool of this package.
type builtin struct {
	name    string
	group   string
	aliases []string
	params  []param
	prepare func(ctx context.Context, env *Env, args json.RawMessage) (*Action, error)
}

// Spec is the tool as the model is told of it.
func (b *builtin) Spec() model.Tool {
	text, err := descriptions.ReadFile(b.name + ".md")
	if err != nil {
		panic("tool " + b.name + " has no description") // a test asks every tool for its own
	}
	return model.Tool{Name: b.name, Description: strings.TrimSpace(string(text)), Schema: schema(b.params...)}
}

// Prepare plans one call.
func (b *builtin) Prepare(ctx context.Context, env *Env, args json.RawMessage) (*Action, error) {
	return b.prepare(ctx, env, args)
}

// groups of tools, as `tools.enabled` and `tools.disabled` name them.
const (
	groupFS       = "group:fs"
	groupEdit     = "group:edit"
	groupTerminal = "group:terminal"
	groupLSP      = "group:lsp"
)

// builtins are all the tools that env can serve, in the order that the model sees.
func builtins(env *Env) []*builtin {
	list := []*builtin{readFile(), listDirectory(), findFiles(), searchFiles(), writeFile(), editFile(), applyPatch()}
	if env.Terminals != nil {
		list = append(list, runTerminal(), terminalOutput(), terminalKill())
	}
	if env.Plan != nil {
		list = append(list, updatePlan())
	}
	if env.Ask != nil {
		list = append(list, askUser())
	}
	if env.Language != nil {
		list = append(list, lspDiagnostics(), lspDefinition(), lspReferences(), lspHover())
	}
	return list
}

// named says whether a list of tools and groups names this tool, by its own name or an alias.
func (b *builtin) named(list []string) bool {
	return slices.ContainsFunc(list, func(s string) bool {
		return s == b.name || s == b.group || slices.Contains(b.aliases, s)
	})
}

// Unknown lists the entries that name neither a tool nor a group: a slip of the pen would switch off
// everything, or nothing. Tools of MCP servers are not known before these run.
func (sel Selection) Unknown() []string {
	all := builtins(&Env{Terminals: &Terminals{}, Plan: func([]Entry) {}, Language: struct{ Language }{},
		Ask: func(context.Context, string, []string) (string, error) { return "", nil }})
	var out []string
	for _, s := range slices.Concat(sel.Enabled, sel.Disabled) {
		known := s == "patch" || strings.HasPrefix(s, "mcp-") || strings.HasPrefix(s, "mcp__")
		if !known && !slices.ContainsFunc(all, func(b *builtin) bool { return b.named([]string{s}) && s != "" }) {
			out = append(out, s)
		}
	}
	return out
}

// NewSet makes the built-in tools that env can serve, filtered.
func NewSet(env *Env, sel Selection) *Set {
	s := &Set{by: map[string]Tool{}, canonical: map[string]string{}}
	for _, b := range builtins(env) {
		if len(sel.Enabled) > 0 && !b.named(sel.Enabled) || b.named(sel.Disabled) {
			continue
		}
		s.order = append(s.order, b)
		s.add(b.name, b, b.name)
		for _, a := range b.aliases {
			s.add(a, b, b.name)
		}
	}
	if s.by["edit_file"] != nil && s.by["apply_patch"] != nil {
		s.add("patch", patchAlias(), "apply_patch")
	}
	return s
}

func (s *Set) add(name string, t Tool, canonical string) {
	s.by[name], s.canonical[name] = t, canonical
}

// Specs lists the tools as the model is told of them, in a stable order.
func (s *Set) Specs() []model.Tool {
	out := make([]model.Tool, len(s.order))
	for i, t := range s.order {
		out[i] = t.Spec()
	}
	return out
}

// Names lists the canonical names, for a message about one that does not exist.
func (s *Set) Names() []string {
	out := make([]string, len(s.order))
	for i, t := range s.order {
		out[i] = t.Spec().Name
	}
	return out
}

// Find gives the tool for a name or alias, with the canonical name; nil when there is none.
func (s *Set) Find(name string) (Tool, string) {
	name = strings.TrimSpace(name)
	if t, ok := s.by[name]; ok {
		return t, s.canonical[name]
	}
	lower := strings.ToLower(name)
	return s.by[lower], s.canonical[lower]
}
