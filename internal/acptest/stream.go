package acptest

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strconv"
)

// read is the reader: one line after the other until the agent's stdout ends.
func (e *Editor) read(r io.Reader) {
	defer e.reader.Done()
	buffered := bufio.NewReaderSize(r, 64<<10)
	for {
		e.waitUnpaused()
		line, err := buffered.ReadBytes('\n')
		if n := len(line); n > 0 {
			ended := line[n-1] == '\n'
			if ended {
				line = line[:n-1]
			}
			e.receive(line, ended)
		}
		if err != nil {
			e.change(func() { e.ended = true })
			return
		}
	}
}

// receive takes one line of the agent: records, checks, and answers or hands it on.
func (e *Editor) receive(line []byte, ended bool) {
	var react func()
	e.change(func() {
		m, bad := e.check.received(line, ended)
		m.Seq = len(e.log)
		e.log = append(e.log, m)
		for _, complaint := range bad {
			if e.o.Unchecked {
				e.missed = append(e.missed, complaint)
				continue
			}
			e.t.Errorf("line %d of the conversation breaks a rule: %s\n%s", m.Seq, complaint, m)
		}
		switch {
		case m.IsRequest():
			react = e.asked(m)
		case m.IsResponse():
			if call := e.calls[idKey(m.ID)]; call != nil {
				delete(e.calls, idKey(m.ID))
				call.reply, call.over = m, true
			}
		case m.Method == "$/cancel_request":
			react = e.withdrawn(get[json.RawMessage](m.Params, "requestId"))
		}
		if e.onLine != nil {
			e.onLine(m)
		}
	})
	if react != nil {
		react()
	}
}

// Raw writes bytes to the agent as they are and records nothing.
func (e *Editor) Raw(data string) {
	e.t.Helper()
	e.writing.Lock()
	defer e.writing.Unlock()
	if _, err := io.WriteString(e.in, data); err != nil {
		e.fatalf("write to the agent: %v", err)
	}
}

// CloseInput ends the agent's stdin.
func (e *Editor) CloseInput() { e.in.Close() }

// AwaitEnd waits until the agent's stdout has ended.
func (e *Editor) AwaitEnd() {
	e.t.Helper()
	e.wait("the agent to end", func() bool { return e.ended })
}

// Pause stops reading the agent's stdout after the line being read; Unpause goes on.
func (e *Editor) Pause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused == nil {
		e.paused = make(chan struct{})
	}
}

// Unpause goes on reading.
func (e *Editor) Unpause() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.paused != nil {
		close(e.paused)
		e.paused = nil
	}
}

func (e *Editor) waitUnpaused() {
	e.mu.Lock()
	paused := e.paused
	e.mu.Unlock()
	if paused != nil {
		<-paused
	}
}

// send writes one message, recorded before it is on the wire so that an answer never precedes it.
func (e *Editor) send(m map[string]any) error {
	m["jsonrpc"] = "2.0"
	line := mustJSON(m)
	e.writing.Lock()
	defer e.writing.Unlock()
	e.change(func() { e.note(line) })
	_, err := e.in.Write(append(line, '\n'))
	if errors.Is(err, io.ErrClosedPipe) {
		return nil // the agent has gone; whoever waits is told so
	}
	return err
}

// note records a line of the editor's. The lock is held.
func (e *Editor) note(line []byte) {
	m, _ := parseLine(line)
	m.Agent, m.Seq = false, len(e.log)
	e.log = append(e.log, m)
	e.check.sent(m)
}

// Note records a line that a test is about to write with [Editor.Raw], so that its answer is known
// to belong to it.
func (e *Editor) Note(line string) {
	e.change(func() { e.note([]byte(line)) })
}

// newID takes the next request id.
func (e *Editor) newID() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.nextID++
	return e.nextID - 1
}

func number(id int) json.RawMessage { return json.RawMessage(strconv.Itoa(id)) }
