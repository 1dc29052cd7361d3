package permissions

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// Sensitive says whether p is one of the files that always ask, by its name or by where it really
// leads. Search tools use it to leave such files out of what they show.
func (s *Session) Sensitive(p workspace.Path, forWriting bool) bool {
	return s.sensitive(p, s.roots.Locate(p).Real, forWriting) != ""
}

// sensitive names the built-in rule that makes a path sensitive; "" when none does.
func (s *Session) sensitive(named, real workspace.Path, forWriting bool) string {
	for _, p := range []workspace.Path{named, real} {
		if why := s.sensitivePath(p, forWriting); why != "" {
			return "sensitive: " + why
		}
	}
	return ""
}

func (s *Session) sensitivePath(p workspace.Path, forWriting bool) string {
	parts := components(string(p))
	for _, c := range parts {
		if slices.Contains(secretFolders, c) {
			return c
		}
	}
	if len(parts) == 0 {
		return ""
	}
	base := parts[len(parts)-1]
	if secretName(base) {
		return base
	}
	if s.isHome(p.Dir()) && strings.HasPrefix(base, ".") {
		return "dotfile in the home folder"
	}
	if !forWriting {
		return ""
	}
	if home := s.policy.agentHome; home != "" && home.Contains(p) {
		return "the agent's own home"
	}
	// Names that are only sensitive for writing count below the root: a checkout inside a folder
	// named .claude is an ordinary checkout.
	for _, root := range slices.Concat(s.roots.Named(), s.roots.Real()) {
		if root.Contains(p) {
			parts = parts[len(components(string(root))):]
			break
		}
	}
	return executedName(parts)
}

func (s *Session) isHome(p workspace.Path) bool {
	return s.home != "" && (p == s.home || p == s.realHome)
}

// secretFolders are sensitive with everything below them.
var secretFolders = []string{".git", ".ssh", ".gnupg", ".aws", ".kube"}

var (
	secretPrefixes = []string{".env", "credentials", ".credentials", ".git-credentials"}
	secretSuffixes = []string{".pem", ".key", ".p12", ".pfx", ".ppk", ".jks", ".keystore", ".kdbx"}
	secretNames    = []string{
		".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".gitconfig",
		".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".profile", ".zshrc", ".zshenv",
		".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".inputrc",
		"microsoft.powershell_profile.ps1",
	}
	// privateKey is what ssh-keygen and its users call keys; a name with an extension (id_map.go) is
	// something else.
	privateKey = lazily(`^id_[a-z0-9_-]+$|^id_(rsa|dsa|ecdsa|ed25519)(_sk)?(\.(bak|old|orig))?$`)
)

// secretName says whether a file of that (folded) name holds secrets or is run by shells.
func secretName(base string) bool {
	return slices.Contains(secretNames, base) || privateKey.MatchString(base) ||
		slices.ContainsFunc(secretPrefixes, func(p string) bool { return strings.HasPrefix(base, p) }) ||
		slices.ContainsFunc(secretSuffixes, func(s string) bool { return strings.HasSuffix(base, s) && base != s })
}

var (
	// executedFolders hold what an editor, a CI runner or git runs later, or an agent obeys.
	executedFolders = []string{
		".vscode", ".zed", ".idea", ".devcontainer", ".circleci", ".buildkite", ".woodpecker", ".githooks",
		".husky", ".claude", ".codex", ".gemini", ".cursor", ".windsurf", ".acp-agent",
	}
	executedNames = []string{
		".gitattributes", ".gitmodules", ".gitlab-ci.yml", ".gitlab-ci.yaml", "jenkinsfile", ".travis.yml", ".drone.yml",
		".woodpecker.yml", ".woodpecker.yaml", "azure-pipelines.yml", "bitbucket-pipelines.yml", "appveyor.yml",
		".appveyor.yml", "cloudbuild.yaml", ".pre-commit-config.yaml", "lefthook.yml", ".lefthook.yml", ".lsp.json",
		".mcp.json", "agents.md", "agents.override.md", "agent.md", "claude.md", "claude.local.md", "gemini.md",
		".cursorrules", ".windsurfrules", ".clinerules", ".aider.conf.yml",
	}
	// executedBelow are folders or files named by two components.
	executedBelow = [][2]string{
		{".github", "workflows"}, {".github", "actions"}, {".github", "copilot-instructions.md"},
		{".github", "instructions"}, {".gitea", "workflows"}, {".forgejo", "workflows"}, {".gitlab", "ci"},
		{".config", "autostart"}, {".config", "systemd"}, {"library", "launchagents"}, {".config", "fish"},
		{".config", "git"},
	}
)

// executedName says which part of a path makes writing it as good as running something.
func executedName(parts []string) string {
	for i, c := range parts {
		if slices.Contains(executedFolders, c) || slices.Contains(executedNames, c) || strings.HasSuffix(c, ".code-workspace") {
			return c
		}
		if i == 0 {
			continue
		}
		for _, pair := range executedBelow {
			if parts[i-1] == pair[0] && c == pair[1] {
				return pair[0] + "/" + pair[1]
			}
		}
		if c == "hooks" && strings.HasSuffix(parts[i-1], ".git") {
			return "git hooks"
		}
	}
	return ""
}

// components cuts a path into folded names: lower case, without the characters that some file
// systems ignore, so that .GIT, ".git " on Windows and ".g\u200cit" on HFS+ are all .git.
func components(p string) []string {
	var parts []string
	for _, c := range strings.FieldsFunc(p, func(r rune) bool { return r == '/' || r == filepath.Separator }) {
		parts = append(parts, foldName(c))
	}
	return parts
}

func foldName(c string) string {
	c = strings.ToLower(strings.Map(func(r rune) rune {
		switch {
		case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
			return -1
		}
		return r
	}, c))
	if runtime.GOOS != "windows" {
		return c
	}
	if i := strings.IndexByte(c, ':'); i > 1 {
		c = c[:i] // an alternate stream of the file before the colon
	}
	c = strings.TrimRight(c, ". ")
	if strings.HasPrefix(c, "git~") {
		return ".git"
	}
	return c
}
