package main

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"

	"acp-agent/acp"
	"acp-agent/internal/config"
	"acp-agent/internal/logfile"
	"acp-agent/internal/model/providers"
	"acp-agent/internal/tool"
	"acp-agent/internal/workspace"
	"acp-agent/lsp"
	"acp-agent/permissions"
	"acp-agent/provenance"
)

// app is what one run of the program knows. Its parts are made when a command first needs them.
type app struct {
	profile string
	check   bool
	version bool

	home     config.Home
	userHome workspace.Path
	config   config.Config
	logger   *slog.Logger
	log      *logfile.Log
	resolver *providers.Resolver
}

// load finds the home and reads config.yaml. It makes no file and no folder.
func (a *app) load() error {
	user, _ := os.UserHomeDir() // "" where there is none: "~" is then refused
	home, err := config.FindHome(os.Getenv, user, a.profile)
	if err != nil {
		return usageError{err}
	}
	a.home = home
	if user != "" {
		if p, err := workspace.ParsePath(user); err == nil {
			a.userHome = p
		}
	}
	if a.config, err = config.Load(home); err != nil {
		return err
	}
	return a.openLogFile()
}

// absolute is a command line path as a workspace.Path; the process's folder counts here and nowhere else.
func absolute(name string) (workspace.Path, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return workspace.ParsePath(abs)
}

// readFile reads a file of this machine that has to be there.
func (a *app) readFile(p workspace.Path) (workspace.File, error) {
	roots, err := workspace.NewRoots(p.Dir(), a.userHome)
	if err != nil {
		return workspace.File{}, fmt.Errorf("%s: no such file", p)
	}
	file, err := (&workspace.Files{Roots: roots}).ReadDisk(p)
	if err == nil && !file.Exists {
		err = fmt.Errorf("no such file")
	}
	if err != nil {
		return file, fmt.Errorf("%s: %w", p, err)
	}
	return file, nil
}

// blobs are the old contents kept for undo and blame.
func (a *app) blobs() *provenance.Blobs {
	return provenance.NewBlobs(string(a.home.Dir.Join("checkpoints")))
}

// policy compiles the permissions section.
func (a *app) policy() (*permissions.Policy, error) {
	p := a.config.Permissions
	policy, err := permissions.Compile(permissions.Rules{
		Mode: permissions.Mode(p.Mode), AllowDontAsk: p.AllowDontAsk,
		ReadOnly: p.ReadOnly, Allow: p.Allow, Ask: p.Ask, Deny: p.Deny,
	}, a.home.Dir)
	if err != nil {
		return nil, fmt.Errorf("%s: permissions: %w", a.home.ConfigFile(), err)
	}
	return policy, nil
}

// language makes the language-server layer; no server starts before it is needed.
func (a *app) language() *lsp.Manager { return a.languageFor(a.config.LSP) }

// server wires one ACP server; tap sees every message and may be nil.
func (a *app) server(language *lsp.Manager, tap func(out bool, msg []byte)) *acp.Server {
	return acp.NewServer(acp.Options{
		Version: version, Config: a.config, Home: a.home, UserHome: a.userHome, Environ: os.Environ(),
		Models: a.models(), Language: language, Logger: a.logger, Tap: tap,
	})
}

// models is the resolver over configuration and environment; it contacts nobody before it is asked.
func (a *app) models() *providers.Resolver {
	if a.resolver == nil {
		endpoints := make(map[string]providers.Endpoint, len(a.config.Providers))
		for name, p := range a.config.Providers {
			endpoints[name] = providers.Endpoint{BaseURL: p.BaseURL, KeyEnv: p.APIKeyEnv, Key: p.APIKey, Models: p.Models}
		}
		a.resolver = providers.New(providers.Config{
			Model: a.config.Model, ConfigFile: string(a.home.ConfigFile()), Endpoints: endpoints, Getenv: os.Getenv,
		})
	}
	return a.resolver
}

// openLogFile prepares the log; its file is made by the first record. Keys that are known here are
// never written.
func (a *app) openLogFile() error {
	level, err := logfile.Level(os.Getenv, a.config.Log.Level)
	if err != nil {
		return usageError{err}
	}
	a.log = logfile.New(logfile.Options{Path: string(a.home.Dir.Join("logs", "agent.log")), Level: level})
	for _, p := range a.config.Providers {
		a.log.Redactor().Add(p.APIKey)
	}
	a.logger = a.log.Logger()
	return nil
}

// warnings are what the operator should know of a configuration that is usable all the same.
func (a *app) warnings() []string {
	list := slices.Clone(a.config.Warnings)
	for _, name := range (tool.Selection{Enabled: a.config.Tools.Enabled, Disabled: a.config.Tools.Disabled}).Unknown() {
		list = append(list, fmt.Sprintf("%s: tools: there is no tool and no group %q", a.home.ConfigFile(), name))
	}
	return list
}

// logWarnings tells them once in the log, for the commands that run for long.
func (a *app) logWarnings() {
	for _, w := range a.warnings() {
		a.logger.Warn(w)
	}
}

// closeLog closes the log's file.
func (a *app) closeLog() {
	if a.log != nil {
		_ = a.log.Close() // there is nobody left to tell
	}
}
