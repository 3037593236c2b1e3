package boundary_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

var (
	privateRuns  = flag.Int("private.runs", 2, "how many runs with a toolhost of their own there are")
	privateKills = flag.Int("private.kills", 5, "how often each of them is killed")
)

// privateTurns is the number of model responses of each run. Each response except the last contains
// two calls with side effects.
const privateTurns = 20

// The test kills `agentd run` and its toolhost again and again, each alone and both together, and
// continues with `agentd resume`. No call with side effects is executed twice. A call without an
// execution has an outcome that says so.
func TestKilledWithItsPrivateToolhost(t *testing.T) {
	script := "turns:\n"
	for i := range privateTurns - 1 {
		script += fmt.Sprintf("  - {calls: [{id: a%d, tool: counterplugin_slow, arguments: {key: a%d}}, {id: b%d, tool: counterplugin_write, arguments: {key: b%d}}]}\n", i, i, i, i)
	}
	script += "  - {text: all is counted}\n"
	var group sync.WaitGroup
	seats := make(chan struct{}, *workers)
	var kills, unknown, executed atomic.Int64
	for i := range *privateRuns {
		seats <- struct{}{}
		group.Go(func() { // ends with its subtest
			defer func() { <-seats }()
			t.Run(strconv.Itoa(i), func(t *testing.T) {
				p := newPrivateRun(t, script, rand.New(rand.NewPCG(*seed, uint64(i))))
				p.live(t)
				kills.Add(int64(p.kills))
				p.check(t, &executed, &unknown)
			})
		})
	}
	group.Wait()
	t.Logf("%d kills in %d runs of %d turns: %d calls executed, none twice; %d outcomes unknown",
		kills.Load(), *privateRuns, privateTurns, executed.Load(), unknown.Load())
	if want := *privateRuns * *privateKills; int(kills.Load()) != want {
		t.Errorf("killed %d times, want %d", kills.Load(), want)
	}
}

// privateRun is a run that agentd executes in the foreground with a toolhost that it has started.
type privateRun struct {
	home, id string
	random   *rand.Rand
	kills    int
	results  map[string]string // kind of the error by call id; "" for a call without error
	started  map[string]bool
	end      string
	// The test kills agentd and its toolhost as soon as until returns true. Nil means never.
	until func() bool
}

func newPrivateRun(t *testing.T, script string, random *rand.Rand) *privateRun {
	t.Helper()
	home, err := os.MkdirTemp("/tmp", "private-") // the length of a socket path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(home) })
	if err := errors.Join(os.Mkdir(filepath.Join(home, "w"), 0o700), os.WriteFile(filepath.Join(home, "script.yaml"), []byte(script), 0o600)); err != nil {
		t.Fatal(err)
	}
	return &privateRun{home: home, random: random, results: make(map[string]string), started: make(map[string]bool)}
}

// live runs agentd again and again until the run has ended.
func (p *privateRun) live(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	for lives := 0; p.end == ""; lives++ {
		if lives > 4**privateKills+10 {
			t.Fatalf("after %d lives the run has not ended", lives)
		}
		args := []string{"run", "count everything"}
		if p.id != "" {
			args = []string{"resume", p.id}
		}
		left := 0
		if p.kills < *privateKills {
			// The bound makes all kills happen before the run ends.
			left = 1 + p.random.IntN(max(1, 3*privateTurns / *privateKills))
		}
		p.work(ctx, t, args, left)
	}
}

// privateEvent is the part of an event of `-o json` that the tests read.
type privateEvent struct {
	RunID  string `json:"run_id"`
	Type   string `json:"type"`
	CallID string `json:"call_id"`
	Stop   string `json:"stop_reason"`
	Error  *struct {
		Kind string `json:"kind"`
	} `json:"error"`
}

