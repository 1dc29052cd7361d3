package permissions

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// files looks at everything that a part names as a file. writing is false when the part only reads.
func (e *evaluation) files(p *part, writing bool) finding {
	var f finding
	for _, r := range p.redirs {
		f.merge(e.check(p.cwds, r.target, r.write))
	}
	for _, a := range p.assigns {
		if !a.value.static {
			f.merge(finding{unclear: "the value of " + a.name + " is only known when it runs"})
		} else if strings.ContainsAny(a.value.text, `/~`) && !harmlessVariable(a) {
			f.merge(e.check(p.cwds, a.value, false))
		}
	}
	if len(p.argv) == 0 {
		return f
	}
	f.merge(e.program(p))
	name, args := commandName(p.argv[0].text), p.argv[1:]
	switch {
	case p.wrapper && (shells.has(name) || name == "eval"):
		return f // the script is judged apart
	case p.wrapper:
		f.merge(e.named(p.cwds, args, writing))
		return f
	}
	switch name {
	case "echo", "printf", "true", "false", ":", "exit", "return", "break", "continue", "expr", "seq", "sleep", "test", "[":
	case "grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack":
		f.merge(e.searched(p, name))
	case "sed", "gsed", "awk", "gawk", "mawk", "nawk", "jq", "yq", "perl":
		f.merge(e.scripted(p, writing))
	case "find":
		f.merge(e.found(p, writing))
	case "git":
		f.merge(e.tracked(p, writing))
	default:
		f.merge(e.named(p.cwds, args, writing))
		f.merge(e.recursed(p, name))
	}
	return f
}

// systemPrograms are folders whose programs may be named in full.
var systemPrograms = set("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin", "/opt/homebrew/bin")

// exists says whether a word names something from one of the folders.
func (e *evaluation) exists(cwds []workspace.Path, w word) bool {
	return slices.ContainsFunc(cwds, func(cwd workspace.Path) bool {
		_, err := os.Lstat(string(physical(e.s.roots, cwd, w.text)))
		return err == nil
	})
}

