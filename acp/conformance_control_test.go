package acp_test

import (
	"encoding/json"
	"testing"

	"acp-agent/internal/acptest"
)

func TestACP_090_SetMode(t *testing.T) {
	f := start(t, replace("f.txt", 1), acptest.EditorOptions{})
	f.write(t, "f.txt", "a")
	id := f.open()
	set := func(mode string) *acptest.Call {
		return f.Go("session/set_mode", map[string]any{"sessionId": id, "modeId": mode})
	}
	for _, mode := range []string{"plan", "accept_edits", "default"} {
		from := f.Len()
		set(mode).Result()
		f.UntilMessage("the option to follow", from, func(m acptest.Message) bool {
			u := acptest.Get[json.RawMessage](m.Params, "update")
			return acptest.Get[string](u, "sessionUpdate") == "config_option_update" && optionValue(u, "mode") == mode
		})
	}
	for _, mode := range []string{"yolo", "", "PLAN"} {
		set(mode).Error(-32602)
	}
	set("dont_ask").Error(-32602) // permissions.allow_dont_ask is not set
	turn := f.Prompt(id, "go")
	p := f.AwaitPermission()
	set("plan").Result()
	p.Answer("reject_once")
	if stop := turn.StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
}

// optionValue is the current value of one of the configOptions of an answer or update.
func optionValue(raw json.RawMessage, id string) string {
	for _, o := range acptest.Get[[]json.RawMessage](raw, "configOptions") {
		if acptest.Get[string](o, "id") == id {
			return acptest.Get[string](o, "currentValue")
		}
	}
	return ""
}

func TestACP_091_SetConfigOption(t *testing.T) {
	for _, profile := range []string{"plain", "zed"} { // boolean options only for the second: checked on every line
		t.Run(profile, func(t *testing.T) {
			f := start(t, greeting, acptest.EditorOptions{Profile: profile})
			opened := f.newSession(f.cwdMember() + `,"mcpServers":[]`).Result()
			id, all := acptest.Get[string](opened, "sessionId"), acptest.Get[[]json.RawMessage](opened, "configOptions")
			set := func(option string, value any) *acptest.Call {
				return f.Go("session/set_config_option", map[string]any{"sessionId": id, "configId": option, "value": value})
			}
			for option, value := range map[string]string{"mode": "plan", "model": f.setup.Model} {
				answer := set(option, value).Result()
				if got := optionValue(answer, option); got != value {
					t.Errorf("%s is %q after it was set to %q", option, got, value)
				}
				if got := acptest.Get[[]json.RawMessage](answer, "configOptions"); len(got) != len(all) {
					t.Errorf("%d options in the answer, %d at first", len(got), len(all))
				}
			}
			set("mode", "yolo").Error(-32602)
			set("no such option", "x").Error(-32602)
			set("mode", 7).Error(-32602)
			set("mode", nil).Error(-32602)
			set("model", "no/such-model").Error(-32602)
		})
	}
}

func TestACP_092_Logout(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{})
	id := f.open()
	f.Call("logout", map[string]any{})
	f.Prompt(id, "hi").Error(-32000)
	f.open() // contract: session/new always succeeds
	f.Call("authenticate", map[string]any{"methodId": "env"})
	if stop := f.Prompt(id, "hi").StopReason(); stop != "end_turn" {
		t.Errorf("stop reason %q", stop)
	}
}

func TestACP_093_AuthenticateUnknown(t *testing.T) {
	f := start(t, greeting, acptest.EditorOptions{Profile: "zed"})
	for _, method := range []any{"no-such-method", "", 7, nil, "setup"} { // setup is a terminal method
		f.Go("authenticate", map[string]any{"methodId": method}).Error(-32602)
	}
	f.Call("authenticate", map[string]any{"methodId": "env"})
}
