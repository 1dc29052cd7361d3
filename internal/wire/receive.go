package wire

import (
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"unicode/utf8"
)

// readAll is the reader: it takes messages until the input ends or the connection is closed. Its
// error says that the input broke.
func (c *Conn) readAll() error {
	for {
		f, err := c.in.next()
		if err != nil {
			if err == io.EOF || err == io.ErrUnexpectedEOF {
				return nil
			}
			return fmt.Errorf("read: %w", err)
		}
		if !c.handle(f) {
			return nil
		}
	}
}

// handle receives a message unless the connection is closed. It holds the token, so that Run knows
// when no handler runs and none will.
func (c *Conn) handle(f frame) bool {
	<-c.quiet
	defer func() { c.quiet <- struct{}{} }()
	if c.stopped() {
		return false
	}
	c.receive(f)
	return true
}

// receive handles one message. Whatever is wrong with it, the next one is read.
func (c *Conn) receive(f frame) {
	if f.tooLong {
		c.receiveTooLong(f.data)
		return
	}
	if c.o.Tap != nil {
		c.o.Tap(false, f.data)
	}
	if !utf8.Valid(f.data) {
		c.refuse(nil, CodeParse, "invalid JSON: it is not UTF-8")
		return
	}
	e := parse(f.data)
	switch e.kind {
	case kindBroken:
		c.in.broken()
		c.refuse(nil, CodeParse, e.why)
	case kindInvalid:
		c.refuse(e.id, CodeInvalidRequest, e.why)
	case kindBare:
		// Some peers leave the result out where theirs is undefined.
		if !c.settle(e.id, answer{result: json.RawMessage("null")}) {
			c.refuse(e.id, CodeInvalidRequest, e.why)
		}
	case kindResponse:
		a := answer{result: e.result}
		if e.err != nil {
			a.err = peerError(e.err)
		}
		if !c.settle(e.id, a) {
			c.log.Debug("answer to no open call ignored", "id", string(e.id))
		}
	case kindCall:
		c.receiveCall(&e)
	}
}

func (c *Conn) receiveCall(e *envelope) {
	req := &Request{ID: e.id, Method: e.method, Params: e.params, conn: c}
	switch {
	case e.structured():
		req.run(c.h)
	case req.IsNotification():
		c.log.Warn("notification with params that are no object ignored", "method", req.Method)
	default:
		req.ReplyError(&Error{Code: CodeInvalidParams, Message: "params of " + req.Method + " must be an object"})
	}
}

// receiveTooLong deals with a message of which only the start was kept: an answer fails its call,
// the rest is refused.
func (c *Conn) receiveTooLong(start []byte) {
	text := fmt.Sprintf("message longer than the limit of %d bytes", c.o.MaxIn)
	if id := head(start); id != 0 && c.calls.settle(id, answer{err: &Error{Code: CodeInvalidRequest, Message: "the peer's answer was skipped: " + text}}) {
		return
	}
	c.refuse(nil, CodeInvalidRequest, text)
}

// settle gives an answer to the call that it belongs to, if there is one.
func (c *Conn) settle(id json.RawMessage, a answer) bool {
	n, ok := callID(id)
	return ok && c.calls.settle(n, a)
}

// refuse answers a message that cannot be handled. Language servers get no answer without an id:
// they expect none, and what we could not read is most likely no message at all.
func (c *Conn) refuse(id json.RawMessage, code int, why string) {
	c.refusals.log(c.log, "message refused", "code", code, "id", string(id[:min(len(id), 100)]), "why", why)
	if id == nil && c.o.Framing == ContentLength {
		return
	}
	c.answer("", c.encodeError(id, &Error{Code: code, Message: why}))
}

// maxWarnings is how many warnings of one sort a connection writes.
const maxWarnings = 20

// warnings keep a peer that sends rubbish all day from filling the log: all but the first go to the
// debug level.
type warnings int

func (w *warnings) log(log *slog.Logger, text string, args ...any) {
	if *w++; *w <= maxWarnings {
		log.Warn(text, args...)
		return
	}
	log.Debug(text, args...)
}
