package edits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"acp-agent/internal/workspace"
)

// name is a path as messages show it: relative to the session's cwd where it lies below it.
func (pl *plan) name(p workspace.Path) string { return displayName(pl.files, p) }

func displayName(files *workspace.Files, p workspace.Path) string {
	return p.Rel(files.Roots.Cwd())
}

// refuse turns an error of reading or encoding into a refusal. A cancelled context stays an error.
func (pl *plan) refuse(p workspace.Path, err error) error { return refuse(pl.files, p, err) }

func refuse(files *workspace.Files, p workspace.Path, err error) error {
	var already *Refusal
	if errors.As(err, &already) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	name := displayName(files, p)
	r := &Refusal{Path: p, Err: err}
	switch {
	case errors.Is(err, workspace.ErrBinary):
		r.Code, r.Message = CodeBinary, fmt.Sprintf("%s is a binary file and has no text to edit. Leave it, or change it with a command.", name)
	case errors.Is(err, workspace.ErrTooLarge):
		r.Code, r.Message = CodeTooLarge, fmt.Sprintf("%s is too large to edit (%v). Change it with a command.", name, err)
	case errors.Is(err, workspace.ErrUnsupported):
		r.Code, r.Message = CodeUnsupportedFile, fmt.Sprintf("%s cannot be edited: %v. Name a regular file.", name, err)
	case errors.Is(err, workspace.ErrEncoding):
		r.Code, r.Message = CodeEncoding, fmt.Sprintf(
			"%s cannot take this text: %v. Use characters that it has, or let the user name the file's encoding (charset in .editorconfig, encodings in config.yaml).", name, err)
	case errors.Is(err, workspace.ErrChanged):
		r.Code, r.Message = CodeStale, fmt.Sprintf("%s changed while it was read (%v). Read it again.", name, err)
	default:
		r.Code, r.Message = CodeIO, fmt.Sprintf("%s could not be read or written: %v.", name, err)
	}
	return r
}

// notFound names files of the folder that are spelled nearly the same.
func (pl *plan) notFound(p workspace.Path) *Refusal {
	msg := fmt.Sprintf("%s does not exist.", pl.name(p))
	if near := nearNames(p); len(near) > 0 {
		msg += " Its folder has " + strings.Join(near, ", ") + "."
	}
	return &Refusal{Code: CodeNotFound, Path: p, Err: fs.ErrNotExist,
		Message: msg + " Check the path with list_directory or find_files, or create the file with write_file."}
}

func nearNames(p workspace.Path) []string {
	dir, err := os.Open(string(p.Dir()))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(2000)
	var near []string
	for _, n := range names {
		if likeness(strings.ToLower(n), strings.ToLower(p.Base())) >= 0.5 && len(near) < 3 {
			near = append(near, n)
		}
	}
	return near
}

func (pl *plan) exists(p workspace.Path, op string) *Refusal {
	return &Refusal{Code: CodeExists, Path: p, Err: fs.ErrExist, Message: fmt.Sprintf(
		"%s exists already, so %s does not apply. Read it and update it, or choose another name.", pl.name(p), op)}
}
