package permissions

import (
	"path/filepath"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// simple takes a simple command in: it follows cd, looks through wrappers such as env and timeout at
// what they start, and reads the scripts of sh -c and eval.
func (w *walker) simple(p part) {
	if len(p.argv) == 0 {
		w.add(p)
		return
	}
	if !p.argv[0].static || p.argv[0].glob {
		p.opaque = append(p.opaque, "which command it runs is only known when it runs")
		w.add(p)
		return
	}
	name := commandName(p.argv[0].text)
	switch {
	case name == "cd" || name == "pushd":
		w.changeDir(p)
	case name == "popd":
		p.opaque = append(p.opaque, "where popd leads is not known")
		w.add(p)
	case shells.has(name):
		w.shell(p)
	case name == "eval":
		w.eval(p)
	case name == "find" || name == "fd" || name == "fdfind":
		w.add(p)
		w.findExec(p)
	case wrappers[name] != nil:
		w.wrapped(p, *wrappers[name])
	case name == "set" && plainSet(p.argv[1:]):
		w.add(p)
	case starters.has(name):
		p.opaque = append(p.opaque, "which command it starts is not understood")
		w.add(p)
	case opaqueCommands[name] != "":
		p.opaque = append(p.opaque, opaqueCommands[name])
		w.add(p)
	default:
		w.add(p)
	}
}

// commandName is what a command is called, without its folder and, on Windows, its extension.
func commandName(arg string) string {
	name := arg[strings.LastIndexAny(arg, "/"+string(filepath.Separator))+1:]
	if windowsShell {
		name = strings.TrimSuffix(strings.ToLower(name), ".exe")
	}
	return name
}

// plainSet says whether set only switches on how errors and traces are treated.
func plainSet(args []word) bool {
	for i, a := range args {
		if !a.static {
			return false
		}
		option := i > 0 && strings.HasSuffix(args[i-1].text, "o")
		if !setFlags.MatchString(a.text) && !(option && slices.Contains([]string{"pipefail", "errexit", "nounset", "xtrace"}, a.text)) {
			return false
		}
	}
	return len(args) > 0
}

var setFlags = lazily(`^[-+][euxv]*o?$`)

var assignment = lazily(`^[A-Za-z_][A-Za-z0-9_]*=`)

// wrapped adds a wrapper and what it starts.
func (w *walker) wrapped(p part, spec wrapper) {
	outer := p
	outer.wrapper = true
	inner := part{cwds: slices.Clone(p.cwds), piped: p.piped, more: p.more || spec.more}
	if spec.opaque != "" {
		outer.opaque = append(slices.Clone(p.opaque), spec.opaque)
	}
	rest, ok := w.skipOptions(p.argv[1:], spec, &inner)
	if !ok {
		outer.opaque = append(outer.opaque, "its options are not understood")
	}
	if spec.assigns {
		for len(rest) > 0 && rest[0].static && assignment.MatchString(rest[0].text) {
			name, value, _ := strings.Cut(rest[0].text, "=")
			inner.assigns = append(inner.assigns, assign{name: name, value: literal(value)})
			rest = rest[1:]
		}
	}
	for range min(spec.operands, len(rest)) {
		rest = rest[1:]
	}
	// What the wrapper's own words are stays with the wrapper, the rest is the inner command.
	outer.argv = p.argv[:len(p.argv)-len(rest)]
	if len(rest) == 0 {
		outer.wrapper = len(outer.redirs) > 0 && commandName(p.argv[0].text) == "exec" // exec >file
		outer.argv = p.argv
		w.add(outer)
		return
	}
	w.add(outer)
	inner.argv = rest
	w.simple(inner)
}

// skipOptions steps over a wrapper's options. ok is false when one of them is not known, or asks for
// something that the words do not show.
func (w *walker) skipOptions(args []word, spec wrapper, inner *part) (rest []word, ok bool) {
	for len(args) > 0 {
		a := args[0]
		if !a.static {
			return args, false
		}
		if a.text == "--" {
			return args[1:], true
		}
		if !strings.HasPrefix(a.text, "-") || a.text == "-" {
			return args, true
		}
		args = args[1:]
		if long := strings.HasPrefix(a.text, "--"); long {
			name, value, has := strings.Cut(a.text, "=")
			if slices.Contains(spec.longs, name) && !has {
				if len(args) == 0 {
					return args, false
				}
				value, args = args[0].text, args[1:]
			}
			if name == "--chdir" || name == "--split-string" {
				return args, false
			}
			_ = value
			continue
		}
		for i := 1; i < len(a.text); i++ {
			c := a.text[i : i+1]
			if strings.Contains(spec.query, c) {
				return nil, true
			}
			if strings.Contains(spec.flags, c) || c >= "0" && c <= "9" {
				continue
			}
			if !strings.Contains(spec.values, c) || c == "C" {
				return args, false // env -S splits text, -C changes the folder
			}
			if i == len(a.text)-1 {
				if len(args) == 0 {
					return args, false
				}
				args = args[1:]
			}
			break
		}
	}
	return nil, true
}

// changeDir follows cd. It may fail and be followed by || or ;, so the folder before stays possible.
func (w *walker) changeDir(p part) {
	args := p.argv[1:]
	for len(args) > 0 && (args[0].text == "-L" || args[0].text == "-P" || args[0].text == "--") {
		args = args[1:]
	}
	w.add(p)
	at := &w.parts[len(w.parts)-1]
	switch {
	case w.loops > 0:
		at.opaque = append(at.opaque, "where cd inside a loop leads is not known")
	case len(args) == 0 && w.roots.Home() != "":
		w.cwds = append(slices.Clone(w.cwds), w.roots.Home())
		w.ok = []workspace.Path{w.roots.Home()}
		at.argv = append(slices.Clone(at.argv), literal(string(w.roots.Home())))
	case len(args) != 1 || !args[0].static || args[0].glob || strings.HasPrefix(args[0].text, "-"):
		at.opaque = append(at.opaque, "where it leads is not known")
	case len(w.cwds) > 16:
		at.opaque = append(at.opaque, "it changes the folder too often to follow")
	default:
		var moved []workspace.Path
		for _, cwd := range w.cwds {
			// The shell's cd goes by name, a program's path by what is really there: both are kept.
			moved = append(moved, lexical(cwd, args[0].text), w.physical(cwd, args[0].text))
		}
		slices.Sort(moved)
		w.ok = slices.Compact(moved)
		w.cwds = slices.Compact(slices.Sorted(slices.Values(slices.Concat(w.cwds, moved))))
	}
}

// shell reads sh -c SCRIPT. A shell that is given a script file is an ordinary command; one that
// reads its commands from somewhere else is opaque.
func (w *walker) shell(p part) {
	args := p.argv[1:]
	for len(args) > 0 && args[0].static && strings.HasPrefix(args[0].text, "-") && args[0].text != "--" && args[0].text != "-" {
		opt := args[0].text
		args = args[1:]
		if strings.HasPrefix(opt, "--") {
			continue
		}
		if strings.HasSuffix(opt, "o") && len(args) > 0 {
			args = args[1:] // -o pipefail
			continue
		}
		if !strings.Contains(opt, "c") {
			continue
		}
		w.scriptOf(p, args)
		return
	}
	if len(args) == 0 || args[0].text == "-" || args[0].text == "--" {
		p.opaque = append(p.opaque, "it runs what it is given on its input")
	}
	w.add(p)
}

// scriptOf walks the string behind sh -c.
func (w *walker) scriptOf(p part, args []word) {
	p.wrapper = true
	posix := set("sh", "bash", "dash", "ksh", "mksh", "ash", "rbash")
	switch {
	case !posix.has(commandName(p.argv[0].text)):
		p.opaque = append(p.opaque, "its language is not understood")
	case p.more || len(args) == 0 || !args[0].static:
		p.opaque = append(p.opaque, "what it runs is only known when it runs")
	default:
		w.add(p)
		outer := w.cwds
		w.cwds = slices.Clone(p.cwds)
		if err := w.script(args[0].text); err != nil {
			w.parts[len(w.parts)-1].opaque = append(w.parts[len(w.parts)-1].opaque, err.Error())
		}
		w.cwds = outer
		return
	}
	w.add(p)
}

// eval reads the script that its words make together.
func (w *walker) eval(p part) {
	p.wrapper = true
	for _, a := range p.argv[1:] {
		if !a.static || a.glob || p.more {
			p.opaque = append(p.opaque, "what it runs is only known when it runs")
			w.add(p)
			return
		}
	}
	w.add(p)
	at := len(w.parts) - 1
	if err := w.script(strings.Join(texts(p.argv[1:]), " ")); err != nil {
		w.parts[at].opaque = append(w.parts[at].opaque, err.Error())
	}
}

// findExec adds the commands that find (or fd) starts on what it finds.
func (w *walker) findExec(p part) {
	args := p.argv[1:]
	for i := 0; i < len(args); i++ {
		if !slices.Contains([]string{"-exec", "-execdir", "-ok", "-okdir", "-x", "--exec", "-X", "--exec-batch"}, args[i].text) {
			continue
		}
		end := i + 1
		for end < len(args) && args[end].text != ";" && args[end].text != "+" {
			end++
		}
		inner := part{argv: slices.Clone(args[i+1 : end]), cwds: slices.Clone(p.cwds), more: true}
		inner.argv = slices.DeleteFunc(inner.argv, func(a word) bool { return a.text == "{}" })
		if len(inner.argv) > 0 {
			w.simple(inner)
		}
		i = end
	}
}
