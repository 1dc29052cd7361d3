package permissions

import (
	"slices"
	"strings"
)

// networkTools reach other machines whatever their arguments.
var networkTools = set(
	"curl", "wget", "aria2c", "ssh", "scp", "sftp", "rsync", "ftp", "tftp", "telnet", "nc", "ncat", "netcat", "socat", "nmap",
	"ping", "ping6", "traceroute", "dig", "nslookup", "host", "whois", "http", "https", "xh", "gh", "glab", "hub", "npx", "bunx",
	"pnpx", "pipx", "uvx", "docker", "podman", "nerdctl", "kubectl", "helm", "terraform", "tofu", "pulumi", "ansible",
	"ansible-playbook", "aws", "gcloud", "az", "doctl", "flyctl", "fly", "heroku", "vercel", "netlify", "wrangler", "s3cmd",
	"rclone", "mail", "sendmail", "mutt", "apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "pacman", "apk", "snap",
	"flatpak", "brew", "port", "nix", "nix-env", "choco", "winget", "scoop", "gem", "mosh", "lynx", "w3m", "open", "xdg-open",
	"start", "skopeo", "cosign", "svn", "hg", "p4", "psql", "mysql", "mongo", "mongosh", "redis-cli",
)

// networkCommands are the subcommands by which an otherwise local tool reaches other machines.
var networkCommands = map[string]words{
	"git": set("push", "pull", "fetch", "clone", "ls-remote", "remote", "submodule", "send-email", "request-pull", "svn", "p4", "lfs",
		"daemon", "instaweb", "imap-send", "archive", "credential", "annex"),
	"go":       set("get", "install", "mod", "work", "telemetry", "tool"),
	"npm":      npmNetwork,
	"pnpm":     npmNetwork,
	"yarn":     npmNetwork,
	"bun":      npmNetwork,
	"deno":     set("install", "add", "cache", "upgrade", "publish", "outdated"),
	"pip":      pipNetwork,
	"pip3":     pipNetwork,
	"uv":       set("pip", "add", "sync", "lock", "tool", "self", "publish", "python", "run"),
	"poetry":   set("install", "add", "update", "lock", "publish", "self"),
	"cargo":    set("install", "publish", "update", "fetch", "add", "search", "login", "owner", "yank", "generate-lockfile", "vendor"),
	"bundle":   set("install", "update", "add", "outdated"),
	"composer": set("install", "update", "require", "create-project", "self-update", "global"),
	"rustup":   set("update", "install", "toolchain", "target", "component", "self"),
	"mvn":      set("deploy", "dependency:get"),
	"dotnet":   set("restore", "add", "nuget", "tool", "workload"),
	"opam":     set("install", "update", "upgrade"),
	"conda":    set("install", "create", "update", "env"),
}

var (
	npmNetwork = set("install", "i", "in", "ci", "add", "update", "up", "upgrade", "publish", "exec", "x", "dlx", "create", "init", "login",
		"logout", "outdated", "audit", "view", "info", "search", "link", "install-test", "it", "rebuild", "global", "import", "unpublish",
		"deprecate", "dist-tag", "owner", "token", "whoami", "ping", "cache", "self-update", "plugin", "set")
	pipNetwork = set("install", "download", "wheel", "search", "index")
)

// systemTools act on more than files: processes, services, accounts, disks, schedules, secrets.
var systemTools = set(
	"kill", "pkill", "killall", "reboot", "shutdown", "halt", "poweroff", "init", "systemctl", "service", "launchctl", "initctl",
	"crontab", "at", "batch", "mount", "umount", "mkfs", "fdisk", "parted", "losetup", "swapon", "swapoff", "sysctl", "modprobe",
	"insmod", "rmmod", "iptables", "nft", "ufw", "ip", "ifconfig", "route", "useradd", "userdel", "usermod", "groupadd", "passwd",
	"chpasswd", "visudo", "chown", "chgrp", "setfacl", "chattr", "mknod", "ln", "security", "secret-tool", "pass", "gpg", "gpg2",
	"ssh-keygen", "ssh-add", "ssh-agent", "ssh-copy-id", "openssl", "keyctl", "defaults", "osascript", "dscl", "scutil", "pmset",
	"reg", "regedit", "schtasks", "sc", "net", "netsh", "wmic", "takeown", "icacls", "diskpart", "tmux", "screen", "script",
	"dbus-send", "gdbus", "gsettings", "dconf", "notify-send", "logger", "wall", "write", "docker-compose", "vagrant", "code",
	"idea", "zed", "env", "printenv", "dd", "shred", "gdb", "lldb", "rr", "ptrace", "dtrace",
	"vi", "vim", "nvim", "emacs", "ed", "ex", "nano", "less", "more", "man", "tar", "unzip", "cpio", "bsdtar", "7z", "patch", "git-shell",
)

