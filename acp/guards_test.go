package acp

import (
	"encoding/json"
	"strings"
	"testing"

	"acp-agent/edits"
	"acp-agent/internal/wire"
)

// invalid says whether err is "invalid params".
func invalid(err error) bool {
	e, ok := err.(*wire.Error)
	return ok && e.Code == wire.CodeInvalidParams
}

func TestServersAreValidatedByTheirDiscriminator(t *testing.T) {
	for raw, want := range map[string]string{
		`null`: "", ``: "", `[]`: "",
		`[{"name":"a","command":"/bin/a","args":[],"env":[]}]`:                                  "a",
		`[{"name":"a","command":"/bin/a"}]`:                                                     "a",
		`[{"name":"a","command":"/bin/a","args":null,"env":null}]`:                              "a",
		`[{"type":"stdio","name":"a","command":"/bin/a","env":[{"name":"K","value":"v"}]}]`:     "a",
		`[{"command":"/bin/a"},{"type":null,"name":"b","command":"b","unknown":{"deep":true}}]`: "/bin/a b",
		`[{"type":"http","name":"a","url":"http://127.0.0.1/","headers":[]}]`:                   "!http",
		`[{"type":"sse","name":"a","url":"http://127.0.0.1/","headers":[]}]`:                    "!sse",
		`[{"type":"quic","name":"a","command":"/bin/a"}]`:                                       "!unknown type quic",
		`[{"type":7,"name":"a","command":"/bin/a"}]`:                                            "!type must be",
		`[{"name":"a","url":"http://127.0.0.1/"}]`:                                              "!command is missing",
		`[{"name":"a","command":"/bin/a","env":{"K":"v"}}]`:                                     "!env",
		`[{"name":"a","command":"/bin/a","env":[{"name":"K"}]}]`:                                "!env must be",
		`[null]`: "!must be an object", `["x"]`: "!must be an object", `{}`: "!must be a list",
	} {
		names, err := checkServers(json.RawMessage(raw))
		if message, bad := strings.CutPrefix(want, "!"); bad {
			if !invalid(err) || !strings.Contains(err.Error(), message) {
				t.Errorf("%s: error %v, want invalid params with %q", raw, err, message)
			}
			continue
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("%s: servers %q, error %v; want %q", raw, got, err, want)
		}
	}
}

func TestBlocksAreCheckedBeforeTheyAreTrusted(t *testing.T) {
	for raw, want := range map[string]string{
		`[{"type":"text","text":"hi"}]`:                                             "text",
		`[{"type":"text","text":""}]`:                                               "text",
		`[{"type":"resource_link","uri":"file:///a","name":"a","size":null}]`:       "resource_link",
		`[{"type":"image","data":"AAAA","mimeType":"image/png"}]`:                   "image",
		`[{"type":"resource","resource":{"uri":"file:///a","text":""}}]`:            "resource",
		`[{"type":"resource","resource":{"uri":"a:b","blob":"AA=="},"_meta":null}]`: "resource",
		`[{"type":"audio","data":"AAAA","mimeType":"audio/wav"}]`:                   "!audio is not supported",
		`[{"type":"hologram","text":"hi"}]`:                                         `!unknown content type "hologram"`,
		`[{"type":"hologram","data":"AAAA","mimeType":"image/png"}]`:                "!unknown content type",
		`[{"text":"hi"}]`:            "!type is missing",
		`[{"type":"text"}]`:          "!text is missing",
		`[{"type":"text","text":7}]`: "!prompt[0]",
		`[{"type":"image","data":"###","mimeType":"image/png"}]`:                      "!prompt[0]",
		`[{"type":"image","data":"AAAA"}]`:                                            "!mimeType",
		`[{"type":"resource","resource":{"uri":"file:///a"}}]`:                        "!either text or blob",
		`[{"type":"resource","resource":{"uri":"file:///a","text":"a","blob":"AA"}}]`: "!either text or blob",
		`[{"type":"resource"}]`:                                                       "!resource must be an object",
		`[{"type":"resource_link","name":"a"}]`:                                       "!uri is missing",
		`[{"type":"text","text":"a"},null]`:                                           "!prompt[1]",
		`[]`:                                                                          "!empty", `null`: "!missing", `{}`: "!list", `"x"`: "!list",
	} {
		blocks, err := parseBlocks(json.RawMessage(raw))
		if message, bad := strings.CutPrefix(want, "!"); bad {
			if !invalid(err) || !strings.Contains(err.Error(), message) {
				t.Errorf("%s: error %v, want invalid params with %q", raw, err, message)
			}
			continue
		}
		if err != nil || len(blocks) != 1 || blocks[0].kind != want {
			t.Errorf("%s: %+v, error %v; want one %s", raw, blocks, err, want)
		}
	}
}

