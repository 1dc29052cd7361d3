package tool

import (
	"context"
	"fmt"

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
	// Output is what is kept so far, valid UTF-8, and whether some of it was cut off.
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

// String says it in the words that the model reads.
func (e Exit) String() string {
	if e.Signal != "" {
		return "killed by " + e.Signal
	}
	return fmt.Sprintf("exit code %d", e.Code)
}
