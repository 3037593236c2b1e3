package host_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// with configures the lifecycle of the rig's plugin.
func with(cfg lifecycle.Config) func(*host.Config) {
	return func(c *host.Config) { c.Lifecycle = func(string) lifecycle.Config { return cfg } }
}

// events returns the types of all events so far.
func events(t *testing.T, r *rig) []string {
	t.Helper()
	var types []string
	for e, err := range r.WatchEvents(t.Context(), tool.EventQuery{}) {
		if err != nil {
			t.Fatal(err)
		}
		if e.Seq != uint64(len(types)+1) {
			t.Errorf("event %d has the number %d", len(types)+1, e.Seq)
		}
		types = append(types, e.Type)
	}
	return types
}

// With isolation session, each session has a process, and its calls share that.
func TestSessionsHaveTheirProcesses(t *testing.T) {
	r := newRig(t, hosttest.Tools(), with(lifecycle.Config{Isolation: lifecycle.PerSession}))
	ran := map[string]string{}
	for _, session := range []string{"a", "b", "a", "b"} {
		c := call("echo", `{"text":"x"}`)
		c.Session = session
		got := outcome(t, r, c)
		if got.Err != nil {
			t.Fatal(got.Err)
		}
		if before := ran[session]; before != "" && before != got.Instance {
			t.Errorf("session %s moved from %s to %s", session, before, got.Instance)
		}
		ran[session] = got.Instance
	}
	if ran["a"] == ran["b"] {
		t.Errorf("both sessions ran in %s", ran["a"])
	}
}

// With isolation call, no process gets two calls.
func TestCallsHaveTheirProcesses(t *testing.T) {
	r := newRig(t, hosttest.Tools(), with(lifecycle.Config{Isolation: lifecycle.PerCall, MaxInstances: 3}))
	seen := map[string]bool{}
	for range 6 {
		got := outcome(t, r, call("echo", `{"text":"x"}`))
		if got.Err != nil || seen[got.Instance] {
			t.Fatalf("a call ended with %+v; the instances before were %v", got, seen)
		}
		seen[got.Instance] = true
	}
}

// An idle instance stops after its time, and the next call starts another one.
func TestIdleInstanceGoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), with(lifecycle.Config{IdleTimeout: time.Minute}))
		outcome(t, r, call("echo", `{"text":"x"}`))
		time.Sleep(time.Minute - time.Second) // virtual
		if n, _ := r.Instances(t.Context(), ""); len(n) != 1 {
			t.Fatalf("instances before the time: %+v", n)
		}
		time.Sleep(2 * time.Second) // virtual
		synctest.Wait()
		if n, _ := r.Instances(t.Context(), ""); len(n) != 0 {
			t.Fatalf("instances after the time: %+v", n)
		}
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Instance != "fixture-2" {
			t.Errorf("the next call ran in %s", got.Instance)
		}
	})
}

// The first restart after a crash is immediate, later ones wait, and a plugin that goes on crashing
// is quarantined until an operator clears it.
func TestBackoffAndQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), with(lifecycle.Config{ProbeAfter: -1}))
		for i := range 5 {
			if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil {
				t.Fatalf("call %d ended with %v", i, got.Err)
			}
			r.process(i).End(tool.Exit{Code: 2})
			synctest.Wait()
		}
		got := outcome(t, r, call("echo", `{"text":"x"}`))
		if got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "crashed 5 times") {
			t.Fatalf("after five crashes a call ended with %+v", got)
		}
		plugins, _ := r.Plugins(t.Context())
		if p := plugins[0]; p.State != tool.PluginQuarantined || p.Launches != 5 || p.LastExit == nil || p.LastExit.Code != 2 {
			t.Errorf("the plugin is shown as %+v", p)
		}
		if err := r.ClearQuarantine(t.Context(), hosttest.PluginName); err != nil {
			t.Fatal(err)
		}
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil {
			t.Errorf("after it was cleared a call ended with %v", got.Err)
		}
		want := []string{
			"instance_launching", "instance_ready", "instance_crashed",
			"instance_launching", "instance_ready", "instance_crashed", "plugin_backing_off",
			"instance_launching", "instance_ready", "instance_crashed", "plugin_backing_off",
			"instance_launching", "instance_ready", "instance_crashed", "plugin_backing_off",
			"instance_launching", "instance_ready", "instance_crashed", "plugin_quarantined",
			"plugin_enabled", "instance_launching", "instance_ready",
		}
		if diff := cmp.Diff(want, events(t, r)); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
	})
}

