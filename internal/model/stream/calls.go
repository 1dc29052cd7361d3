package stream

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"strings"

	"acp-agent/internal/model"
)

// Piece is what one delta says of a tool call. Servers leave out most of it.
type Piece struct {
	Index *int
	ID    string
	Name  string
	// Arguments is the JSON value as it came: a string literal with the next characters of the
	// arguments, or the whole arguments as an object; nil or null for nothing.
	Arguments json.RawMessage
	Signature string // opaque provider data to be echoed
}

// Calls puts the tool calls of one answer together. It copes with deltas that have no index (then
// the id decides, else the order), one index for all calls, ids that are missing, repeated or
// already used in the conversation, names repeated in each delta, whole calls in one delta, and
// arguments sent as an object or sent twice.
type Calls struct {
	used map[string]bool // ids of the conversation
	list []*call
}

type call struct {
	index     *int
	id        string
	name      string
	args      strings.Builder
	runes     Runes
	whole     bool // arguments came as an object: nothing may be added
	signature string
}

// NewCalls knows the ids that the conversation has used.
func NewCalls(history []model.Message) *Calls {
	c := &Calls{used: map[string]bool{}}
	for _, m := range history {
		for _, k := range m.Calls {
			c.used[k.ID] = true
		}
	}
	return c
}

// Len is the number of calls begun.
func (c *Calls) Len() int { return len(c.list) }

// Add takes the pieces of one delta and gives the names of the calls that begin with it.
func (c *Calls) Add(pieces []Piece) (started []string) {
	for i, p := range pieces {
		k := c.find(i, p)
		if k == nil {
			k = &call{index: p.Index}
			c.list = append(c.list, k)
		}
		if k.add(p) {
			started = append(started, k.name)
		}
	}
	return started
}

// find gives the call that a piece continues, nil when it begins one.
func (c *Calls) find(pos int, p Piece) *call {
	if p.Index != nil {
		for i := len(c.list) - 1; i >= 0; i-- {
			if k := c.list[i]; k.index != nil && *k.index == *p.Index {
				if k.replacedBy(p) {
					return nil
				}
				return k
			}
		}
		return nil
	}
	if p.ID != "" {
		for i := len(c.list) - 1; i >= 0; i-- {
			if c.list[i].id == p.ID && !c.list[i].replacedBy(p) {
				return c.list[i]
			}
		}
		if p.Name != "" || len(c.list) == 0 {
			return nil
		}
	}
	if len(c.list) == 0 || p.Name != "" && pos > 0 {
		return nil
	}
	last := c.list[len(c.list)-1]
	if p.Name != "" && p.Name != last.name || last.replacedBy(p) {
		return nil
	}
	return last
}

// replacedBy says that a piece with the same index or id as k is another call nevertheless: it names
// a function, and either has an id of its own, or k's arguments are whole already.
func (k *call) replacedBy(p Piece) bool {
	switch {
	case p.Name == "" || k.name == "":
		return false
	case p.ID != "" && k.id != "" && p.ID != k.id:
		return true
	case p.Name != k.name && k.args.Len() > 0:
		return true
	}
	return k.complete() && !k.repeats(p)
}

func (k *call) complete() bool {
	if k.whole {
		return true
	}
	args := strings.TrimSpace(k.args.String())
	return strings.HasSuffix(args, "}") && json.Valid([]byte(args))
}

// repeats says that p holds no arguments, or all of k's arguments once more.
func (k *call) repeats(p Piece) bool {
	if p.ID == "" || p.ID != k.id {
		return false
	}
	var r Runes
	text := r.Add(p.Arguments)
	return text == "" || text == k.args.String()
}

// add merges a piece and says whether the name became known by it.
func (k *call) add(p Piece) (named bool) {
	if k.id == "" {
		k.id = p.ID
	}
	if p.Signature != "" {
		k.signature = p.Signature
	}
	if p.Name != "" && p.Name != k.name {
		named = k.name == ""
		k.name += p.Name
	}
	switch {
	case len(p.Arguments) == 0 || k.whole:
	case p.Arguments[0] == '"':
		text := k.runes.Add(p.Arguments)
		if k.args.Len() > 1 && text == k.args.String() && json.Valid([]byte(text)) {
			break // some servers end a call by sending all of its arguments again
		}
		k.args.WriteString(text)
	case p.Arguments[0] == '{' || p.Arguments[0] == '[':
		k.args.Reset()
		k.args.Write(p.Arguments)
		k.whole = true
	}
	return named
}

// Finish gives the calls in their order, each with an id that the conversation has not seen.
// Arguments are what the model wrote, "{}" for nothing at all, and unwrapped when they are a JSON
// string that holds an object. Calls that have neither name nor arguments are dropped.
func (c *Calls) Finish() []model.ToolCall {
	var out []model.ToolCall
	for _, k := range c.list {
		args := strings.TrimSpace(k.args.String() + k.runes.Flush())
		if k.name == "" && args == "" {
			continue
		}
		if args == "" {
			args = "{}"
		}
		var inner string
		if args[0] == '"' && json.Unmarshal([]byte(args), &inner) == nil && isObject(inner) {
			args = inner
		}
		if k.id == "" || c.used[k.id] {
			k.id = newID()
		}
		c.used[k.id] = true
		out = append(out, model.ToolCall{ID: k.id, Name: k.name, Arguments: args, Signature: k.signature})
	}
	return out
}

// newID makes a call id that every provider takes: letters, digits and _, under 40 characters.
func newID() string {
	var b [12]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand)
	return "call_" + hex.EncodeToString(b[:])
}
