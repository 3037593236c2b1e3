// Package temporal is the engine of teams that run Temporal: each run that is no sub-run has a
// workflow there, and a Temporal worker in each agentd works on the runs whose turn it is.
//
// The problem: the history of a workflow is bounded, is sent with each task, and is gone with its
// database. Runs in it would hit its limits, and be lost with it. The idea: the workflow of a run
// holds the id of the run and nothing else. It has an agentd call Work, waits until a time or for
// the signal that something is due, and continues as new. The invariant: Temporal says which agentd
// tries, and never what has happened. The store of the runs decides which agentd may write, and
// what is due. So a workflow that is lost, doubled, late or forged costs time, and no effect.
// Beside it, each agentd looks in the store for what is due, as with the engine agent.Local.
//
// The package owns the client and the worker of the SDK. It does not know stores. See
// docs/temporal.md and docs/adr/0052-temporal.md.
package temporal

import (
	"context"
	"crypto/tls"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	enums "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/log"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/grpc/codes"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
)

const (
	// lookTicks is how many ticks pass between two looks in the store. A tick is the end of a second,
	// or of a slot's use while runs wait for a slot. With more ticks, the runs of an agentd that is
	// gone would wait longer than with agent.Local.
	lookTicks = 5
	// callTime bounds an RPC to the service. A run does not depend on the RPC, because looks in the
	// store find the run, too.
	callTime = 10 * time.Second
	// stopTime is how long Drive waits for the service and for activities, whose runs have ended
	// before.
	stopTime = 3 * time.Second
	// maxDue bounds the runs in memory of which the engine has to tell the service. If there are more,
	// looks in the store find the others.
	maxDue = 100_000
	// tellers is how many RPCs at once tell the service what is due.
	tellers = 16
)

// Config says where the service is. The zero value of a field that is not optional is not valid.
type Config struct {
	Address   string // HOST:PORT
	Namespace string
	// TaskQueue is the queue of the agentds that share a database. The ids of workflows begin with it,
	// so databases that share a namespace need different ones.
	TaskQueue string
	// TLS is nil for connections without TLS.
	TLS *tls.Config
	// APIKey returns the API key for an RPC. Nil: there is none.
	APIKey func(ctx context.Context) (string, error)
	// Check is the pause between two checks of whether the service answers. Workers of the SDK connect
	// again by themselves. So Check only bounds how late the engine uses a service that is back.
	Check time.Duration
	// The engine calls Report with nil once it reaches the service, and with an error once it does
	// not, after the first check and after each change. One goroutine at a time calls it. It must not
	// be nil.
	Report func(error)
	Log    *slog.Logger
}

// Engine implements agent.Engine. It is safe for concurrent use.
type Engine struct {
	config Config
	client client.Client
	ready  atomic.Bool
	// unregistered is set if the namespace does not have the search attributes.
	unregistered atomic.Bool
	failed       atomic.Bool // the SDK has given the worker up
	refused      atomic.Bool // the log has that the service refused a run

	reports sync.Mutex
	told    bool // Report has been called; reports guards it

	due   chan string // the runs of which the service has to be told, each once
	noted sync.Map    // those in due
}

// New returns an engine that does not connect yet. The caller must call Close, after Drive.
func New(config Config) (*Engine, error) {
	options := client.Options{
		HostPort: config.Address, Namespace: config.Namespace, Logger: log.NewStructuredLogger(config.Log),
		ConnectionOptions: client.ConnectionOptions{TLS: config.TLS, TLSDisabled: config.TLS == nil, GetSystemInfoTimeout: callTime},
	}
	if config.APIKey != nil {
		options.Credentials = client.NewAPIKeyDynamicCredentials(config.APIKey)
	}
	c, err := client.NewLazyClient(options)
	return &Engine{config: config, client: c, due: make(chan string, maxDue)}, err
}

// Close closes the connections.
func (e *Engine) Close() { e.client.Close() }

// Ready implements agent.Engine.
func (e *Engine) Ready() bool { return e.ready.Load() }

// Due implements agent.Engine. If the engine does not reach the service, it tells it later.
// Otherwise, a workflow that missed the end of its run would wait for up to longestWait.
func (e *Engine) Due(runID string) {
	if _, noted := e.noted.LoadOrStore(runID, nil); noted {
		return
	}
	select {
	case e.due <- runID:
	default:
		e.noted.Delete(runID)
	}
}

// Drive implements agent.Engine. While the engine does not reach the service, it looks in the store
// each second, and whenever a slot is free for which runs wait.
func (e *Engine) Drive(ctx context.Context, w agent.Worker) {
	var group sync.WaitGroup
	defer group.Wait()
	group.Go(func() { e.follow(ctx, w) }) // follow and tell end with ctx
	for range tellers {
		group.Go(func() { e.tell(ctx) })
	}
	_, freed := w.Slots()
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for n := 1; ; n++ {
		select {
		case <-tick.C:
		case <-freed:
		case <-ctx.Done():
			return
		}
		if n%lookTicks == 0 || !e.Ready() {
			_, _ = w.Look(ctx) // the worker reports errors
		} else {
			_ = w.Collect(ctx)
		}
	}
}

