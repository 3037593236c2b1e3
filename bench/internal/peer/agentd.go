package peer

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/toolhost/toolhost/bench/internal/load"
	"github.com/toolhost/toolhost/client"
)

// Story is what the scripted model does in each run: a number of turns with a number of calls of
// the tool echo each, then a text. It answers up to a few thousand messages to a finished run with
// a text.
type Story struct{ Turns, Calls int }

// enough exceeds every limit that a run of the benchmark needs.
const enough = 1_000_000

// Agentd is a running agentd. Its model and tool answer immediately.
type Agentd struct {
	client *client.AgentClient
	pids   load.Processes
	stop   func() error
}

// Agentd starts an agentd that calls the tools of t. journal is the path of its journal; empty
// means a new one. settings are lines for agentd.yaml.
func (f *Field) Agentd(ctx context.Context, t *Toolhost, s Story, journal, settings string) (*Agentd, error) {
	dir, err := f.Folder("agentd")
	if err != nil {
		return nil, err
	}
	if journal == "" {
		journal = filepath.Join(dir, "runs.db")
	}
	script, socket, file := filepath.Join(dir, "script.yaml"), filepath.Join(dir, "s"), filepath.Join(dir, "agentd.yaml")
	if err := errors.Join(os.WriteFile(script, []byte(s.script()), 0o600), os.WriteFile(file, fmt.Appendf(nil,
		"listen: \"unix://%s\"\nlimits: {max_turns: %d, max_calls: %d, max_repeats: %d}\n%s", socket, enough, enough, enough, settings), 0o600)); err != nil {
		return nil, err
	}
	pid, stop, err := f.start(ctx, dir, socket, "agentd", "serve", "--config", file, "--model", "scripted:"+script, "--journal", journal,
		"--toolhost", t.addr, "--log-level", "error")
	if err != nil {
		return nil, err
	}
	agent, err := client.DialAgent("unix://" + socket)
	if err != nil {
		return nil, err
	}
	f.owns(agent.Close)
	return &Agentd{client: agent, pids: load.Processes{pid}, stop: stop}, nil
}

func (s Story) script() string {
	var b strings.Builder
	b.WriteString("turns:\n")
	for i := range s.Turns {
		b.WriteString("  - calls:\n")
		for j := range s.Calls {
			fmt.Fprintf(&b, "      - {tool: echo, arguments: {size: 16, note: call %d of turn %d}}\n", j, i)
		}
	}
	for range 2_000 {
		b.WriteString("  - text: done\n")
	}
	return b.String()
}

// Run starts a run and follows it to its end. An empty id lets agentd choose one. Run returns the
// id and the number of events in the journal.
func (a *Agentd) Run(ctx context.Context, id string) (string, uint64, error) {
	id, err := a.client.StartRun(ctx, client.Task{Prompt: "go", RunID: id, Window: client.Window{Tokens: 1 << 40},
		Limits: client.RunLimits{Turns: enough, Calls: enough, Repeats: enough}})
	if err != nil {
		return "", 0, err
	}
	seq, _, err := a.Watch(ctx, id, 0)
	return id, seq, err
}

// Watch follows a run to its end, starting after an event. It returns the number of the last event
// and how many events arrived.
func (a *Agentd) Watch(ctx context.Context, id string, after uint64) (seq uint64, events int, err error) {
	var ended *client.RunEnded
	for e, err := range a.client.WatchRun(ctx, id, after) {
		if err != nil {
			return 0, 0, err
		}
		seq, events = max(seq, e.Seq), events+1
		ended, _ = e.Payload.(*client.RunEnded)
	}
	if ended == nil || ended.StopReason != "end_turn" {
		return 0, 0, fmt.Errorf("run %s did not succeed: %+v", id, ended)
	}
	return seq, events, nil
}

// Say sends a message to a run and follows the run until the answer.
func (a *Agentd) Say(ctx context.Context, id string) error {
	seq, err := a.client.SendMessage(ctx, id, "and now?")
	if err != nil {
		return err
	}
	_, _, err = a.Watch(ctx, id, seq)
	return err
}

// Ready returns when agentd answers.
func (a *Agentd) Ready(ctx context.Context) error {
	for _, err := range a.client.ListRuns(ctx, client.RunFilter{}) {
		return err
	}
	return nil
}

// Stop stops agentd and waits for its end.
func (a *Agentd) Stop() error { return a.stop() }
