package modelserver

import (
	"bytes"
	"net"
	"net/http"
	"time"
)

// frame is one event of a stream. closing marks what comes after the content.
type frame struct {
	event   string // name, "" for none
	data    []byte
	closing bool
}

// player writes one reply.
type player struct {
	w     http.ResponseWriter
	gone  <-chan struct{}
	stop  <-chan struct{}
	reply Reply
}

func (p *player) play(frames func(Reply) []frame) {
	r := p.reply
	for k, v := range r.Header {
		p.w.Header()[k] = v
	}
	switch {
	case r.Fault == Hang && r.After == 0:
		p.wait()
		return
	case r.Status != 0 || r.Body != "" && r.Fault == None:
		if p.w.Header().Get("Content-Type") == "" {
			p.w.Header().Set("Content-Type", "application/json")
		}
		p.w.WriteHeader(max(r.Status, http.StatusOK))
		_, _ = p.w.Write([]byte(r.Body))
		return
	case r.NoStream:
		p.w.Header().Set("Content-Type", "application/json")
		_, _ = p.w.Write(frames(r)[0].data)
		return
	}
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.w.WriteHeader(http.StatusOK)
	p.flush()
	p.stream(frames(r))
}

func (p *player) stream(frames []frame) {
	for i, f := range frames {
		if p.reply.Fault != None && (i >= p.reply.After || f.closing) {
			break
		}
		if i > 0 && p.reply.Hold != nil {
			select {
			case <-p.reply.Hold:
			case <-p.gone:
				return
			case <-p.stop:
				return
			}
		}
		if p.reply.Comments {
			p.write([]byte(": keepalive\n\n"))
		}
		if !p.write(p.text(f)) {
			return
		}
	}
	p.fault()
	if p.reply.Linger {
		p.wait()
	}
}

func (p *player) fault() {
	switch p.reply.Fault {
	case ErrorEvent:
		p.write(p.text(frame{event: "error", data: []byte(p.reply.Body)}))
	case ErrorData:
		p.write(p.text(frame{data: []byte(p.reply.Body)}))
	case BareError:
		p.write([]byte(p.reply.Body + "\n"))
	case Garbage:
		p.write([]byte("data: {\"choices\":[{\n\n"))
	case Hang:
		p.wait()
	case Reset:
		p.reset()
	}
}

func (p *player) text(f frame) []byte {
	var b bytes.Buffer
	if f.event != "" {
		b.WriteString("event: " + f.event + "\n")
	}
	b.WriteString("data:")
	if !p.reply.NoSpace {
		b.WriteByte(' ')
	}
	b.Write(f.data)
	b.WriteString("\n\n")
	if p.reply.CRLF {
		return bytes.ReplaceAll(b.Bytes(), []byte("\n"), []byte("\r\n"))
	}
	return b.Bytes()
}

// write sends at once, in as many pieces as the reply wants; false when the client is gone.
func (p *player) write(b []byte) bool {
	size := p.reply.Write
	if size == 0 {
		size = len(b)
	}
	for len(b) > 0 {
		n := min(size, len(b))
		if _, err := p.w.Write(b[:n]); err != nil {
			return false
		}
		b = b[n:]
		p.flush()
	}
	return true
}

func (p *player) flush() { _ = http.NewResponseController(p.w).Flush() }

func (p *player) wait() {
	select {
	case <-p.gone:
	case <-p.stop:
	}
}

// reset ends the connection with RST.
func (p *player) reset() {
	c, _, err := http.NewResponseController(p.w).Hijack()
	if err != nil {
		return
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = c.SetDeadline(time.Now())
	_ = c.Close()
}
