package tool

import (
	"context"

	"acp-agent/internal/workspace"
)

// Spawner starts commands: in the editor's terminal when it offers one (package acp), else in a
// local process group ([LocalSpawner]).
type Spawner interface {
	Spawn(ctx context.Context, line string, cwd workspace.Path, limit int) (Process, error)
}

// Process is one running command. Its owner calls Release exactly once.
type Process interface {
	// ID is the editor's terminal id, "" for a local process.
	ID() string
	// Output is what is kept so far, valid UTF-8, and whether its start was cut off.
	Output(ctx context.Context) (text string, truncated bool, err error)
	// Changed is closed or receives when there is more output or the end; nil when only polling helps.
	Changed() <-chan struct{}
	// Wait blocks until the command ends or ctx does.
	Wait(ctx context.Context) (Exit, error)
	// Kill ends the whole process group.
	Kill(ctx context.Context) error
	// Release frees it, killing it when it still runs.
	Release(ctx context.Context) error
}

// Exit is how a command ended.
type Exit struct {
	Code   int
	Signal string
}

// Terminals are one session's commands, background ones included. Close ends them all.
type Terminals struct {
	// TODO(tool): unexported fields
}

// NewTerminals uses spawn for every command.
func NewTerminals(spawn Spawner) *Terminals { panic("TODO(tool)") }

// Close kills and releases what still runs and returns when all have ended.
func (t *Terminals) Close(ctx context.Context) { panic("TODO(tool)") }

// LocalSpawner runs commands with the system's shell in a process group of their own that dies with
// us. Env is the whole environment of the child.
type LocalSpawner struct {
	Env []string
}

// Spawn starts line in cwd.
func (s *LocalSpawner) Spawn(ctx context.Context, line string, cwd workspace.Path, limit int) (Process, error) {
	panic("TODO(tool)")
}