// work runs agentd once. After left events it kills agentd, its toolhost, or both. If left is 0, it
// kills nothing.
func (p *privateRun) work(ctx context.Context, t *testing.T, args []string, left int) {
	t.Helper()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "agentd"), append(args, "--model", "scripted:"+filepath.Join(p.home, "script.yaml"),
		"--journal", filepath.Join(p.home, "runs.db"), "-o", "json")...)
	cmd.Dir = filepath.Join(p.home, "w")
	cmd.Env = []string{"HOME=" + p.home, "PATH=/usr/bin:/bin", "TMPDIR=" + p.home, "XDG_RUNTIME_DIR=" + p.home}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	killed := p.until != nil
	var killing sync.WaitGroup
	defer killing.Wait()
	if killed {
		// The goroutine ends when p.until returns true, at the latest when ctx ends.
		killing.Go(func() { p.killWhen(ctx, cmd.Process.Pid) })
	}
	lines := bufio.NewScanner(stdout)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var e privateEvent
		if json.Unmarshal(lines.Bytes(), &e) != nil {
			continue
		}
		p.note(&e)
		if left--; left == 0 && p.end == "" {
			killed = true
			p.kills++
			p.kill(cmd.Process.Pid)
		}
	}
	err = cmd.Wait()
	if !killed && err != nil || ctx.Err() != nil {
		t.Fatalf("agentd %s: %v\n%s", args, err, stderr.String())
	}
}

// killWhen waits until p.until returns true. Then it kills agentd and all its descendants.
func (p *privateRun) killWhen(ctx context.Context, agentd int) {
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !p.until() && ctx.Err() == nil {
		<-tick.C
	}
	for _, pid := range append([]int{agentd}, children(agentd)...) {
		_ = syscall.Kill(pid, syscall.SIGKILL) // fails if the process has exited
	}
}

func (p *privateRun) note(e *privateEvent) {
	if p.id == "" {
		p.id = e.RunID
	}
	switch e.Type {
	case "call_started":
		p.started[e.CallID] = true
	case "call_result":
		p.results[e.CallID] = ""
		if e.Error != nil {
			p.results[e.CallID] = e.Error.Kind
		}
	case "run_finished":
		p.end = e.Stop
	}
}

// kill kills one of five sets of processes, chosen at random: agentd alone; agentd's descendants
// (toolhost with its reaper, and all plugins) and then agentd; agentd and then its descendants; one
// descendant and then agentd; or only the descendants, after which agentd ends by itself.
func (p *privateRun) kill(agentd int) {
	below := children(agentd)
	one := []int{agentd}
	if len(below) > 0 {
		one = []int{below[p.random.IntN(len(below))], agentd}
	}
	victims := [][]int{{agentd}, append(slices.Clone(below), agentd), append([]int{agentd}, below...), one, below}[p.random.IntN(5)]
	for _, pid := range victims {
		_ = syscall.Kill(pid, syscall.SIGKILL) // fails if the process has exited
	}
}

// children returns the descendants of a process.
func children(pid int) (list []int) {
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, path := range tasks {
		data, _ := os.ReadFile(path)
		for field := range strings.FieldsSeq(string(data)) {
			if child, err := strconv.Atoi(field); err == nil {
				list = append(append(list, child), children(child)...)
			}
		}
	}
	return list
}

// check compares the executions that the plugin counted with the results that the run received.
func (p *privateRun) check(t *testing.T, executed, unknown *atomic.Int64) {
	t.Helper()
	if p.end != "end_turn" {
		t.Errorf("the run ended with %q", p.end)
	}
	data, err := os.ReadFile(filepath.Join(p.home, "w", p.id))
	if err != nil {
		t.Fatal(err)
	}
	counts := make(map[string]int)
	for line := range strings.Lines(string(data)) {
		counts[strings.TrimSpace(line)]++
	}
	for id, n := range counts {
		executed.Add(int64(n))
		if n > 1 {
			t.Errorf("call %s was executed %d times", id, n)
		}
	}
	for turn := range privateTurns - 1 {
		for i := range 2 {
			id := fmt.Sprintf("%s.t%d.c%d", p.id, turn+1, i)
			kind, told := p.results[id]
			switch {
			case kind == "outcome_unknown":
				unknown.Add(1)
			case told && kind == "" && counts[id] == 0:
				t.Errorf("call %s has a result and was not executed", id)
			case kind != "" && counts[id] > 0:
				t.Errorf("call %s was executed and is said to have failed with %s", id, kind)
			}
		}
	}
}
