package agent

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Run is a run's summary.
type Run struct {
	ID         string
	Prompt     string // the user's prompt; lists have only its beginning
	Model      string
	StopReason loop.StopReason // empty while the run is at work
	StartTime  time.Time
	UpdateTime time.Time // of its last event
	LastSeq    uint64
	Turns      int
	Calls      int
	Usage      tool.Usage
	Cost       float64          // at the prices of the time
	Settled    loop.Settlements // of its calls; runs of earlier versions, and runs of a server, have none
	// Waiting is whether the run, or a sub-run below it, waits for a person. Pending has the
	// decisions; only GetRun sets it.
	Waiting bool
	Pending []loop.Pending
	Parent  *loop.Parent // of a sub-run, else nil
	// Unreadable is whether the summary is broken. Only the id, the times and LastSeq are then
	// known. Only ListRuns sets it.
	Unreadable bool
	// Interrupted is whether no process works on the run although it has not ended. Only GetRun and
	// ListRuns set it, and only if the store has claims.
	Interrupted bool
	// Parked is why no agent goes on with the interrupted run by itself; see runstore.MaxStalled. An
	// input for the run, or for a sub-run below it, makes one go on. A parked run can wait for a
	// person as well. Empty: the run is not parked. It is set like Interrupted.
	Parked string
	// stalled is runstore.Run.Stalled.
	stalled int
	// Principal is the key of the principal that the run belongs to. Empty for runs of earlier
	// versions.
	Principal string
	// Foreground is whether the run belongs to the process that started it; see Task.
	Foreground bool
}

// foreign reports whether another process may work on a run that this agent does not work on.
func (r *Run) foreign() bool { return r.Foreground && !r.Finished() }

// parks reports whether no agent goes on with the run by itself, and without an input for it.
func (r *Run) parks() bool { return r.stalled >= runstore.MaxStalled && !r.Finished() }

// Finished reports whether the run has ended. A user message continues it.
func (r *Run) Finished() bool { return r.StopReason != "" }

// State returns the run's state, or "" if the summary is broken.
func (r *Run) State() RunState {
	switch {
	case r.Unreadable:
		return ""
	case r.Finished():
		return RunEnded
	case r.Waiting && r.Parked == "":
		return RunWaiting
	case r.Interrupted:
		return RunInterrupted
	}
	return RunRunning
}

func summarize(r *runstore.Run) (Run, error) {
	var v loop.Summary
	if err := json.Unmarshal(r.Head.Summary, &v); err != nil {
		return Run{}, tool.Errorf(tool.KindInternal, "reading the summary of run %s: %w", r.ID, err)
	}
	return Run{
		ID: r.ID, Prompt: v.Prompt, Model: v.Model, StopReason: v.StopReason, StartTime: r.CreateTime, UpdateTime: r.UpdateTime,
		LastSeq: r.LastSeq, Turns: v.Turns, Calls: v.Calls, Usage: v.Usage, Cost: v.Cost, Waiting: v.Waiting, Parent: v.Parent,
		Foreground: v.Foreground, Principal: v.Principal, Settled: v.Settled, stalled: r.Stalled,
	}, nil
}

// ModelOf returns the model that a run began with, as provider:name, and its address; see
// RunStarted.BaseURL. Both are empty if the store does not have them.
func ModelOf(r *runstore.Run) (name, baseURL string) {
	var v loop.Summary
	if err := json.Unmarshal(r.Head.Summary, &v); err != nil {
		return "", ""
	}
	return v.Model, v.BaseURL
}

// headFor returns what the store knows of a run without reading its journal.
func headFor(s *loop.State) (runstore.Head, error) {
	v := s.Summary()
	data, err := json.Marshal(v)
	if err != nil {
		return runstore.Head{}, fmt.Errorf("summing up run %s: %w", s.Started().RunID, err)
	}
	head := runstore.Head{
		Unfinished: s.Finished() == nil && !s.Started().Foreground, Ended: s.Finished() != nil, OnlyWaits: !works(s, false), Summary: data,
		Owner: s.Started().Principal, Tenant: TenantOf(s.Started().RunID),
	}
	if head.Decisions, head.DecideBy, err = headOf(s.Pending(), s.Seq()); err != nil {
		return runstore.Head{}, fmt.Errorf("summing up the decisions of run %s: %w", s.Started().RunID, err)
	}
	if p := s.Started().Parent; p != nil {
		head.Parent = p.RunID
	}
	return head, nil
}

// RunState says whether a run is at work.
type RunState string

// The states.
const (
	RunRunning RunState = "running"  // at work
	RunWaiting RunState = "waiting"  // a person has to decide something
	RunEnded   RunState = "finished" // it has ended; a user message continues it
	// RunInterrupted means that no process works on the run. `agentd serve` continues its own runs.
	// `agentd resume` continues a run that ran in the foreground of another command.
	RunInterrupted RunState = "interrupted"
)
