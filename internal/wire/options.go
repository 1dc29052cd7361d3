package wire

import (
	"log/slog"
	"time"
)

// Framing tells how objects lie in the stream.
type Framing int

// Framings.
const (
	Lines         Framing = iota // one object a line (ACP)
	ContentLength                // header block and body (LSP)
)

// Options of a connection. Zero fields take the defaults named.
type Options struct {
	Framing   Framing
	MaxIn     int64  // bytes of one incoming message: 64 MiB; a larger one is skipped in bounded memory
	MaxOut    int64  // bytes of one outgoing message: 64 MiB (ACP sets 8 MiB)
	MaxQueue  int64  // bytes queued before [Conn.Send] and [Conn.Merge] wait: 1 MiB
	HardQueue int64  // bytes queued in all before the connection is given up: 256 MiB
	Cancel    string // notification sent when a Call's ctx ends: "$/cancel_request" or "$/cancelRequest"
	CancelKey string // its parameter: "requestId" or "id"
	Logger    *slog.Logger
	// Coalesce is how long text of [Conn.Merge] may wait for more of it (ACP sets 25 to 50 ms).
	// Zero writes it at once, so that only text which a slow peer holds up is joined.
	Coalesce time.Duration
	// Flush is how long the end of the connection waits for queued messages to be written: 1 s.
	Flush time.Duration
	// Tap sees every message as it goes by (tests, `run --json`); may be nil. It is called by the
	// reader and by the writer, so it must be safe for that, and must not keep msg.
	Tap func(out bool, msg []byte)
	// Drain is called at the end of input, or when Run's ctx ends, before the connection closes;
	// answers given until it returns are still sent. It must return by itself. May be nil.
	Drain func()
}

// withDefaults fills the zero fields.
func (o Options) withDefaults() Options {
	for _, f := range []struct {
		field *int64
		value int64
	}{
		{&o.MaxIn, 64 << 20},
		{&o.MaxOut, 64 << 20},
		{&o.MaxQueue, 1 << 20},
		{&o.HardQueue, 256 << 20},
	} {
		if *f.field <= 0 {
			*f.field = f.value
		}
	}
	if o.Cancel == "" {
		o.Cancel, o.CancelKey = "$/cancel_request", "requestId"
		if o.Framing == ContentLength {
			o.Cancel, o.CancelKey = "$/cancelRequest", "id"
		}
	}
	if o.Flush <= 0 {
		o.Flush = time.Second
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
