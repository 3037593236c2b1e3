package hosttest

import (
	"context"
	"iter"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/toolhost/toolhost/tool"
)

func testRestartByForce(t *testing.T, h Host) {
	e := open(t, h, call("wait", `{"key":"k"}`), true)
	untilStatus(t, e, "waiting")
	if _, err := h.Restart(bounded(t), PluginName, "", true); err != nil {
		t.Fatal(err)
	}
	events := drain(t, e)
	if end := events[len(events)-1].Ended; end.Err == nil {
		t.Errorf("a call under way ended with %+v", end.Result)
	}
	if got := text(t, h, call("echo", `{"text":"x"}`)); got != "x" {
		t.Errorf("got %q", got)
	}
}

func testDrain(t *testing.T, h Host) {
	before := do(t, h, call("echo", `{"text":"x"}`))
	if err := h.Drain(bounded(t), PluginName, ""); err != nil {
		t.Fatal(err)
	}
	if left, err := h.Instances(bounded(t), PluginName); err != nil || len(left) != 0 {
		t.Errorf("after the drain there are %v, %v", left, err)
	}
	p := plugin(t, h)
	if len(p.RecentExits) != 1 || p.RecentExits[0].Instance != before.Instance || !p.RecentExits[0].Expected ||
		p.RecentExits[0].Time.IsZero() || p.LastExit == nil {
		t.Errorf("the exits are %+v, the last %+v", p.RecentExits, p.LastExit)
	}
	if after := do(t, h, call("echo", `{"text":"x"}`)); after.Err != nil || after.Instance == before.Instance {
		t.Errorf("the next call: %+v", after)
	}
	checkKind(t, tool.AsError(h.Drain(bounded(t), "absent", "")), tool.KindNotFound)
}

func plugin(t *testing.T, h Host) tool.PluginInfo {
	t.Helper()
	plugins, err := h.Plugins(bounded(t))
	if err != nil || len(plugins) != 1 {
		t.Fatalf("got %v, %v; want one plugin", plugins, err)
	}
	return plugins[0]
}

func testPause(t *testing.T, h Host) {
	if err := h.Pause(bounded(t), PluginName, ""); err != nil {
		t.Fatal(err)
	}
	if p := plugin(t, h); p.State != tool.PluginPaused || p.Reason == "" {
		t.Errorf("it is %s: %q", p.State, p.Reason)
	}
	refused(t, h, call("echo", `{"text":"x"}`), tool.KindUnavailable)
	if err := h.Resume(bounded(t), PluginName); err != nil {
		t.Fatal(err)
	}
	if p := plugin(t, h); p.State != tool.PluginEnabled || p.Reason != "" {
		t.Errorf("it is %s: %q", p.State, p.Reason)
	}
	text(t, h, call("echo", `{"text":"x"}`))
	checkKind(t, tool.AsError(h.Pause(bounded(t), "absent", "")), tool.KindNotFound)
	checkKind(t, tool.AsError(h.Resume(bounded(t), "absent")), tool.KindNotFound)
}

