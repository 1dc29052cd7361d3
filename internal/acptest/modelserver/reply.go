package modelserver

import (
	"net/http"

	"acp-agent/internal/model"
)

// Reply is one answer: what is said, how the server writes it, and what goes wrong. The zero value
// of everything is the well-behaved way.
type Reply struct {
	Thought string
	Text    string
	Refusal string // OpenAI's refusal in place of content
	Calls   []Call
	Usage   model.Usage
	Finish  string // the wire's own word; what fits when ""

	Chunk      int    // characters in a delta of text: 20
	ArgBytes   int    // bytes in a delta of arguments: 16
	Write      int    // bytes in a write to the socket, to cut anywhere; 0 writes an event at once
	Bytes      bool   // each delta of text and arguments is one byte, even inside a character
	Surrogates bool   // text is written in \u escapes, one unit a delta
	Reasoning  string // field of the thought: reasoning_content, reasoning, or think for inline tags
	Signature  string // of the thought (Anthropic) and of the first call (Gemini)
	Redacted   string // a redacted block of thought (Anthropic)

	WholeCalls  bool // each call in one delta
	OneDelta    bool // all calls in one delta
	ArgsObject  bool // arguments are an object instead of a string
	NoIDs       bool
	SameID      bool
	RandomIDs   bool // a new id in each delta
	NoIndex     bool
	SameIndex   bool
	RepeatName  bool // the name in each delta
	RepeatArgs  bool // the last delta of a call has all of its arguments again
	ContentNull bool // content is null in deltas without text
	NoUsage     bool
	NoFinish    bool
	NoDone      bool // no [DONE], no message_stop
	Linger      bool // the connection stays open after the end
	Comments    bool // keepalive comments and pings between events
	CRLF        bool
	NoSpace     bool // "data:{"
	NoStream    bool // one JSON object instead of a stream

	Status int // 200
	Header http.Header
	Body   string // of an error, or of an answer that is nothing of the kind

	Fault Fault
	After int // events before the fault; AtEnd for all but the closing ones

	// Hold is waited for before each event after the first, when it is set: a receive lets one out.
	Hold <-chan struct{}
}

// Call is a tool call of a reply.
type Call struct {
	ID        string
	Name      string
	Arguments string
}

// Fault is what goes wrong in the middle of an answer.
type Fault int

// Faults.
const (
	None       Fault = iota
	ErrorEvent       // an SSE event "error" with Body
	ErrorData        // Body as an ordinary event
	BareError        // Body without "data:"
	Hang             // nothing more; with After 0 not even a status
	Reset            // the connection is reset
	CutOff           // the connection is closed as if the answer were whole
	Garbage          // an event that is not JSON
)

// AtEnd puts a fault behind all content and before finish reason and usage.
const AtEnd = 1 << 30
