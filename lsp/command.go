package lsp

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"acp-agent/internal/workspace"
)

// finder resolves commands to absolute paths.
type finder struct {
	home    workspace.Path // our home
	user    workspace.Path
	path    string // PATH of our own environment; a server's env serves the process, not this search
	pathext string
}

// find gives the absolute path of a server's executable, "" when there is none: as configured, then
// <home>/lsp/bin, <home>/lsp/node_modules/.bin, PATH. barred is an untrusted workspace's worktree:
// nothing inside it is ever run, however PATH or a symlink leads there.
func (f finder) find(name string, barred workspace.Path) string {
	name = expandHome(name, f.user)
	if filepath.IsAbs(name) {
		return f.executable(name, barred)
	}
	if strings.ContainsAny(name, `/\`) {
		return "" // a relative path would depend on the process's directory
	}
	dirs := []string{
		string(f.home.Join("lsp", "bin")),
		string(f.home.Join("lsp", "node_modules", ".bin")),
	}
	for _, dir := range append(dirs, filepath.SplitList(f.path)...) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if exe := f.executable(filepath.Join(dir, name), barred); exe != "" {
			return exe
		}
	}
	return ""
}

// executable says whether path, or on Windows path with one of PATHEXT's endings, can be run.
func (f finder) executable(path string, barred workspace.Path) string {
	names := []string{path}
	if runtime.GOOS == "windows" {
		ext := f.pathext
		if ext == "" {
			ext = ".COM;.EXE;.BAT;.CMD"
		}
		names = nil
		for _, e := range strings.Split(ext, ";") {
			if e != "" && strings.EqualFold(filepath.Ext(path), e) {
				names = []string{path}
				break
			}
			names = append(names, path+strings.ToLower(e))
		}
	}
	for _, n := range names {
		st, err := os.Stat(n)
		if err != nil || st.IsDir() || (runtime.GOOS != "windows" && st.Mode()&0o111 == 0) {
			continue
		}
		if barred != "" && (barred.Contains(workspace.Path(n)) || barred.Contains(realPath(workspace.Path(n)))) {
			continue
		}
		return n
	}
	return ""
}

// resolve gives the command line to run for a row, and which program was looked for.
func (f finder) resolve(row *spec, root, worktree workspace.Path, trusted bool) (argv []string, looked string) {
	looked = row.command[0]
	barred := worktree
	if trusted {
		barred = ""
	}
	if row.quirks.native7 && looked == "tsc" {
		return f.resolveNative(row, root, worktree, trusted)
	}
	exe := f.find(looked, barred)
	if exe == "" {
		return nil, looked
	}
	return append([]string{exe}, row.command[1:]...), looked
}

// resolveNative finds TypeScript 7: the project's own when it is trusted, else ours or PATH's when
// what stands there is version 7 or newer (an older tsc knows no --lsp).
func (f finder) resolveNative(row *spec, root, worktree workspace.Path, trusted bool) (argv []string, looked string) {
	looked = "tsc (TypeScript 7)"
	args := row.command[1:]
	if trusted {
		if pkg, major := projectTypeScript(root, worktree); major >= 7 {
			if exe := nativeExecutable(pkg); exe != "" {
				return append([]string{exe}, args...), looked
			}
		}
	}
	if !trusted {
		return nil, looked
	}
	exe := f.find("tsc", "")
	if exe == "" {
		return nil, looked
	}
	pkg := realPath(workspace.Path(exe)).Dir().Dir() // bin/tsc of the package
	if packageMajor(pkg) < 7 {
		return nil, looked
	}
	if native := nativeExecutable(pkg); native != "" {
		exe = native
	}
	return append([]string{exe}, args...), looked
}

// projectTypeScript finds the TypeScript that the project itself depends on, as Node would.
func projectTypeScript(root, top workspace.Path) (pkg workspace.Path, major int) {
	for dir := root; ; dir = dir.Dir() {
		pkg := dir.Join("node_modules", "typescript")
		if major := packageMajor(pkg); major > 0 {
			return pkg, major
		}
		if dir == top || dir.Dir() == dir {
			return "", 0
		}
	}
}

// packageMajor reads the major version of an npm package, 0 when there is none.
func packageMajor(pkg workspace.Path) int {
	major, _, _ := strings.Cut(versionIn(pkg), ".")
	n, _ := strconv.Atoi(major)
	return n
}

// versionIn reads the version of an npm package, "" when there is none.
func versionIn(pkg workspace.Path) string {
	var p struct {
		Version string `json:"version"`
	}
	data, err := workspace.ReadRegular(pkg.Join("package.json"), 4<<20)
	if err != nil || json.Unmarshal(data, &p) != nil {
		return ""
	}
	return p.Version
}

// packageVersion is the version of the npm package that a command belongs to, for servers that do not
// say their own.
func packageVersion(command []string) string {
	if len(command) == 0 {
		return ""
	}
	dir := realPath(workspace.Path(command[0])).Dir()
	for range 4 {
		if v := versionIn(dir); v != "" {
			return v
		}
		dir = dir.Dir()
	}
	return ""
}

// nativeExecutable is the compiled program behind TypeScript 7's script, so that no Node process
// stands between it and us.
func nativeExecutable(pkg workspace.Path) string {
	real := realPath(pkg)
	arch := map[string]string{"amd64": "x64", "386": "ia32"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	system, name := runtime.GOOS, "tsc"
	if system == "windows" {
		system, name = "win32", "tsc.exe"
	}
	platform := filepath.Join("@typescript", "typescript-"+system+"-"+arch, "lib", name)
	for _, modules := range []workspace.Path{real.Join("node_modules"), real.Dir()} {
		exe := string(modules.Join(platform))
		if st, err := os.Stat(exe); err == nil && !st.IsDir() {
			return exe
		}
	}
	script := string(real.Join("bin", "tsc"))
	if st, err := os.Stat(script); err == nil && st.Mode()&0o111 != 0 {
		return script
	}
	return ""
}

// siblingSDK is tsserver of the TypeScript that was installed beside typescript-language-server.
func siblingSDK(command []string) string {
	if len(command) == 0 {
		return ""
	}
	for dir := realPath(workspace.Path(command[0])).Dir(); dir.Dir() != dir; dir = dir.Dir() {
		if dir.Base() != "node_modules" {
			continue
		}
		sdk := string(dir.Join("typescript", "lib", "tsserver.js"))
		if _, err := os.Stat(sdk); err == nil {
			return sdk
		}
	}
	return ""
}

// pythonFor is the interpreter for pyright: the operator's virtual environment, or the project's own
// when it is trusted.
func pythonFor(l launch) string {
	var dirs []string
	if v := lookup(l.environ, "VIRTUAL_ENV"); v != "" {
		dirs = append(dirs, v)
	}
	if l.trusted {
		dirs = append(dirs, filepath.Join(l.root, ".venv"), filepath.Join(l.root, "venv"))
	}
	for _, dir := range dirs {
		for _, exe := range []string{filepath.Join(dir, "bin", "python"), filepath.Join(dir, "Scripts", "python.exe")} {
			if _, err := os.Stat(exe); err == nil {
				return exe
			}
		}
	}
	return ""
}