// gitRuns are git subcommands that start other programs or change what git starts later.
var gitRuns = set("config", "bisect", "filter-branch", "filter-repo", "difftool", "mergetool", "hook", "maintenance", "gui", "citool",
	"web--browse", "init", "worktree", "alias", "replace", "update-index", "fast-import", "apply", "am")

// interpreters run a program given in their words (or on their input) when one of the options is there.
var interpreters = map[string]*pattern{
	"python": inlineC, "python3": inlineC, "python2": inlineC, "pypy": inlineC, "pypy3": inlineC,
	"node": inlineE, "nodejs": inlineE, "bun": inlineE, "deno": lazily(`^(eval|repl)$`), "ruby": inlineE, "irb": nil, "perl": inlineE, "php": lazily(`^-[^-]*[rBREF]|^--(run|process)`),
	"lua": inlineE, "luajit": inlineE, "Rscript": inlineE, "R": inlineE, "julia": inlineE, "ghci": nil, "scala": inlineE,
	"groovy": inlineE, "tclsh": nil, "expect": inlineC, "guile": inlineC, "elixir": inlineE, "iex": nil, "erl": inlineE, "sqlite3": nil,
	"awk": nil, "gawk": nil, "mawk": nil, "nawk": nil, "m4": nil, "bc": nil, "dc": nil, "jshell": nil,
}

var (
	inlineC = lazily(`^-[A-Za-z]*c|^-$`)
	inlineE = lazily(`^-[A-Za-z0-9]*[eEpr]|^--(eval|print|require|import)|^-$`)
)

// runsText says why a known interpreter's or editor's program is not understood; "" when it runs a
// file, as an ordinary command does.
func runsText(name string, args []string, piped bool) string {
	switch name {
	case "awk", "gawk", "mawk", "nawk":
		return awkText(args)
	case "sed", "gsed":
		return sedText(args)
	}
	inline, known := interpreters[name]
	if !known {
		return ""
	}
	operand := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	options := args
	if operand >= 0 {
		options = args[:operand]
	}
	if name == "deno" && operand >= 0 {
		options = args[operand : operand+1]
	}
	if inline != nil && slices.ContainsFunc(options, inline.MatchString) {
		return "it runs a program written in its words"
	}
	if operand < 0 && (piped || !slices.ContainsFunc(args, isInfo)) {
		return "it runs what it is given on its input"
	}
	if inline == nil {
		return "what it runs is not understood"
	}
	return ""
}

func isInfo(a string) bool {
	return slices.Contains([]string{"--version", "-V", "-v", "--help", "-h"}, a)
}

// awkDanger are what an awk program starts other programs or writes files with.
var awkDanger = lazily(`system|[|>]|getline|@|close|printf?\s*>|ENVIRON|include|load`)

func awkText(args []string) string {
	for _, a := range args {
		if strings.HasPrefix(a, "-") && !strings.HasPrefix(a, "-F") && !strings.HasPrefix(a, "-v") {
			return "its options are not understood"
		}
		if awkDanger.MatchString(a) {
			return "its program may start other programs or write files"
		}
	}
	return ""
}

// sedScript is a script of addresses with p, d or q, or one s command without the e and w flags.
var (
	sedLines  = lazily(`^(\$|\d+|/[^/\\]*/)?(,(\$|\+?\d+|/[^/\\]*/))?!?[pdq]$`)
	sedNumber = lazily(`^(\d+|\$)?(,(\d+|\$))?$`)
)

