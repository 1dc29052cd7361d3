package tool

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"acp-agent/internal/workspace"
)

const (
	endTimeout    = 2 * time.Second        // for killing and releasing a command, after a cancel too
	showEvery     = 150 * time.Millisecond // of live output
	maxLive       = 16 * 1024              // bytes of live output, its end
	maxBackground = 32                     // commands of one session that were not looked at since they ended
)

var errClosed = errors.New("the session is closed")

// Terminals are one session's commands, background ones included. Close ends them all.
type Terminals struct {
	spawn Spawner

	mu       sync.Mutex
	closed   bool                // guarded by mu
	commands map[*command]bool   // guarded by mu; all that are not released
	named    map[string]*command // guarded by mu; background commands by the id that the model knows, ended ones too
	last     int                 // guarded by mu; number of the newest id
}

// NewTerminals uses spawn for every command.
func NewTerminals(spawn Spawner) *Terminals {
	return &Terminals{spawn: spawn, commands: map[*command]bool{}, named: map[string]*command{}}
}

// Close kills and releases what still runs and returns when all have ended.
func (t *Terminals) Close(ctx context.Context) {
	t.mu.Lock()
	t.closed = true
	var wg sync.WaitGroup
	for c := range t.commands {
		wg.Go(func() { c.release(ctx) })
	}
	t.mu.Unlock()
	wg.Wait()
}

// command is one process of a session. Whoever started it calls release; so does Close.
type command struct {
	owner   *Terminals
	line    string
	process Process
	exited  chan struct{} // closed when exit and err are set
	exit    Exit
	err     error
	stop    context.CancelFunc // of the goroutine that waits for the end
	once    sync.Once

	looking sync.Mutex // held by the one call that looks at a background command's output
	seen    string     // guarded by looking; the output that the model knows
}

// start runs line in cwd and watches for its end.
func (t *Terminals) start(ctx context.Context, line string, cwd workspace.Path, limit int) (*command, error) {
	if t.isClosed() {
		return nil, errClosed
	}
	p, err := t.spawn.Spawn(ctx, line, cwd, limit)
	if err != nil {
		return nil, err
	}
	c := &command{owner: t, line: line, process: p, exited: make(chan struct{})}
	waiting, stop := context.WithCancel(context.WithoutCancel(ctx)) // a background command outlives its call
	c.stop = stop
	go func() { // ends with the command; release waits for it
		defer close(c.exited)
		c.exit, c.err = p.Wait(waiting)
	}()
	t.mu.Lock()
	closed := t.closed
	t.commands[c] = true
	t.mu.Unlock()
	if closed {
		c.release(ctx)
		return nil, errClosed
	}
	return c, nil
}

func (t *Terminals) isClosed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.closed
}

// name makes c a background command that the model can ask for.
func (t *Terminals) name(c *command) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.commands) > maxBackground {
		return "", fmt.Errorf("%d background commands are running already; end one with terminal_kill", maxBackground)
	}
	t.last++
	id := fmt.Sprintf("t%d", t.last)
	t.named[id] = c
	return id, nil
}

// find gives a background command; the error lists those that there are.
func (t *Terminals) find(id string) (*command, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if c := t.named[strings.TrimSpace(id)]; c != nil {
		return c, nil
	}
	var known []string
	for id, c := range t.named {
		known = append(known, fmt.Sprintf("%s (%s)", id, shorten(c.line, 60)))
	}
	slices.Sort(known)
	if known == nil {
		known = []string{"none"}
	}
	return nil, fmt.Errorf("there is no background command %q; there is: %s", id, strings.Join(known, ", "))
}

// forget takes a background command's id away.
func (t *Terminals) forget(id string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.named, strings.TrimSpace(id))
}

// release ends c where it still runs and frees it. It returns when the command has ended, or when
// that took too long.
func (c *command) release(ctx context.Context) {
	c.once.Do(func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
		defer cancel()
		_ = c.process.Release(ctx)
		select {
		case <-c.exited: // prefer how it really ended
		default:
			c.stop()
		}
		<-c.exited
		c.stop()
		c.owner.mu.Lock()
		delete(c.owner.commands, c)
		c.owner.mu.Unlock()
	})
}

// kill ends the command's whole group and waits until it has ended, but not for ever.
func (c *command) kill(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	if c.process.Kill(ctx) != nil {
		return
	}
	select {
	case <-c.exited:
	case <-ctx.Done():
	}
}

// output is what is kept of the command's output, also after a cancel.
func (c *command) output(ctx context.Context) (string, bool) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), endTimeout)
	defer cancel()
	text, cut, err := c.process.Output(ctx)
	if err != nil {
		return fmt.Sprintf("(the output could not be read: %v)", err), false
	}
	return text, cut
}

// ended says whether the command has come to its end.
func (c *command) ended() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// watched is why follow returned.
type watched int

const (
	hasExited watched = iota
	tookTooLong
	wasCancelled
)

// follow shows the output of c as it comes, until c ends, limit has passed or ctx is cancelled.
func (c *command) follow(ctx context.Context, limit time.Duration, out Progress) watched {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	changed := c.process.Changed()
	show := time.NewTimer(0)
	show.Stop()
	defer show.Stop()
	waiting := false
	for {
		select {
		case <-c.exited:
			return hasExited
		case <-ctx.Done():
			return wasCancelled
		case <-timer.C:
			return tookTooLong
		case _, more := <-changed:
			if !more {
				changed = nil
			}
			if !waiting {
				waiting = true
				show.Reset(showEvery)
			}
		case <-show.C:
			waiting = false
			if text, _ := c.output(ctx); c.process.ID() == "" { // the editor shows its own terminals
				out.Output(lastLines(plainOutput(text), maxLive))
			}
		}
	}
}

// news waits until c has printed something that the model has not seen, has ended, or limit has
// passed, and gives what is new. A command whose output can only be polled answers at once.
func (c *command) news(ctx context.Context, limit time.Duration) (string, bool) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	changed := c.process.Changed()
	for last := changed == nil; ; {
		over := c.ended() || last // looked at before the output, which then is complete
		text, cut := c.output(ctx)
		if fresh := since(c.seen, text); fresh != "" || over {
			c.seen = text
			return fresh, cut
		}
		select {
		case _, more := <-changed:
			last = !more && c.ended()
			if !more {
				changed = nil
			}
		case <-c.exited:
		case <-timer.C:
			last = true
		case <-ctx.Done():
			last = true
		}
	}
}

// since is what now has beyond old. Where the middle was dropped in the meantime, the end of old is
// looked for.
func since(old, now string) string {
	if rest, ok := strings.CutPrefix(now, old); ok {
		return rest
	}
	mark := old[max(len(old)-256, 0):]
	if at := strings.LastIndex(now, mark); at >= 0 {
		return now[at+len(mark):]
	}
	return now
}

// lastLines is the end of a text within limit bytes, from the beginning of a line.
func lastLines(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	s = s[len(s)-limit:]
	if _, rest, ok := strings.Cut(s, "\n"); ok {
		return "…\n" + rest
	}
	return "…" + strings.ToValidUTF8(s, "")
}
