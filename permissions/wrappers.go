package permissions

import "slices"

var (
	shells = set("sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "csh", "tcsh", "rbash", "pwsh", "powershell", "cmd")

	// opaqueCommands change what the words after them mean, or run text that is not in their words.
	opaqueCommands = map[string]string{
		"source": "it runs a file inside this shell", ".": "it runs a file inside this shell",
		"trap": "it sets a command that runs later", "alias": "it changes what commands mean",
		"unalias": "it changes what commands mean", "enable": "it changes what commands mean",
		"hash": "it changes what commands mean", "bind": "it sets a command that runs later",
		"complete": "it sets a command that runs later", "mapfile": "it can run a command for each line",
		"readarray": "it can run a command for each line", "shopt": "it changes how the shell reads",
		"set": "it changes how the shell reads", "setopt": "it changes how the shell reads",
		"unset": "it changes how the shell reads", "let": "it evaluates text", "getopts": "it assigns variables",
		"read": "it assigns variables", "fc": "it runs earlier commands", "repeat": "it runs a command again and again",
		"coproc": "it uses a coprocess", "function": "it defines a function", "autoload": "it changes what commands mean",
		"zmodload": "it changes what commands mean", "noglob": "it changes how the shell reads",
		"ssh": "what it runs elsewhere is not understood",
	}
)

// starters start another command in ways that are not followed here.
var starters = set(
	"entr", "nq", "setarch", "taskset", "numactl", "chrt", "prlimit", "firejail", "bwrap", "rlwrap", "proxychains",
	"proxychains4", "torsocks", "cgexec", "systemd-run", "daemonize", "dbus-run-session", "xvfb-run", "start-stop-daemon",
	"pm2", "nodemon", "hyperfine", "valgrind", "perf", "ltrace", "fakeroot", "linux32", "linux64", "choom", "softlimit",
	"chpst", "setuidgid", "direnv", "nix-shell", "mise", "asdf", "ssh-agent", "expect", "socat",
)

func set(names ...string) words { return names }

// words are few, so that looking at each is as quick as a map, and costs the start of the program
// nothing.
type words []string

func (w words) has(name string) bool { return slices.Contains(w, name) }

// wrapper describes a command that starts another one.
type wrapper struct {
	flags    string   // short options without a value; any long option without = is taken for one
	values   string   // short options with a value
	longs    []string // long options with a value in the next word
	operands int      // words of its own before the command
	assigns  bool     // NAME=value words before the command
	opaque   string   // why it always asks
	more     bool     // it appends arguments
	query    string   // short options with which it only answers a question
}

var wrappers = map[string]*wrapper{
	"env":      {flags: "i0v", values: "uCa", longs: []string{"--unset", "--chdir", "--argv0"}, assigns: true},
	"nice":     {values: "n", longs: []string{"--adjustment"}},
	"ionice":   {flags: "t", values: "cnpPu", longs: []string{"--class", "--classdata"}},
	"timeout":  {flags: "v", values: "ks", longs: []string{"--kill-after", "--signal"}, operands: 1},
	"gtimeout": {flags: "v", values: "ks", longs: []string{"--kill-after", "--signal"}, operands: 1},
	"nohup":    {},
	"setsid":   {flags: "cfw"},
	"stdbuf":   {values: "ioe", longs: []string{"--input", "--output", "--error"}},
	"time":     {flags: "pvaql", values: "fo", longs: []string{"--format", "--output"}},
	"command":  {flags: "p", query: "vV"},
	"builtin":  {},
	"exec":     {flags: "cl", values: "a"},
	"chronic":  {}, "unbuffer": {}, "caffeinate": {flags: "dimsu", values: "tw"},
	"sudo":     {flags: "AbEHnPSikVvKls", values: "ugphCrtTRDU", opaque: "it runs as another user"},
	"doas":     {flags: "nLs", values: "uC", opaque: "it runs as another user"},
	"pkexec":   {longs: []string{"--user"}, opaque: "it runs as another user"},
	"su":       {opaque: "it runs as another user", values: "cgGs"},
	"runuser":  {opaque: "it runs as another user", values: "cgGsu"},
	"chroot":   {operands: 1, opaque: "it runs in another root"},
	"unshare":  {opaque: "it runs with other rights"},
	"nsenter":  {opaque: "it runs with other rights"},
	"setpriv":  {opaque: "it runs with other rights"},
	"strace":   {opaque: "it traces another command", values: "abeEIoOpPsSuUX", flags: "cCdfFhiknqrtTvVwxyYzZD"},
	"watch":    {opaque: "it runs a command again and again", values: "n", flags: "bcdegprtwx"},
	"parallel": {opaque: "which commands it starts is only known when it runs", more: true},
	"xargs": {flags: "0prtxo", values: "adEIJLlnPRsS", longs: []string{
		"--arg-file", "--delimiter", "--max-lines", "--max-args", "--max-procs", "--max-chars", "--replace", "--eof", "--process-slot-var",
	}, more: true},
	"flock":   {flags: "sxnuoF", values: "wE", operands: 1},
	"busybox": {}, "toybox": {},
}
