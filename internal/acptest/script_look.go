package acptest

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"acp-agent/internal/model"
)

func (w *world) match(pattern, text, what string) {
	re, err := regexp.Compile(pattern)
	if err != nil {
		w.ts.Fatalf("%v", err)
	}
	if !re.MatchString(text) {
		w.ts.Fatalf("%s does not match %s:\n%s", what, pattern, text)
	}
}

func permissionCmd(w *world, _ bool, args []string) {
	if w.last == nil || len(args) < 2 {
		w.ts.Fatalf("usage, after await permission: permission title|options|diffs|diff|changed|text …")
	}
	shown := w.last.Diffs()
	switch args[0] {
	case "title":
		w.match(args[1], w.last.Title(), "the title")
	case "text":
		w.match(args[1], ToolCall{Fields: get[map[string]json.RawMessage](w.last.Call)}.Text(), "the text shown")
	case "options":
		var ids []string
		for _, o := range w.last.Options {
			ids = append(ids, o.ID)
		}
		if !slices.Equal(ids, args[1:]) {
			w.ts.Fatalf("the options are %q", ids)
		}
	case "diffs":
		if len(shown) != w.number(args[1]) {
			w.ts.Fatalf("%d diffs are shown: %+v", len(shown), shown)
		}
	case "diff":
		w.need(args, 4, "permission diff PATH 'old'|null 'new'")
		d := w.diffOf(shown, args[1])
		if args[2] == "null" && d.Old != nil {
			w.ts.Fatalf("the diff of %s has an old text: %q", args[1], *d.Old)
		}
		if args[2] != "null" && (d.Old == nil || *d.Old != w.text(args[2])) {
			w.ts.Fatalf("the old text of %s is %s", args[1], mustJSON(d.Old))
		}
		if d.New != w.text(args[3]) {
			w.ts.Fatalf("the new text of %s is %q", args[1], d.New)
		}
	case "changed":
		w.need(args, 3, "permission changed PATH N")
		if n := changedLines(w.diffOf(shown, args[1])); n != w.number(args[2]) {
			w.ts.Fatalf("%d lines of %s change", n, args[1])
		}
	default:
		w.ts.Fatalf("permission: unknown word %q", args[0])
	}
}

// diffOf finds a file's diff block.
func (w *world) diffOf(shown []Diff, path string) Diff {
	abs := w.ts.MkAbs(path)
	for _, d := range shown {
		if d.Path == abs {
			return d
		}
	}
	w.ts.Fatalf("no diff of %s is shown: %+v", abs, shown)
	return Diff{}
}

// changedLines counts the lines of the new text that are not the old text's at the same end.
func changedLines(d Diff) int {
	var old []string
	if d.Old != nil {
		old = strings.SplitAfter(*d.Old, "\n")
	}
	fresh := strings.SplitAfter(d.New, "\n")
	for len(old) > 0 && len(fresh) > 0 && old[0] == fresh[0] {
		old, fresh = old[1:], fresh[1:]
	}
	for len(old) > 0 && len(fresh) > 0 && old[len(old)-1] == fresh[len(fresh)-1] {
		old, fresh = old[:len(old)-1], fresh[:len(fresh)-1]
	}
	return max(len(old), len(fresh))
}

func permissionsCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "permissions N")
	if all := w.editor.Permissions(); len(all) != w.number(args[0]) {
		var titles []string
		for _, p := range all {
			titles = append(titles, p.Title())
		}
		w.ts.Fatalf("%d questions were asked: %q", len(all), titles)
	}
}

func callsCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "calls N")
	if all := w.editor.ToolCalls(w.session()); len(all) != w.number(args[0]) {
		w.ts.Fatalf("there are %d tool calls", len(all))
	}
}

func callCmd(w *world, _ bool, args []string) {
	if len(args) < 2 {
		w.ts.Fatalf("usage: call N STATUS | N title REGEXP | N kind KIND | N at PATH | N text REGEXP")
	}
	all, n := w.editor.ToolCalls(w.session()), w.number(args[0])
	if n < 1 || n > len(all) {
		w.ts.Fatalf("there are %d tool calls", len(all))
	}
	c := all[n-1]
	switch {
	case len(args) == 2:
		if c.Status() != args[1] {
			w.ts.Fatalf("the tool call %q is %s: %s", c.Title(), c.Status(), c.Text())
		}
	case args[1] == "title":
		w.match(args[2], c.Title(), "the title")
	case args[1] == "text":
		w.match(args[2], c.Text(), "the text")
	case args[1] == "kind":
		w.match("^"+args[2]+"$", c.Kind(), "the kind")
	case args[1] == "at":
		at := get[string](c.Fields["locations"], 0, "path")
		if at != w.ts.MkAbs(args[2]) {
			w.ts.Fatalf("the location is %q", at)
		}
	default:
		w.ts.Fatalf("call: unknown words %q", args)
	}
}

