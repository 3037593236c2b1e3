package host_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/supervisor"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func call(name, arguments string) tool.Call {
	return tool.Call{Tool: name, Arguments: []byte(arguments)}
}

// outcome executes a call and returns how it ended.
func outcome(t *testing.T, h *rig, c tool.Call) tool.Outcome {
	t.Helper()
	e, err := h.Open(t.Context(), c, true)
	if err != nil {
		t.Fatalf("opening a call of %s: %v", c.Tool, err)
	}
	defer e.Close()
	return end(t, e)
}

// end reads the events of an execution up to the outcome.
func end(t *testing.T, e tool.Execution) tool.Outcome {
	t.Helper()
	for {
		ev, err := e.Next(t.Context())
		if err != nil {
			t.Fatalf("waiting for the end: %v", err)
		}
		if ev.Ended != nil {
			return *ev.Ended
		}
	}
}

// untilStatus reads events up to a status with a message.
func untilStatus(t *testing.T, e tool.Execution, message string) {
	t.Helper()
	for {
		ev, err := e.Next(t.Context())
		if err != nil || ev.Ended != nil {
			t.Fatalf("waiting for the status %q: %+v, %v", message, ev.Ended, err)
		}
		if ev.Status != nil && ev.Status.Message == message {
			return
		}
	}
}

