package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"acp-agent/internal/wire"
)

// raw drives a server with nothing in between: a connection, didChange, and the question that the
// server answers soonest.
type raw struct {
	c       *client
	proc    *process
	run     chan struct{}
	uri     string
	path    string
	version int
	sync    bool // tsserver's synchronous command
	source  *pullSource
}

func newRaw(b *testing.B, r realServer, dir *bench) *raw {
	row := dir.m.catalog.byID(r.id)
	argv, _ := dir.m.finder.resolve(row, dir.dir, dir.dir, true)
	p, err := startProcess(argv, string(dir.dir), dir.m.environ, dir.m.log)
	if err != nil {
		b.Fatal(err)
	}
	c := newClient(row, dir.dir, p.stdout, p.stdin, serverEvents{published: func(*client, published) {}, refreshed: func(*client) {}}, dir.m.log)
	x := &raw{c: c, proc: p, run: make(chan struct{}), uri: toURI(dir.path(r.main)), path: string(dir.path(r.main)), version: 1, sync: row.quirks.syncCommand}
	go func() { defer close(x.run); _ = c.conn.Run(context.Background()) }()
	if err := c.initialize(context.Background(), launch{root: string(dir.dir), trusted: true, command: argv, environ: dir.m.environ}); err != nil {
		b.Fatal(err)
	}
	must(b, c.conn.Notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{
		"uri": x.uri, "languageId": row.languageID(dir.path(r.main)), "version": 1, "text": dir.read(r.main)}}))
	for !x.sync {
		sources, changed := c.sources()
		if len(sources) > 0 {
			x.source = &sources[0]
			break
		}
		<-changed
	}
	x.ask(b)
	return x
}

func must(b testing.TB, err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

func (x *raw) close() {
	x.c.shutdown(context.Background())
	x.c.conn.Close()
	<-x.run
	x.proc.stop(context.Background(), false)
}

// change is one edit: the file on disk, the notices, the question, its answer.
func (x *raw) change(b *testing.B, text string) {
	x.version++
	must(b, os.WriteFile(x.path, []byte(text), 0o644))
	must(b, x.c.conn.Notify("workspace/didChangeWatchedFiles", map[string]any{"changes": []any{map[string]any{"uri": x.uri, "type": 2}}}))
	must(b, x.c.conn.Notify("textDocument/didChange", map[string]any{
		"textDocument":   map[string]any{"uri": x.uri, "version": x.version},
		"contentChanges": []any{map[string]any{"text": text}}}))
	must(b, x.c.conn.Notify("textDocument/didSave", map[string]any{"textDocument": map[string]any{"uri": x.uri}}))
	x.ask(b)
}

func (x *raw) ask(b *testing.B) {
	if !x.sync {
		params := map[string]any{"textDocument": map[string]any{"uri": x.uri}}
		if x.source.identifier != "" {
			params["identifier"] = x.source.identifier
		}
		must(b, x.c.conn.Call(context.Background(), "textDocument/diagnostic", params, nil))
		return
	}
	done := make(chan error, 2)
	for _, kind := range []string{"syntacticDiagnosticsSync", "semanticDiagnosticsSync"} {
		go func() {
			done <- x.c.conn.Call(context.Background(), "workspace/executeCommand",
				map[string]any{"command": tsCommand, "arguments": []any{kind, map[string]any{"file": x.path}}}, nil)
		}()
	}
	must(b, <-done)
	must(b, <-done)
}

var _ = wire.ContentLength
var _ json.RawMessage

// BenchmarkVerdict compares an edit's verdict through the layer with the same server driven directly,
// turn by turn in the same run. It prints medians and their ratio, and the time from an approved
// proposal to its confirmed verdict.
func BenchmarkVerdict(b *testing.B) {
	for _, r := range realServers() {
		b.Run(r.id, func(b *testing.B) {
			ours, theirs := r.bench(b), r.bench(b)
			x := newRaw(b, r, theirs)
			defer x.close()
			ours.verdict(ours.edit("warm", ours.change(r.main, r.good)))
			x.change(b, r.good)
			var raws, layers, overs, confirms []time.Duration
			text := func(i int) string { return r.bad + fmt.Sprintf("%*s\n", i%7, "") }
			i := 0
			for b.Loop() {
				i++
				now := text(i)
				began := time.Now()
				x.change(b, now)
				raws = append(raws, time.Since(began))

				ch := ours.change(r.main, now)
				began = time.Now()
				v := ours.verdict(ours.edit("e", ch))
				layers = append(layers, time.Since(began))
				if v.State != Findings {
					b.Fatalf("%+v", v)
				}
				ours.s.Settle(context.Background())

				ch = ours.change(r.main, r.good+fmt.Sprintf("%*s\n", i%5, ""))
				ours.foresee(ch)
				began = time.Now()
				ours.verdict(ours.edit("f", ch))
				confirms = append(confirms, time.Since(began))
				ours.s.Settle(context.Background())
				overs = append(overs, layers[len(layers)-1]-raws[len(raws)-1])
			}
			ms := func(list []time.Duration, p int) float64 {
				slices.Sort(list)
				return float64(list[(len(list)-1)*p/100].Microseconds()) / 1000
			}
			b.ReportMetric(ms(raws, 50), "raw-p50-ms")
			b.ReportMetric(ms(layers, 50), "ours-p50-ms")
			b.ReportMetric(ms(layers, 50)/ms(raws, 50), "ratio")
			b.ReportMetric(ms(raws, 95), "raw-p95-ms")
			b.ReportMetric(ms(layers, 95), "ours-p95-ms")
			b.ReportMetric(ms(overs, 50), "over-p50-ms")
			b.ReportMetric(ms(confirms, 50), "confirmed-p50-ms")
			b.ReportMetric(ms(confirms, 95), "confirmed-p95-ms")
			b.ReportMetric(0, "ns/op")
		})
	}
}