// An operator can pause, resume and drain a plugin.
func TestPauseAndDrain(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	outcome(t, r, call("echo", `{"text":"x"}`))
	if err := r.Pause(t.Context(), hosttest.PluginName, ""); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err == nil || !strings.Contains(got.Err.Message, "paused") {
		t.Errorf("while it is paused a call ended with %+v", got)
	}
	if err := r.Drain(t.Context(), hosttest.PluginName, ""); err != nil {
		t.Fatal(err)
	}
	if r.process(0).Alive() {
		t.Error("the process lives after the drain")
	}
	if err := r.Resume(t.Context(), hosttest.PluginName); err != nil {
		t.Fatal(err)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Instance != "fixture-2" {
		t.Errorf("after it was resumed a call ended with %+v", got)
	}
}

// A forced restart does not wait for calls.
func TestForceRestart(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	e, err := r.Open(t.Context(), call("wait", `{"key":"k"}`), true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	untilStatus(t, e, "waiting")
	if _, err := r.Restart(t.Context(), hosttest.PluginName, "", true); err != nil {
		t.Fatal(err)
	}
	if got := end(t, e); got.Err == nil {
		t.Errorf("the call under way ended with %+v", got)
	}
	if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Instance != "fixture-2" {
		t.Errorf("the next call ended with %+v", got)
	}
}

// With the isolation `call`, a process stops after each call. If it crashes instead, toolhost
// counts the crash.
func TestCrashOfAProcessPerCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), with(lifecycle.Config{Isolation: lifecycle.PerCall, MaxCrashes: 1, ProbeAfter: -1}))
		e, err := r.Open(t.Context(), call("wait", `{"key":"k"}`), true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		untilStatus(t, e, "waiting")
		instances, _ := r.Instances(t.Context(), "")
		for _, in := range instances {
			if in.Calls == 1 {
				r.process(in.PID - firstPID).End(tool.Exit{Code: 2})
			}
		}
		synctest.Wait()
		if plugins, _ := r.Plugins(t.Context()); plugins[0].State != tool.PluginQuarantined {
			t.Errorf("the plugin is %s after its crash", plugins[0].State)
		}
	})
}

// A plugin that the operator disabled is listed with that reason, and takes no calls and no
// commands.
func TestSwitchedOff(t *testing.T) {
	r := newRig(t, hosttest.Tools(), func(c *host.Config) {
		c.Disabled = func(plugin string) bool { return plugin == hosttest.PluginName }
	})
	if tools, err := r.ListTools(t.Context(), tool.Query{}); err != nil || len(tools) != 0 {
		t.Errorf("its tools are listed: %+v, %v", tools, err)
	}
	if _, err := r.Open(t.Context(), call("echo", `{"text":"x"}`), true); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("a call: %v", err)
	}
	if _, err := r.Restart(t.Context(), hosttest.PluginName, "", false); tool.KindOf(err) != tool.KindUnavailable {
		t.Errorf("a restart: %v", err)
	}
	plugins, _ := r.Plugins(t.Context())
	if p := plugins[0]; p.State != tool.PluginDisabled || !strings.Contains(p.Reason, "configuration") || r.started() != 0 {
		t.Errorf("it is shown as %+v, %d processes", p, r.started())
	}
}