// follow keeps a Temporal worker, and finds out whether the service is reached, until ctx ends.
func (e *Engine) follow(ctx context.Context, w agent.Worker) {
	var running worker.Worker
	tick := time.NewTicker(e.config.Check)
	defer tick.Stop()
	for {
		if e.failed.Swap(false) {
			running = nil // the SDK has stopped it
		}
		err := e.check(ctx)
		if err == nil && running == nil {
			if running, err = e.work(w); err != nil {
				running = nil
			}
		}
		e.report(err)
		select {
		case <-tick.C:
		case <-ctx.Done():
			if running != nil {
				defer time.AfterFunc(stopTime, e.client.Close).Stop() // it asks the service, which may hang
				running.Stop()
			}
			return
		}
	}
}

// check asks for the namespace. The check of the SDK names no namespace, and API keys of Temporal
// Cloud do not permit such a request.
func (e *Engine) check(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	_, err := e.client.WorkflowService().DescribeNamespace(ctx, &workflowservice.DescribeNamespaceRequest{Namespace: e.config.Namespace})
	return err
}

// work starts a Temporal worker for an agent.
func (e *Engine) work(w agent.Worker) (worker.Worker, error) {
	tuner, err := worker.NewFixedSizeTuner(worker.FixedSizeTunerOptions{})
	if err != nil {
		return nil, err
	}
	// The cache keeps workflows in memory between two tasks, with a goroutine each. It can be small,
	// because a workflow that is not in it is rebuilt from a history of only a dozen events.
	worker.SetStickyWorkflowCacheSize(100)
	started := worker.New(e.client, e.config.TaskQueue, worker.Options{
		Tuner: slotTuner{tuner, &slots{worker: w}}, WorkerStopTimeout: stopTime, DisableRegistrationAliasing: true,
		OnFatalError: func(err error) { e.failed.Store(true); e.report(err) },
	})
	started.RegisterWorkflowWithOptions(drive, workflow.RegisterOptions{Name: workflowName})
	started.RegisterActivityWithOptions(activities{w}.work, activity.RegisterOptions{Name: activityName})
	return started, started.Start()
}

// report notes whether the service is reached. A check that was made before the SDK gave the worker
// up does not count: follow starts another one first.
func (e *Engine) report(err error) {
	e.reports.Lock()
	defer e.reports.Unlock()
	if reached := err == nil; (!reached || !e.failed.Load()) && (e.ready.Swap(reached) != reached || !e.told) {
		e.told = true
		e.unregistered.Store(false) // the search attributes may be there now
		e.refused.Store(false)
		e.config.Report(err)
	}
}

// tell tells the service what is due, while the engine reaches it, until ctx ends. If the service
// refuses a request about one run, such as a signal after 10,000 of them, it may accept those about
// other runs. A look in the store finds the refused run.
func (e *Engine) tell(ctx context.Context) {
	for ctx.Err() == nil {
		due := e.due
		if !e.Ready() {
			due = nil
		}
		select {
		case runID := <-due:
			e.noted.Delete(runID)
			switch err := e.signal(ctx, runID); {
			case err == nil || ctx.Err() != nil:
			case unreached(err):
				e.report(err)
				e.Due(runID)
			case !e.refused.Swap(true):
				e.config.Log.Warn("Temporal refuses to be told that a run has something to do; agentds find that by themselves, and further refusals are not logged", "run", runID, "error", err)
			}
		case <-time.After(time.Second):
		case <-ctx.Done():
		}
	}
}

// unreached reports whether an error is about the service or the namespace, which may not be found
// or be in the wrong state, and not about one run.
func unreached(err error) bool {
	return slices.Contains([]codes.Code{codes.Unavailable, codes.DeadlineExceeded, codes.ResourceExhausted, codes.PermissionDenied, codes.Unauthenticated, codes.NotFound, codes.FailedPrecondition}, serviceerror.ToStatus(err).Code())
}

// signal says that something is due for a run, and makes its workflow if there is none.
func (e *Engine) signal(ctx context.Context, runID string) error {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	tenant := agent.TenantOf(runID)
	options := client.StartWorkflowOptions{
		ID: e.workflowOf(runID), TaskQueue: e.config.TaskQueue, StaticSummary: "a run of agentd",
		WorkflowIDReusePolicy: enums.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE,           // a message continues a run that has ended
		Priority:              sdk.Priority{FairnessKey: tenant[:min(len(tenant), 64)]}, // tenants take turns; the service accepts no longer key
	}
	start := func(attributes ...sdk.SearchAttributeUpdate) error {
		options.TypedSearchAttributes = sdk.NewSearchAttributes(attributes...)
		_, err := e.client.SignalWithStartWorkflow(ctx, options.ID, signalName, nil, options, workflowName, runID)
		return err
	}
	if e.unregistered.Load() {
		return start()
	}
	reason := start(tenantKey.ValueSet(tenant), agentKey.ValueSet(""), stateKey.ValueSet("working")) // all that drive sets
	if serviceerror.ToStatus(reason).Code() != codes.InvalidArgument {
		return reason
	}
	err := start()
	if err == nil && !e.unregistered.Swap(true) {
		e.config.Log.Warn("workflows have no search attributes, because the namespace does not have all of these names; to see tenants, agents and states in Temporal, register them: "+registration, "namespace", e.config.Namespace, "error", reason)
	}
	return err
}

// workflowOf returns the id of the workflow of a run.
func (e *Engine) workflowOf(runID string) string { return e.config.TaskQueue + "/" + runID }
