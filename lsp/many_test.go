package lsp

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/workspace"
)

// Twenty sessions of one process share one server and never hear of each other's files.
func TestManySessionsShareAServer(t *testing.T) {
	const sessions, edits = 20, 10
	files := map[string]string{"go.mod": goMod}
	text := func(n, i int, body string) string {
		return fmt.Sprintf("package x\n\n// edit %d\nfunc F%d() int { return %s }\n", i, n, body)
	}
	for n := range sessions {
		files[fmt.Sprintf("f%d.go", n)] = text(n, 0, "0")
	}
	b := newBench(t, files)
	b.foresee(b.change("f0.go", text(0, 1, "1"))) // warm
	var wg sync.WaitGroup
	for n := range sessions {
		wg.Go(func() {
			roots, err := workspace.NewRoots(b.dir, "")
			if err != nil {
				t.Error(err)
				return
			}
			s := b.m.Session(fmt.Sprint(n), roots)
			defer s.Close(context.Background())
			name := fmt.Sprintf("f%d.go", n)
			for i := range edits {
				bad := i%2 == 0
				body := fmt.Sprint(i)
				if bad {
					body = fmt.Sprintf("missing%d", n)
				}
				ch := b.change(name, text(n, i+1, body))
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				foreseen := s.Foresee(ctx, []Change{ch})
				cancel()
				b.write(name, ch.NewText)
				v, ok := s.Applied(fmt.Sprint(i), []Change{ch}).Wait(context.Background(), time.Now().Add(30*time.Second))
				for kind, v := range map[string]Verdict{"foreseen": foreseen, "applied": v} {
					right := v.State == Clean && v.Mended == min(i, 1) && len(v.Items) == 0
					if bad {
						right = v.State == Findings && len(v.Introduced) == 1 && strings.Contains(v.Introduced[0].Message, body) &&
							v.Introduced[0].Path == ch.Path && v.Mended == 0
					}
					if !right || !ok {
						t.Errorf("session %d, edit %d, %s (%v): %+v", n, i, kind, ok, v)
					}
				}
			}
			if late := s.Settle(context.Background()); len(late) != 0 {
				t.Errorf("session %d heard of something else: %+v", n, late)
			}
		})
	}
	wg.Wait()
	if n := len(b.m.instances()); n != 1 {
		t.Errorf("%d servers", n)
	}
}
