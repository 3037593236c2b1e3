package temporal_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/converter"
	sdk "go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/workflow"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal"
	"github.com/toolhost/toolhost/tool"
)

// once runs the workflow of a run, whose agent answers with rests, until it ends or continues as
// new, with a clock that skips waits. It returns how long the workflow took.
func once(t *testing.T, w *worker, prepare func(*testsuite.TestWorkflowEnvironment)) (took time.Duration, err error) {
	t.Helper()
	var suite testsuite.WorkflowTestSuite
	env := suite.NewTestWorkflowEnvironment()
	env.SetTestTimeout(time.Minute)
	env.RegisterWorkflowWithOptions(temporal.Drive, workflow.RegisterOptions{Name: temporal.WorkflowName})
	env.RegisterActivityWithOptions(temporal.Activity(w), activity.RegisterOptions{Name: temporal.ActivityName})
	if prepare != nil {
		prepare(env)
	}
	began := env.Now()
	env.ExecuteWorkflow(temporal.WorkflowName, "r")
	if !env.IsWorkflowCompleted() {
		t.Fatal("the workflow goes on")
	}
	return env.Now().Sub(began), env.GetWorkflowError()
}

func continues(err error) bool {
	_, ok := errors.AsType[*workflow.ContinueAsNewError](err)
	return ok
}

// A workflow waits as long as its agent says, which is a duration: the clocks of the agentds and of
// the service may differ by days. Whatever the answer is, it neither spins nor waits for ever.
func TestWaits(t *testing.T) {
	for name, tc := range map[string]struct {
		rest     agent.Rest
		min, max time.Duration
		goesOn   bool
	}{
		"a time":           {agent.Rest{Next: time.Hour}, time.Hour, time.Hour + time.Second, true},
		"too short":        {agent.Rest{Next: time.Nanosecond}, time.Second, 2 * time.Second, true},
		"negative":         {agent.Rest{Next: -time.Hour}, temporal.LongestWait, temporal.LongestWait + time.Second, true},
		"too long":         {agent.Rest{Next: 1000 * time.Hour}, temporal.LongestWait, temporal.LongestWait + time.Second, true},
		"only a request":   {agent.Rest{WaitsFor: "decisions (question: 1)"}, temporal.LongestWait, temporal.LongestWait + time.Second, true},
		"parked":           {agent.Rest{Parked: true}, temporal.LongestWait, temporal.LongestWait + time.Second, true},
		"nothing: the end": {agent.Rest{Ended: true}, 0, time.Second, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker()
			w.rests["r"] = []agent.Rest{tc.rest}
			took, err := once(t, w, nil)
			if took < tc.min || took > tc.max || continues(err) != tc.goesOn || !tc.goesOn && err != nil {
				t.Errorf("it took %v, and ended with %v", took, err)
			}
			if n := w.calls("r"); n != 1 {
				t.Errorf("%d attempts", n)
			}
		})
	}
}

// A signal ends a wait. One that comes during an attempt makes another one follow, also if the run
// has ended: a message may continue it.
func TestSignals(t *testing.T) {
	for name, tc := range map[string]struct {
		rest agent.Rest
		at   time.Duration
	}{
		"during the wait":      {agent.Rest{WaitsFor: "decisions (question: 1)"}, time.Minute},
		"during the attempt":   {agent.Rest{WaitsFor: "decisions (question: 1)"}, 0},
		"just before the end":  {agent.Rest{Ended: true}, 0},
		"during a timed wait":  {agent.Rest{Next: time.Hour}, time.Minute},
		"while the run parked": {agent.Rest{Parked: true}, time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorker()
			w.rests["r"] = []agent.Rest{tc.rest}
			took, err := once(t, w, func(env *testsuite.TestWorkflowEnvironment) {
				if tc.at > 0 {
					env.RegisterDelayedCallback(func() { env.SignalWorkflow(temporal.SignalName, nil) }, tc.at)
					return
				}
				env.SetOnActivityStartedListener(func(*activity.Info, context.Context, converter.EncodedValues) {
					env.SignalWorkflow(temporal.SignalName, nil)
				})
			})
			if !continues(err) || took > 2*time.Minute {
				t.Errorf("it took %v, and ended with %v", took, err)
			}
		})
	}
}

// The signal with which a workflow starts asks for its first attempt, and for no second one.
func TestTheFirstSignal(t *testing.T) {
	w := newWorker()
	w.rests["r"] = []agent.Rest{{Ended: true}}
	if _, err := once(t, w, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(func() { env.SignalWorkflow(temporal.SignalName, nil) }, 0)
	}); err != nil {
		t.Error(err)
	}
}

// A workflow that is cancelled ends, and does not continue as new. Its run is not cancelled.
func TestCancel(t *testing.T) {
	w := newWorker()
	w.rests["r"] = []agent.Rest{{Next: time.Hour}}
	_, err := once(t, w, func(env *testsuite.TestWorkflowEnvironment) {
		env.RegisterDelayedCallback(env.CancelWorkflow, time.Minute)
	})
	if !sdk.IsCanceledError(err) {
		t.Errorf("it ended with %v", err)
	}
}

// Errors are tried again with growing pauses, and say nothing of the run.
func TestActivity(t *testing.T) {
	for kind, again := range map[tool.Kind]bool{tool.KindConflict: true, tool.KindUnavailable: true, tool.KindInternal: true, tool.KindNotFound: false} {
		w := newWorker()
		w.fails["r"] = tool.Errorf(kind, "the model said secret")
		var suite testsuite.WorkflowTestSuite
		env := suite.NewTestActivityEnvironment()
		env.RegisterActivityWithOptions(temporal.Activity(w), activity.RegisterOptions{Name: temporal.ActivityName})
		_, err := env.ExecuteActivity(temporal.ActivityName, "r")
		if (err != nil) != again {
			t.Errorf("%s: %v", kind, err)
		}
		if failed, ok := errors.AsType[*sdk.ApplicationError](err); again && (!ok || failed.NonRetryable() || failed.Type() != string(kind) || strings.Contains(err.Error(), "secret")) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
