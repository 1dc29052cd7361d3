package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

// file is what one Go file imports and uses, on whatever system it is built.
type file struct {
	path    string // below the root, with slashes
	pkg     string // its folder
	test    bool
	ours    []string          // our packages that it imports, below the root
	imports []string          // all other imports
	names   map[string]string // "os.Stdout" to "file:line" of its first use
}

// scan reads every Go file of the module, whatever its build tags. internal/deps is left out: it
// imports modules only to keep them in go.mod.
func scan(root string) ([]file, error) {
	var files []file
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, p)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel != "." && (skipped(d.Name()) || rel == "internal/deps" || hasFile(p, "go.mod")) {
				return fs.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(rel, ".go") {
			return nil
		}
		f, err := scanFile(p, rel)
		files = append(files, f)
		return err
	})
	return files, err
}

func skipped(dir string) bool {
	return dir == "testdata" || dir == "node_modules" || strings.HasPrefix(dir, ".") || strings.HasPrefix(dir, "_")
}

func hasFile(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}

func scanFile(name, rel string) (file, error) {
	f := file{path: rel, pkg: path.Dir(rel), test: strings.HasSuffix(rel, "_test.go"), names: map[string]string{}}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, nil, 0)
	if err != nil {
		return f, err
	}
	called := map[string]string{} // import path by the name that the file gives it
	for _, i := range tree.Imports {
		p, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return f, err
		}
		if ours, ok := strings.CutPrefix(p, "acp-agent/"); ok {
			f.ours = append(f.ours, ours)
		} else {
			f.imports = append(f.imports, p)
		}
		called[path.Base(p)] = p
		if i.Name != nil {
			delete(called, path.Base(p))
			called[i.Name.Name] = p
		}
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		if x, ok := sel.X.(*ast.Ident); ok && called[x.Name] != "" {
			key := called[x.Name] + "." + sel.Sel.Name
			if f.names[key] == "" {
				f.names[key] = fmt.Sprintf("%s:%d", rel, set.Position(sel.Pos()).Line)
			}
		}
		return true
	})
	return f, nil
}

// under says whether pkg is one of the names; "x/*" is any package right below x.
func under(pkg string, names []string) bool {
	for _, n := range names {
		if n == pkg || strings.HasSuffix(n, "/*") && path.Dir(pkg) == strings.TrimSuffix(n, "/*") {
			return true
		}
	}
	return false
}

// within says whether an import path is the module or package, or below it.
func within(importPath, top string) bool {
	return importPath == top || strings.HasPrefix(importPath, top+"/")
}
