package host_test

import (
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// statesOf returns "TOOL STATE" of the calls that a query selects, the newest first.
func statesOf(t *testing.T, r *rig, q tool.CallQuery) []string {
	t.Helper()
	states := []string{}
	for more := true; more; more = q.PageToken != "" {
		page, err := r.Calls(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range page.Calls {
			states = append(states, c.Tool+" "+string(c.State))
		}
		q.PageToken = page.NextPageToken
	}
	return states
}

// Calls without an id of their caller, and refused calls, are listed for a while after their end.
func TestRecentCallsAreListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, hosttest.Tools(), nil)
		outcome(t, r, call("echo", `{"text":"x"}`))
		time.Sleep(time.Second)
		middle := time.Now()
		outcome(t, r, call("danger", `{}`)) // needs an approval
		time.Sleep(time.Second)
		outcome(t, r, call("fail", `{"message":"no"}`))
		want := []string{"fail tool_error", "danger needs_approval", "echo succeeded"}
		if diff := cmp.Diff(want, statesOf(t, r, tool.CallQuery{})); diff != "" {
			t.Errorf("all calls (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want, statesOf(t, r, tool.CallQuery{PageSize: 1})); diff != "" {
			t.Errorf("in pages of one (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[:2], statesOf(t, r, tool.CallQuery{Since: middle})); diff != "" {
			t.Errorf("since the second (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff(want[1:2], statesOf(t, r, tool.CallQuery{State: tool.CallNeedsApproval})); diff != "" {
			t.Errorf("waiting for a person (-want +got):\n%s", diff)
		}
		time.Sleep(time.Hour)
		if got := statesOf(t, r, tool.CallQuery{}); len(got) != 0 {
			t.Errorf("an hour later: %v", got)
		}
		for range 1500 {
			outcome(t, r, call("echo", `{"text":"x"}`))
		}
		if got := statesOf(t, r, tool.CallQuery{}); len(got) != 1000 {
			t.Errorf("%d of 1500 calls are listed", len(got))
		}
		r.Close()
	})
}

// Calls that failed are listed once: also when memory has forgotten them.
func TestFailedCallsAreListedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	synctest.Test(t, func(t *testing.T) {
		log, err := history.Open(t.Context(), history.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.History = log })
		outcome(t, r, call("danger", `{}`)) // needs an approval
		time.Sleep(time.Second)
		outcome(t, r, call("echo", `{"text":"x"}`))
		time.Sleep(time.Second)
		outcome(t, r, call("danger", `{}`))
		for _, test := range []struct {
			when  string
			want  []string
			sleep time.Duration
		}{
			{"at once", []string{"danger needs_approval", "echo succeeded", "danger needs_approval"}, time.Hour},
			{"an hour later", []string{"danger needs_approval", "danger needs_approval"}, 0},
		} {
			for _, size := range []int{0, 1} {
				if diff := cmp.Diff(test.want, statesOf(t, r, tool.CallQuery{PageSize: size})); diff != "" {
					t.Errorf("%s, in pages of %d (-want +got):\n%s", test.when, size, diff)
				}
			}
			if got := statesOf(t, r, tool.CallQuery{State: tool.CallNeedsApproval, Tool: "danger"}); len(got) != 2 {
				t.Errorf("%s, calls of one tool that wait for a person: %v", test.when, got)
			}
			time.Sleep(test.sleep)
		}
		if got := statesOf(t, r, tool.CallQuery{State: tool.CallSucceeded}); len(got) != 0 {
			t.Errorf("succeeded, an hour later: %v", got)
		}
		r.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
}

// A later host lists each call with an id that failed once: those with side effects from the
// ledger, and the others from the history.
func TestFailedCallsWithIDsOutliveTheHost(t *testing.T) {
	dir := t.TempDir()
	entered := make(chan struct{}, 1)
	writer := bomb(entered)
	writer.Spec.Name, writer.Spec.ReadOnly = "writer", false
	start := func() (*rig, func()) {
		log, err := history.Open(t.Context(), history.Config{Path: filepath.Join(dir, "history.db"), Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		calls := openCalls(t, callstore.Config{Path: filepath.Join(dir, "calls.db")})
		r := newRig(t, append(hosttest.Tools(), bomb(entered), writer), func(c *host.Config) { c.History, c.Calls = log, calls })
		return r, func() {
			r.Close()
			if err := errors.Join(log.Close(), calls.Close()); err != nil {
				t.Error(err)
			}
		}
	}
	r, stop := start()
	for n, name := range []string{"bomb", "writer"} {
		c := call(name, `{}`)
		c.ID, c.Principal, c.Session = "id-"+name, "uid:9", "s"
		explode(t, r, entered, n, c, tool.Exit{Code: 2})
	}
	want := []string{"writer failed", "bomb failed"}
	check := func(when string) {
		for _, size := range []int{0, 1} {
			if diff := cmp.Diff(want, statesOf(t, r, tool.CallQuery{State: tool.CallFailed, PageSize: size})); diff != "" {
				t.Errorf("%s, in pages of %d (-want +got):\n%s", when, size, diff)
			}
		}
	}
	check("at once")
	stop()
	r, stop = start()
	defer stop()
	check("after the restart")
}

// A later host lists the calls that failed, counts those of earlier hosts, and knows since when the
// calls of a crash were executed.
func TestHistoryOutlivesTheHost(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	entered := make(chan struct{}, 1)
	start := func() (*rig, func()) {
		log, err := history.Open(t.Context(), history.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
		if err != nil {
			t.Fatal(err)
		}
		r := newRig(t, append(hosttest.Tools(), bomb(entered)), func(c *host.Config) { c.History = log })
		return r, func() {
			r.Close()
			if err := log.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	began := time.Now()
	r, stop := start()
	for range 60 { // more than the history stores in one second
		outcome(t, r, call("danger", `{}`))
	}
	outcome(t, r, call("echo", `{"text":"x"}`))
	explode(t, r, entered, 0, call("bomb", `{"secret":1}`), tool.Exit{Code: 2})
	r.Drain(t.Context(), hosttest.PluginName, "") // wait until the exit is known
	stop()

	r, stop = start()
	defer stop()
	outcome(t, r, call("echo", `{"text":"x"}`))
	checkLaterCalls(t, r, began)
	checkLaterExit(t, r, began)
	for e := range r.WatchEvents(t.Context(), tool.EventQuery{Since: time.Now()}) {
		t.Errorf("an event from now on: %+v", e)
	}
}

// checkLaterCalls checks the calls and the statistics of TestHistoryOutlivesTheHost.
func checkLaterCalls(t *testing.T, r *rig, began time.Time) {
	t.Helper()
	got := statesOf(t, r, tool.CallQuery{Since: began, PageSize: 7})
	count := map[string]int{}
	for _, s := range got {
		count[s]++
	}
	if count["bomb failed"] != 1 || count["danger needs_approval"] < 49 || count["danger needs_approval"] > 60 || count["echo succeeded"] != 1 {
		t.Errorf("the calls are %v", count)
	}
	if got := statesOf(t, r, tool.CallQuery{Since: time.Now()}); len(got) != 0 {
		t.Errorf("calls from now on: %v", got)
	}
	stats, err := r.Stats(t.Context(), tool.StatsQuery{Since: began})
	if err != nil || len(stats) != 3 || stats[1].Tool != "danger" || stats[1].NeedsApproval != 60 || stats[2].Calls != 2 {
		t.Errorf("the statistics are %+v, %v", stats, err)
	}
	if stats, err := r.Stats(t.Context(), tool.StatsQuery{}); err != nil || len(stats) != 1 || stats[0].Calls != 1 {
		t.Errorf("the statistics since the start are %+v, %v", stats, err)
	}
	if _, err := r.Stats(t.Context(), tool.StatsQuery{Plugin: "nosuch", Since: began}); tool.KindOf(err) != tool.KindNotFound {
		t.Errorf("of an unknown plugin: %v", err)
	}
}

// checkLaterExit checks the crash of TestHistoryOutlivesTheHost.
func checkLaterExit(t *testing.T, r *rig, began time.Time) {
	t.Helper()
	plugins, err := r.Plugins(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	exits := plugins[0].RecentExits
	if len(exits) != 1 || len(exits[0].Calls) != 1 || exits[0].Calls[0].StartTime.Before(began) || exits[0].Calls[0].StartTime.After(exits[0].Time) ||
		len(exits[0].Calls[0].ArgumentsDigest) != 64 {
		t.Errorf("the exits are %+v", exits)
	}
	running, err := r.Instances(t.Context(), "")
	if err != nil || len(running) != 1 || running[0].ID == exits[0].Instance {
		t.Errorf("the process of this host has the name of one before: %+v, %v", running, err)
	}
}
