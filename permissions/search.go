package permissions

import (
	"slices"
	"strings"
)

// search is a call of grep, rg or kin taken apart.
type search struct {
	ripgrep   bool // rg and the tools that search like it: folders by themselves, no hidden files
	values    string
	recursive bool
	pattern   bool // an option gives the pattern
	tree      walkOptions
	operands  []word
	files     []word // values of options that are read as files
	texts     []word // values of options that are patterns, numbers and names
}

// parseSearch reads the arguments of a search. An option that is not known counts as one without a
// value: what follows it is then taken for an operand and looked at as a file.
func parseSearch(name string, args []word) search {
	s := search{ripgrep: name == "rg" || name == "ag" || name == "ack", values: grepValues}
	if s.ripgrep {
		s.values, s.recursive = ripgrepValues, true
	}
	s.tree.hidden = !s.ripgrep
	for len(args) > 0 {
		a := args[0]
		args = args[1:]
		switch {
		case a.text == "--" && a.static:
			s.operands = append(s.operands, args...)
			return s
		case !strings.HasPrefix(a.text, "-") || a.text == "-" || !a.static:
			s.operands = append(s.operands, a)
		case strings.HasPrefix(a.text, "--"):
			args = s.long(a, args)
		default:
			args = s.short(a, args)
		}
	}
	return s
}

// long takes in one long option, of which grep also understands the beginning, and gives the
// arguments behind it.
func (s *search) long(a word, args []word) []word {
	option, value, has := strings.Cut(a.text, "=")
	given := a.cut(min(len(option)+1, len(a.text)))
	switch {
	case option == "--include" && has:
		s.tree.include = append(s.tree.include, value)
	case option == "--exclude-dir" && has:
		s.tree.skip = append(s.tree.skip, value)
	case strings.HasPrefix(option, "--reg"), option == "--file", option == "--files":
		s.pattern = true
	case strings.HasPrefix(option, "--rec"), strings.HasPrefix(option, "--dir"):
		s.recursive = true
	case strings.HasPrefix(option, "--der"), strings.HasPrefix(option, "--fol"):
		s.recursive, s.tree.follow = true, true
	case strings.HasPrefix(option, "--hid"), strings.HasPrefix(option, "--no-ig"), strings.HasPrefix(option, "--unr"):
		s.tree.hidden = true
	}
	next := !has && searchValues.has(option) && len(args) > 0
	if next {
		given, args = args[0], args[1:]
	}
	switch {
	case !has && !next:
	case !searchPatterns.has(option):
		s.files = append(s.files, given)
	case next:
		s.texts = append(s.texts, given)
	}
	return args
}

// short takes in one cluster of short options and gives the arguments behind it.
func (s *search) short(a word, args []word) []word {
	letters := flagLetters(a.text, s.values)
	if s.ripgrep {
		s.tree.hidden = s.tree.hidden || strings.ContainsAny(letters, "u.")
		s.tree.follow = s.tree.follow || strings.Contains(letters, "L")
	} else {
		s.recursive = s.recursive || strings.ContainsAny(letters, "rR")
		s.tree.follow = s.tree.follow || strings.Contains(letters, "R")
	}
	valued := a.text[1+len(letters):]
	if valued == "" {
		return args
	}
	value := a.cut(2 + len(letters))
	if len(valued) == 1 && len(args) > 0 {
		value, args = args[0], args[1:]
	}
	switch valued[0] {
	case 'f':
		s.pattern = true
		s.files = append(s.files, value)
		return args
	case 'e':
		s.pattern = true
	case 'd':
		s.recursive = s.recursive || !s.ripgrep // -d recurse
	}
	s.texts = append(s.texts, value)
	return args
}

// searched looks at the files that a search shows: its operands, the first of which is the pattern
// unless an option gives it, and what lies below the folders among them.
func (e *evaluation) searched(p *part, name string) finding {
	s := parseSearch(name, p.argv[1:])
	if !s.pattern && len(s.operands) > 0 {
		s.texts = append(s.texts, s.operands[0])
		s.operands = s.operands[1:]
	}
	var f finding
	for _, w := range s.texts {
		f.merge(e.checkExisting(p.cwds, w))
	}
	for _, w := range slices.Concat(s.files, s.operands) {
		f.merge(e.check(p.cwds, w, false))
	}
	reads := p.piped && len(s.operands) == 0 && s.ripgrep // its input, no folder
	if !s.recursive || reads || f.sensitive != "" || f.outside != "" || f.unclear != "" {
		return f
	}
	operands := s.operands
	if !slices.ContainsFunc(operands, func(w word) bool { return w.glob || e.exists(p.cwds, w) }) {
		operands = append(slices.Clone(operands), literal(".")) // an option's value may have passed for an operand
	}
	f.merge(e.trees(p.cwds, operands, s.tree))
	return f
}

// searchValues are the long options of grep and rg whose value may be the next word.
var searchValues = set(
	"--glob", "--iglob", "--type", "--type-not", "--type-add", "--type-clear", "--after-context", "--before-context", "--context",
	"--max-count", "--max-columns", "--max-depth", "--maxdepth", "--max-filesize", "--threads", "--regexp", "--file", "--replace",
	"--encoding", "--sort", "--sortr", "--color", "--colors", "--engine", "--dfa-size-limit", "--regex-size-limit", "--ignore-file",
	"--path-separator", "--context-separator", "--include", "--exclude", "--exclude-from", "--exclude-dir", "--label",
	"--binary-files", "--devices", "--directories",
)

// searchPatterns are those whose value is a pattern, not a file.
var searchPatterns = set("--glob", "--iglob", "--include", "--exclude", "--exclude-dir", "--regexp", "--type", "--type-not", "--replace")