// resultCmd looks at a tool result as the model was told it.
func resultCmd(w *world, neg bool, args []string) {
	results := w.recorder.Results()
	n := len(results)
	if len(args) > 0 {
		if at, err := strconv.Atoi(args[0]); err == nil {
			n, args = at, args[1:]
		}
	}
	if n < 1 || n > len(results) || len(args) == 0 {
		w.ts.Fatalf("the model was told %d tool results", len(results))
	}
	r := results[n-1]
	if len(args) == 1 && (args[0] == "ok" || args[0] == "error") {
		if r.IsError != (args[0] == "error") {
			w.ts.Fatalf("result %d (error %v): %s", n, r.IsError, r.Text())
		}
		return
	}
	w.need(args, 2, "result [N] ok | error | code CODE | contains 'text' | matches REGEXP | below BYTES")
	switch args[0] {
	case "code":
		if code := get[string](json.RawMessage(r.Text()), "code"); code != args[1] {
			w.ts.Fatalf("result %d has the code %q: %s", n, code, r.Text())
		}
	case "contains":
		if strings.Contains(r.Text(), w.text(args[1])) == neg {
			w.ts.Fatalf("result %d: %s", n, r.Text())
		}
	case "below":
		if len(r.Text()) >= w.number(args[1]) {
			w.ts.Fatalf("result %d has %d bytes", n, len(r.Text()))
		}
	case "matches":
		w.match(args[1], r.Text(), fmt.Sprintf("result %d", n))
	default:
		w.ts.Fatalf("result: unknown word %q", args[0])
	}
}

// linesCmd bounds the longest line that the agent wrote.
func linesCmd(w *world, _ bool, args []string) {
	w.need(args, 2, "lines below N")
	for _, m := range w.editor.Messages() {
		if m.Agent && len(m.Line) >= w.number(args[1]) {
			w.ts.Fatalf("line %d has %d bytes: %s", m.Seq, len(m.Line), m)
		}
	}
}

func requestsCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "requests N")
	if n := len(w.recorder.Requests()); n != w.number(args[0]) {
		w.ts.Fatalf("the model was asked %d times", n)
	}
}

func historyCmd(w *world, _ bool, args []string) {
	w.need(args, 0, "history")
	for i, req := range w.recorder.Requests() {
		if fault := HistoryFault(req); fault != "" {
			w.ts.Fatalf("request %d: %s\n%s", i+1, fault, historyText(req))
		}
	}
}

func historyText(req model.Request) string {
	var b strings.Builder
	for i, m := range req.Messages {
		fmt.Fprintf(&b, "%3d %-9s %s\n", i, m.Role, mustJSON(m))
	}
	return b.String()
}

func saidCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "said 'text'")
	if got := w.editor.Text(w.session()); got != w.text(args[0]) {
		w.ts.Fatalf("the agent said %q", got)
	}
}

// provenanceCmd counts the applied records with a reader of its own.
func provenanceCmd(w *world, _ bool, args []string) {
	w.need(args, 1, "provenance none | N")
	logs, err := filepath.Glob(filepath.Join(w.setup.Home, "provenance", "*.jsonl"))
	if err != nil {
		w.ts.Fatalf("%v", err)
	}
	kinds := map[string]int{}
	for _, path := range logs {
		f, err := os.Open(path)
		if err != nil {
			w.ts.Fatalf("%v", err)
		}
		lines := bufio.NewScanner(f)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			kinds[get[string](json.RawMessage(lines.Bytes()), "kind")]++
		}
		f.Close()
	}
	want := 0
	if args[0] != "none" {
		want = w.number(args[0])
	}
	if kinds["applied"] != want || want == 0 && kinds["intent"] != kinds["failed"] {
		w.ts.Fatalf("the record has %v", kinds)
	}
}

func putCmd(w *world, _ bool, args []string) {
	w.need(args, 2, "put PATH 'text'")
	w.ts.Check(os.MkdirAll(filepath.Dir(w.ts.MkAbs(args[0])), 0o777))
	w.ts.Check(os.WriteFile(w.ts.MkAbs(args[0]), []byte(w.text(args[1])), 0o666))
}

func holdsCmd(w *world, neg bool, args []string) {
	w.need(args, 2, "holds PATH 'text'")
	data, err := os.ReadFile(w.ts.MkAbs(args[0]))
	w.ts.Check(err)
	if (string(data) == w.text(args[1])) == neg {
		w.ts.Fatalf("%s holds %q", args[0], data)
	}
}

func bufferCmd(w *world, _ bool, args []string) {
	w.need(args, 2, "buffer PATH 'text'")
	w.editor.SetBuffer(w.ts.MkAbs(args[0]), w.text(args[1]))
}

func permCmd(w *world, _ bool, args []string) {
	w.need(args, 2, "perm PATH MODE")
	info, err := os.Stat(w.ts.MkAbs(args[0]))
	w.ts.Check(err)
	if got := fmt.Sprintf("%04o", info.Mode().Perm()); got != args[1] {
		w.ts.Fatalf("the mode of %s is %s", args[0], got)
	}
}

func readlinkCmd(w *world, _ bool, args []string) {
	w.need(args, 2, "readlink PATH TARGET")
	target, err := os.Readlink(w.ts.MkAbs(args[0]))
	w.ts.Check(err)
	if target != args[1] {
		w.ts.Fatalf("%s leads to %s", args[0], target)
	}
}
