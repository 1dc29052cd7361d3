package lsp

import (
	"maps"
	"runtime"
	"slices"
	"strings"
)

// inherited are the variables that a server may see of ours (L23): what programs need to find their
// tools, and nothing that opens a door elsewhere. A name that ends in * is a prefix.
var inherited = []string{
	"PATH", "HOME", "USER", "LOGNAME", "SHELL", "TERM", "LANG", "LANGUAGE", "LC_*", "TZ", "TMPDIR", "TEMP", "TMP",
	"XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_DATA_DIRS", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
	// Windows
	"SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "APPDATA", "LOCALAPPDATA", "USERPROFILE", "USERNAME",
	"PROGRAMDATA", "PROGRAMFILES*", "COMMONPROGRAMFILES*", "HOMEDRIVE", "HOMEPATH", "OS", "PROCESSOR_*", "NUMBER_OF_PROCESSORS",
	// tool chains
	"GOPATH", "GOROOT", "GOFLAGS", "GOPROXY", "GOSUMDB", "GONOSUMDB", "GONOPROXY", "GOPRIVATE", "GOINSECURE", "GOMODCACHE",
	"GOCACHE", "GOENV", "GOTOOLCHAIN", "GOWORK", "GOOS", "GOARCH", "GOEXPERIMENT", "CGO_ENABLED", "CC", "CXX",
	"JAVA_HOME", "VIRTUAL_ENV", "CONDA_PREFIX", "PYENV_ROOT", "NVM_DIR", "VOLTA_HOME", "FNM_DIR", "ASDF_*", "MISE_*",
	"CARGO_HOME", "RUSTUP_HOME", "RUSTUP_TOOLCHAIN", "DOTNET_ROOT", "GEM_HOME", "GEM_PATH", "OPAM_SWITCH_PREFIX", "NIX_PATH",
	"NIX_PROFILES", "PSES_BUNDLE_PATH", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
}

// injecting are the variables that make a program load code of somebody's choice. Configuration may
// not set them (H5); a name that ends in * is a prefix.
var injecting = []string{
	"NODE_OPTIONS", "NODE_PATH", "LD_*", "DYLD_*", "BASH_ENV", "ENV", "SHELLOPTS", "PS4", "PROMPT_COMMAND",
	"PYTHONSTARTUP", "PYTHONINSPECT", "PYTHONHOME", "PYTHONPATH", "PERL5OPT", "PERL5LIB", "PERL5DB", "RUBYOPT", "RUBYLIB",
	"JAVA_TOOL_OPTIONS", "_JAVA_OPTIONS", "JDK_JAVA_OPTIONS", "GCONV_PATH", "GLIBC_TUNABLES", "GIT_SSH_COMMAND",
	"GIT_EXTERNAL_DIFF", "DOTNET_STARTUP_HOOKS", "COR_PROFILER*", "CORECLR_PROFILER*", "ELECTRON_RUN_AS_NODE",
}

func listed(list []string, name string) bool {
	for _, entry := range list {
		if prefix, ok := strings.CutSuffix(entry, "*"); ok {
			if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
				return true
			}
		} else if strings.EqualFold(name, entry) {
			return true
		}
	}
	return false
}

// scrub gives the environment that servers and installers start with: the inherited names only, and
// of those none whose value carries credentials inside a URL. Cache folders point below our home.
func scrub(environ []string, cache string) []string {
	var out []string
	for _, kv := range environ {
		name, value, ok := strings.Cut(kv, "=")
		if !ok || name == "" || !listed(inherited, name) || hasURLSecret(value) {
			continue
		}
		out = append(out, kv)
	}
	if cache != "" {
		out = append(out, "XDG_CACHE_HOME="+cache)
	}
	return out
}

// hasURLSecret finds "scheme://user:password@host" in a value.
func hasURLSecret(value string) bool {
	for rest := value; ; {
		_, after, ok := strings.Cut(rest, "://")
		if !ok {
			return false
		}
		authority, _, _ := strings.Cut(after, "/")
		if user, _, at := strings.Cut(authority, "@"); at && strings.Contains(user, ":") {
			return true
		}
		rest = after
	}
}

// overlay lays the variables of servers.<id>.env over a scrubbed environment and names those that
// were refused.
func overlay(environ []string, set map[string]string) (out, refused []string) {
	out = slices.Clone(environ)
	for _, name := range slices.Sorted(maps.Keys(set)) {
		if name == "" || strings.ContainsAny(name, "=\x00") || strings.ContainsRune(set[name], 0) || listed(injecting, name) {
			refused = append(refused, name)
			continue
		}
		out = slices.DeleteFunc(out, func(kv string) bool {
			have, _, _ := strings.Cut(kv, "=")
			return have == name || (runtime.GOOS == "windows" && strings.EqualFold(have, name))
		})
		out = append(out, name+"="+set[name])
	}
	return out, refused
}

// lookup is os.Getenv for a list.
func lookup(environ []string, name string) string {
	for i := len(environ) - 1; i >= 0; i-- {
		have, value, ok := strings.Cut(environ[i], "=")
		if ok && (have == name || (runtime.GOOS == "windows" && strings.EqualFold(have, name))) {
			return value
		}
	}
	return ""
}