func TestLineRanges(t *testing.T) {
	const body = "1\n2\n3\n4"
	for fragment, want := range map[string]string{
		"": body, "L2": "2\n", "L2-L3": "2\n3\n", "L2-3": "2\n3\n", "L3:9": "3\n4", "2-3": "2\n3\n",
		"L9": "", "L0": body, "L3-2": body, "section": body,
	} {
		if got := parseRange(fragment).cut(body); got != want {
			t.Errorf("#%s gives %q, want %q", fragment, got, want)
		}
	}
}

func TestTextIsCutAtCharacters(t *testing.T) {
	for _, tc := range []struct {
		in    string
		limit int
		want  string
	}{{"abc", 3, "abc"}, {"aé", 2, "a"}, {"aé", 3, "aé"}, {"😀x", 3, ""}, {"😀x", 4, "😀"}} {
		if got, _ := capText(tc.in, tc.limit); got != tc.want {
			t.Errorf("%q cut to %d is %q, want %q", tc.in, tc.limit, got, tc.want)
		}
	}
	if got := shorten("ééé", 3); got != "é… (4 more bytes)" {
		t.Errorf("shortened: %q", got)
	}
}

func TestCommandsAreQuotedForTheEditor(t *testing.T) {
	for _, tc := range []struct{ editor, goos, command, args string }{
		{"unknown", "linux", "/bin/sh", `-c|echo "a b"`},
		{"acpx/0.19", "darwin", "/bin/sh", `-c|echo "a b"`},
		{"unknown", "windows", "cmd.exe", `/d|/s|/c|echo "a b"`},
		{"zed", "linux", `echo "a b"`, ""},
		{"vscode-acp-client", "windows", `echo "a b"`, ""},
	} {
		command, args := shellCommand(profileOf(tc.editor), tc.goos, `echo "a b"`)
		if got := strings.Join(args, "|"); command != tc.command || got != tc.args {
			t.Errorf("%s on %s: %q %q, want %q %q", tc.editor, tc.goos, command, got, tc.command, tc.args)
		}
	}
}

func TestRawInputIsBounded(t *testing.T) {
	long := strings.Repeat("x", inputBytes)
	for raw, want := range map[string]string{
		`{"path":"a"}`: `{"path":"a"}`,
		`{"path":`:     ``, `"x"`: ``, ``: ``,
		`{"path":"a","content":"` + long + `"}`: `{"content":"` + long[:1024] + `… (15360 more bytes)","path":"a"}`,
		`{"path":"a","edits":["` + long + `"]}`: `{"edits":"…","path":"a"}`,
	} {
		if got := string(rawInput(json.RawMessage(raw))); got != want {
			t.Errorf("raw input of %.40s… is %.80s, want %.80s", raw, got, want)
		}
	}
}

func TestSlashLines(t *testing.T) {
	for in, want := range map[string]string{"/help": "help", "/mode plan ": "mode plan", "/etc/hosts is odd": "etc/hosts is odd"} {
		if got, ok := slashLine([]block{{kind: "text", text: in}}); !ok || got != want {
			t.Errorf("%q: %q %v", in, got, ok)
		}
	}
	if _, ok := slashLine([]block{{kind: "text", text: "help"}}); ok {
		t.Error("text without a slash taken for a command")
	}
	if _, ok := slashLine([]block{{kind: "resource_link"}}); ok {
		t.Error("a link taken for a command")
	}
}

func TestTheDiffsOfAProposalFitIntoOneLine(t *testing.T) {
	text := strings.Repeat(strings.Repeat("é", 50)+"\n", 2000)
	for _, files := range []int{1, 5, 40} {
		e := &editing{p: &edits.Proposal{}}
		for range files {
			e.p.Changes = append(e.p.Changes, edits.Change{Op: edits.Create, Path: "/w/a.txt", NewText: text})
		}
		diffs := e.diffs()
		line, err := json.Marshal(diffs)
		if err != nil || len(line) > 4<<20 || len(diffs) != files {
			t.Errorf("%d files: %d diffs in %d bytes (%v)", files, len(diffs), len(line), err)
		}
		if whole := *diffs[0].NewText == text; whole != (files < 11) || (diffs[0].Meta == nil) != whole {
			t.Errorf("%d files: shown whole: %v, meta %v", files, whole, diffs[0].Meta)
		}
	}
}