// The events of an operator's command show its reason, quoted, and so does the state of a paused
// plugin. Callers do not get the reason.
func testOrdersAreExplained(t *testing.T, h Host) {
	const reason, quoted = "ticket 812\n\x1b[2J", `: "ticket 812\n\x1b[2J"`
	text(t, h, call("echo", `{"text":"x"}`))
	if err := h.Pause(bounded(t), PluginName, reason); err != nil {
		t.Fatal(err)
	}
	if p := plugin(t, h); !strings.HasPrefix(p.Reason, "an operator paused it") || !strings.HasSuffix(p.Reason, quoted) {
		t.Errorf("the paused plugin says %q", p.Reason)
	}
	if err := h.Pause(bounded(t), PluginName, ""); err != nil {
		t.Fatal(err)
	}
	if p := plugin(t, h); !strings.HasSuffix(p.Reason, quoted) {
		t.Errorf("after a second pause without a reason the plugin says %q", p.Reason)
	}
	if err := refused(t, h, call("echo", `{"text":"x"}`), tool.KindUnavailable); strings.Contains(err.Message, "812") {
		t.Errorf("a caller reads %q", err.Message)
	}
	if err := h.Resume(bounded(t), PluginName); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Restart(bounded(t), PluginName, reason, false); err != nil {
		t.Fatal(err)
	}
	text(t, h, call("echo", `{"text":"x"}`))
	if err := h.Drain(bounded(t), PluginName, reason); err != nil {
		t.Fatal(err)
	}
	shown := map[string]string{}
	for _, e := range collect(t, h.WatchEvents(bounded(t), tool.EventQuery{})) {
		shown[e.Type] = e.Reason // the latest
	}
	for _, kind := range []string{"plugin_paused", "restart_started", "instance_draining"} {
		if !strings.HasPrefix(shown[kind], "an operator ") || !strings.HasSuffix(shown[kind], quoted) {
			t.Errorf("the event %s says %q", kind, shown[kind])
		}
	}
	if !strings.HasPrefix(shown["plugin_enabled"], "an operator resumed it") {
		t.Errorf("the end of the pause says %q", shown["plugin_enabled"])
	}
}

func testClear(t *testing.T, h Host) {
	if err := h.ClearQuarantine(bounded(t), PluginName); err != nil {
		t.Fatal(err)
	}
	if p := plugin(t, h); p.State != tool.PluginEnabled {
		t.Errorf("it is %s", p.State)
	}
	text(t, h, call("echo", `{"text":"x"}`))
	checkKind(t, tool.AsError(h.ClearQuarantine(bounded(t), "absent")), tool.KindNotFound)
}

