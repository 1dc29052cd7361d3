package tool

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"time"

	"acp-agent/internal/procgroup"
	"acp-agent/internal/workspace"
)

// killGrace is how long a command may clean up after it was asked to end.
const killGrace = 500 * time.Millisecond

// LocalSpawner runs commands with the system's shell in a process group of their own that dies with
// us. Env is the whole environment of the child.
type LocalSpawner struct {
	Env []string
}

// Spawn starts line in cwd and keeps at most limit bytes of what it prints. The command reads nothing
// (an empty stdin) and has no terminal to ask on.
func (s *LocalSpawner) Spawn(_ context.Context, line string, cwd workspace.Path, limit int) (Process, error) {
	cmd := shell(line)
	cmd.Dir, cmd.Env = cwd.String(), s.Env
	if cmd.Env == nil {
		cmd.Env = []string{} // nil would mean ours
	}
	p := &localProcess{out: newKeeper(limit), ended: make(chan struct{})}
	cmd.Stdout, cmd.Stderr = p.out, p.out
	g, err := procgroup.Start(cmd)
	if err != nil {
		return nil, fmt.Errorf("start a command in %s: %w", cwd, err)
	}
	p.group = g
	go func() { // ends with the command; Release waits for it
		defer close(p.ended)
		p.exit, p.err = exitOf(g.Wait())
		p.out.end()
	}()
	return p, nil
}

// localProcess is a command of our own.
type localProcess struct {
	group *procgroup.Group
	out   *keeper
	ended chan struct{}
	exit  Exit  // set when ended is closed
	err   error // set when ended is closed
}

func (p *localProcess) ID() string { return "" }

func (p *localProcess) Output(context.Context) (string, bool, error) {
	text, cut := p.out.text()
	return text, cut, nil
}

func (p *localProcess) Changed() <-chan struct{} { return p.out.changed }

func (p *localProcess) Wait(ctx context.Context) (Exit, error) {
	select {
	case <-p.ended:
		return p.exit, p.err
	case <-ctx.Done():
	}
	select {
	case <-p.ended: // both at once: how it ended says more
		return p.exit, p.err
	default:
		return Exit{}, ctx.Err()
	}
}

// Kill asks the group to end and does not take no for an answer. It returns when it has ended, or
// with an error when ctx ends first (a process that hangs in the kernel).
func (p *localProcess) Kill(ctx context.Context) error {
	p.group.Kill(killGrace)
	select {
	case <-p.ended:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("the command does not end: %w", ctx.Err())
	}
}

func (p *localProcess) Release(ctx context.Context) error { return p.Kill(ctx) }

// exitOf turns what exec.Cmd.Wait says into an exit.
func exitOf(err error) (Exit, error) {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return Exit{}, nil
	case errors.As(err, &exit):
		return Exit{Code: exit.ExitCode(), Signal: signalName(exit)}, nil
	}
	return Exit{}, err
}
