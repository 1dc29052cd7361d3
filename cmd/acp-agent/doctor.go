package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"acp-agent/internal/model"
)

// finding is one line of `doctor`: ok, warn or fail, and how to mend it.
type finding struct {
	Level string `json:"level"`
	Topic string `json:"topic"`
	Text  string `json:"text"`
	Mend  string `json:"mend,omitempty"`
}

func (a *app) doctorCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:     "doctor",
		Short:   "Check home, model, editors' files, language servers and PATH; exit 1 on a fail",
		Example: "  acp-agent doctor",
		Args:    args(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			list := a.examine(c.Context())
			if err := printFindings(c.OutOrStdout(), list, asJSON); err != nil {
				return err
			}
			if slices.ContainsFunc(list, func(f finding) bool { return f.Level == "fail" }) {
				return exitCode(exitError)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

// printFindings prints a line for each finding and one for its mend, or JSON.
func printFindings(out io.Writer, list []finding, asJSON bool) error {
	if asJSON {
		return json.NewEncoder(out).Encode(list)
	}
	width := 0
	for _, f := range list {
		width = max(width, len(f.Topic))
	}
	for _, f := range list {
		fmt.Fprintf(out, "%-4s  %-*s  %s\n", f.Level, width, f.Topic, f.Text)
		if f.Mend != "" {
			fmt.Fprintf(out, "      %-*s  → %s\n", width, "", f.Mend)
		}
	}
	return nil
}

// examine runs all checks; a configuration that cannot be read ends them, since the rest hangs on it.
func (a *app) examine(ctx context.Context) []finding {
	if err := a.load(); err != nil {
		return []finding{{"fail", "configuration", err.Error(), "mend the file; `acp-agent config check` says when it is right"}}
	}
	list := []finding{a.examineHome()}
	list = append(list, finding{"ok", "configuration", a.configText(), ""})
	for _, w := range a.warnings() {
		list = append(list, finding{"warn", "configuration", w, ""})
	}
	if _, err := a.policy(); err != nil {
		list = append(list, finding{"fail", "permissions", err.Error(), "mend the rule in config.yaml"})
	}
	list = append(list, a.examineModel(ctx))
	list = append(list, a.examineEditors()...)
	list = append(list, a.examineServers()...)
	return append(list, examinePath()...)
}

func (a *app) configText() string {
	if _, err := os.Stat(string(a.home.ConfigFile())); errors.Is(err, fs.ErrNotExist) {
		return fmt.Sprintf("%s is not there; the defaults are used", a.home.ConfigFile())
	}
	return string(a.home.ConfigFile())
}

func (a *app) examineHome() finding {
	dir := string(a.home.Dir)
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return finding{"ok", "home", dir + " (made on first write)", ""}
	case err != nil:
		return finding{"fail", "home", err.Error(), "make it readable, or set ACP_AGENT_HOME"}
	case !info.IsDir():
		return finding{"fail", "home", dir + " is not a folder", "move it away, or set ACP_AGENT_HOME"}
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return finding{"warn", "home", fmt.Sprintf("%s can be read by others (%v)", dir, info.Mode().Perm()), "chmod 700 " + dir}
	}
	return finding{"ok", "home", dir, ""}
}

// examineModel resolves the default model without asking it anything that costs.
func (a *app) examineModel(ctx context.Context) finding {
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	m, err := a.models().Default(ctx)
	var me *model.Error
	if errors.As(err, &me) && me.Kind == model.KindAuth {
		return finding{"warn", "model", me.Message, "set OPENAI_API_KEY, ANTHROPIC_API_KEY, … or `model:` in config.yaml, or start a local server"}
	}
	if err != nil {
		return finding{"fail", "model", err.Error(), "mend `model:` in config.yaml or ACP_AGENT_MODEL"}
	}
	return finding{"ok", "model", m.Info().ID, ""}
}

// examineEditors looks for our name in the files where editors keep their agents.
func (a *app) examineEditors() []finding {
	files := []struct{ name, path string }{
		{"Zed", ".config/zed/settings.json"},
		{"JetBrains", ".jetbrains/acp.json"},
		{"VS Code", ".config/Code/User/settings.json"},
		{"acpx", ".acpx/config.json"},
	}
	if runtime.GOOS == "darwin" {
		files[2].path = "Library/Application Support/Code/User/settings.json"
	}
	if a.userHome == "" {
		return nil
	}
	var list []finding
	for _, f := range files {
		path := filepath.Join(string(a.userHome), filepath.FromSlash(f.path))
		data, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			list = append(list, finding{"warn", f.name, err.Error(), ""})
		case strings.Contains(string(data), "acp-agent"):
			list = append(list, finding{"ok", f.name, "acp-agent is named in " + path, ""})
		default:
			list = append(list, finding{"warn", f.name, "acp-agent is not in " + path, "run `acp-agent` on a terminal for the snippet"})
		}
	}
	if len(list) == 0 {
		list = append(list, finding{"warn", "editors", "no editor's configuration was found", "run `acp-agent` on a terminal for the snippets"})
	}
	return list
}

// examineServers reports what the language-server layer would use here.
func (a *app) examineServers() []finding {
	session, language, err := a.languageSession(".")
	if err != nil {
		return []finding{{"warn", "language servers", err.Error(), ""}}
	}
	defer closeLanguage(session, language)
	var list []finding
	for _, s := range language.Status() {
		if len(s.Command) == 0 {
			text, mend, _ := strings.Cut(s.Reason, "; ")
			list = append(list, finding{"warn", s.ID, text, mend})
			continue
		}
		list = append(list, finding{"ok", s.ID, strings.Join(s.Command, " "), ""})
	}
	return list
}

func examinePath() []finding {
	var list []finding
	for _, name := range []string{"git"} {
		if path, err := exec.LookPath(name); err == nil {
			list = append(list, finding{"ok", name, path, ""})
		} else {
			list = append(list, finding{"warn", name, "not on PATH", "install it; without a git repository the language servers stay asleep"})
		}
	}
	return list
}