// The suite's plugin never changes. The tests of the host check upgrades.
func testNothingToUpgrade(t *testing.T, h Host) {
	digest := plugin(t, h).Digest
	done, err := h.Reload(bounded(t))
	if diff := cmp.Diff(tool.Reloaded{}, done, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	done, err = h.ReloadPlugins(bounded(t))
	if diff := cmp.Diff(tool.Reloaded{}, done, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	change, err := h.DiffConfiguration(bounded(t))
	if diff := cmp.Diff(tool.ConfigurationChange{}, change, cmpopts.EquateEmpty()); diff != "" || err != nil {
		t.Errorf("%v, (-want +got):\n%s", err, diff)
	}
	upgraded, err := h.Upgrade(bounded(t), PluginName, "because")
	if want := (tool.Upgraded{Digest: digest, PreviousDigest: digest}); err != nil || upgraded != want {
		t.Errorf("got %+v, %v; want %+v", upgraded, err, want)
	}
	_, err = h.Rollback(bounded(t), PluginName, 0, "")
	checkKind(t, tool.AsError(err), tool.KindNotFound)
	_, err = h.Upgrade(bounded(t), "absent", "")
	checkKind(t, tool.AsError(err), tool.KindNotFound)
	_, err = h.Rollback(bounded(t), "absent", 1, "")
	checkKind(t, tool.AsError(err), tool.KindNotFound)
	_, err = h.Rollback(bounded(t), PluginName, 7, "")
	checkKind(t, tool.AsError(err), tool.KindNotFound)
	revisions, err := h.Revisions(bounded(t), PluginName)
	want := []tool.Revision{{Number: 1, Digest: digest, Cause: tool.RevisionAdded, Current: true}}
	if diff := cmp.Diff(want, revisions, cmpopts.IgnoreFields(tool.Revision{}, "Time")); diff != "" || err != nil {
		t.Errorf("revisions: %v, (-want +got):\n%s", err, diff)
	}
	_, err = h.Revisions(bounded(t), "absent")
	checkKind(t, tool.AsError(err), tool.KindNotFound)
}

// collect reads a stream that ends without being stopped.
func collect[T any](t *testing.T, stream iter.Seq2[T, error]) []T {
	t.Helper()
	var all []T
	for item, err := range stream {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, item)
	}
	return all
}

func testWatchEvents(t *testing.T, h Host) {
	ran := do(t, h, call("echo", `{"text":"x"}`)).Instance
	all := collect(t, h.WatchEvents(bounded(t), tool.EventQuery{}))
	var ready []string
	for i, e := range all {
		if e.Seq != uint64(i+1) || e.Plugin != PluginName || e.Time.IsZero() || e.Type == "" {
			t.Errorf("event %d is %+v", i+1, e)
		}
		if e.Type == "instance_ready" {
			ready = append(ready, e.Instance)
		}
	}
	if diff := cmp.Diff([]string{ran}, ready); diff != "" {
		t.Fatalf("instances that got ready (-want +got):\n%s", diff)
	}
	later := collect(t, h.WatchEvents(bounded(t), tool.EventQuery{Plugin: PluginName, After: 1}))
	if diff := cmp.Diff(all[1:], later, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("after the first (-want +got):\n%s", diff)
	}
	again := collect(t, h.WatchEvents(bounded(t), tool.EventQuery{After: all[len(all)-1].Seq + 1}))
	if diff := cmp.Diff(all, again, cmpopts.EquateApproxTime(0)); diff != "" {
		t.Errorf("after a number of another host's (-want +got):\n%s", diff)
	}
	if none := collect(t, h.WatchEvents(bounded(t), tool.EventQuery{Plugin: "absent"})); len(none) != 0 {
		t.Errorf("of an absent plugin there are %v", none)
	}
}

// follow reads a stream in a goroutine of the test. It returns a function that returns the next
// item, and a function that ends the stream and returns its last error.
func follow[T any](t *testing.T, stream func(ctx context.Context) iter.Seq2[T, error]) (next func() T, end func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	items, ended := make(chan T), make(chan error, 1)
	var last error
	go func() { // ends with ctx, at the latest with the test
		defer close(items)
		for item, err := range stream(ctx) {
			if err != nil {
				ended <- err
				return
			}
			select {
			case items <- item:
			case <-ctx.Done():
			}
		}
		ended <- nil
	}()
	wait := func() error {
		cancel()
		for range items {
		}
		return <-ended
	}
	stopped := false
	end = func() error {
		if !stopped {
			stopped, last = true, wait()
		}
		return last
	}
	t.Cleanup(func() { _ = end() })
	return func() T {
		t.Helper()
		select {
		case item, ok := <-items:
			if !ok {
				t.Fatal("the stream ended")
			}
			return item
		case <-bounded(t).Done():
			t.Fatal("nothing came")
			panic("unreachable")
		}
	}, end
}

func testFollowEvents(t *testing.T, h Host) {
	next, end := follow(t, func(ctx context.Context) iter.Seq2[tool.PluginEvent, error] {
		return h.WatchEvents(ctx, tool.EventQuery{Follow: true})
	})
	ran := do(t, h, call("echo", `{"text":"x"}`)).Instance
	seq := uint64(0)
	until := func(kind string) tool.PluginEvent {
		for {
			e := next()
			if seq++; e.Seq != seq {
				t.Errorf("event %d came after %d", e.Seq, seq-1)
			}
			if e.Type == kind {
				return e
			}
		}
	}
	if e := until("instance_ready"); e.Instance != ran {
		t.Errorf("got %+v, want %s", e, ran)
	}
	if _, err := h.Restart(bounded(t), PluginName, "", false); err != nil {
		t.Fatal(err)
	}
	until("restart_started")
	until("restart_finished")
	checkKind(t, tool.AsError(end()), tool.KindCancelled)
}

func messages(lines []tool.LogLine) []string {
	var all []string
	for _, l := range lines {
		all = append(all, l.Record.Message)
	}
	return all
}

func testTailLogs(t *testing.T, h Host) {
	for _, id := range []string{"a", "b", "c"} {
		text(t, h, named("talk-"+id, "talk", `{"text":"`+id+`"}`))
	}
	for _, test := range []struct {
		query tool.LogQuery
		want  []string
	}{
		{tool.LogQuery{}, []string{"a", "b", "c"}},
		{tool.LogQuery{Plugin: PluginName}, []string{"a", "b", "c"}},
		{tool.LogQuery{Last: 2}, []string{"b", "c"}},
		{tool.LogQuery{Last: 9}, []string{"a", "b", "c"}},
		{tool.LogQuery{CallID: "talk-b"}, []string{"b"}},
		{tool.LogQuery{CallID: "absent"}, nil},
	} {
		if diff := cmp.Diff(test.want, messages(collect(t, h.TailLogs(bounded(t), test.query)))); diff != "" {
			t.Errorf("%+v (-want +got):\n%s", test.query, diff)
		}
	}
	line := collect(t, h.TailLogs(bounded(t), tool.LogQuery{CallID: "talk-a"}))[0]
	if line.Seq == 0 || line.Plugin != PluginName || line.Instance == "" || line.CallID != "talk-a" ||
		line.Record.Level != tool.LogWarn || line.Record.Time.IsZero() || string(line.Record.Attributes["n"]) != "1" {
		t.Errorf("got %+v", line)
	}
	for _, err := range h.TailLogs(bounded(t), tool.LogQuery{Plugin: "absent"}) {
		checkKind(t, tool.AsError(err), tool.KindNotFound)
		return
	}
	t.Error("an absent plugin is no error")
}

func testFollowLogs(t *testing.T, h Host) {
	text(t, h, call("talk", `{"text":"before"}`))
	next, end := follow(t, func(ctx context.Context) iter.Seq2[tool.LogLine, error] {
		return h.TailLogs(ctx, tool.LogQuery{Plugin: PluginName, Follow: true})
	})
	if got := next().Record.Message; got != "before" {
		t.Errorf("got %q", got)
	}
	text(t, h, call("talk", `{"text":"after"}`))
	if got := next().Record.Message; got != "after" {
		t.Errorf("got %q", got)
	}
	checkKind(t, tool.AsError(end()), tool.KindCancelled)
}

func testStats(t *testing.T, h Host) {
	if none, err := h.Stats(bounded(t), tool.StatsQuery{}); err != nil || len(none) != 0 {
		t.Errorf("before any call there are %v, %v", none, err)
	}
	text(t, h, call("echo", `{"text":"x"}`))
	text(t, h, call("echo", `{"text":"y"}`))
	result(t, h, call("fail", `{"message":"no"}`))
	refused(t, h, call("break", `{"kind":"rate_limited"}`), tool.KindRateLimited)
	want := []tool.Stats{
		{Tool: "break", Plugin: PluginName, Calls: 1, Failures: map[tool.Kind]uint64{tool.KindRateLimited: 1}},
		{Tool: "echo", Plugin: PluginName, Calls: 2, Succeeded: 2},
		{Tool: "fail", Plugin: PluginName, Calls: 1, ToolErrors: 1},
	}
	for _, plugin := range []string{"", PluginName} {
		got := untilCounted(t, h, plugin, 4)
		for i := range got {
			s := &got[i]
			if s.TotalDuration <= 0 || s.MeanDuration <= 0 || s.P50 <= 0 || s.P99 < s.P50 {
				t.Errorf("durations of %s: %+v", s.Tool, s)
			}
			s.TotalDuration, s.MeanDuration, s.P50, s.P99 = 0, 0, 0, 0
		}
		if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("of %q (-want +got):\n%s", plugin, diff)
		}
	}
	_, err := h.Stats(bounded(t), tool.StatsQuery{Plugin: "absent"})
	checkKind(t, tool.AsError(err), tool.KindNotFound)
}

// untilCounted waits until the statistics have n calls: a host may count a call just after its
// caller gets the outcome.
func untilCounted(t *testing.T, h Host, plugin string, n uint64) []tool.Stats {
	t.Helper()
	for ctx := bounded(t); ; {
		stats, err := h.Stats(ctx, tool.StatsQuery{Plugin: plugin})
		if err != nil {
			t.Fatal(err)
		}
		calls := uint64(0)
		for s := range slices.Values(stats) {
			calls += s.Calls
		}
		if calls >= n {
			return stats
		}
	}
}