func sedText(args []string) string {
	const unclear = "its script is not understood"
	var scripts []string
	operand := false
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch {
		case a == "-e" || a == "--expression":
			if i++; i < len(args) {
				scripts = append(scripts, args[i])
			}
		case a == "-n", a == "-E", a == "-r", a == "-u", a == "-s", a == "-z", a == "-i", a == "--in-place", a == "--quiet", a == "--silent", a == "--regexp-extended":
		case strings.HasPrefix(a, "-") && len(a) > 1:
			return "its options are not understood"
		case !operand && len(scripts) == 0:
			scripts, operand = append(scripts, a), true
		}
	}
	if len(scripts) == 0 {
		return unclear
	}
	for _, script := range scripts {
		if !sedLines.MatchString(script) && !sedSubstitution(script) {
			return unclear
		}
	}
	return ""
}

// sedSubstitution checks for one s command, or several behind semicolons, with flags that only
// choose what is replaced.
func sedSubstitution(script string) bool {
	for script != "" {
		at := strings.IndexByte(script, 's')
		if at < 0 || !sedNumber.MatchString(script[:at]) || len(script) < at+2 {
			return false
		}
		delim, rest := script[at+1], script[at+2:]
		if delim == '\\' || delim == '\n' {
			return false
		}
		for range 2 {
			end := 0
			for end < len(rest) && rest[end] != delim {
				if rest[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(rest) {
				return false
			}
			rest = rest[end+1:]
		}
		flags := rest
		if i := strings.IndexByte(rest, ';'); i >= 0 {
			flags, rest = rest[:i], strings.TrimLeft(rest[i+1:], " ")
		} else {
			rest = ""
		}
		if strings.Trim(flags, "gpiI0123456789") != "" {
			return false
		}
		script = rest
	}
	return true
}

// injecting are variables by which another program is started or loaded in place of the one named.
var injecting = lazily(`^(LD_|DYLD_|GIT_|BASH|npm_config_|NPM_CONFIG_|PIP_|CARGO_|RUSTC|RUST_|GEM_|BUNDLE_|DOCKER_|SSH_|SUDO_|COMPOSER_|UV_)` +
	`|^(PATH|IFS|ENV|SHELLOPTS|PROMPT_COMMAND|PS[0-4]|CDPATH|GLOBIGNORE|HOME|SHELL|PERL5\w*|PERLLIB|RUBY\w*|PYTHON\w*|NODE_\w+|` +
	`JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|JDK_JAVA_OPTIONS|CLASSPATH|MAVEN_OPTS|GRADLE_OPTS|GOFLAGS|GOPROXY|GONOSUMDB|GOTOOLDIR|GOROOT|GOENV|` +
	`CC|CXX|AR|LD|AS|MAKE|MAKEFLAGS|MAKEFILES|EDITOR|VISUAL|PAGER|MANPAGER|BROWSER|LESSOPEN|LESSCLOSE|LESS|XDG_\w+|GCONV_PATH|LOCPATH|` +
	`NLSPATH|HOSTALIASES|RES_OPTIONS|TMPDIR|TERMINFO|TERM|TERMCAP|RIPGREP_CONFIG_PATH|FZF_\w+|OPENSSL_CONF|CURL_HOME|WGETRC|INPUTRC|` +
	`ACP_AGENT_\w+|\w*_PROXY|\w*_proxy)$`)

// pythonNetwork are modules that python -m runs to reach other machines.
var pythonNetwork = set("pip", "ensurepip", "http.server", "smtpd", "webbrowser", "ftplib", "telnetlib", "xmlrpc.server", "twine")

// reachesNetwork says whether a command needs another machine.
func reachesNetwork(name string, argv []string) bool {
	if networkTools.has(name) {
		return true
	}
	if strings.HasPrefix(name, "python") {
		return slices.ContainsFunc(argv[1:], func(a string) bool { return pythonNetwork.has(a) })
	}
	if subs := networkCommands[name]; subs != nil {
		// Any of the words may be the subcommand: options with values stand before it.
		return slices.ContainsFunc(argv[1:], func(a string) bool { return subs.has(a) })
	}
	return false
}

// runsProgram are arguments with which an ordinary tool starts a program of the caller's choice.
var runsProgram = lazily(`^-{1,2}(exec|toolexec|vettool|upload-pack|receive-pack|config-env|exec-path|use-compress-program|to-command|rsh|command|checkpoint-action|pre|hostname-bin|pager|open-files-in-pager|compress-program|filter|use-askpass)(=|$)|^ext::`)
