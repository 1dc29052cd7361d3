package openai_test

import (
	"strings"
	"testing"

	"acp-agent/internal/acptest/modelserver"
	"acp-agent/internal/model"
)

// BenchmarkStream reads 50,000 deltas of text over loopback, the server's own work included.
func BenchmarkStream(b *testing.B) {
	const deltas = 50_000
	for _, c := range []struct {
		name  string
		reply modelserver.Reply
	}{
		{"text", modelserver.Reply{Text: strings.Repeat("word ", deltas), Chunk: 5, Write: 1 << 16}},
		{"arguments", modelserver.Reply{Calls: []modelserver.Call{{ID: "c", Name: "w", Arguments: `{"content":"` + strings.Repeat("word ", deltas) + `"}`}}, ArgBytes: 5}},
	} {
		b.Run(c.name, func(b *testing.B) {
			s := modelserver.New(b)
			m := newModel(b, s)
			b.ReportAllocs()
			for b.Loop() {
				s.Add(c.reply)
				n := 0
				for e, err := range m.Stream(b.Context(), model.Request{}) {
					if err != nil {
						b.Fatal(err)
					}
					n += len(e.Text)
					if e.Call != nil {
						n += len(e.Call.Arguments)
					}
				}
				if n < 5*deltas {
					b.Fatalf("%d bytes came", n)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*deltas), "ns/delta")
		})
	}
}
