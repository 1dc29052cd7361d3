package lsp

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/acptest"
)

// realServer is a small project for one real server, and texts of its main file.
type realServer struct {
	id    string
	files map[string]string
	main  string
	bad   string // one error
	worse string // the same error, and another one below
	below string // the first error, two lines further down
	good  string
	// other is the file that breaks when main becomes breaking; "" when the server knows no such thing.
	other, breaking string
	link            bool // the project's own TypeScript is version 7
}

func realServers() []realServer {
	ts := map[string]string{
		"package.json":  `{"name":"x"}`,
		"tsconfig.json": `{"compilerOptions":{"strict":true,"module":"esnext","moduleResolution":"bundler","target":"es2022","noEmit":true,"types":[]}}`,
		"a.ts":          "export function a(): number {\n  return 1;\n}\n",
		"b.ts":          "import { a } from './a';\nexport const b: number = a();\n",
	}
	const tsBad = "export function a(): number {\n  return 'x';\n}\n"
	typescript := realServer{
		id: "typescript", files: ts, main: "a.ts",
		bad:   tsBad,
		worse: tsBad + "export const c: string = 1;\n",
		below: "// one\n// two\n" + tsBad,
		good:  "export function a(): number {\n  return 2;\n}\n",
		other: "b.ts", breaking: "export function a(): string {\n  return 'x';\n}\n",
	}
	native := typescript
	native.id, native.link = "typescript-native", true
	const pyBad = "def a() -> int:\n    return 'x'\n"
	const goBad = "package x\n\nfunc A() int { return missing }\n"
	return []realServer{
		{
			id: "gopls", main: "a.go",
			files: map[string]string{"go.mod": goMod, "a.go": "package x\n\nfunc A() int { return 1 }\n", "b.go": "package x\n\nvar B int = A()\n"},
			bad:   goBad, worse: goBad + "\nvar c string = 1\n", below: "package x\n\n// one\n// two\nfunc A() int { return missing }\n",
			good:  "package x\n\nfunc A() int { return 2 }\n",
			other: "b.go", breaking: "package x\n\nfunc A() string { return \"x\" }\n",
		},
		typescript,
		native,
		{
			id: "pyright", main: "a.py",
			files: map[string]string{"pyproject.toml": "", "a.py": "def a() -> int:\n    return 1\n", "b.py": "from a import a\nb: int = a()\n"},
			bad:   pyBad, worse: pyBad + "c: str = 1\n", below: "# one\n# two\n" + pyBad,
			good:  "def a() -> int:\n    return 2\n",
			other: "b.py", breaking: "def a() -> str:\n    return 'x'\n",
		},
		{
			id: "json", main: "a.json",
			files: map[string]string{"a.json": "{\n  \"a\": 1\n}\n"},
			bad:   "{\n  \"a\": nope\n}\n", worse: "{\n  \"a\": nope,\n  \"b\": tru\n}\n", below: "{\n  \"y\": 1,\n  \"z\": 2,\n  \"a\": nope\n}\n",
			good: "{\n  \"a\": 2\n}\n",
		},
	}
}

func (r realServer) bench(t testing.TB, change ...func(*Settings)) *bench {
	t.Helper()
	b := newBench(t, r.files, change...)
	if r.link {
		modules := string(b.path("node_modules"))
		if err := os.MkdirAll(modules, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(acptest.Part(t, "npm", "node_modules", "typescript-native"), filepath.Join(modules, "typescript")); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// each runs a test with every real server, each on a project of its own.
func each(t *testing.T, f func(t *testing.T, r realServer, b *bench), change ...func(*Settings)) {
	for _, r := range realServers() {
		t.Run(r.id, func(t *testing.T) { f(t, r, r.bench(t, change...)) })
	}
}

// want checks the outline of a verdict.
func want(t *testing.T, v Verdict, state State, introduced, mended int) {
	t.Helper()
	if v.State != state || len(v.Introduced) != introduced || v.Mended != mended || !v.BaselineKnown {
		t.Fatalf("verdict %s (%s), introduced %d, mended %d, baseline known %v; want %s, %d, %d\nservers %+v\nitems %+v",
			v.State, v.Reason, len(v.Introduced), v.Mended, v.BaselineKnown, state, introduced, mended, v.Servers, v.Items)
	}
}

func TestRealErrorBroughtInAndMended(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		want(t, b.foresee(b.change(r.main, r.bad)), Findings, 1, 0)
		want(t, b.foresee(b.change(r.main, r.good)), Clean, 0, 0) // the first proposal left nothing behind
		want(t, b.apply(r.main, r.bad), Findings, 1, 0)
		want(t, b.apply(r.main, r.below), Findings, 0, 0) // the same error on another line is not blamed
		want(t, b.apply(r.main, r.bad), Findings, 0, 0)
		v := b.apply(r.main, r.worse)
		want(t, v, Findings, 1, 0)
		if v.Before != 1 || v.After != 2 || v.Introduced[0].Server != r.id {
			t.Fatalf("before %d, after %d, %+v", v.Before, v.After, v.Introduced)
		}
		want(t, b.apply(r.main, r.good), Clean, 0, 2)
	})
}

func TestRealForeseenThenAppliedIsConfirmed(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		b.foresee(b.change(r.main, r.good)) // warm
		want(t, b.foresee(b.change(r.main, r.bad)), Findings, 1, 0)
		in := b.m.instances()[0]
		asked := in.status().Verdicts
		want(t, b.apply(r.main, r.bad), Findings, 1, 0)
		if r.id == "pyright" || r.id == "json" {
			return // these ask us to ask again in between, and so we do
		}
		if now := in.status().Verdicts; now != asked {
			t.Errorf("asked %d times again for a text whose verdict was known", now-asked)
		}
	})
}

