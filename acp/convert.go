package acp

import (
	"acp-agent/internal/workspace"
)

// wirePath is a path as the editor is told of it. Every path that leaves goes through here.
func wirePath(p workspace.Path) string { return p.String() }

// editorPath takes a path that the editor sent. what names the field for the message.
func editorPath(what, s string) (workspace.Path, error) {
	if s == "" {
		return "", invalidParams("%s is missing", what)
	}
	p, err := workspace.ParsePath(s)
	if err != nil {
		return "", invalidParams("%s must be an absolute path of this machine: %q", what, s)
	}
	return p, nil
}
