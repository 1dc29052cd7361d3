package permissions

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"acp-agent/internal/workspace"
)

// place is a workspace W with another folder O and a home H beside it, none of which holds another.
type place struct {
	t       testing.TB
	w, o, h workspace.Path
	roots   *workspace.Roots
}

func newPlace(t testing.TB) *place {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) workspace.Path { return workspace.Path(filepath.Join(base, name)) }
	p := &place{t: t, w: at("W"), o: at("O"), h: at("H")}
	for _, file := range []string{
		"W/a.txt", "W/b.txt", "W/src/a.go", "W/src/deep/b.go", "W/docs/x.md", "W/Makefile", "W/run.sh",
		"W/.env", "W/.git/config", "W/.git/hooks/pre-commit", "W/certs/server.pem", "W/.vscode/settings.json", "W/.github/workflows/ci.yml",
		"W/plain/one.txt", "W/plain/.hidden/.env", "W/plain/node_modules/x/credentials.js",
		"O/f", "O/sub/g", "H/.bashrc", "H/.ssh/id_ed25519", "H/notes.txt",
	} {
		full := filepath.Join(base, file)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte("x\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{"W/out": "O", "W/outfile": "O/f", "W/envlink": "W/.env", "W/inlink": "W/src", "W/osub": "O/sub"} {
		if err := os.Symlink(filepath.Join(base, target), filepath.Join(base, link)); err != nil {
			t.Fatal(err)
		}
	}
	if p.roots, err = workspace.NewRoots(p.w, p.h); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *place) session(r Rules) *Session {
	p.t.Helper()
	policy, err := Compile(r, p.h.Join(".acp-agent"))
	if err != nil {
		p.t.Fatal(err)
	}
	return policy.NewSession(p.roots)
}

// fill puts the folders in for @W, @O and @H.
func (p *place) fill(s string) string {
	return strings.NewReplacer("@W", string(p.w), "@O", string(p.o), "@H", string(p.h)).Replace(s)
}

// target is a file below W (or an absolute one) as an edit would give it.
func (p *place) target(name string) Target {
	path := workspace.Path(p.fill(name))
	if !filepath.IsAbs(string(path)) {
		path = p.w.Join(name)
	}
	return Target{Path: path, Real: p.roots.Locate(path).Real}
}

// letter is a verdict with its marks in one short word: allow, ask, ask+S, ask+O, deny …
func letter(d Decision) string {
	s := string(d.Verdict)
	if d.Sensitive {
		s += "+S"
	}
	if d.Outside {
		s += "+O"
	}
	return s
}

// modes are all four, in the order of the tables' columns.
var modes = []Mode{ModeDefault, ModeAcceptEdits, ModeDontAsk, ModePlan}

func mkdir(p workspace.Path) error { return os.MkdirAll(string(p), 0o755) }
