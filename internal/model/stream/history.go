package stream

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"
)

// Arguments makes the arguments of a call fit for a provider's history: as they are when they are a
// JSON object, else {"_raw": "…"}. A single call that is not JSON would otherwise be answered with
// status 400 for ever after (case G-M01).
func Arguments(args string) json.RawMessage {
	if isObject(args) {
		return json.RawMessage(args)
	}
	if strings.TrimSpace(args) == "" {
		return json.RawMessage("{}")
	}
	raw, err := json.Marshal(map[string]string{"_raw": args})
	if err != nil { // a map of strings always marshals
		return json.RawMessage("{}")
	}
	return raw
}

func isObject(s string) bool {
	s = strings.TrimSpace(s)
	return strings.HasPrefix(s, "{") && json.Valid([]byte(s))
}

// ID makes a call id fit for a provider that takes letters, digits, _ and - up to max characters;
// other providers' ids hold dots and colons. The same id always gives the same result, and two ids
// give two results.
func ID(id string, max int) string {
	return fit(id, max, "call")
}

// Name makes the name of a tool that the model called fit for the history: a model may make up a
// name that no provider accepts.
func Name(name string) string {
	return fit(name, 64, "unnamed")
}

func fit(s string, max int, empty string) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if clean == s && s != "" && len(s) <= max {
		return s
	}
	if clean == "" {
		return empty
	}
	sum := sha256.Sum256([]byte(s))
	tail := "_" + hex.EncodeToString(sum[:4])
	if len(clean) > max-len(tail) {
		clean = clean[:max-len(tail)]
	}
	return clean + tail
}
