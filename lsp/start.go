package lsp

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"time"
)

// start makes one attempt: find the command, start the process, shake hands.
func (in *instance) start(a *attempt) {
	c, p, err := in.launch()
	in.mu.Lock()
	in.attempt = nil
	switch {
	case err != nil:
		in.failed(err)
	case in.closed:
		err = &refusal{ReasonClosed, "the program is ending"}
	default:
		in.client, in.process = c, p
		in.since = time.Now()
		in.trouble, in.lastError = nil, ""
		if c.caps.version == "" {
			c.caps.version = packageVersion(in.command)
		}
		in.cold = true
	}
	in.mu.Unlock()
	if err != nil && p != nil {
		p.stop(in.m.ctx, false)
	}
	a.err = err
	close(a.done)
}

// launch starts the process and its client. An error that is a *refusal is no fault of the server.
func (in *instance) launch() (*client, *process, error) {
	argv, looked := in.m.finder.resolve(in.row, in.root, in.top, in.trusted)
	if argv == nil {
		return nil, nil, &refusal{ReasonNotInstalled, notInstalled(in.row, looked)}
	}
	environ, refused := overlay(in.m.environ, in.row.env)
	if len(refused) > 0 {
		in.log.Warn("environment variables refused: they would load foreign code", "names", strings.Join(refused, " "))
	}
	l := launch{root: string(in.root), trusted: in.trusted, command: argv, environ: environ}
	if !in.trusted && in.row.quirks.syncCommand && siblingSDK(argv) == "" {
		return nil, nil, &refusal{ReasonNotInstalled, "no TypeScript stands beside " + argv[0] + ", and the project's own is not run in an untrusted workspace; run `acp-agent lsp install " + in.row.id + "`"}
	}
	in.mu.Lock()
	in.command = argv
	in.mu.Unlock()
	began := time.Now()
	p, err := startProcess(argv, string(in.root), environ, in.log)
	if err != nil {
		return nil, nil, err
	}
	in.mu.Lock()
	in.process = p
	in.mu.Unlock()
	c := newClient(in.row, in.root, p.stdout, p.stdin, serverEvents{published: in.published, refreshed: in.refreshed}, in.log)
	in.m.spawn(func() { in.watch(c, p) })
	if err := c.initialize(in.m.ctx, l); err != nil {
		c.conn.Close()
		<-c.done
		if line := p.stderr.last(); line != "" {
			err = fmt.Errorf("%w; its last words: %s", err, line)
		}
		return nil, p, fmt.Errorf("%s: %w", filepath.Base(argv[0]), err)
	}
	in.log.Info("ready", "pid", p.group.Pid(), "command", argv[0], "version", c.caps.version, "ms", time.Since(began).Milliseconds())
	return c, p, nil
}

// watch runs a client to its end and cleans up behind it, however it ends.
func (in *instance) watch(c *client, p *process) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-p.ended
		c.conn.Close()
	}()
	err := c.conn.Run(in.m.ctx)
	in.mu.Lock()
	polite := in.retiring
	in.mu.Unlock()
	if polite {
		ctx, cancel := context.WithTimeout(in.m.ctx, exitGrace)
		p.stop(ctx, true)
		cancel()
	} else {
		p.stop(in.m.ctx, false)
	}
	<-ended
	if p.err != nil {
		err = p.err
	}
	c.err = err
	in.mu.Lock()
	in.forget(c)
	in.mu.Unlock()
	close(c.done)
}

// forget takes a client that has ended out of use. in.mu is held. It may be called twice.
func (in *instance) forget(c *client) {
	if in.client != c {
		return
	}
	in.client = nil
	in.documents.reset()
	if in.retiring || in.closed {
		return
	}
	line := ""
	if in.process != nil {
		line = in.process.stderr.last()
		in.log.Warn("server ended by itself", "stderr", in.process.stderr.all())
	}
	if time.Since(in.since) > healthy {
		in.failures = 0
	}
	in.failures++
	in.lastError = line
	if in.failures > 1 { // one crash is forgiven: the next need starts it again
		in.setAside(&refusal{ReasonBackoff, in.row.id + " keeps ending by itself: " + line}, in.failures-1)
	}
}

// healthy is how long a server must run for its earlier failures to be forgotten.
const healthy = 5 * time.Minute

// failed notes a start that did not succeed. in.mu is held.
func (in *instance) failed(err error) {
	in.lastError = err.Error()
	if r, ok := err.(*refusal); ok {
		in.trouble, in.retry = r, time.Time{} // looked for again at the next need: it costs next to nothing
		return
	}
	in.failures++
	in.setAside(&refusal{ReasonBackoff, err.Error()}, in.failures)
}

// setAside leaves a failing server alone for a time that doubles (L13). in.mu is held.
func (in *instance) setAside(why *refusal, times int) {
	in.trouble = why
	wait := in.m.settings.BrokenRetry
	for range times - 1 {
		wait = min(2*wait, maxBackoff)
	}
	in.retry = time.Now().Add(wait)
	next := "never, until `acp-agent lsp restart`"
	if wait > 0 {
		next = in.retry.Format(time.TimeOnly)
	}
	in.log.Info("server set aside: "+why.text, "next_try", next)
}

const maxBackoff = 10 * time.Minute

// notInstalled is the one sentence of T3: what is missing, and how to mend it.
func notInstalled(row *spec, looked string) string {
	how := "install it"
	switch {
	case row.install.goTool != "":
		how = "run `acp-agent lsp install " + row.id + "`"
	case len(row.install.npm) > 0: // [Install] does not fetch these
		how = "run `" + byHand(row) + "`"
	}
	return fmt.Sprintf("language server command %s is not installed; %s or set lsp.servers.%s.command.", looked, how, row.id)
}
