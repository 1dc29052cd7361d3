package acptest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// script is an agent of canned lines: each line of the editor is answered by the next element,
// which may hold several lines and "ID" for the id of the line that it answers.
func script(replies ...string) Serve {
	return func(_ context.Context, r io.Reader, w io.Writer) error {
		in := bufio.NewScanner(r)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			if len(replies) == 0 {
				continue
			}
			id := string(get[json.RawMessage](in.Bytes(), "id"))
			if _, err := io.WriteString(w, strings.ReplaceAll(replies[0], "ID", id)); err != nil {
				return err
			}
			replies = replies[1:]
		}
		return in.Err()
	}
}

const (
	helloLine = `{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":1,"authMethods":[]}}` + "\n"
	newLine   = `{"jsonrpc":"2.0","id":ID,"result":{"sessionId":"s1"}}` + "\n"
	endLine   = `{"jsonrpc":"2.0","id":ID,"result":{"stopReason":"end_turn"}}` + "\n"
)

func update(fields string) string {
	return `{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":` + fields + "}}\n"
}

func ask(id, call string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"method":"session/request_permission","params":{"sessionId":"s1","toolCall":{"toolCallId":%q,"title":"T"},"options":[`+
		`{"optionId":"y","name":"Yes","kind":"allow_once"},{"optionId":"n","name":"No","kind":"reject_once"}]}}`+"\n", id, call)
}

// TestCheckerSeesFaults plays one turn of a faulty agent for each rule and wants the complaint.
func TestCheckerSeesFaults(t *testing.T) {
	text := update(`{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"hi"}}`)
	call := update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit"}`)
	done := update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"completed"}`)
	tests := []struct{ name, hello, open, turn, want string }{
		{"whole turn", helloLine, newLine, text + call + done + endLine, ""},
		{"no JSON", helloLine, newLine, "starting…\n" + endLine, "G1: the line is no JSON object"},
		{"bad UTF-8", helloLine, newLine, strings.ReplaceAll(text, "hi", "h\xe9") + endLine, "G1: the line is not UTF-8"},
		{"byte order mark", helloLine, newLine, "\xEF\xBB\xBF" + text + endLine, "G1: the line begins with a byte order mark"},
		{"no version", helloLine, newLine, strings.Replace(text, `"jsonrpc":"2.0",`, "", 1) + endLine, "G2: jsonrpc is"},
		{"extra key", helloLine, newLine, strings.Replace(text, `"jsonrpc"`, `"extra":1,"jsonrpc"`, 1) + endLine, `G2: "extra" is no field`},
		{"null array", helloLine, newLine, update(`{"sessionUpdate":"plan","entries":null}`) + endLine, "G3: not a valid SessionNotification"},
		{"unknown update", helloLine, newLine, update(`{"sessionUpdate":"progress","percent":3}`) + endLine, "G3: not a valid SessionNotification"},
		{"unknown key in an update", helloLine, newLine, update(`{"sessionUpdate":"current_mode_update","currentModeId":"plan","mode":"plan"}`) + endLine, "G3: not a valid SessionNotification"},
		{"unknown stop reason", helloLine, newLine, strings.Replace(endLine, "end_turn", "done", 1), "G3: not a valid PromptResponse"},
		{"relative path", helloLine, newLine, update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit","status":"failed","locations":[{"path":"a.go"}]}`) + endLine, `G5: path "a.go" is not absolute`},
		{"line 0", helloLine, newLine, update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit","status":"failed","locations":[{"path":"/a.go","line":0}]}`) + endLine, "G5: line 0"},
		{"terminal not offered", helloLine, newLine, `{"jsonrpc":"2.0","id":1,"method":"terminal/create","params":{"sessionId":"s1","command":"ls"}}` + "\n" + endLine, "G6: the editor never offered terminal/create"},
		{"notice not offered", helloLine, newLine, update(`{"sessionUpdate":"notice","severity":"info","title":"x"}`) + endLine, "G6: the editor never offered notice"},
		{"terminal sign-in not offered", strings.Replace(helloLine, `[]`, `[{"id":"a","name":"a","type":"terminal"}]`, 1), newLine, endLine, "G6: the editor never offered sign-in in a terminal"},
		{"update before the session", helloLine, text + newLine, endLine, "which the editor does not know yet"},
		{"text outside a turn", helloLine, newLine + text, endLine, "agent_message_chunk while no prompt is running"},
		{"update after the answer", helloLine, newLine, endLine + text, "agent_message_chunk while no prompt is running"},
		{"open tool call at the end", helloLine, newLine, call + endLine, "the prompt is answered while tool call c is pending"},
		{"tool call ends twice", helloLine, newLine, call + done + done + endLine, "tool call c was completed and becomes completed"},
		{"tool call id twice", helloLine, newLine, call + done + call + done + endLine, `tool call id "c" is empty or used before`},
		{"update of an unknown call", helloLine, newLine, done + endLine, `tool_call_update for "c", which was never announced`},
		{"permission for an unknown call", helloLine, newLine, ask("1", "x") + endLine, "permission is asked for tool call x"},
		{"status while asking", helloLine, newLine, call + ask("1", "c") + done + endLine, "tool call c becomes completed while its permission is asked"},
		{"answer to nothing", helloLine, newLine, strings.Replace(endLine, "ID", "99", 1) + endLine, "an answer to id 99"},
		{"id used twice", helloLine, newLine, call + ask("1", "c") + ask("1", "c") + done + endLine, "G4: id 1 is still waiting"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := InProcess(t, script(tt.hello, tt.open, tt.turn), EditorOptions{Unchecked: true, Answer: "never", Patience: 10 * time.Second})
			e.Initialize()
			session := e.NewSession(t.TempDir())
			if strings.HasSuffix(tt.open, text) { // it must have come before the prompt goes out
				e.UntilUpdate(session, "agent_message_chunk", func(json.RawMessage) bool { return true })
			}
			e.Prompt(session, "go").Wait()
			e.Close()
			got := strings.Join(e.Complaints(), "\n")
			if tt.want == "" && got != "" || !strings.Contains(got, tt.want) {
				t.Errorf("complaints:\n%s\nwant: %q", got, tt.want)
			}
		})
	}
}

