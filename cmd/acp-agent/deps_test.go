package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// arrow says what a package of ours may import of ours, and why. A package without a row, and a row
// without a package, fail the test: to add an arrow or a package, change this table and give the
// reason in the same commit.
type arrow struct {
	pkg string   // "x/*" is any package right below x; the first row that fits counts
	may []string // "*" is everything
	not []string // exceptions from may
	why string   // completes "because"
}

var arrows = []arrow{
	// 5: wiring
	{"cmd/acp-agent", []string{"*"}, []string{"internal/acptest", "internal/acptest/modelserver"},
		"it wires everything together, but fakes have no place in the program"},
	// 4: the adapter
	{"acp", []string{"edits", "permissions", "provenance", "lsp", "internal/agent", "internal/tool", "internal/model", "internal/config",
		"internal/workspace", "internal/wire", "internal/syntax", "internal/procgroup"}, nil,
		"the adapter joins the rooms, but which model provider there is, is the wiring's choice"},
	{"acp/headless", []string{"edits", "internal/wire", "internal/workspace"}, nil,
		"a client that never reaches around the protocol shows what an editor would be told"},
	// 3: the loop
	{"internal/agent", []string{"internal/tool", "internal/model", "edits"}, nil,
		"the turn loop knows models and tools and the proposals that pass through; no editor, no disk, no protocol"},
	// 2: tools
	{"internal/tool", []string{"edits", "internal/model", "internal/workspace", "internal/procgroup"}, nil,
		"a tool reads and proposes; permission, writing and diagnostics are the adapter's"},
	// 1: the siblings, which never import each other
	{"edits", []string{"internal/workspace"}, nil,
		"a proposal is a value that knows no editor, no permission and no language server"},
	{"permissions", []string{"internal/workspace"}, nil,
		"policy is decided on paths and commands alone; it writes nothing and speaks no protocol"},
	{"provenance", []string{"internal/workspace"}, nil,
		"a record must be readable and verifiable without anything that made it"},
	{"lsp", []string{"internal/workspace", "internal/wire", "internal/syntax", "internal/procgroup"}, nil,
		"diagnostics are for texts; where a text comes from and what follows is not their matter"},
	// 0: the ground
	{"internal/workspace", nil, nil, "the ground stands on nothing of ours"},
	{"internal/wire", nil, nil, "the wire carries both protocols and knows neither"},
	{"internal/syntax", nil, nil, "a syntax check is a function of a text"},
	{"internal/procgroup", nil, nil, "a process group is a matter of the system"},
	{"internal/logfile", nil, nil, "a log knows nobody who writes to it"},
	{"internal/config", []string{"internal/workspace"}, nil, "configuration is read before anything else exists"},
	{"internal/model", nil, nil, "the interface must fit every provider, so it knows none"},
	{"internal/model/providers", []string{"internal/model", "internal/model/*"}, nil,
		"it chooses among the providers by name, and only the program's wiring may lean on it"},
	{"internal/model/*", []string{"internal/model", "internal/model/stream"}, nil,
		"providers are separate: what they share is the interface and the reading of streams"},
	// tests only
	{"internal/acptest", []string{"*"}, []string{"cmd/acp-agent"}, "fakes stand on both sides of everything"},
	{"internal/acptest/*", []string{"*"}, []string{"cmd/acp-agent"}, "fakes stand on both sides of everything"},
}

// home says in which packages a module may be imported, in their tests too.
type home struct {
	modules []string // import path prefixes
	in      []string // packages; "x/*" as above; empty is test files and acptest
	why     string
}

var homes = []home{
	{[]string{"github.com/coder/acp-go-sdk"}, []string{"acp", "internal/acptest"},
		"ACP types stay in the adapter: inside, the house has its own words"},
	{[]string{"go.lsp.dev"}, []string{"lsp", "internal/acptest"},
		"LSP types stay behind package lsp, so that another version costs one package"},
	{[]string{"github.com/openai/openai-go"}, []string{"internal/model/openai"},
		"a provider's types end at its folder: the model interface must fit all of them"},
	{[]string{"github.com/anthropics/anthropic-sdk-go"}, []string{"internal/model/anthropic"},
		"a provider's types end at its folder: the model interface must fit all of them"},
	{[]string{"github.com/modelcontextprotocol/go-sdk"}, []string{"internal/mcptool"},
		"an MCP server is a tool like others to everybody but its adapter"},
	{[]string{"go.uber.org/goleak", "pgregory.net/rapid", "github.com/google/go-cmp", "github.com/rogpeppe/go-internal", "github.com/santhosh-tekuri/jsonschema", "testing"}, nil,
		"what serves tests must not be linked into the program"},
}

