package headless

import (
	"encoding/json"
)

// Update is one session/update. Which fields are set depends on Kind, the protocol's sessionUpdate.
type Update struct {
	Session string
	Kind    string
	Text    string   // agent_message_chunk, agent_thought_chunk, notice
	Call    ToolCall // tool_call, tool_call_update: only what the update has
	Plan    []PlanEntry
	Mode    string
	Title   string
	Used    int
	Size    int
	Raw     json.RawMessage
}

// PlanEntry is one step of a plan.
type PlanEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// ToolCall is a tool call, or what an update changes of one.
type ToolCall struct {
	ID        string     `json:"toolCallId"`
	Title     string     `json:"title"`
	Name      string     `json:"name"`
	Kind      string     `json:"kind"`
	Status    string     `json:"status"`
	Content   []Content  `json:"content"`
	Locations []Location `json:"locations"`
	Meta      Meta       `json:"_meta"`
}

// Location is a place in a file; Line is 0 when there is none.
type Location struct {
	Path string `json:"path"`
	Line int    `json:"line"`
}

// Content is one item of a tool call's content.
type Content struct {
	Type    string  `json:"type"` // content, diff, terminal
	Path    string  `json:"path"`
	OldText *string `json:"oldText"` // nil for a new file
	NewText string  `json:"newText"`
	Content struct {
		Type string `json:"type"`
		Text string `json:"text"`
	} `json:"content"`
}

// Meta is what the agent adds under its own name (contract §5).
type Meta struct {
	Agent struct {
		Sensitive bool   `json:"sensitive"`
		Outside   bool   `json:"outside"`
		Reason    string `json:"reason"`
		Edit      *struct {
			ID      string `json:"id"`
			Kind    string `json:"kind"`
			State   string `json:"state"`
			Partial bool   `json:"partial"`
			Files   []struct {
				Path   string `json:"path"`
				Op     string `json:"op"`
				Before string `json:"before"`
				After  string `json:"after"`
			} `json:"files"`
		} `json:"edit"`
		Diagnostics *struct {
			State    string `json:"state"`
			Reason   string `json:"reason"`
			Foreseen bool   `json:"foreseen"`
			Late     bool   `json:"late"`
			Mended   int    `json:"mended"`
			Servers  []struct {
				ID    string `json:"id"`
				State string `json:"state"`
				MS    int64  `json:"ms"`
			} `json:"servers"`
			Items []struct {
				Path     string `json:"path"`
				Severity int    `json:"severity"`
				Message  string `json:"message"`
				New      bool   `json:"new"`
				Range    struct {
					Start struct{ Line, Character int } `json:"start"`
				} `json:"range"`
			} `json:"items"`
		} `json:"diagnostics"`
		Provenance *struct {
			Seq      int64  `json:"seq"`
			Hash     string `json:"hash"`
			Decision struct {
				By     string `json:"by"`
				Option string `json:"option"`
				Rule   string `json:"rule"`
			} `json:"decision"`
		} `json:"provenance"`
	} `json:"acpAgent"`
}

// parseUpdate reads an update. Unknown kinds have Kind and Raw only.
func parseUpdate(session string, raw json.RawMessage) (Update, error) {
	var peek struct {
		Kind    string `json:"sessionUpdate"`
		Content json.RawMessage
		Entries []PlanEntry `json:"entries"`
		Mode    string      `json:"currentModeId"`
		Title   string      `json:"title"`
		Used    int         `json:"used"`
		Size    int         `json:"size"`
	}
	if err := json.Unmarshal(raw, &peek); err != nil {
		return Update{}, err
	}
	u := Update{Session: session, Kind: peek.Kind, Raw: raw, Plan: peek.Entries, Mode: peek.Mode, Title: peek.Title,
		Used: peek.Used, Size: peek.Size}
	switch peek.Kind {
	case "agent_message_chunk", "agent_thought_chunk":
		var block struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal(peek.Content, &block); err != nil {
			return Update{}, err
		}
		u.Text = block.Text
	case "tool_call", "tool_call_update":
		return u, json.Unmarshal(raw, &u.Call)
	case "notice":
		u.Text = peek.Title
	}
	return u, nil
}
