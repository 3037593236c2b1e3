package temporal

import (
	"cmp"
	"context"
	"sync"
	"time"

	"go.temporal.io/sdk/activity"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/tool"
)

// The names of what a worker registers, and of the signal. Histories have them.
const (
	workflowName = "agentd.run"
	activityName = "agentd.work"
	signalName   = "due"
)

const (
	// longestWork is when the service ends one attempt at an activity. The service requires such a
	// bound. A later attempt continues the run.
	longestWork = 365 * 24 * time.Hour
	// silence is the time without a heartbeat after which the service lets another agentd try. It is
	// long because each heartbeat is an RPC, and because looks in the store find the run sooner.
	silence = time.Minute
	// retryPause and retryMost are the pauses between attempts, if another agentd has the run, or the
	// store is gone. Attempts do not make the history longer.
	retryPause, retryMost = time.Second, 30 * time.Second
	// shortestWait keeps a workflow from spinning, whatever an agentd answers. After longestWait a
	// workflow looks whether it has missed something.
	shortestWait, longestWait = time.Second, 24 * time.Hour
)

// The search attributes of workflows. States are working, waiting, parked and ended.
var (
	tenantKey = sdk.NewSearchAttributeKeyKeyword("AgentdTenant")
	agentKey  = sdk.NewSearchAttributeKeyKeyword("AgentdAgent")
	stateKey  = sdk.NewSearchAttributeKeyKeyword("AgentdState")
)

// registration is the command that registers the search attributes.
const registration = "temporal operator search-attribute create --name AgentdTenant --type Keyword --name AgentdAgent --type Keyword --name AgentdState --type Keyword"

// drive is the workflow of a run. It must make the same commands from the same history for ever,
// because workflows wait for months. TestGoldenHistories keeps it from changing.
func drive(ctx workflow.Context, runID string) error {
	due, called := workflow.GetSignalChannel(ctx, signalName), false
	for due.ReceiveAsync(nil) { // the activity does what these signals ask for
	}
	var r agent.Rest
	show(ctx, "working", "working", &r)
	attempts := workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		StartToCloseTimeout: longestWork, HeartbeatTimeout: silence,
		RetryPolicy: &sdk.RetryPolicy{InitialInterval: retryPause, BackoffCoefficient: 2, MaximumInterval: retryMost},
	})
	if err := workflow.ExecuteActivity(attempts, activityName, runID).Get(ctx, &r); err != nil {
		return err
	}
	for due.ReceiveAsync(nil) { // continue-as-new must leave no signal behind
		called = true
	}
	if !called {
		if r.Ended {
			show(ctx, "ended", "ended", &r)
			return nil
		}
		if wait(ctx, due, &r); ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return workflow.NewContinueAsNewError(ctx, workflowName, runID)
}

// wait waits for the signal, or for the time at which the run goes on.
func wait(ctx workflow.Context, due workflow.ReceiveChannel, r *agent.Rest) {
	pause, state, what := longestWait, "waiting", "waits for "+cmp.Or(r.WaitsFor, "a request or a time")
	if r.Next > 0 {
		pause = min(max(r.Next, shortestWait), longestWait)
	}
	if r.Parked {
		state, what = "parked", "parked, because it may have ended agentds: send it a message, or cancel it"
	}
	show(ctx, state, what, r)
	timer := workflow.NewTimerWithOptions(ctx, pause, workflow.TimerOptions{Summary: what})
	workflow.NewSelector(ctx).AddFuture(timer, func(workflow.Future) {}).AddReceive(due, func(due workflow.ReceiveChannel, _ bool) { due.Receive(ctx, nil) }).Select(ctx)
}

// show shows what a run is at in the search attributes, if the workflow began with them, and in the
// details.
func show(ctx workflow.Context, state, details string, r *agent.Rest) {
	workflow.SetCurrentDetails(ctx, details)
	known := workflow.GetTypedSearchAttributes(ctx)
	before, has := known.GetKeyword(stateKey)
	name, _ := known.GetKeyword(agentKey)
	if now := cmp.Or(r.Agent, name); has && (state != before || now != name) {
		_ = workflow.UpsertTypedSearchAttributes(ctx, agentKey.ValueSet(now), stateKey.ValueSet(state))
	}
}

// activities are what the service may have this agentd do.
type activities struct{ worker agent.Worker }

// work works on a run until it rests. The service shows the errors of work, so they contain no text
// of the run. The agent logs that text. After an error, the service lets another attempt follow, at
// this agentd or at another one.
func (a activities) work(ctx context.Context, runID string) (*agent.Rest, error) {
	defer beat(ctx)()
	r, err := a.worker.Work(ctx, runID)
	switch kind := tool.KindOf(err); {
	case err == nil:
		return &r, nil
	case kind == tool.KindNotFound:
		return &agent.Rest{Ended: true}, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	default:
		return nil, sdk.NewApplicationError("this agentd does not work on the run now: "+string(kind), string(kind))
	}
}

// beat tells the service that the activity lives, until stop, which waits.
func beat(ctx context.Context) (stop func()) {
	beating, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	group.Go(func() { // ends with stop
		for beating.Err() == nil {
			activity.RecordHeartbeat(ctx) // the SDK sends fewer
			select {
			case <-time.After(silence / 4):
			case <-beating.Done():
			}
		}
	})
	return func() { cancel(); group.Wait() }
}
