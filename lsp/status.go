package lsp

import (
	"maps"
	"slices"
	"strings"

	"acp-agent/internal/workspace"
)

// ServerStatus is one row of `lsp status`.
type ServerStatus struct {
	ID        string         `json:"id"`
	State     string         `json:"state"` // absent, denied, starting, warming, ready, degraded, backoff, retiring, dead
	Reason    string         `json:"reason,omitempty"`
	Command   []string       `json:"command,omitempty"` // resolved, absolute
	Version   string         `json:"version,omitempty"`
	Root      workspace.Path `json:"root,omitempty"`
	PID       int            `json:"pid,omitempty"`
	Trusted   bool           `json:"trusted"`
	P50       float64        `json:"p50_ms,omitempty"`
	P95       float64        `json:"p95_ms,omitempty"`
	Verdicts  int            `json:"verdicts"`
	NoVerdict map[string]int `json:"no_verdict,omitempty"` // by reason
	LastError string         `json:"last_error,omitempty"` // last stderr line
}

// Status lists known servers with their processes: those in use, those refused, and the rest of the
// table as absent, with the command that would be run.
func (m *Manager) Status() []ServerStatus {
	var out []ServerStatus
	shown := map[string]bool{}
	for _, in := range m.instances() {
		out = append(out, in.status())
		shown[in.row.id] = true
	}
	m.mu.Lock()
	for _, key := range slices.Sorted(maps.Keys(m.denied)) {
		out = append(out, m.denied[key])
		shown[m.denied[key].ID] = true
	}
	m.mu.Unlock()
	for _, row := range slices.Concat(m.catalog.custom, m.catalog.builtin) {
		if shown[row.id] {
			continue
		}
		argv, looked := m.finder.resolve(row, m.home, m.home, true)
		s := ServerStatus{ID: row.id, State: "absent", Command: argv}
		if argv == nil {
			s.Reason = notInstalled(row, looked)
		}
		out = append(out, s)
	}
	slices.SortStableFunc(out, func(a, b ServerStatus) int {
		return strings.Compare(a.ID+"\x00"+string(a.Root), b.ID+"\x00"+string(b.Root))
	})
	return out
}

// status is the instance's row.
func (in *instance) status() ServerStatus {
	in.mu.Lock()
	defer in.mu.Unlock()
	s := ServerStatus{
		ID: in.row.id, State: "dead", Command: in.command, Root: in.root, Trusted: in.trusted,
		P50: in.percentile(50), P95: in.percentile(95), Verdicts: in.verdicts, NoVerdict: maps.Clone(in.none), LastError: in.lastError,
	}
	switch {
	case in.retiring:
		s.State = "retiring"
	case in.client != nil && in.client.alive():
		s.State = "ready"
		s.PID = in.process.group.Pid()
		s.Version = in.client.caps.version
		if line := in.process.stderr.last(); line != "" {
			s.LastError = line
		}
		if warming, _ := in.client.warming(); warming {
			s.State = "warming"
		} else if in.timeouts > 0 {
			s.State, s.Reason = "degraded", "did not answer the last questions in time"
		}
	case in.attempt != nil:
		s.State = "starting"
	case in.trouble != nil && in.trouble.reason == ReasonNotInstalled:
		s.State, s.Reason = "absent", in.trouble.text
	case in.trouble != nil:
		s.State, s.Reason = "backoff", in.trouble.text
	}
	return s
}
