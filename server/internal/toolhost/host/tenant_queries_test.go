package host_test

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// withDisk gives a host a ledger and a history on disk.
func withDisk(t *testing.T, dir string) func(*host.Config) {
	t.Helper()
	calls, err := callstore.Open(t.Context(), callstore.Config{Path: filepath.Join(dir, "calls.db")})
	if err != nil {
		t.Fatal(err)
	}
	past, err := history.Open(t.Context(), history.Config{Path: filepath.Join(dir, "history.db"), Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { past.Close(); calls.Close() })
	return func(cfg *host.Config) { cfg.Calls, cfg.History = calls, past }
}

// An operator of some tenants sees their calls, statistics and logs only, in memory and on disk.
func TestQueriesOfTenants(t *testing.T) {
	talks := hosttest.Tool{Spec: tool.Spec{Name: "talks", Description: "Writes to its log."}, Run: echoLog}
	r := newRig(t, append(hosttest.Tools(), talks), withDisk(t, t.TempDir()))
	principals := []string{"ada", "default/x/y", "red/ada", "red/bob", "redder/ada", "blue/red/ada"}
	for i, principal := range principals {
		for _, c := range []tool.Call{call("count", fmt.Sprintf(`{"key":"%d"}`, i)), call("fail", `{"message":"no"}`), call("danger", `{}`), call("talks", `{}`)} {
			c.Principal = principal
			if c.Tool == "count" {
				c.ID = "counted" // the ledger on disk has it
			}
			outcome(t, r, c)
		}
	}
	for _, test := range []struct {
		tenants tool.Tenants
		want    []string
	}{
		{nil, principals},
		{tool.Tenants{}, nil},
		{tool.Tenants{"default"}, []string{"ada", "default/x/y"}},
		{tool.Tenants{"red"}, []string{"red/ada", "red/bob"}},
		{tool.Tenants{"blue", "redder"}, []string{"blue/red/ada", "redder/ada"}},
		{tool.Tenants{"re%", "green"}, nil},
	} {
		var want []string
		for _, p := range test.want {
			want = append(want, p+" count", p+" danger", p+" fail", p+" talks")
		}
		slices.Sort(want)
		for _, size := range []int{0, 1} {
			var got []string
			q := tool.CallQuery{Tenants: test.tenants, PageSize: size}
			for more := true; more; more = q.PageToken != "" {
				page, err := r.Calls(t.Context(), q)
				if err != nil {
					t.Fatal(err)
				}
				for _, c := range page.Calls {
					got = append(got, c.Principal+" "+c.Tool)
				}
				q.PageToken = page.NextPageToken
			}
			slices.Sort(got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("calls of %v, page size %d (-want +got):\n%s", test.tenants, size, diff)
			}
		}
		for _, since := range []time.Time{{}, time.Now().Add(-time.Minute)} {
			stats, err := r.Stats(t.Context(), tool.StatsQuery{Tenants: test.tenants, Since: since})
			if err != nil {
				t.Fatal(err)
			}
			var calls uint64
			for _, s := range stats {
				calls += s.Calls
			}
			if int(calls) != len(want) {
				t.Errorf("the statistics of %v since %v count %d calls, want %d", test.tenants, since, calls, len(want))
			}
		}
		lines := 0
		for line, err := range r.TailLogs(t.Context(), tool.LogQuery{Tenants: test.tenants}) {
			if err != nil {
				t.Fatal(err)
			}
			if line.Tenant == "" || !test.tenants.Contain(line.Tenant) {
				t.Errorf("%v sees a line of %q", test.tenants, line.Tenant)
			}
			lines++
		}
		if lines != len(test.want) {
			t.Errorf("%v sees %d lines, want %d", test.tenants, lines, len(test.want))
		}
	}
}

// An operator sees the events of its tenants, and those that concern a plugin and thereby all
// tenants.
func TestEventsOfTenants(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	reopen := func() *history.Log {
		log, err := history.Open(t.Context(), history.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { log.Close() })
		return log
	}
	past := reopen()
	for i, e := range []tool.PluginEvent{
		{Type: "added"}, {Type: "crashed", Instance: "p-1", Tenant: "red", Reason: "secret"},
		{Type: "backing_off", Tenant: "red", Reason: "secret"}, {Type: "earlier", Instance: "p-2", Reason: "old"},
	} {
		e.Plugin, e.Time = "p", time.Now().Add(time.Duration(i))
		past.Append(history.Entry{Event: &e})
	}
	if err := past.Close(); err != nil {
		t.Fatal(err)
	}
	past = reopen()
	r := newRig(t, hosttest.Tools(), func(cfg *host.Config) { cfg.History = past })
	for _, test := range []struct {
		tenants tool.Tenants
		want    []string
	}{
		{nil, []string{"added  ", "crashed secret red", "backing_off secret red", "earlier old "}},
		{tool.Tenants{"red"}, []string{"added  ", "crashed secret red", "backing_off secret red"}},
		{tool.Tenants{"default"}, []string{"added  ", "earlier old "}},
		{tool.Tenants{}, []string{"added  "}},
	} {
		var got []string
		for e, err := range r.WatchEvents(t.Context(), tool.EventQuery{Plugin: "p", Tenants: test.tenants}) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, e.Type+" "+e.Reason+" "+e.Tenant)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("events of %v (-want +got):\n%s", test.tenants, diff)
		}
	}
}
