package acptest

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"acp-agent/internal/acptest/lspserver"
	"acp-agent/internal/model"
)

// lspserverCmd prepares a language server with modes of package lspserver. Its command line takes the
// place of $LSPSERVER in config.yaml.
func lspserverCmd(w *world, _ bool, args []string) {
	if !strings.Contains(w.setup.Config, "$LSPSERVER") {
		w.ts.Fatalf("no server in the config member has the command $LSPSERVER, or lspserver came twice")
	}
	w.server = lspserver.New(w.scriptTB, args...)
	w.setup.Config = strings.ReplaceAll(w.setup.Config, "$LSPSERVER", string(mustJSON(w.server.Command)))
}

// lsplogCmd looks at what the language server was told.
func lsplogCmd(w *world, neg bool, args []string) {
	const usage = "lsplog received METHOD N | contains METHOD 'text' | order 'METHOD text' 'METHOD text' | answers METHOD 'text' | holds PATH 'text' | gone SECONDS | starts N"
	if w.server == nil || len(args) < 2 {
		w.ts.Fatalf("usage, after lspserver: %s", usage)
	}
	if neg && args[0] != "contains" {
		w.ts.Fatalf("lsplog %s cannot be negated", args[0])
	}
	switch {
	case args[0] == "received" && len(args) == 3:
		if n := len(w.server.Received(args[1])); n != w.number(args[2]) {
			w.ts.Fatalf("%s came %d times", args[1], n)
		}
	case args[0] == "contains" && len(args) == 3:
		if w.firstReceived(args[1]+" "+args[2], false) >= 0 == neg {
			w.ts.Fatalf("%s with %s: %v", args[1], args[2], !neg)
		}
	case args[0] == "order" && len(args) == 3:
		if first, second := w.firstReceived(args[1], true), w.firstReceived(args[2], true); first > second {
			w.ts.Fatalf("message %d is the first with %s, and %d the first with %s", first, args[1], second, args[2])
		}
	case args[0] == "answers" && len(args) == 3:
		w.answered(args[1], w.text(args[2]))
	case args[0] == "holds" && len(args) == 3:
		texts := w.server.Texts(w.ts.MkAbs(args[1]))
		if len(texts) == 0 || texts[len(texts)-1] != w.text(args[2]) {
			w.ts.Fatalf("the server had %s as %q", args[1], texts)
		}
	case args[0] == "gone" && len(args) == 2:
		w.server.WantGone(time.Duration(w.number(args[1])) * time.Second)
	case args[0] == "starts" && len(args) == 2:
		if n := len(w.server.Pids("server")); n != w.number(args[1]) {
			w.ts.Fatalf("the server was started %d times", n)
		}
	default:
		w.ts.Fatalf("usage: %s", usage)
	}
}

// firstReceived is the number of the first message of a method whose parameters contain a text: "METHOD
// text". The number is -1 for none, which fails the scenario when it must be there.
func (w *world) firstReceived(what string, must bool) int {
	method, text, _ := strings.Cut(what, " ")
	text = w.text(text)
	for i, e := range w.server.Record() {
		if !e.Out && e.Method == method && strings.Contains(e.Text+decoded(e.Params), text) {
			return i
		}
	}
	if must {
		w.ts.Fatalf("the server never got %s with %q", method, text)
	}
	return -1
}

// decoded is JSON without the escapes that encoders may choose or not.
func decoded(raw json.RawMessage) string {
	var v any
	if json.Unmarshal(raw, &v) != nil {
		return string(raw)
	}
	return fmt.Sprint(v)
}

// answered checks that the server's requests of a method were all answered, each with a text.
func (w *world) answered(method, text string) {
	asked, answers := w.server.Sent(method), w.server.Answers(method)
	if len(asked) == 0 || len(answers) != len(asked) {
		w.ts.Fatalf("%d of %d requests %s were answered", len(answers), len(asked), method)
	}
	for _, a := range answers {
		got := string(a.Result)
		if a.Code != 0 {
			got = fmt.Sprintf("error %d", a.Code)
		}
		if got != text {
			w.ts.Fatalf("%s was answered with %s", method, got)
		}
	}
}

// toldCmd looks at the texts in the latest request to the model that it did not say itself: tool
// results and users' messages, late diagnostics among them.
func toldCmd(w *world, neg bool, args []string) {
	w.need(args, 1, "told 'text'")
	all := w.recorder.Requests()
	if len(all) == 0 {
		w.ts.Fatalf("the model was never asked")
	}
	var texts []string
	for _, m := range all[len(all)-1].Messages {
		if m.Role == model.User || m.Role == model.ToolRole {
			texts = append(texts, m.Text())
		}
	}
	found := slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, w.text(args[0])) })
	if found == neg {
		w.ts.Fatalf("the model was told %q", texts)
	}
}

// optionCmd sets a configuration option of the session.
func optionCmd(w *world, _ bool, args []string) {
	w.need(args, 2, "option ID VALUE")
	w.editor.Call("session/set_config_option", map[string]any{"sessionId": w.session(), "configId": args[0], "value": args[1]})
}

// clockCmd measures how long something takes, for promises in seconds.
func clockCmd(w *world, _ bool, args []string) {
	switch {
	case len(args) == 1 && args[0] == "start":
		w.clock = time.Now()
	case len(args) == 2 && args[0] == "below" && !w.clock.IsZero():
		if took := time.Since(w.clock); took > time.Duration(w.number(args[1]))*time.Millisecond {
			w.ts.Fatalf("it took %v", took)
		}
	default:
		w.ts.Fatalf("usage: clock start | clock below MILLISECONDS")
	}
}

// programCmd runs the built program instead of an agent in this process.
func programCmd(w *world, _ bool, args []string) {
	const usage = "program open [PROFILE] | close | signal TERM|KILL | exits SECONDS"
	if len(args) == 0 {
		w.ts.Fatalf("usage: %s", usage)
	}
	switch {
	case args[0] == "open" && len(args) <= 2:
		w.ts.Check(os.MkdirAll(w.setup.Home, 0o700))
		w.ts.Check(os.WriteFile(filepath.Join(w.setup.Home, "config.yaml"), []byte(w.setup.Config), 0o600))
		o := EditorOptions{}
		if len(args) == 2 {
			o.Profile = args[1]
		}
		w.program = StartProcess(w.scriptTB, o, ProcessOptions{Home: w.setup.Home, Env: []string{"ACP_AGENT_MODEL=" + w.setup.Model}})
		w.editor = w.program.Editor
		w.editor.Initialize()
		w.sessions, w.open = map[string]string{}, map[string][]*Call{}
		sessionCmd(w, false, []string{"main"})
	case w.program == nil:
		w.ts.Fatalf("no program runs: program open")
	case args[0] == "close" && len(args) == 1:
		w.editor.CloseInput()
	case args[0] == "signal" && len(args) == 2:
		signal := map[string]os.Signal{"TERM": syscall.SIGTERM, "KILL": os.Kill}[args[1]]
		if signal == nil {
			w.ts.Fatalf("no signal %s", args[1])
		}
		w.ts.Check(w.program.Cmd.Process.Signal(signal))
	case args[0] == "exits" && len(args) == 2:
		w.program.AwaitExit(time.Duration(w.number(args[1])) * time.Second)
	default:
		w.ts.Fatalf("usage: %s", usage)
	}
}
