package permissions

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// Explanation is what `permissions explain` prints for a command.
type Explanation struct {
	Decision Decision
	Simple   []SimpleCommand // what the line was parsed into
	Parsed   bool            // false: not understood, so it asks
}

// SimpleCommand is one simple command of a line with what decides on it.
type SimpleCommand struct {
	Argv   []string
	Writes []string // redirection targets
	Verdict
	Rule string
	Why  string
}

// Command decides on a shell command line run in cwd.
func (s *Session) Command(line string, cwd workspace.Path) Decision {
	return s.Explain(line, cwd).Decision
}

// Explain is Command with the reasons of each part.
func (s *Session) Explain(text string, cwd workspace.Path) Explanation {
	e := &evaluation{s: s, state: s.state()}
	parsed, err := parseLine(text, cwd, s.roots)
	if err != nil {
		return Explanation{Decision: e.notUnderstood(err.Error())}
	}
	x := Explanation{Parsed: true}
	if len(parsed.parts) == 0 {
		x.Decision = Decision{Verdict: Allow, By: ByRule, Rule: "read_only", Reason: "The command is empty."}
		return x
	}
	for i := range parsed.parts {
		p := &parsed.parts[i]
		d := e.part(p, parsed.simple)
		if i == 0 {
			x.Decision = d
		} else {
			x.Decision = x.Decision.stricter(d)
		}
		sc := SimpleCommand{Argv: texts(p.argv), Verdict: d.Verdict, Rule: d.Rule, Why: d.Reason}
		for _, r := range p.redirs {
			if r.write {
				sc.Writes = append(sc.Writes, texts([]word{r.target})[0])
			}
		}
		x.Simple = append(x.Simple, sc)
	}
	x.Decision = e.remember(x.Decision, strings.TrimSpace(text))
	if f := e.check([]workspace.Path{cwd}, literal("."), false); f.outside != "" || f.sensitive != "" {
		x.Decision = x.Decision.stricter(e.special("the working directory", f))
	}
	if d := &x.Decision; d.Verdict == Allow || d.Sensitive || d.Outside || !parsed.simple {
		d.AlwaysPrefix = nil
	}
	if x.Decision.Verdict != Allow {
		x.Decision.Env = nil
	}
	return x
}

// evaluation is one decision in the making.
type evaluation struct {
	s     *Session
	state state
}

// notUnderstood is the decision on what cannot be parsed.
func (e *evaluation) notUnderstood(why string) Decision {
	if e.state.mode == ModePlan {
		return Decision{Verdict: Deny, By: ByMode, Rule: string(ModePlan), Reason: "Plan mode runs only commands that are known to read only; here " + why + "."}
	}
	return Decision{Verdict: Ask, By: ByRule, Rule: "not understood", Reason: "The command is not understood: " + why + "."}
}

// remember makes a command that was refused in this turn ask again.
func (e *evaluation) remember(d Decision, text string) Decision {
	if d.Verdict == Allow && e.state.denied.lines[text] {
		return Decision{Verdict: Ask, By: ByRule, Rule: "denied in this turn", Reason: "This command was refused earlier in this turn.", Env: d.Env}
	}
	return d
}

// part decides on one simple command; plain says that it is the whole line.
func (e *evaluation) part(p *part, plain bool) Decision {
	shown := show(p)
	// Deny rules look at every part, whatever else is to say about it.
	if r, ok := ruleFor(e.s.policy.deny, p, true); ok {
		return Decision{Verdict: Deny, By: ByRule, Rule: r.text, Reason: shown + " is denied by the rule " + r.text + "."}
	}
	readRule, reads := e.readOnlyRule(p)
	found := e.files(p, !reads)
	d := e.byMode(p, shown, reads, readRule)
	if found.sensitive != "" || found.outside != "" {
		special := e.special(shown, found)
		if d.Verdict == Deny {
			return d.stricter(special)
		}
		return special
	}
	if d.Verdict == Deny {
		return d
	}
	if found.denied != "" {
		return Decision{Verdict: Ask, By: ByRule, Rule: "denied in this turn", Reason: "An edit of " + found.denied + " was refused earlier in this turn, and " + shown + " may write it."}
	}
	why := e.opaque(p)
	if why == "" {
		why = found.unclear
	}
	if why != "" {
		return Decision{Verdict: Ask, By: ByRule, Rule: "not understood", Reason: shown + " is not understood: " + why + "."}
	}
	return e.granted(p, d, plain, shown, reads)
}

// granted applies what the user and the operator allowed, and what the user refused in this turn.
func (e *evaluation) granted(p *part, d Decision, plain bool, shown string, reads bool) Decision {
	var prefix []string
	if plain {
		prefix = alwaysPrefix(texts(p.argv))
	}
	key := grantKey(prefix)
	session := plain && e.state.granted[key]
	ask, asks := ruleFor(e.s.policy.ask, p, true)
	allow, allowed := ruleFor(e.s.policy.allow, p, false)
	afterDenial := e.state.denied.any() && !e.state.denied.after[key] && !reads && !p.wrapper && !unrelated(p)
	switch {
	case (session || allowed || d.Verdict == Allow) && afterDenial:
		d = Decision{Verdict: Ask, By: ByRule, Rule: "denied in this turn", Reason: "Something was refused earlier in this turn, and " + shown + " might do it by another road."}
	case session:
		return Decision{Verdict: Allow, By: ByRule, Rule: "always allow " + Decision{AlwaysPrefix: prefix}.AlwaysLabel(), Reason: shown + " was allowed for this session."}
	case asks:
		d = Decision{Verdict: Ask, By: ByRule, Rule: ask.text, Reason: shown + " asks by the rule " + ask.text + "."}
	case allowed && d.Verdict != Allow:
		return Decision{Verdict: Allow, By: ByRule, Rule: allow.text, Reason: shown + " is allowed by the rule " + allow.text + "."}
	}
	if d.Verdict == Ask {
		d.AlwaysPrefix = prefix
	}
	return d
}