func TestRealLateDelivery(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		// The server is cold: nobody waits for it here.
		c := b.edit("e1", b.change(r.main, r.bad))
		if v, ok := c.Wait(context.Background(), time.Now()); ok || v.State != NoVerdict {
			t.Fatalf("ok %v, %+v", ok, v)
		}
		late := b.s.Settle(context.Background())
		if len(late) != 1 || late[0].Edit != "e1" {
			t.Fatalf("late %+v", late)
		}
		want(t, late[0].Verdict, Findings, 1, 0)
		if again := b.s.Late(); len(again) != 0 {
			t.Fatalf("handed out twice: %+v", again)
		}
	})
}

// A burst: only the last edit's check counts, held against what was there before the first (L10).
func TestRealBurst(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		b.foresee(b.change(r.main, r.good))
		var last *Check
		for i := range 10 {
			text := r.bad + strings.Repeat("\n", i%3)
			if i == 9 {
				text = r.worse
			}
			last = b.edit("e", b.change(r.main, text))
		}
		want(t, b.verdict(last), Findings, 2, 0)
		for _, l := range b.s.Settle(context.Background()) {
			if len(l.Verdict.Introduced) > 0 {
				t.Errorf("an earlier edit of the burst is reported as well: %+v", l)
			}
		}
	})
}

func TestRealKilledServerComesBack(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		want(t, b.foresee(b.change(r.main, r.bad)), Findings, 1, 0)
		in := b.m.instances()[0]
		in.mu.Lock()
		c, p := in.client, in.process
		in.mu.Unlock()
		kill9(t, p.group.Pid())
		<-c.done
		want(t, b.apply(r.main, r.bad), Findings, 1, 0)
		if now := in.status().PID; now == p.group.Pid() || now == 0 {
			t.Errorf("pid %d", now)
		}
	})
}

func TestRealChangedByOthers(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		want(t, b.apply(r.main, r.good), Clean, 0, 0)
		b.write(r.main, r.bad) // a formatter, a checkout: nobody told the layer
		items, notice, err := b.s.Diagnostics(context.Background(), b.path(r.main), r.bad)
		if err != nil || notice != "" || len(items) == 0 || items[0].Severity != SevError {
			t.Fatalf("%v %q %+v", err, notice, items)
		}
		want(t, b.apply(r.main, r.good), Clean, 0, 1)
	})
}

// Going back to the text before the edit behind our back is seen, although it is the very text that an
// editor that had not saved yet would have left on disk.
func TestRealRevertedByOthers(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		b.write(r.main, r.good)
		want(t, b.apply(r.main, r.bad), Findings, 1, 0)
		b.write(r.main, r.good)
		items, notice, err := b.s.Diagnostics(context.Background(), b.path(r.main), r.good)
		if err != nil || notice != "" || len(items) != 0 {
			t.Fatalf("%v %q %+v", err, notice, items)
		}
		if d := b.m.instances()[0].find(b.path(r.main)); d.truth != r.good {
			t.Errorf("the layer takes the file for %q", d.truth)
		}
	})
}

func TestRealIdleStop(t *testing.T) {
	each(t, func(t *testing.T, r realServer, b *bench) {
		b.m.idle = time.Millisecond
		want(t, b.foresee(b.change(r.main, r.bad)), Findings, 1, 0)
		in := b.m.instances()[0]
		in.mu.Lock()
		c, p := in.client, in.process
		in.mu.Unlock()
		if c != nil {
			<-c.done
		}
		<-p.ended
		want(t, b.foresee(b.change(r.main, r.bad)), Findings, 1, 0)
	})
}
