package acp_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"acp-agent/internal/acptest"
)

// TestACP_096_EditorStopsReading has the model flood an editor that reads nothing for ten seconds of
// the bubble's clock. What waits for the editor is bounded, and a cancel that was sent meanwhile is
// honoured.
func TestACP_096_EditorStopsReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const size = 32 << 20
		flood := fmt.Sprintf(`turns: [{text: %q, chunk: 4096, delay_ms: 1}, {text: "After.", repeat: 3}]`, strings.Repeat("flood of text, ", size/15))
		f := start(t, flood, acptest.EditorOptions{Patience: time.Hour})
		id := f.open()
		turn := f.Prompt(id, "go")
		f.untilSaid(id)
		runtime.GC()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f.Pause()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		runtime.GC()
		runtime.ReadMemStats(&after)
		if grown := int64(after.HeapAlloc) - int64(before.HeapAlloc); grown > size/2 {
			t.Errorf("%d KiB wait for an editor that does not read", grown>>10)
		}
		f.Cancel(id)
		synctest.Wait()
		f.Unpause()
		if stop := turn.StopReason(); stop != "cancelled" {
			t.Errorf("stop reason %q", stop)
		}
		if stop := f.Prompt(id, "on").StopReason(); stop != "end_turn" || !strings.HasSuffix(f.Text(id), "After.") {
			t.Errorf("stop reason %q", stop)
		}
	})
}
