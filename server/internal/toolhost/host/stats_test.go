package host_test

import (
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// Every call is counted once, with its kind of outcome, also if other calls run at the same time.
func TestStatsAreExact(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	const each = 200
	var wg sync.WaitGroup
	for range each {
		wg.Go(func() { outcome(t, r, call("echo", `{"text":"x"}`)) })
		wg.Go(func() { outcome(t, r, call("echo", `{}`)) }) // invalid arguments
		wg.Go(func() { outcome(t, r, call("fail", `{"message":"no"}`)) })
		wg.Go(func() { outcome(t, r, call("break", `{"kind":"rate_limited"}`)) })
		wg.Go(func() { outcome(t, r, call("danger", `{}`)) })
	}
	wg.Wait()
	got, err := r.Stats(t.Context(), tool.StatsQuery{Plugin: hosttest.PluginName})
	if err != nil {
		t.Fatal(err)
	}
	for i := range got {
		s := &got[i]
		if ran := s.Tool != "danger"; ran != (s.MeanDuration > 0) || s.P50 > s.P99 {
			t.Errorf("durations of %s: %+v", s.Tool, s)
		}
		s.TotalDuration, s.MeanDuration, s.P50, s.P99 = 0, 0, 0, 0
	}
	const plugin = hosttest.PluginName
	want := []tool.Stats{
		{Tool: "break", Plugin: plugin, Calls: each, Failures: map[tool.Kind]uint64{tool.KindRateLimited: each}},
		{Tool: "danger", Plugin: plugin, Calls: each, NeedsApproval: each, Failures: map[tool.Kind]uint64{}},
		{Tool: "echo", Plugin: plugin, Calls: 2 * each, Succeeded: each, ToolErrors: each, Failures: map[tool.Kind]uint64{}},
		{Tool: "fail", Plugin: plugin, Calls: each, ToolErrors: each, Failures: map[tool.Kind]uint64{}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := r.Stats(t.Context(), tool.StatsQuery{Plugin: "nosuch"}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("of an unknown plugin: %v", err)
	}
}

// Operators can read the log records of a tool by plugin and by call.
func TestLogsOfCalls(t *testing.T) {
	talks := hosttest.Tool{Spec: tool.Spec{Name: "talks", Description: "Writes to its log."}, Run: echoLog}
	r := newRig(t, []hosttest.Tool{talks}, nil)
	for _, id := range []string{"one", "two"} {
		c := call("talks", "{}")
		c.ID = id
		outcome(t, r, c)
	}
	var got []string
	for line, err := range r.TailLogs(t.Context(), tool.LogQuery{CallID: "two"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, line.Instance+" "+line.Record.Message)
	}
	if diff := cmp.Diff([]string{"fixture-1 this is two"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A caller that joins a call, or gets a replay of its outcome, adds nothing to the statistics.
func TestStatsCountACallOnce(t *testing.T) {
	r := newRig(t, hosttest.Tools(), nil)
	c := call("count", `{"key":"k"}`)
	c.ID = "once"
	for range 3 {
		if got := outcome(t, r, c); got.Err != nil || got.Result.Text() != "1" {
			t.Fatalf("the call ended with %+v", got)
		}
	}
	got, err := r.Stats(t.Context(), tool.StatsQuery{Plugin: hosttest.PluginName})
	if err != nil || len(got) != 1 {
		t.Fatalf("%+v, %v", got, err)
	}
	if got[0].Calls != 1 || got[0].Succeeded != 1 || len(got[0].Failures) != 0 {
		t.Errorf("one call and two replays count as %+v", got[0])
	}
}
