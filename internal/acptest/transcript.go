package acptest

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// Transcript reads a conversation that a real client printed, one message a line with both directions
// mixed, and holds every line of the agent to the rules that [Editor] holds it to. A line that is no
// message fails the test.
func Transcript(t testing.TB, printed []byte) []Message {
	t.Helper()
	r := &transcript{check: newChecker(LoadSchema(t)), asked: map[string]string{}}
	for line := range bytes.Lines(printed) {
		whole, ended := bytes.CutSuffix(line, []byte("\n"))
		m, bad := r.read(whole, ended)
		m.Seq = len(r.log)
		r.log = append(r.log, m)
		for _, complaint := range bad {
			t.Errorf("line %d of the transcript breaks a rule: %s\n%s", m.Seq, complaint, m)
		}
	}
	return r.log
}

// transcript is what was read so far.
type transcript struct {
	check *checker
	log   []Message
	asked map[string]string // the agent's open requests: idKey -> method
}

// read takes one line and finds out who wrote it.
func (r *transcript) read(line []byte, ended bool) (Message, []string) {
	m, bad := parseLine(line)
	if len(bad) > 0 && m.Method == "" && m.ID == nil {
		return m, bad
	}
	if r.byAgent(m) {
		m, bad = r.check.received(line, ended)
		if m.IsRequest() {
			r.asked[idKey(m.ID)] = m.Method
		}
		return m, bad
	}
	m.Agent = false
	if m.IsResponse() {
		m.For = r.asked[idKey(m.ID)]
		delete(r.asked, idKey(m.ID))
	}
	r.check.sent(m)
	return m, nil // what a client writes is not ours to judge
}

// clientMethods begin the names of what an agent asks or tells a client.
var clientMethods = []string{"session/update", "session/request_permission", "fs/", "terminal/", "elicitation/"}

// byAgent tells the sides apart. Both count their ids from 0, so that one id may wait on both sides:
// then it is a turn of the editor during which the agent asks, and only its end has a stop reason.
func (r *transcript) byAgent(m Message) bool {
	switch {
	case m.Method == "$/cancel_request":
		return r.asked[idKey(get[json.RawMessage](m.Params, "requestId"))] != ""
	case m.Method != "":
		return slices.ContainsFunc(clientMethods, func(prefix string) bool { return strings.HasPrefix(m.Method, prefix) })
	case r.asked[idKey(m.ID)] == "":
		return true
	}
	_, waits := r.check.ours[idKey(m.ID)]
	return waits && get[string](m.Result, "stopReason") != ""
}