// ban says which names of other packages may be used by which of ours. Tests may use them.
type ban struct {
	pkg   string
	names []string
	in    []string // packages that may
	why   string
}

var bans = []ban{
	{"os", []string{"Getwd", "Chdir"}, []string{"cmd/acp-agent"},
		"the process's own directory means nothing: a session has its cwd, and there are many sessions"},
	{"path/filepath", []string{"Abs"}, []string{"cmd/acp-agent"},
		"it resolves against the process's own directory, which means nothing inside"},
	{"os", []string{"Stdout"}, []string{"cmd/acp-agent"},
		"stdout belongs to the protocol, and one stray byte breaks the editor's reader"},
	{"fmt", []string{"Print", "Printf", "Println"}, []string{"cmd/acp-agent"},
		"they write to stdout, which belongs to the protocol"},
	{"context", []string{"Background", "TODO"}, []string{"cmd/acp-agent"},
		"what nobody can cancel outlives its session; work that must finish takes context.WithoutCancel and a deadline"},
}

func TestImportRules(t *testing.T) {
	files, err := scan(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range violations(files) {
		t.Error(v)
	}
}

// violations are all breaches of the tables, each with its reason.
func violations(files []file) []string {
	var out []string
	packages := map[string]bool{}
	modules := map[string]bool{}
	for _, f := range files {
		packages[f.pkg] = true
		for _, i := range f.imports {
			modules[i] = true
		}
	}
	for _, f := range files {
		out = append(out, f.arrowsAgainst()...)
		out = append(out, f.modulesAgainst()...)
		out = append(out, f.namesAgainst()...)
	}
	exists := func(table, name string) {
		for p := range packages {
			if name == "*" || under(p, []string{name}) {
				return
			}
		}
		out = append(out, table+" names the package "+name+", which does not exist: take it out of the table")
	}
	for _, a := range arrows {
		for _, name := range slices.Concat([]string{a.pkg}, a.may, a.not) {
			exists("arrows", name)
		}
	}
	for _, h := range homes {
		used := slices.ContainsFunc(h.modules, func(m string) bool {
			for i := range modules {
				if within(i, m) {
					return true
				}
			}
			return false
		})
		for _, name := range h.in {
			if used { // a home may be planned before its module is
				exists("homes", name)
			}
		}
	}
	for _, b := range bans {
		for _, name := range b.in {
			exists("bans", name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// arrowsAgainst are the imports of our packages that the file must not have. Tests are free: the
// compiler forbids cycles, and a test may need any fake.
func (f *file) arrowsAgainst() (out []string) {
	i := slices.IndexFunc(arrows, func(a arrow) bool { return under(f.pkg, []string{a.pkg}) })
	if i < 0 {
		return []string{"the package " + f.pkg + " has no row in arrows: add one with what it may import and why"}
	}
	a := arrows[i]
	for _, to := range f.ours {
		if f.test || under(to, a.may) && !under(to, a.not) || slices.Contains(a.may, "*") && !under(to, a.not) {
			continue
		}
		out = append(out, f.path+": "+f.pkg+" must not import "+to+", because "+a.why)
	}
	return out
}

// modulesAgainst are the modules that are not at home in the file's package.
func (f *file) modulesAgainst() (out []string) {
	for _, h := range homes {
		testsOnly := len(h.in) == 0
		if under(f.pkg, h.in) || testsOnly && (f.test || within(f.pkg, "internal/acptest")) {
			continue
		}
		for _, i := range f.imports {
			if slices.ContainsFunc(h.modules, func(m string) bool { return within(i, m) }) {
				out = append(out, f.path+": "+f.pkg+" must not import "+i+", because "+h.why)
			}
		}
	}
	return out
}

// namesAgainst are the names that the file must not use.
func (f *file) namesAgainst() (out []string) {
	if f.test || within(f.pkg, "internal/acptest") {
		return nil
	}
	for _, b := range bans {
		if under(f.pkg, b.in) {
			continue
		}
		for _, n := range b.names {
			if where := f.names[b.pkg+"."+n]; where != "" {
				out = append(out, where+": "+f.pkg+" must not use "+b.pkg+"."+n+", because "+b.why)
			}
		}
	}
	return out
}

// TestImportRulesSee: each rule finds what it is there for, in a tree that breaks all of them.
func TestImportRulesSee(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":                          "module acp-agent\n",
		"edits/a.go":                      "package edits\nimport _ \"acp-agent/permissions\"\n",
		"edits/a_test.go":                 "package edits\nimport (\n_ \"acp-agent/permissions\"\n_ \"pgregory.net/rapid\"\n\"os\"\n)\nvar _ = os.Stdout\n",
		"acp/a.go":                        "package acp\nimport (\n_ \"acp-agent/internal/model/openai\"\n_ \"github.com/coder/acp-go-sdk\"\n)\n",
		"permissions/a_windows.go":        "package permissions\nimport (\n_ \"github.com/coder/acp-go-sdk/x\"\nsystem \"os\"\n)\nvar _, _ = system.Getwd()\n",
		"permissions/b.go":                "package permissions\nimport (\n\"fmt\"\n\"context\"\n)\nvar _ = context.Background()\nfunc f() { fmt.Println(); fmt.Sprintln() }\n",
		"permissions/c_test.go":           "package permissions\nimport _ \"go.lsp.dev/uri\"\n",
		"internal/tool/a.go":              "package tool\nimport _ \"github.com/google/go-cmp/cmp\"\n",
		"internal/model/openai/a.go":      "package openai\nimport (\n_ \"github.com/openai/openai-go/v3\"\n_ \"acp-agent/internal/model/anthropic\"\n)\n",
		"internal/model/anthropic/a.go":   "package anthropic\n",
		"internal/model/model.go":         "package model\nimport _ \"github.com/openai/openai-go/v3/option\"\n",
		"cmd/acp-agent/a.go":              "package main\nimport (\n_ \"acp-agent/edits\"\n_ \"acp-agent/internal/acptest\"\n\"os\"\n)\nvar _ = os.Stdout\n",
		"internal/acptest/a.go":           "package acptest\nimport _ \"pgregory.net/rapid\"\n",
		"newroom/a.go":                    "package newroom\n",
		"testdata/a.go":                   "package broken (\n",
		".cache/a.go":                     "package broken (\n",
		"node_modules/x/a.go":             "package broken (\n",
		"other/go.mod":                    "module other\n",
		"other/a.go":                      "package broken (\n",
		"internal/deps/deps.go":           "//go:build deps\n\npackage deps\nimport _ \"github.com/openai/openai-go/v3\"\n",
		"internal/workspace/workspace.go": "package workspace\nvar os struct{ Stdout int }\nvar _ = os.Stdout\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	files, err := scan(root)
	if err != nil {
		t.Fatal(err)
	}
	got := violations(files)
	for _, want := range []string{
		"edits/a.go: edits must not import permissions",
		"acp/a.go: acp must not import internal/model/openai",
		"permissions/a_windows.go: permissions must not import github.com/coder/acp-go-sdk/x",
		"permissions/a_windows.go:6: permissions must not use os.Getwd",
		"permissions/b.go:6: permissions must not use context.Background",
		"permissions/b.go:7: permissions must not use fmt.Println",
		"permissions/c_test.go: permissions must not import go.lsp.dev/uri",
		"internal/tool/a.go: internal/tool must not import github.com/google/go-cmp/cmp",
		"internal/model/model.go: internal/model must not import github.com/openai/openai-go/v3/option",
		"internal/model/openai/a.go: internal/model/openai must not import internal/model/anthropic",
		"cmd/acp-agent/a.go: cmd/acp-agent must not import internal/acptest",
		"the package newroom has no row in arrows",
		"arrows names the package provenance, which does not exist",
		"homes names the package lsp, which does not exist",
	} {
		i := slices.IndexFunc(got, func(v string) bool { return strings.HasPrefix(v, want) })
		if i < 0 {
			t.Errorf("not found: %s", want)
			continue
		}
		if strings.Contains(want, "must not") && !strings.Contains(got[i], ", because ") {
			t.Errorf("found without its reason: %s", got[i])
		}
		got = slices.Delete(got, i, i+1)
	}
	for _, v := range got {
		if !strings.Contains(v, "which does not exist") {
			t.Errorf("found where nothing is wrong: %s", v)
		}
	}
}
