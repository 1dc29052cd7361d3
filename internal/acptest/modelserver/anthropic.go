package modelserver

import "encoding/json"

// anthropicFrames writes a reply as Messages.
func anthropicFrames(r Reply) []frame {
	if r.NoStream {
		return []frame{{data: marshal(anthropicWhole(r))}}
	}
	var out []frame
	add := func(name string, closing bool, fields object) {
		fields["type"] = name
		out = append(out, frame{event: name, data: marshal(fields), closing: closing})
	}
	start := object{"id": "msg_1", "type": "message", "role": "assistant", "model": "test", "content": []any{}, "stop_reason": nil}
	if !r.NoUsage {
		start["usage"] = object{"input_tokens": r.Usage.Input - r.Usage.Cached, "cache_read_input_tokens": r.Usage.Cached,
			"cache_creation_input_tokens": 0, "output_tokens": 1}
	}
	add("message_start", false, object{"message": start})
	if r.Comments {
		add("ping", false, object{})
	}
	index := 0
	block := func(content object, deltas []object) {
		add("content_block_start", false, object{"index": index, "content_block": content})
		for _, d := range deltas {
			add("content_block_delta", false, object{"index": index, "delta": d})
		}
		add("content_block_stop", false, object{"index": index})
		index++
	}
	if r.Thought != "" {
		ds := typed(deltas(r, r.Thought), "thinking_delta", "thinking")
		if r.Signature != "" {
			ds = append(ds, object{"type": "signature_delta", "signature": r.Signature})
		}
		block(object{"type": "thinking", "thinking": ""}, ds)
	}
	if r.Redacted != "" {
		block(object{"type": "redacted_thinking", "data": r.Redacted}, nil)
	}
	if r.Text != "" {
		block(object{"type": "text", "text": ""}, typed(deltas(r, r.Text), "text_delta", "text"))
	}
	for _, c := range r.Calls {
		content, ds := anthropicCall(r, c)
		block(content, ds)
	}
	if !r.NoFinish {
		end := object{"delta": object{"stop_reason": anthropicStop(r), "stop_sequence": nil}}
		if !r.NoUsage {
			end["usage"] = object{"output_tokens": r.Usage.Output}
		}
		add("message_delta", true, end)
	}
	if !r.NoDone {
		add("message_stop", true, object{})
	}
	return out
}

func anthropicCall(r Reply, c Call) (object, []object) {
	content := object{"type": "tool_use", "name": c.Name, "input": object{}}
	switch {
	case r.NoIDs:
	case r.SameID:
		content["id"] = "same"
	default:
		content["id"] = c.ID
	}
	if r.ArgsObject {
		content["input"] = json.RawMessage(c.Arguments)
		return content, nil
	}
	return content, typed(argDeltas(r, c), "input_json_delta", "partial_json")
}

func typed(values []any, name, field string) []object {
	var out []object
	for _, v := range values {
		out = append(out, object{"type": name, field: v})
	}
	return out
}

func anthropicStop(r Reply) string {
	switch r.Finish {
	case "length":
		return "max_tokens"
	case "stop":
		return "end_turn"
	case "":
	default:
		return r.Finish
	}
	if len(r.Calls) > 0 {
		return "tool_use"
	}
	return "end_turn"
}

func anthropicWhole(r Reply) object {
	var content []any
	if r.Text != "" {
		content = append(content, object{"type": "text", "text": r.Text})
	}
	for _, c := range r.Calls {
		content = append(content, object{"type": "tool_use", "id": c.ID, "name": c.Name, "input": json.RawMessage(c.Arguments)})
	}
	return object{"id": "msg_1", "type": "message", "role": "assistant", "content": content, "stop_reason": anthropicStop(r),
		"usage": object{"input_tokens": r.Usage.Input - r.Usage.Cached, "cache_read_input_tokens": r.Usage.Cached, "output_tokens": r.Usage.Output}}
}