// program looks at a command that is named by its path.
func (e *evaluation) program(p *part) finding {
	name := p.argv[0]
	if !name.static || !strings.ContainsAny(name.text, `/\`) {
		return finding{}
	}
	if dir := filepath.Dir(name.text); filepath.IsAbs(name.text) && systemPrograms.has(dir) {
		return finding{}
	}
	return e.check(p.cwds, name, false)
}

// named looks at arguments any of which may be a file.
func (e *evaluation) named(cwds []workspace.Path, args []word, writing bool) finding {
	var f finding
	for _, arg := range args {
		for _, w := range pathsIn(arg) {
			f.merge(e.check(cwds, w, writing))
		}
	}
	return f
}

// trees looks through the folders among the operands.
func (e *evaluation) trees(cwds []workspace.Path, operands []word, o walkOptions) finding {
	var f finding
	for _, w := range operands {
		for _, cwd := range cwds {
			at := []workspace.Path{physical(e.s.roots, cwd, w.text)}
			if w.glob {
				at, _ = expand(cwd, w.text) // an error was told by check
			}
			for _, dir := range at {
				if e.s.roots.Locate(dir).Inside && isFolder(dir) {
					f.merge(e.checkTree(dir, o))
				}
			}
		}
	}
	return f
}

// scripted looks at the files of a command whose first operand is a program text.
func (e *evaluation) scripted(p *part, writing bool) finding {
	args := p.argv[1:]
	given := slices.ContainsFunc(args, func(a word) bool {
		return a.text == "-e" || a.text == "-f" || strings.HasPrefix(a.text, "--expression") || strings.HasPrefix(a.text, "--f")
	})
	var f finding
	script := !given
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a.text == "-e" || a.text == "--expression":
			if i++; i < len(args) { // its value is program text
				f.merge(e.checkExisting(p.cwds, args[i]))
			}
		case script && a.static && !strings.HasPrefix(a.text, "-"):
			script = false
			f.merge(e.checkExisting(p.cwds, a))
		default:
			f.merge(e.named(p.cwds, []word{a}, writing))
		}
	}
	return f
}

// found looks at find's starting points and the files that its tests compare with. A find that
// deletes or starts commands changes what lies below.
func (e *evaluation) found(p *part, writing bool) finding {
	var f finding
	args := p.argv[1:]
	var starts []word
	i := 0
	for ; i < len(args); i++ {
		if a := args[i].text; strings.HasPrefix(a, "-") || a == "(" || a == "!" {
			if len(starts) == 0 && (a == "-H" || a == "-L" || a == "-P" || strings.HasPrefix(a, "-O")) {
				continue
			}
			break
		}
		starts = append(starts, args[i])
	}
	for _, w := range starts {
		f.merge(e.check(p.cwds, w, writing))
	}
	for ; i < len(args); i++ {
		a := args[i].text
		if i+1 < len(args) && (strings.HasPrefix(a, "-newer") || a == "-samefile" || strings.HasSuffix(a, "newer") || strings.HasPrefix(a, "-f")) {
			f.merge(e.check(p.cwds, args[i+1], strings.HasPrefix(a, "-f")))
		}
		if !args[i].static {
			f.merge(finding{unclear: "what " + args[i].raw + " stands for is only known when it runs"})
		}
	}
	if !writing {
		return f
	}
	if len(starts) == 0 {
		starts = []word{literal(".")}
	}
	f.merge(e.trees(p.cwds, starts, walkOptions{hidden: true, writing: true}))
	return f
}

// tracked looks at the files of a git command, from the folders that -C leads to.
func (e *evaluation) tracked(p *part, writing bool) finding {
	var f finding
	cwds, args := p.cwds, p.argv[1:]
	for len(args) > 1 && args[0].text == "-C" {
		f.merge(e.check(cwds, args[1], false))
		var next []workspace.Path
		for _, cwd := range cwds {
			next = append(next, physical(e.s.roots, cwd, args[1].text))
		}
		cwds, args = next, args[2:]
	}
	message := false
	for _, arg := range args {
		if message {
			message = false // a commit message is no file
			if arg.glob {
				f.merge(e.checkExpanded(cwds, arg))
			}
			continue
		}
		if arg.static && (arg.text == "-m" || arg.text == "--message" || arg.text == "--grep" || arg.text == "--author") {
			message = true
			continue
		}
		if !arg.static {
			f.merge(finding{unclear: "what " + arg.raw + " stands for is only known when it runs"})
			continue
		}
		for _, w := range pathsIn(arg) {
			for _, g := range gitPaths(w) {
				f.merge(e.check(cwds, g, writing))
			}
		}
	}
	return f
}

// recursive are commands that reach everything below the folders they name, with the options that
// make them do so ("" when they always do).
var recursive = map[string]string{"rm": "rR", "mv": "", "cp": "rRa", "chmod": "R", "chown": "R", "chgrp": "R", "rmdir": "", "shred": "", "trash": ""}

// recursed looks below the folders that a recursive command names.
func (e *evaluation) recursed(p *part, name string) finding {
	letters, ok := recursive[name]
	if !ok {
		return finding{}
	}
	args := p.argv[1:]
	if letters != "" && !slices.ContainsFunc(args, func(a word) bool {
		return strings.HasPrefix(a.text, "--re") || strings.HasPrefix(a.text, "--ar") ||
			strings.HasPrefix(a.text, "-") && !strings.HasPrefix(a.text, "--") && strings.ContainsAny(a.text, letters)
	}) {
		return finding{}
	}
	operands := slices.DeleteFunc(slices.Clone(args), func(a word) bool { return !a.static || strings.HasPrefix(a.text, "-") })
	return e.trees(p.cwds, operands, walkOptions{hidden: true, writing: true})
}
