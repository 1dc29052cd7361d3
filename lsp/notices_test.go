package lsp

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"acp-agent/internal/workspace"
)

func rawJSON(s string) json.RawMessage { return json.RawMessage(s) }

// Case G-L06, and the rest of what servers ask for.
func TestServerAsksTheClient(t *testing.T) {
	withFake(t, nil, &fake{}, func(b *fakeBench) {
		tests := []struct{ method, params, want string }{
			{"workspace/configuration", `{"items":[{"section":"x"},{"section":"y.z"}]}`, `[null,null]`},
			{"client/registerCapability", `{"registrations":[{"id":"1","method":"workspace/didChangeConfiguration"}]}`, `null`},
			{"window/workDoneProgress/create", `{"token":1}`, `null`},
			{"x/foo", `{}`, `error: method not found: x/foo (-32601)`},
			{"workspace/applyEdit", `{"edit":{}}`, `{"applied":false,"failureReason":"edits are proposed to the user, not applied"}`},
			{"window/showDocument", `{"uri":"file:///x"}`, `{"success":false}`},
			{"window/showMessageRequest", `{"type":1,"message":"x"}`, `null`},
			{"workspace/diagnostic/refresh", `null`, `null`},
			{"workspace/inlayHint/refresh", `null`, `null`},
			{"workspace/workspaceFolders", `null`, `[{"name":"` + b.dir.Base() + `","uri":"` + toURI(b.dir) + `"}]`},
			{"client/registerCapability", `"rubbish"`, ""},
		}
		for _, tt := range tests {
			got := b.f.request(tt.method, rawJSON(tt.params))
			if tt.want != "" && got != tt.want {
				t.Errorf("%s: %s, want %s", tt.method, got, tt.want)
			}
		}
	})
}

// Case G-L04: findings under another spelling of the URI are the file's.
func TestServerSpellsTheURIItsOwnWay(t *testing.T) {
	f := &fake{changed: func(f *fake, uri string, version int, text string) {
		uri = strings.Replace(strings.Replace(uri, "%C3%BC", "%c3%bc", 1), "%2B", "+", 1)
		f.publish(uri, version, "here")
	}}
	withFake(t, nil, f, func(b *fakeBench) {
		v, ok := b.verdictIn(b.edit("1", b.change("a b/ü+1.x", "new\n")), time.Minute)
		if !ok || v.State != Findings || v.Items[0].Path != b.path("a b/ü+1.x") {
			t.Fatalf("%v %+v", ok, v)
		}
	})
}

// Case G-L07: a new file is made known before what depends on it changes, all files in one notice.
func TestNewFileIsMadeKnownFirst(t *testing.T) {
	f := &fake{changed: versioned}
	withFake(t, map[string]string{"main.x": "old\n"}, f, func(b *fakeBench) {
		b.verdictIn(b.edit("0", b.change("main.x", "older\n")), time.Minute)
		f.listen()
		b.verdictIn(b.edit("1", b.change("lib.x", "lib\n"), b.change("main.x", "uses lib\n")), time.Minute)
		heard := f.listen()
		first := slices.Index(heard, "workspace/didChangeWatchedFiles lib.x:1 main.x:2")
		then := slices.Index(heard, "textDocument/didChange main.x")
		if first < 0 || then < first || slices.Index(heard, "textDocument/didSave main.x") < then {
			t.Errorf("heard %q", heard)
		}
		b.verdictIn(b.edit("2", Change{Op: Move, Path: b.path("lib.x"), To: b.path("lib2.x"), OldText: "lib\n", NewText: "lib bad\n"}), time.Minute)
		heard = f.listen()
		if !slices.Contains(heard, "workspace/didChangeWatchedFiles lib.x:3 lib2.x:1") || !slices.Contains(heard, "textDocument/didClose lib.x") ||
			!slices.Contains(heard, "textDocument/didOpen lib2.x") {
			t.Errorf("heard %q", heard)
		}
		b.edit("3", Change{Op: Delete, Path: b.path("lib2.x"), OldText: "lib bad\n"})
		if heard = f.listen(); !slices.Contains(heard, "workspace/didChangeWatchedFiles lib2.x:3") || !slices.Contains(heard, "textDocument/didClose lib2.x") {
			t.Errorf("heard %q", heard)
		}
		b.write("other.x", "by a command\n")
		b.s.External([]workspace.Path{b.path("other.x")})
		if heard = f.listen(); !slices.Contains(heard, "workspace/didChangeWatchedFiles other.x:1") {
			t.Errorf("heard %q", heard)
		}
	})
}

func TestRegisteredWatchersAreHonoured(t *testing.T) {
	f := &fake{changed: versioned}
	withFake(t, nil, f, func(b *fakeBench) {
		f.request("client/registerCapability", rawJSON(`{"registrations":[{"id":"w","method":"workspace/didChangeWatchedFiles","registerOptions":{"watchers":[
			{"globPattern":"**/*.{mod,x}","kind":1},
			{"globPattern":{"baseUri":"`+toURI(b.dir.Join("sub"))+`","pattern":"*.txt"}},
			{"globPattern":{"baseUri":{"uri":"`+toURI(b.dir.Join("ws"))+`","name":"n"},"pattern":"**"}}]}}]}`))
		for name, want := range map[string]bool{"go.mod": true, "a.txt": false, "sub/a.txt": true, "sub/deep/a.txt": false, "ws/deep/any": true, "a.y": false} {
			b.write(name, "x")
			b.s.External([]workspace.Path{b.path(name)})
			told := slices.ContainsFunc(f.listen(), func(h string) bool { return strings.HasPrefix(h, "workspace/didChangeWatchedFiles") })
			if told != want {
				t.Errorf("%s: told %v", name, told)
			}
		}
		b.write("b.x", "1")
		b.verdictIn(b.edit("e", b.change("b.x", "2")), time.Minute)
		if heard := f.listen(); slices.Contains(heard, "workspace/didChangeWatchedFiles b.x:2") {
			t.Errorf("changes are not watched: %q", heard)
		}
	})
}