// byMode is what the mode says of a part that nothing special is known of.
func (e *evaluation) byMode(p *part, shown string, reads bool, readRule string) Decision {
	mode := e.state.mode
	if reads {
		d := Decision{Verdict: Allow, By: ByRule, Rule: readRule, Reason: shown + " only reads."}
		if p.wrapper {
			d.Reason = shown + " only starts the next command."
		}
		if len(p.argv) > 0 && p.argv[0].text == "git" {
			d.Env = gitEnv
		}
		return d
	}
	d := Decision{Verdict: Ask, By: ByMode, Rule: string(mode)}
	switch mode {
	case ModePlan:
		d.Verdict, d.Reason = Deny, "Plan mode runs only commands that read; "+shown+" is not one of permissions.read_only."
	case ModeDontAsk:
		if why := effects(p); why != "" {
			d.By, d.Rule, d.Reason = ByRule, why, shown+" asks in every mode: "+why+"."
			return d
		}
		d.Verdict, d.Reason = Allow, "Everything inside the roots is allowed in this mode."
	default:
		d.Reason = fmt.Sprintf("%s is not a read-only command, and mode %s asks for these.", shown, mode)
	}
	return d
}

// special is the decision on a part that names sensitive files or files outside the roots.
func (e *evaluation) special(shown string, f finding) Decision {
	d := Decision{Verdict: Ask, By: ByRule, Sensitive: f.sensitive != "", Outside: f.outside != ""}
	if d.Sensitive {
		d.Rule, d.Reason = f.sensitive, shown+" touches a sensitive file ("+f.sensitive+")."
	} else {
		d.Rule, d.Reason = "outside the roots", shown+" names a path outside the session's roots: "+f.outside+"."
	}
	return d
}

// opaque says why a part cannot be judged by its words.
func (e *evaluation) opaque(p *part) string {
	if len(p.opaque) > 0 {
		return p.opaque[0]
	}
	if p.more {
		return "its further arguments are only known when it runs"
	}
	if len(p.argv) > 0 && p.argv[0].text != "echo" {
		if name := optionFile(p.cwds, p.argv[1:]); name != "" {
			return "a file that one of its globs stands for reads like an option: " + name
		}
	}
	for _, a := range p.assigns {
		if injecting.MatchString(a.name) {
			return a.name + " can make it run something else"
		}
	}
	return ""
}

// effects says what a command does beyond files inside the roots; "" when nothing is known.
func effects(p *part) string {
	if len(p.argv) == 0 {
		return ""
	}
	name, argv := commandName(p.argv[0].text), texts(p.argv)
	if why := runsText(name, argv[1:], p.piped); why != "" {
		return why
	}
	switch {
	case name == "echo" || name == "printf" || name == "grep":
		return ""
	case slices.ContainsFunc(argv[1:], runsProgram.MatchString):
		return "one of its options starts another program"
	case reachesNetwork(name, argv), slices.ContainsFunc(argv[1:], remote.MatchString):
		return "it needs the network"
	case systemTools.has(name):
		return "it acts on more than files of the roots"
	case name == "git":
		g, ok := parseGit(argv)
		if !ok || gitRuns.has(g.sub) || g.sub == "rebase" && anyPrefix(g.args, "-x") || g.sub == "grep" && anyPrefix(g.args, "-O") {
			return "it starts other programs, or changes which ones git starts"
		}
	}
	return ""
}

// ruleFor finds the first terminal rule that matches a part. A strict rule (deny, ask) also matches a
// command that is named by its path; an allow rule sees the words as they are, and only when all of
// them are known.
func ruleFor(rules []rule, p *part, strict bool) (rule, bool) {
	if len(rules) == 0 || len(p.argv) == 0 {
		return rule{}, false
	}
	argv := texts(p.argv)
	if !strict && slices.ContainsFunc(p.argv, func(w word) bool { return !w.static }) {
		return rule{}, false
	}
	byName := append([]string{commandName(argv[0])}, argv[1:]...)
	return find(rules, "terminal", func(r rule) bool {
		return r.matchesArgv(argv) || strict && r.matchesArgv(byName)
	})
}

// unrelated says whether a command that writes provably writes only the files that it names: none of
// these is a refused one, or files would have said so.
func unrelated(p *part) bool {
	if len(p.argv) == 0 {
		return true
	}
	if slices.ContainsFunc(p.argv, func(w word) bool { return !w.static || w.glob }) || len(p.assigns) > 0 {
		return false
	}
	switch p.argv[0].text {
	case "mkdir", "touch", "rmdir", "rm", "cp", "mv", "echo", "printf", "cat", "cd":
		return true
	}
	return false
}

// show is how messages name a part.
func show(p *part) string {
	text := strings.Join(texts(p.argv), " ")
	if text == "" && len(p.assigns) > 0 {
		text = p.assigns[0].name + "=…"
	} else if text == "" {
		text = "a redirection"
	}
	text = strings.ReplaceAll(text, "\n", "⏎")
	if r := []rune(text); len(r) > 80 {
		text = string(r[:79]) + "…"
	}
	return "`" + text + "`"
}

func isFolder(p workspace.Path) bool {
	info, err := os.Stat(string(p))
	return err == nil && info.IsDir()
}