// TestLastLineWithoutNewline wants a line that the end of the stream cuts to be noticed.
func TestLastLineWithoutNewline(t *testing.T) {
	e := InProcess(t, func(_ context.Context, _ io.Reader, w io.Writer) error {
		_, err := io.WriteString(w, `{"jsonrpc":"2.0","method":"_x/y","params":{"sessionId":"s"}}`)
		return err
	}, EditorOptions{Unchecked: true})
	e.AwaitEnd()
	if got := strings.Join(e.Complaints(), "\n"); !strings.Contains(got, "G1: the last line has no newline") {
		t.Errorf("complaints: %s", got)
	}
}

// TestProfilesServeFiles writes and reads one file through each profile.
func TestProfilesServeFiles(t *testing.T) {
	read := func(path string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"fs/read_text_file","params":{"sessionId":"s1","path":%q}}`+"\n", path)
	}
	write := func(path, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":2,"method":"fs/write_text_file","params":{"sessionId":"s1","path":%q,"content":%q}}`+"\n", path, text)
	}
	tests := []struct {
		profile string
		wants   []string // the answers: buffer read, missing file read, write
		disk    string
	}{
		{"zed", []string{`{"content":"unsaved\n"}`, "error -32002", `{}`}, "new\r\n"},
		{"vscode", []string{`{"content":"unsaved\r\n"}`, "error -32002", `{}`}, "new\n"},
		{"jetbrains", []string{`{"content":"unsaved\r\n"}`, "error -32002", `{}`}, "new\n"},
		{"codecompanion", []string{`{"content":"disk\n"}`, `{"content":""}`, `null`}, "new\n\n"},
		{"acpx", []string{`{"content":"disk\r\n"}`, "error -32002", `{}`}, "new\n"},
		{"acpel", []string{`{"content":"disk\r\n"}`, "error -32002", `{}`}, "new\n"},
		{"plain", []string{"error -32601", "error -32601", "error -32601"}, "disk\r\n"},
	}
	for _, tt := range tests {
		t.Run(tt.profile, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "a.txt")
			if err := os.WriteFile(path, []byte("disk\r\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			e := InProcess(t, script(helloLine, newLine, read(path), read(path+".no"), write(path, "new\n"), strings.Replace(endLine, "ID", "3", 1)), EditorOptions{
				Profile: tt.profile, Unchecked: true,
			})
			e.SetBuffer(path, "unsaved\r\n")
			e.Initialize()
			e.Prompt(e.NewSession(dir), "go").Wait()
			var got []string
			for _, m := range e.Messages() {
				switch {
				case m.Agent || !m.IsResponse():
				case m.Error != nil:
					got = append(got, fmt.Sprintf("error %d", m.Error.Code))
				default:
					got = append(got, string(m.Result))
				}
			}
			if strings.Join(got, " ") != strings.Join(tt.wants, " ") {
				t.Errorf("answers %q, want %q", got, tt.wants)
			}
			if data, _ := os.ReadFile(path); string(data) != tt.disk {
				t.Errorf("on disk %q, want %q", data, tt.disk)
			}
		})
	}
}

// TestPermissionAnswers wants each way to answer to reach the agent as the protocol has it.
func TestPermissionAnswers(t *testing.T) {
	call := update(`{"sessionUpdate":"tool_call","toolCallId":"c","title":"T","kind":"edit"}`)
	for how, want := range map[string]string{
		"y":         `"result":{"outcome":{"optionId":"y","outcome":"selected"}}`,
		"cancelled": `"result":{"outcome":{"outcome":"cancelled"}}`,
		"bogus":     `"optionId":"no such option"`,
		"error":     `"error":{"code":-32603`,
	} {
		t.Run(how, func(t *testing.T) {
			done := update(`{"sessionUpdate":"tool_call_update","toolCallId":"c","status":"failed"}`)
			e := InProcess(t, script(helloLine, newLine, call+ask("7", "c"), done+strings.Replace(endLine, "ID", "3", 1)), EditorOptions{})
			e.Initialize()
			turn := e.Prompt(e.NewSession(t.TempDir()), "go")
			e.AwaitPermission().Answer(how)
			if stop := turn.StopReason(); stop != "end_turn" {
				t.Errorf("stop reason %q", stop)
			}
			all := e.Messages()
			if line := string(all[len(all)-3].Line); !strings.Contains(line, want) || !strings.Contains(line, `"id":7`) {
				t.Errorf("the answer was %s", line)
			}
		})
	}
}
