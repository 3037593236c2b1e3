package commands

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/client"
	"github.com/toolhost/toolhost/tool"
)

// The test kills agentd with SIGKILL after each step of a run. The run still ends, and toolhost has
// executed each of its calls once.
func TestKilledAgainAndAgain(t *testing.T) {
	const turns = 3
	w := newWorld(t).withToolhost()
	script := "turns:\n"
	for i := range turns {
		script += fmt.Sprintf("  - {text: turn, calls: [{id: a%d, tool: count, arguments: {key: k}}, {id: b%d, tool: count, arguments: {key: k}}]}\n", i, i)
	}
	script += "  - {text: 'done'}\n"
	d := &daemon{t: t, w: w, socket: "unix://" + filepath.Join(w.folder, "agentd.sock"), script: w.script(script)}
	if err := os.Symlink(mustExecutable(t), filepath.Join(w.folder, program)); err != nil {
		t.Fatal(err)
	}
	d.start()
	a, err := client.DialAgent(d.socket)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), client.Task{Prompt: "count", RunID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	end, kills := watchThroughKills(t, d, a, id)
	d.kill()
	if end.StopReason != "end_turn" || end.Text != "done" || end.Turns != turns+1 || end.Calls != 2*turns {
		t.Errorf("ended with %v", end)
	}
	if kills < turns {
		t.Errorf("killed only %d times", kills)
	}
	tools, err := client.Dial(w.toolhost.String())
	if err != nil {
		t.Fatal(err)
	}
	defer tools.Close()
	outcome, err := tools.Call(t.Context(), tool.Call{Tool: "count", Arguments: []byte(`{"key":"k"}`)})
	if want := fmt.Sprint(2*turns + 1); err != nil || !strings.Contains(outcome.Result.Text(), want) {
		t.Errorf("one more call counts %q, want %s: %v", outcome.Result.Text(), want, err)
	}
}

// watchThroughKills watches a run to its end, and kills the daemon after each event. It fails if an
// event is missing or repeated.
func watchThroughKills(t *testing.T, d *daemon, a *client.AgentClient, id string) (end *client.RunEnded, kills int) {
	t.Helper()
	seen := uint64(0)
	for end == nil {
		for e, err := range a.WatchRun(t.Context(), id, seen) {
			if err != nil {
				if errors.Is(err, client.ErrNoServer) {
					break
				}
				t.Fatal(err)
			}
			if e.Index > 0 {
				continue
			}
			if e.Seq != seen+1 {
				t.Fatalf("event %d after %d", e.Seq, seen)
			}
			seen = e.Seq
			if end, _ = e.Payload.(*client.RunEnded); end == nil {
				d.kill()
				kills++
				d.start()
				break
			}
		}
	}
	return end, kills
}

func mustExecutable(t *testing.T) string {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return self
}

// daemon is an `agentd serve` in a separate process.
type daemon struct {
	t              *testing.T
	w              *world
	socket, script string
	cmd            *exec.Cmd
}

// start returns when the server is ready.
func (d *daemon) start() {
	d.t.Helper()
	d.cmd = exec.Command(filepath.Join(d.w.folder, program), "serve", "--listen", d.socket, "--model", d.script)
	d.cmd.Env = []string{"HOME=" + d.w.folder, "TOOLHOST_ADDR=" + d.w.toolhost.String(), raceEnv + "=" + atOnce}
	d.cmd.Stderr = d.t.Output()
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		d.t.Fatal(err)
	}
	if err := d.cmd.Start(); err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(d.kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil {
		d.t.Fatalf("agentd said %q: %v", line, err)
	}
}

// kill kills the process and waits for its end.
func (d *daemon) kill() {
	_ = d.cmd.Process.Kill() // the process may have died already
	_ = d.cmd.Wait()
}
