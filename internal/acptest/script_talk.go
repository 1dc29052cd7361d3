package acptest

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// need ends the scenario unless there are n arguments.
func (w *world) need(args []string, n int, usage string) {
	if len(args) != n {
		w.ts.Fatalf("usage: %s", usage)
	}
}

// text reads Go's escapes in an argument.
func (w *world) text(arg string) string {
	s, err := strconv.Unquote(`"` + strings.ReplaceAll(strings.ReplaceAll(arg, `\"`, `"`), `"`, `\"`) + `"`)
	if err != nil {
		w.ts.Fatalf("bad escape in %q", arg)
	}
	return s
}

func (w *world) number(arg string) int {
	n, err := strconv.Atoi(arg)
	if err != nil {
		w.ts.Fatalf("%q is no number", arg)
	}
	return n
}

// session is the id of the session that commands are about.
func (w *world) session() string {
	id, ok := w.sessions[w.current]
	if !ok {
		w.ts.Fatalf("no session is open: editor open")
	}
	return id
}

func editorCmd(w *world, _ bool, args []string) {
	if len(args) == 0 {
		w.ts.Fatalf("usage: editor open [PROFILE] | close | hold METHOD | resume METHOD | fail METHOD")
	}
	switch verb := args[0]; {
	case verb == "open" && len(args) <= 2:
		if w.editor != nil {
			w.editor.Close()
		}
		o := EditorOptions{}
		if len(args) == 2 {
			o.Profile = args[1]
		}
		var serve Serve
		serve, w.recorder = w.agent(w.scriptTB, w.setup)
		w.editor = InProcess(w.scriptTB, serve, o)
		w.editor.Initialize()
		w.sessions, w.open = map[string]string{}, map[string][]*Call{}
		sessionCmd(w, false, []string{"main"})
	case verb == "close" && len(args) == 1:
		w.editor.Close()
	case verb == "hold" && len(args) == 2:
		w.editor.Hold(args[1])
	case verb == "resume" && len(args) == 2:
		w.editor.Resume(args[1])
	case verb == "fail" && len(args) == 2:
		w.editor.Fail(args[1], &RPCError{Code: codeInternal, Message: "the editor could not do that"})
	default:
		w.ts.Fatalf("editor: unknown words %q", args)
	}
}

func sessionCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "session NAME")
	w.current = args[0]
	if w.sessions[w.current] == "" {
		w.sessions[w.current] = w.editor.NewSession(w.ts.MkAbs("."))
	}
}

func modeCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "mode ID")
	w.editor.Call("session/set_mode", map[string]any{"sessionId": w.session(), "modeId": args[0]})
}

func promptCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "prompt 'text'")
	id := w.session()
	w.open[id] = append(w.open[id], w.editor.Prompt(id, w.text(args[0])))
}

func cancelCmd(w *world, _ bool, args []string) {
	w.need(args, 0, "cancel")
	w.editor.Cancel(w.session())
}

func autoCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "auto ANSWER|off")
	answer := args[0]
	if answer == "off" {
		answer = ""
	}
	w.editor.Auto(answer)
}

var stopReasons = []string{"end_turn", "max_tokens", "max_turn_requests", "refusal", "cancelled"}

func awaitCmd(w *world, _ bool, args []string) {
	if len(args) == 0 {
		w.ts.Fatalf("usage: await permission | STOP_REASON | error CODE | text 'text' | call N REGEXP")
	}
	switch what := args[0]; {
	case what == "permission" && len(args) == 1:
		w.last = w.editor.AwaitPermission()
	case slices.Contains(stopReasons, what) && len(args) == 1:
		if got := w.turn().StopReason(); got != what {
			w.ts.Fatalf("the turn ended with %q, not %q", got, what)
		}
	case what == "error" && len(args) == 2:
		w.turn().Error(w.number(args[1]))
	case what == "text" && len(args) == 2:
		id, want := w.session(), w.text(args[1])
		w.editor.Until("the text "+args[1], func() bool { return strings.Contains(w.editor.text(id), want) })
	case what == "call" && len(args) == 3:
		id, n := w.session(), w.number(args[1])
		re, err := regexp.Compile(args[2])
		w.ts.Check(err)
		w.editor.Until("the text "+args[2], func() bool {
			calls := w.editor.toolCalls(id)
			return len(calls) >= n && re.MatchString(calls[n-1].Text())
		})
	default:
		w.ts.Fatalf("await: unknown words %q", args)
	}
}

// turn takes the session's oldest prompt that was not awaited yet.
func (w *world) turn() *Call {
	id := w.session()
	if len(w.open[id]) == 0 {
		w.ts.Fatalf("no prompt is open in this session")
	}
	call := w.open[id][0]
	w.open[id] = w.open[id][1:]
	return call
}

func answerCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "answer OPTION")
	if w.last == nil {
		w.ts.Fatalf("nothing was asked: await permission")
	}
	w.last.Answer(args[0])
}
