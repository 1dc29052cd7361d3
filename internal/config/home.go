package config

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"acp-agent/internal/workspace"
)

// Home is where everything of ours lives (contract §2). Nothing is made until it is written.
type Home struct{ Dir workspace.Path }

// profileName keeps a profile inside <home>/profiles on every file system.
var profileName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`) })

// FindHome takes ACP_AGENT_HOME or ~/.acp-agent, and the profile below it: the profile argument (the
// -p flag), else ACP_AGENT_PROFILE. getenv is os.Getenv. A home that is not absolute is refused,
// since it would move with the folder that an editor happens to start us in; "~/" is understood.
func FindHome(getenv func(string) string, userHome, profile string) (Home, error) {
	dir := getenv("ACP_AGENT_HOME")
	switch {
	case dir == "" && userHome == "":
		return Home{}, errors.New("no home folder is known; set ACP_AGENT_HOME to an absolute path")
	case dir == "":
		dir = filepath.Join(userHome, ".acp-agent")
	case dir == "~" || strings.HasPrefix(dir, "~/") || strings.HasPrefix(dir, `~\`):
		dir = filepath.Join(userHome, dir[1:])
	}
	p, err := workspace.ParsePath(dir)
	if err != nil {
		return Home{}, fmt.Errorf("ACP_AGENT_HOME: %w; give an absolute path", err)
	}
	if profile == "" {
		profile = getenv("ACP_AGENT_PROFILE")
	}
	if profile == "" {
		return Home{Dir: p}, nil
	}
	if !profileName().MatchString(profile) {
		return Home{}, fmt.Errorf("profile %q: a name is letters, digits, dot, dash and underscore, at most 64, beginning with a letter or digit", profile)
	}
	return Home{Dir: p.Join("profiles", profile)}, nil
}

// ConfigFile is <home>/config.yaml.
func (h Home) ConfigFile() workspace.Path { return h.Dir.Join("config.yaml") }

// MakeDir makes a folder of the home, and the home itself, for the owner alone, and returns its path.
func (h Home) MakeDir(elem ...string) (workspace.Path, error) {
	dir := h.Dir.Join(elem...)
	if !h.Dir.Contains(dir) {
		return "", fmt.Errorf("%s lies outside %s", dir, h.Dir)
	}
	if err := os.MkdirAll(string(dir), 0o700); err != nil {
		return "", err
	}
	return dir, nil
}

// WriteFile replaces a file of the home atomically, readable by the owner alone; rel is its path
// below the home. The old content stays when anything fails.
func (h Home) WriteFile(rel string, data []byte) (err error) {
	path := h.Dir.Join(rel)
	if path == h.Dir || !h.Dir.Contains(path) {
		return fmt.Errorf("%s lies outside %s", path, h.Dir)
	}
	if err := os.MkdirAll(string(path.Dir()), 0o700); err != nil {
		return err
	}
	tmp, err := os.CreateTemp(string(path.Dir()), ".write-*.tmp") // CreateTemp gives mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreGone(os.Remove(tmp.Name())))
		}
	}()
	if _, err := tmp.Write(data); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Sync(); err != nil {
		return errors.Join(err, tmp.Close())
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), string(path))
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
