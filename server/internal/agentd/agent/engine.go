package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// Engine decides when an agent works on a run, and nothing else: it calls the methods of Worker.
// What has happened and what is due is in the store alone, so an engine that forgets everything
// loses nothing. All methods are safe for concurrent use.
type Engine interface {
	// Drive makes the worker work until ctx ends. The agent calls it once, in a goroutine of its own,
	// and only if several agents share the store.
	Drive(ctx context.Context, w Worker)
	// Ready reports whether Due makes some agent work on a run soon. While it does, an agent leaves
	// new runs, and requests for runs on which no agent works, to the engine. Otherwise it works on
	// them itself.
	Ready() bool
	// Due says that there is something to do in the family of a run that is no sub-run. The store
	// has it already. Due does not block, and may forget it: a Look finds it, too.
	Due(runID string)
}

// Worker is an agent as an engine sees it. All methods are safe for concurrent use.
type Worker interface {
	// Work works on one run; see Agent.
	Work(ctx context.Context, runID string) (Rest, error)
	// Look begins to work on the runs that are due, as many as have a slot, and returns their
	// number. It includes Collect.
	Look(ctx context.Context) (n int, err error)
	// Collect hands the requests that the store has to the runs at work here.
	Collect(ctx context.Context) error
	// Slots returns how many more runs can work here now, and a channel that signals that runs wait
	// for a slot and one is free.
	Slots() (free int, freed <-chan struct{})
}

var _ Worker = (*Agent)(nil)

// Rest is how Work leaves a run. Engines may store its JSON.
type Rest struct {
	// Ended means that nothing is left to do. A message continues the run.
	Ended bool `json:"ended,omitempty"`
	// Parked means that no agent goes on with the run by itself; see Run.Parked.
	Parked bool `json:"parked,omitempty"`
	// Next is the time until the run goes on by itself. It is no time of day, so that clocks may
	// differ. 0: only a request continues it.
	Next time.Duration `json:"next_ns,omitempty"`
	// WaitsFor names what the run waits for, in words of this package. Empty: nothing, or a time.
	WaitsFor string `json:"waits_for,omitempty"`
	// Agent is the name of the run's agent. Empty: none.
	Agent string `json:"agent,omitempty"`
}

// Local is the engine that needs nothing beside the store: it looks once a second for what is due.
type Local struct{}

// lookPause is the pause between two looks. A store takes an agent for gone only after some
// seconds, so that shorter pauses gain nothing. crowdedPause is the pause if runs wait for slots
// and one is free.
const (
	lookPause    = time.Second
	crowdedPause = 50 * time.Millisecond
)

// Drive implements Engine. A failed look is repeated with the next one; the worker reports it.
func (Local) Drive(ctx context.Context, w Worker) {
	_, freed := w.Slots()
	for sleep(ctx, crowdedPause) == nil { // together with the other slots of that time
		later := time.NewTimer(lookPause - crowdedPause)
		select {
		case <-freed:
		case <-later.C:
		case <-ctx.Done():
			later.Stop()
			return
		}
		later.Stop()
		_, _ = w.Look(ctx)
	}
}

// Ready implements Engine: it is faster to work on a run at once than to look for it.
func (Local) Ready() bool { return false }

// Due implements Engine.
func (Local) Due(string) {}

// Work works on a run and its sub-runs until the run has ended or all of them only wait. It does
// nothing if nothing is due. It may be called at any agent and at any time: the store gives a run
// to one agent. Errors: KindNotFound; KindConflict if another agent works on the run;
// KindUnavailable if the store is gone, or if the agent closes, drains, or has no slot for the run.
// If ctx ends first, the agent goes on with the run. In a store that agents do not share, Work also
// waits while the run waits, because that run stays at work.
func (a *Agent) Work(ctx context.Context, runID string) (Rest, error) {
	for {
		r := a.work.at(runID)
		if r == nil {
			var rest Rest
			var err error
			if r, rest, err = a.take(ctx, runID); err != nil || r == nil {
				return rest, err
			}
		}
		select {
		case <-r.done:
		case <-ctx.Done():
			return Rest{}, tool.AsError(ctx.Err())
		}
		if r.err != nil {
			return Rest{}, r.err
		}
		if !r.next.IsZero() && !r.next.After(time.Now()) {
			return Rest{}, tool.Errorf(tool.KindUnavailable, "this agentd gave the run up; another one, or a later attempt, goes on")
		}
	}
}

// take begins to work on a run of which something is due, or returns how it rests.
func (a *Agent) take(ctx context.Context, runID string) (*run, Rest, error) {
	shared := a.journal.shared
	if shared == nil {
		kept, err := a.journal.summaryOf(ctx, runID)
		if err != nil || kept.Finished() {
			return nil, Rest{Ended: err == nil}, err
		}
		r, err := a.work.rouse(kept.ref(), nil)
		return r, Rest{}, err
	}
	if a.work.drains() {
		return nil, Rest{}, errClosed()
	}
	defer a.work.try()()
	due, err := shared.TakeFamily(ctx, runID)
	if err == nil && len(due.Taken) > 0 {
		return a.begunOf(runID, due.Taken)
	}
	if err != nil && !errors.Is(err, runstore.ErrParked) {
		return nil, Rest{}, claimError(err)
	}
	kept, unread := a.store.Get(ctx, runID)
	started, unknown := a.journal.startOf(ctx, runID)
	if unread = errors.Join(unread, unknown); unread != nil {
		return nil, Rest{}, storeError(unread)
	}
	return nil, Rest{Ended: err == nil && !due.Live, Parked: err != nil, Next: due.Wait, WaitsFor: waitsFor(&kept), Agent: started.AgentName()}, nil
}

// begunOf begins the runs of a family that is claimed, and returns the first.
func (a *Agent) begunOf(runID string, family []runstore.Taken) (*run, Rest, error) {
	a.adoptAll(family)
	if r := a.work.at(runID); r != nil {
		return r, Rest{}, nil
	}
	return nil, Rest{}, errClosed()
}

// waitsFor says what a run waits for, without a text of a model or a tool.
func waitsFor(kept *runstore.Run) string {
	var v briefDecisions
	if len(kept.Head.Decisions) == 0 || json.Unmarshal(kept.Head.Decisions, &v) != nil {
		if r, err := summarize(kept); err == nil && r.Waiting {
			return "decisions of its sub-runs"
		}
		return ""
	}
	kinds := map[string]int{}
	for _, d := range v.List {
		kinds[string(d.Kind)]++
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, fmt.Sprintf("%s: %d", kind, kinds[kind]))
	}
	return "decisions (" + strings.Join(parts, ", ") + ")"
}