// gate makes launches wait until the test opens it.
func gate(r *rig, tools []hosttest.Tool) (open func()) {
	opened := make(chan struct{})
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		select {
		case <-opened:
			return r.start(ctx, hosttest.NewPlugin(tools))
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
	return sync.OnceFunc(func() { close(opened) })
}

// A starting instance shows operators which step of its launch it waits for.
func TestInstancesShowHowFarTheyAre(t *testing.T) {
	tools := hosttest.Tools()
	r := newRig(t, tools, nil)
	reported, next := make(chan struct{}), make(chan struct{})
	states := []tool.InstanceState{tool.InstanceHandshaking, tool.InstanceWarming}
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		for _, state := range states {
			supervisor.ReportLaunch(ctx, state)
			reported <- struct{}{}
			<-next
		}
		return r.start(ctx, hosttest.NewPlugin(tools))
	}
	e, err := r.Open(t.Context(), call("echo", `{"text":"x"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	for _, want := range states {
		<-reported
		instances, _ := r.Instances(t.Context(), "")
		if len(instances) != 1 || instances[0].State != want {
			t.Errorf("the instance is shown as %+v, want %s", instances, want)
		}
		next <- struct{}{}
	}
	if got := end(t, e); got.Err != nil {
		t.Errorf("the call ended with %v", got.Err)
	}
}

// The first calls of a plugin share one launch. A call that ends while it waits does not abort the
// launch for the others.
func TestFirstCallsShareOneLaunch(t *testing.T) {
	tools := hosttest.Tools()
	r := newRig(t, tools, nil)
	open := gate(r, tools)
	leaver, err := r.Open(t.Context(), call("echo", `{"text":"never"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	const callers = 1000
	var executions []tool.Execution
	for i := range callers {
		e, err := r.Open(t.Context(), call("echo", fmt.Sprintf(`{"text":"%d"}`, i)), true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		executions = append(executions, e)
	}
	leaver.Close()
	if got := end(t, leaver); got.Err == nil || got.Err.Kind != tool.KindCancelled {
		t.Errorf("the caller that left got %+v", got)
	}
	open()
	for i, e := range executions {
		if got := end(t, e); got.Err != nil || got.Result.Text() != fmt.Sprint(i) {
			t.Errorf("call %d ended with %+v", i, got)
		}
	}
	if n := r.started(); n != 1 {
		t.Errorf("%d processes were started, want 1", n)
	}
}

// All calls that waited for a failed launch get its error, and the next call launches again.
func TestFailedLaunch(t *testing.T) {
	tools := hosttest.Tools()
	r := newRig(t, tools, nil)
	fails := true
	r.launch = func(ctx context.Context, _ *catalog.Plugin, _ string) (host.Process, error) {
		if fails {
			return nil, &tool.Error{Kind: tool.KindUnavailable, Message: "it has no legs", Exit: &tool.Exit{Code: 7}}
		}
		return r.start(ctx, hosttest.NewPlugin(tools))
	}
	c := call("count", `{"key":"k"}`)
	c.ID = "again"
	got := outcome(t, r, c)
	if got.Err == nil || got.Err.Kind != tool.KindUnavailable || got.Err.Exit == nil || got.Err.Exit.Code != 7 {
		t.Errorf("the call ended with %+v", got.Err)
	}
	plugins, _ := r.Plugins(t.Context())
	if exit := plugins[0].LastExit; exit == nil || exit.Code != 7 {
		t.Errorf("the last exit is shown as %+v", exit)
	}
	fails = false
	// The call reached no plugin, so that its id can be used again.
	if got := outcome(t, r, c); got.Err != nil || got.Result.Text() != "1" || got.Replayed {
		t.Errorf("the second try ended with %+v", got)
	}
}

// An instance whose process died unnoticed gets no call.
func TestDeadBeforeTheCall(t *testing.T) {
	r := newRig(t, hosttest.Tools(), func(c *host.Config) {
		c.Lifecycle = func(string) lifecycle.Config {
			return lifecycle.Config{MaxCrashes: 100, InitialBackoff: 1, MaxBackoff: 1}
		}
	})
	for i := range 20 {
		if got := outcome(t, r, call("count", fmt.Sprintf(`{"key":"%d"}`, i))); got.Err != nil || got.Result.Text() != "1" {
			t.Fatalf("call %d ended with %+v", i, got)
		}
		r.process(i).End(tool.Exit{Code: -1, Signal: "SIGKILL"})
	}
}

// A call that an instance was executing when the instance crashed ends as crashed. If its tool has
// side effects, the outcome is unknown.
func TestCrash(t *testing.T) {
	tools := hosttest.Tools()
	for i := range tools {
		if tools[i].Spec.Name == "steps" { // read-only, and made to wait here
			tools[i].Run = func(ctx context.Context, _ tool.Call, emit func(tool.Event)) (tool.Result, error) {
				emit(tool.Event{Status: &tool.Status{State: tool.StatusDoing, Message: "waiting"}})
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}
		}
	}
	for name, tc := range map[string]struct {
		call tool.Call
		kind tool.Kind
	}{
		"read-only":         {call("steps", `{"count":1,"bytes":1}`), tool.KindCrashed},
		"with side effects": {call("wait", `{"key":"k"}`), tool.KindOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tools, nil)
			c := tc.call
			c.ID = "crashed"
			e, err := r.Open(t.Context(), c, true)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			untilStatus(t, e, "waiting")
			r.process(0).End(tool.Exit{Code: -1, Signal: "SIGSEGV", LastStderr: []string{"oh no"}})
			got := end(t, e)
			if got.Err == nil || got.Err.Kind != tc.kind || got.Err.Exit == nil || got.Err.Exit.Signal != "SIGSEGV" || got.Instance != "fixture-1" {
				t.Fatalf("the call ended with %+v", got.Err)
			}
			if again := outcome(t, r, c); again.Err == nil || again.Err.Kind != tc.kind || !again.Replayed {
				t.Errorf("the same id ended with %+v; it must not be executed twice", again)
			}
			if next := outcome(t, r, call("echo", `{"text":"on"}`)); next.Err != nil || next.Instance != "fixture-2" {
				t.Errorf("the next call ended with %+v", next)
			}
		})
	}
}

// A call without side effects moves to another instance if something outside killed its first
// instance before the plugin said anything. A call with side effects does not move.
func TestKilledUnderASafeCall(t *testing.T) {
	var entered chan struct{}
	var runs atomic.Int32
	silent := func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
		entered <- struct{}{}
		if runs.Add(1) > 1 {
			return tool.TextResult("done"), nil
		}
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	}
	for name, tc := range map[string]struct {
		readOnly bool
		exit     tool.Exit
		kind     tool.Kind
	}{
		"read-only, killed":         {true, tool.Exit{Code: -1, Signal: "SIGKILL"}, ""},
		"read-only, crashed":        {true, tool.Exit{Code: 2}, tool.KindCrashed},
		"with side effects, killed": {false, tool.Exit{Code: -1, Signal: "SIGKILL"}, tool.KindOutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			entered = make(chan struct{}, 2)
			runs.Store(0)
			spec := tool.Spec{Name: "silent", Description: "Says nothing.", ReadOnly: tc.readOnly}
			r := newRig(t, []hosttest.Tool{{Spec: spec, Run: silent}}, nil)
			e, err := r.Open(t.Context(), call("silent", "{}"), true)
			if err != nil {
				t.Fatal(err)
			}
			defer e.Close()
			<-entered
			r.process(0).End(tc.exit)
			got := end(t, e)
			switch {
			case tc.kind == "" && (got.Err != nil || got.Instance != "fixture-2"):
				t.Errorf("the call ended with %+v", got)
			case tc.kind != "" && (got.Err == nil || got.Err.Kind != tc.kind):
				t.Errorf("the call ended with %+v, want %s", got, tc.kind)
			}
		})
	}
}

