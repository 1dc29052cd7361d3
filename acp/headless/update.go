package headless

import "encoding/json"

// Update is one session/update, with the fields of all variants that this client shows (ACP 1.4).
type Update struct {
	Kind       string          `json:"sessionUpdate"`
	Content    json.RawMessage `json:"content,omitempty"` // a block for chunks, a list for tool calls
	ToolCallID string          `json:"toolCallId,omitempty"`
	Title      string          `json:"title,omitempty"`
	Status     string          `json:"status,omitempty"`
	ToolKind   string          `json:"kind,omitempty"`
	Entries    []PlanEntry     `json:"entries,omitempty"`
	Meta       Meta            `json:"_meta"`
}

// PlanEntry is one step of the plan.
type PlanEntry struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// Text is the text of a message or thought chunk.
func (u Update) Text() string {
	var b struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(u.Content, &b)
	return b.Text
}

// Blocks are the content of a tool call.
func (u Update) Blocks() []Block {
	var list []Block
	_ = json.Unmarshal(u.Content, &list)
	return list
}

// Block is one piece of a tool call's content: a diff, or text.
type Block struct {
	Type    string  `json:"type"` // content, diff, terminal
	Path    string  `json:"path,omitempty"`
	OldText *string `json:"oldText,omitempty"`
	NewText string  `json:"newText,omitempty"`
	Content struct {
		Text string `json:"text"`
	} `json:"content"`
}

// Meta is what this server says beyond the protocol (contract §5).
type Meta struct {
	Agent struct {
		Edit struct {
			Partial bool `json:"partial"`
			Files   []struct {
				Path string `json:"path"`
				Op   string `json:"op"`
			} `json:"files"`
		} `json:"edit"`
		Diagnostics struct {
			State string `json:"state"`
		} `json:"diagnostics"`
		Provenance struct {
			Seq  int64  `json:"seq"`
			Hash string `json:"hash"`
		} `json:"provenance"`
		Ask struct {
			Sensitive bool `json:"sensitive"`
			Outside   bool `json:"outside"`
		} `json:"ask"`
	} `json:"acpAgent"`
}

// Question is a session/request_permission.
type Question struct {
	ToolCall Update   `json:"toolCall"`
	Options  []Option `json:"options"`
	Meta     Meta     `json:"_meta"`
}

// Option is one answer that is offered.
type Option struct {
	ID   string `json:"optionId"`
	Name string `json:"name"`
	Kind string `json:"kind"`
}

// Find gives the id of the offered option of a kind, "" when there is none.
func (q Question) Find(kind string) string {
	for _, o := range q.Options {
		if o.Kind == kind {
			return o.ID
		}
	}
	return ""
}

// Answer is the user's choice; an empty OptionID is "cancelled". Edited are texts that the user wrote
// in place of proposed ones, by path; they go out as `_meta.acpAgent.edited` beside the chosen option.
type Answer struct {
	OptionID string
	Edited   map[string]string
}
