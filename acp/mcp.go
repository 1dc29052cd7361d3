package acp

import (
	"encoding/json"
)

// checkServers validates the mcpServers of a session request and gives the servers' names. Nothing
// is started before all are valid. The protocol library takes an unknown type for another one, so
// the discriminator is read here.
func checkServers(raw json.RawMessage) ([]string, error) {
	if isNull(raw) {
		return nil, nil
	}
	var list []json.RawMessage
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, invalidParams("mcpServers must be a list")
	}
	names := make([]string, 0, len(list))
	for i, item := range list {
		name, err := checkServer(item)
		if err != nil {
			return nil, invalidParams("mcpServers[%d]: %v", i, err)
		}
		names = append(names, name)
	}
	return names, nil
}

// checkServer validates one entry. A stdio entry has no type, or "stdio"; args and env may be absent.
func checkServer(raw json.RawMessage) (string, error) {
	if !isObject(raw) {
		return "", errText("must be an object")
	}
	var entry struct {
		Type    *string           `json:"type"`
		Name    string            `json:"name"`
		Command string            `json:"command"`
		Args    []string          `json:"args"`
		Env     []json.RawMessage `json:"env"`
	}
	var kind struct {
		Type any `json:"type"`
	}
	if err := json.Unmarshal(raw, &kind); err != nil {
		return "", err
	}
	switch t := kind.Type.(type) {
	case nil:
	case string:
		switch t {
		case "stdio":
		case "http", "sse":
			return "", errText("type " + t + " is not supported (mcpCapabilities." + t + " is false)")
		default:
			return "", errText("unknown type " + t)
		}
	default:
		return "", errText("type must be a string")
	}
	if err := json.Unmarshal(raw, &entry); err != nil {
		return "", err
	}
	if entry.Command == "" {
		return "", errText("command is missing")
	}
	for _, e := range entry.Env {
		var pair struct {
			Name  *string `json:"name"`
			Value *string `json:"value"`
		}
		if json.Unmarshal(e, &pair) != nil || pair.Name == nil || pair.Value == nil {
			return "", errText("env must be a list of {name, value}")
		}
	}
	if entry.Name == "" {
		return entry.Command, nil
	}
	return entry.Name, nil
}

// errText is an error that is only text.
type errText string

func (e errText) Error() string { return string(e) }