// During a restart, calls that run finish in the old process, and new calls go to the new one.
func TestRestartDrains(t *testing.T) {
	tools := hosttest.Tools()
	r := newRig(t, tools, nil)
	old, err := r.Open(t.Context(), call("wait", `{"key":"k"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	defer old.Close()
	untilStatus(t, old, "waiting")
	done, err := r.Restart(t.Context(), hosttest.PluginName, "", false)
	if err != nil || len(done.Stopped) != 1 || done.Stopped[0] != "fixture-1" || len(done.Started) != 1 || done.Started[0] != "fixture-2" {
		t.Fatalf("restart: %+v, %v", done, err)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Instance != "fixture-2" {
		t.Errorf("a new call ran in %s", got.Instance)
	}
	instances, _ := r.Instances(t.Context(), "")
	if len(instances) != 2 || instances[0].State != tool.InstanceDraining || instances[0].Calls != 1 {
		t.Errorf("instances: %+v", instances)
	}
	outcome(t, r, call("release", `{"key":"k"}`)) // both processes share the fixture's state
	if got := end(t, old); got.Err != nil || got.Instance != "fixture-1" {
		t.Errorf("the call under way ended with %+v", got)
	}
	<-r.process(0).Done()
}

// The old instance stays if the new one does not start.
func TestRestartThatFails(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	outcome(t, r, call("echo", `{"text":"x"}`))
	r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
		return nil, errors.New("no luck")
	}
	if _, err := r.Restart(t.Context(), hosttest.PluginName, "", false); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("restart: %v", err)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Instance != "fixture-1" {
		t.Errorf("a call ended with %+v", got)
	}
	if _, err := r.Restart(t.Context(), "nosuch", "", false); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("restart of an unknown plugin: %v", err)
	}
}

// Close cancels calls that run, ends processes, and refuses later calls.
func TestClose(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	e, err := r.Open(t.Context(), call("wait", `{"key":"k"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	untilStatus(t, e, "waiting")
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if got := end(t, e); got.Err == nil || (got.Err.Kind != tool.KindCancelled && got.Err.Kind != tool.KindOutcomeUnknown) {
		t.Errorf("the call ended with %+v", got)
	}
	if r.process(0).Alive() {
		t.Error("the process lives")
	}
	if _, err := r.Open(t.Context(), call("echo", `{"text":"x"}`), true); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("a call after Close: %v", err)
	}
}
