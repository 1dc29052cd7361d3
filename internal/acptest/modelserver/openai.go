package modelserver

import (
	"encoding/json"
	"fmt"
	"unicode/utf16"
)

type object = map[string]any

// openaiFrames writes a reply as Chat Completions.
func openaiFrames(r Reply) []frame {
	if r.NoStream {
		return []frame{{data: marshal(openaiWhole(r))}}
	}
	var out []frame
	chunk := func(delta object, closing bool) {
		if _, ok := delta["content"]; !ok && r.ContentNull {
			delta["content"] = nil
		}
		out = append(out, frame{closing: closing, data: marshal(object{"id": "chatcmpl-1", "object": "chat.completion.chunk",
			"created": 1, "model": "test", "choices": []any{object{"index": 0, "delta": delta, "finish_reason": nil}}})})
	}
	chunk(object{"role": "assistant", "content": ""}, false)
	thought, field := r.Thought, r.Reasoning
	text := r.Text
	switch field {
	case "":
		field = "reasoning_content"
	case "think":
		thought, text = "", "<think>"+r.Thought+"</think>\n\n"+r.Text
	}
	for _, s := range deltas(r, thought) {
		chunk(object{field: s}, false)
	}
	for _, s := range deltas(r, text) {
		chunk(object{"content": s}, false)
	}
	for _, s := range deltas(r, r.Refusal) {
		chunk(object{"refusal": s}, false)
	}
	for _, calls := range callDeltas(r) {
		chunk(object{"tool_calls": calls}, false)
	}
	if !r.NoFinish {
		out = append(out, frame{closing: true, data: marshal(object{"id": "chatcmpl-1", "object": "chat.completion.chunk",
			"choices": []any{object{"index": 0, "delta": object{}, "finish_reason": openaiFinish(r)}}})})
	}
	if !r.NoUsage {
		out = append(out, frame{closing: true, data: marshal(object{"choices": []any{}, "usage": openaiUsage(r)})})
	}
	if !r.NoDone {
		out = append(out, frame{closing: true, data: []byte("[DONE]")})
	}
	return out
}

func openaiFinish(r Reply) string {
	switch {
	case r.Finish == "refusal":
		return "content_filter"
	case r.Finish != "":
		return r.Finish
	case len(r.Calls) > 0:
		return "tool_calls"
	}
	return "stop"
}

func openaiUsage(r Reply) object {
	return object{"prompt_tokens": r.Usage.Input, "completion_tokens": r.Usage.Output, "total_tokens": r.Usage.Input + r.Usage.Output,
		"prompt_tokens_details": object{"cached_tokens": r.Usage.Cached}}
}

func openaiWhole(r Reply) object {
	msg := object{"role": "assistant", "content": r.Text}
	if r.Thought != "" {
		msg["reasoning_content"] = r.Thought
	}
	if len(r.Calls) > 0 {
		r.OneDelta = true
		msg["tool_calls"] = callDeltas(r)[0]
	}
	return object{"id": "chatcmpl-1", "object": "chat.completion", "usage": openaiUsage(r),
		"choices": []any{object{"index": 0, "message": msg, "finish_reason": openaiFinish(r)}}}
}

// callDeltas gives the tool_calls of each delta.
func callDeltas(r Reply) [][]any {
	var out [][]any
	for i, c := range r.Calls {
		for j, args := range argDeltas(r, c) {
			fn := object{"arguments": args}
			if j == 0 || r.RepeatName {
				fn["name"] = c.Name
			}
			d := object{"type": "function", "function": fn}
			switch {
			case r.NoIDs:
			case r.RandomIDs:
				d["id"] = fmt.Sprintf("rnd_%d_%d", i, j)
			case r.SameID:
				d["id"] = "same"
			case j == 0 || r.RepeatName:
				d["id"] = c.ID
			}
			switch {
			case r.NoIndex:
			case r.SameIndex:
				d["index"] = 0
			default:
				d["index"] = i
			}
			if r.Signature != "" && i == 0 && j == 0 {
				d["extra_content"] = object{"google": object{"thought_signature": r.Signature}}
			}
			out = append(out, []any{d})
		}
	}
	if r.OneDelta {
		var all []any
		for _, d := range out {
			all = append(all, d...)
		}
		return [][]any{all}
	}
	return out
}

// argDeltas cuts the arguments of a call.
func argDeltas(r Reply, c Call) []any {
	switch {
	case r.ArgsObject:
		return []any{json.RawMessage(c.Arguments)}
	case r.WholeCalls || r.OneDelta || r.NoStream:
		return []any{c.Arguments}
	}
	out := []any{""} // the name comes first, alone
	if r.Bytes {
		for i := range len(c.Arguments) {
			out = append(out, rawString(c.Arguments[i:i+1]))
		}
	} else {
		for _, s := range cut(c.Arguments, max(r.ArgBytes, 0), 16) {
			out = append(out, s)
		}
	}
	if r.RepeatArgs {
		out = append(out, c.Arguments)
	}
	return out
}

// deltas cuts text as the reply wants.
func deltas(r Reply, text string) []any {
	var out []any
	switch {
	case r.Bytes:
		for i := range len(text) {
			out = append(out, rawString(text[i:i+1]))
		}
	case r.Surrogates:
		for _, u := range utf16.Encode([]rune(text)) {
			out = append(out, verbatim(fmt.Sprintf(`"\u%04x"`, u)))
		}
	default:
		n := r.Chunk
		if n == 0 {
			n = 20
		}
		runes := []rune(text)
		for len(runes) > 0 {
			k := min(n, len(runes))
			out = append(out, string(runes[:k]))
			runes = runes[k:]
		}
	}
	return out
}

func cut(s string, n, standard int) []string {
	if n == 0 {
		n = standard
	}
	var out []string
	for len(s) > 0 {
		k := min(n, len(s))
		out = append(out, s[:k])
		s = s[k:]
	}
	return out
}
