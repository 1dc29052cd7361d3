package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"acp-agent/internal/acptest"
	"acp-agent/internal/acptest/modelserver"
)

// program is the built agent with a meter on its streams.
type program struct {
	*acptest.Meter
	cmd *exec.Cmd
}

// startProgram starts a built agent with a home of its own, and introduces the editor.
func startProgram(b *testing.B, exe string, env ...string) *program {
	b.Helper()
	cmd := exec.Command(exe, "acp")
	cmd.Dir = b.TempDir()
	cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + b.TempDir(), "ACP_AGENT_HOME=" + filepath.Join(b.TempDir(), "home")}, env...)
	p := &program{acptest.MeterProcess(b, cmd), cmd}
	p.Initialize()
	return p
}

// end closes the program's input and waits for it; then it gives the CPU time that it used, which is
// what getrusage says of it.
func (p *program) end(b *testing.B) time.Duration {
	b.Helper()
	p.Close()
	if err := p.cmd.Wait(); err != nil {
		b.Errorf("the agent ended with %v", err)
	}
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// chunkCount chunks of text are streamed.
const chunkCount = 2000

// readerProgram is the yardstick for a stream that comes slowly: it reads the same answer and does
// nothing with it. Being woken 2,000 times costs more than all the rest.
const readerProgram = `package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"strings"
)

func main() {
	address, _ := bufio.NewReader(os.Stdin).ReadString('\n')
	resp, err := http.Post(strings.TrimSpace(address), "application/json", strings.NewReader("{}"))
	if err != nil {
		panic(err)
	}
	for r := bufio.NewReader(resp.Body); err == nil; {
		_, err = r.ReadBytes('\n')
	}
	io.WriteString(os.Stdout, "read\n")
}
`

// BenchmarkSpeedStream measures the CPU time of the program for 2,000 chunks of text that come over
// HTTP from an OpenAI-compatible server, beyond a run with one chunk: as fast as the server can, and
// at the pace of a quick model.
func BenchmarkSpeedStream(b *testing.B) {
	source := filepath.Join(b.TempDir(), "main.go")
	if err := os.WriteFile(source, []byte(readerProgram), 0o600); err != nil {
		b.Fatal(err)
	}
	agent, reader := build(b, "acp-agent/cmd/acp-agent"), build(b, source)
	var one, fast, paced, read acptest.Times
	for b.Loop() {
		one = append(one, agentCPU(b, agent, 1, 0))
		fast = append(fast, agentCPU(b, agent, chunkCount, 0))
		paced = append(paced, agentCPU(b, agent, chunkCount, 2*time.Millisecond))
		read = append(read, readerCPU(b, reader, 2*time.Millisecond))
	}
	b.ReportMetric(0, "ns/op") // the rows below say more
	acptest.Row{Name: "CPU of 2000 chunks at once", Value: fast.At(50), Unit: "ms",
		Than: "one chunk", Ref: one.At(50), Target: 60}.Report(b)
	acptest.Row{Name: "CPU of 2000 chunks, one each 2 ms", Value: paced.At(50), Unit: "ms",
		Than: "one chunk + bare reader", Ref: one.At(50) + read.At(50), Target: 60}.Report(b)
}

// chunked starts a server whose answer comes in chunks, one each pace; 0 is at once.
func chunked(b *testing.B, chunks int, pace time.Duration) (url, text string, end func()) {
	reply := modelserver.Reply{Text: strings.Repeat("some", chunks), Chunk: len("some")}
	stop := make(chan struct{})
	var pacer sync.WaitGroup
	if pace > 0 {
		hold := make(chan struct{})
		reply.Hold = hold
		pacer.Go(func() {
			tick := time.NewTicker(pace)
			defer tick.Stop()
			for {
				select {
				case <-tick.C:
				case <-stop:
					return
				}
				select {
				case hold <- struct{}{}:
				case <-stop:
					return
				}
			}
		})
	}
	server := modelserver.New(b, reply)
	return server.URL + "/v1", reply.Text, func() {
		close(stop)
		pacer.Wait()
		server.Close()
	}
}

// agentCPU is the agent's CPU time from start to end for one prompt that is answered in chunks.
func agentCPU(b *testing.B, exe string, chunks int, pace time.Duration) time.Duration {
	url, text, end := chunked(b, chunks, pace)
	defer end()
	p := startProgram(b, exe, "OPENAI_API_KEY=none", "OPENAI_BASE_URL="+url, "ACP_AGENT_MODEL=openai/bench")
	got := 0
	p.Updates = func(line []byte) {
		if acptest.Get[string](json.RawMessage(line), "params", "update", "sessionUpdate") == "agent_message_chunk" {
			got += len(acptest.Get[string](json.RawMessage(line), "params", "update", "content", "text"))
		}
	}
	p.Prompt(p.NewSession(b.TempDir()), "tell me")()
	cpu := p.end(b)
	if got != len(text) {
		b.Errorf("%d bytes of text arrived, want %d", got, len(text))
	}
	return cpu
}

// readerCPU is the bare reader's CPU time for the same.
func readerCPU(b *testing.B, exe string, pace time.Duration) time.Duration {
	url, _, end := chunked(b, chunkCount, pace)
	defer end()
	cmd := exec.Command(exe)
	cmd.Stdin = strings.NewReader(url + "/chat/completions\n")
	if out, err := cmd.Output(); err != nil || string(out) != "read\n" {
		b.Fatalf("the reader ended with %v: %q", err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// counted is a file of 300 lines whose first line counts a session's edits.
func counted(owner string, n int) string {
	return first(owner, n) + strings.Repeat("// a line that stays as it is, whatever happens above it\n", 300)
}

func first(owner string, n int) string { return fmt.Sprintf("package p // %s edit %d\n", owner, n) }

// counting is a project and a script in which each prompt makes one edit.
func counting(b *testing.B, owner string, edits int) (dir string) {
	b.Helper()
	dir, err := filepath.EvalSymlinks(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	var script strings.Builder
	script.WriteString("turns:\n")
	for n := range edits {
		arguments, err := json.Marshal(map[string]string{"path": "counted.go", "old_string": first(owner, n), "new_string": first(owner, n+1)})
		if err != nil {
			b.Fatal(err)
		}
		fmt.Fprintf(&script, "  - {tool_calls: [{id: c%d, name: edit_file, arguments: %s}]}\n  - {text: %s did %d}\n", n, arguments, owner, n+1)
	}
	for name, text := range map[string]string{"script.yaml": script.String(), "counted.go": counted(owner, 0)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	return dir
}

// holds fails when a session's file is not what its own edits make of it.
func holds(b *testing.B, dir, owner string, edits int) {
	b.Helper()
	data, err := os.ReadFile(filepath.Join(dir, "counted.go"))
	if err != nil {
		b.Fatal(err)
	}
	if string(data) != counted(owner, edits) {
		b.Errorf("%s: the file is not what %d edits make of it: %.80q…", owner, edits, data)
	}
}

// BenchmarkSpeedTurns measures the memory of the program when idle and after 200 turns with an edit
// each, and whether the last turns take longer than the first.
func BenchmarkSpeedTurns(b *testing.B) {
	const turns, part = 200, 20
	exe := build(b, "acp-agent/cmd/acp-agent")
	var idle, after, most []float64
	var firsts, lasts acptest.Times
	for b.Loop() {
		p := startProgram(b, exe, "ACP_AGENT_MODEL=scripted/script.yaml")
		dir := counting(b, "one", turns)
		session := p.NewSession(dir)
		rss, _ := acptest.Memory(p.cmd.Process.Pid)
		idle = append(idle, rss)
		for n := range turns {
			start := time.Now()
			end := p.Prompt(session, "next")
			p.Allow(<-p.Asks)
			end()
			switch took := time.Since(start); {
			case n < part:
				firsts = append(firsts, took)
			case n >= turns-part:
				lasts = append(lasts, took)
			}
		}
		rss, peak := acptest.Memory(p.cmd.Process.Pid)
		after, most = append(after, rss), append(most, peak)
		p.end(b)
		holds(b, dir, "one", turns)
	}
	b.ReportMetric(0, "ns/op") // the rows below say more
	acptest.Row{Name: "RSS, idle with a session", Value: mean(idle), Unit: "MB", Target: 45}.Report(b)
	acptest.Row{Name: "RSS after 200 edit turns", Value: mean(after), Unit: "MB", Target: 80}.Report(b)
	acptest.Row{Name: "RSS at most in 200 edit turns", Value: mean(most), Unit: "MB"}.Report(b)
	acptest.Row{Name: "turn with an edit, 181st to 200th", Value: lasts.At(50), Unit: "ms",
		Than: "1st to 20th", Ref: firsts.At(50), Ratio: true, Target: 1.5}.Report(b)
}

func mean(list []float64) (sum float64) {
	for _, v := range list {
		sum += v
	}
	return sum / float64(len(list))
}

// BenchmarkSpeedSessions has 20 sessions make 20 edits each, side by side in one process, and looks
// for anything of one session that shows up in another.
func BenchmarkSpeedSessions(b *testing.B) {
	exe := build(b, "acp-agent/cmd/acp-agent")
	var after, most []float64
	for b.Loop() {
		p := startProgram(b, exe, "ACP_AGENT_MODEL=scripted/script.yaml")
		s := &crowd{b: b, p: p, owners: map[string]*member{}}
		s.play(20, 20)
		rss, peak := acptest.Memory(p.cmd.Process.Pid)
		after, most = append(after, rss), append(most, peak)
		p.end(b)
	}
	b.ReportMetric(0, "ns/op") // the rows below say more
	acptest.Row{Name: "RSS after 20 sessions × 20 edits", Value: mean(after), Unit: "MB", Target: 150}.Report(b)
	acptest.Row{Name: "RSS at most in 20 sessions × 20 edits", Value: mean(most), Unit: "MB", Target: 150}.Report(b)
}

// crowd is many sessions of one process. The maps are complete before the first prompt.
type crowd struct {
	b      *testing.B
	p      *program
	owners map[string]*member // by session id
}

type member struct {
	name, dir string
	asks      chan acptest.Ask
}

func (c *crowd) play(sessions, edits int) {
	for i := range sessions {
		m := &member{name: fmt.Sprintf("owner%02d", i), asks: make(chan acptest.Ask, 1)}
		m.dir = counting(c.b, m.name, edits)
		c.owners[c.p.NewSession(m.dir)] = m
	}
	c.p.Updates = c.belongs
	stop := make(chan struct{})
	var router, workers sync.WaitGroup
	router.Go(func() {
		for {
			select {
			case a := <-c.p.Asks:
				c.belongs(a.Line)
				c.owners[acptest.Get[string](json.RawMessage(a.Line), "params", "sessionId")].asks <- a
			case <-stop:
				return
			}
		}
	})
	for id, m := range c.owners {
		workers.Go(func() {
			for range edits {
				end := c.p.Prompt(id, "next")
				c.p.Allow(<-m.asks)
				end()
			}
		})
	}
	workers.Wait()
	close(stop)
	router.Wait()
	for _, m := range c.owners {
		holds(c.b, m.dir, m.name, edits)
	}
}

// belongs fails when a line that names a session mentions the owner or the folder of another.
func (c *crowd) belongs(line []byte) {
	owner := c.owners[acptest.Get[string](json.RawMessage(line), "params", "sessionId")]
	if owner == nil {
		c.b.Errorf("a line of no session: %.200s", line)
		return
	}
	for _, other := range c.owners {
		if other != owner && (strings.Contains(string(line), other.name) || strings.Contains(string(line), other.dir+"/")) {
			c.b.Errorf("a line of %s mentions %s: %.200s", owner.name, other.name, line)
		}
	}
}
