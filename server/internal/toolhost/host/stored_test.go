package host_test

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/callstore"
	"github.com/toolhost/toolhost/server/internal/toolhost/catalog"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

func openCalls(t *testing.T, cfg callstore.Config) *callstore.Store {
	t.Helper()
	s, err := callstore.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// life runs f with a host that stores its calls in a file, and then closes the host and the store.
func life(t *testing.T, file string, tools []hosttest.Tool, f func(r *rig, s *callstore.Store)) {
	t.Helper()
	s := openCalls(t, callstore.Config{Path: file})
	r := newRig(t, tools, func(c *host.Config) { c.Calls = s })
	f(r, s)
	r.Close()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

func counted(id string) tool.Call {
	c := call("count", `{"key":"k"}`)
	c.ID, c.Principal, c.Session = id, "uid:7", "s"
	return c
}

// A later host with the same file treats an executed id as this host does, also for watches, lists
// and cancels. It refuses the id for another call.
func TestLedgerOutlivesTheHost(t *testing.T) {
	file, tools := filepath.Join(t.TempDir(), "calls.db"), hosttest.Tools()
	life(t, file, tools, func(r *rig, _ *callstore.Store) {
		if got := outcome(t, r, counted("once")); got.Result.Text() != "1" {
			t.Fatalf("the first life answered %+v", got)
		}
	})
	life(t, file, tools, func(r *rig, _ *callstore.Store) {
		for range 2 {
			if got := outcome(t, r, counted("once")); got.Err != nil || got.Result.Text() != "1" || !got.Replayed || got.CallID != "once" {
				t.Errorf("the second life answered %+v", got)
			}
		}
		other := counted("once")
		other.Arguments = []byte(`{"key":"other"}`)
		if got := outcome(t, r, other); got.Err == nil || got.Err.Kind != tool.KindConflict {
			t.Errorf("the id with other arguments gave %+v", got)
		}
		elsewhere := counted("once")
		elsewhere.Session = "t"
		if got := outcome(t, r, elsewhere); got.Result.Text() != "2" || got.Replayed {
			t.Errorf("the id in another session gave %+v", got)
		}
		key := tool.CallKey{Principal: "uid:7", Session: "s", ID: "once"}
		for _, after := range []uint64{0, 5} {
			var events []tool.Event
			for ev, err := range r.WatchCall(t.Context(), key, after) {
				if err != nil {
					t.Fatal(err)
				}
				events = append(events, ev)
			}
			if len(events) != 1 || events[0].Ended == nil || events[0].Seq <= after || events[0].Ended.Result.Text() != "1" {
				t.Errorf("after %d a watcher sees %+v", after, events)
			}
		}
		if err := r.CancelCall(t.Context(), key, ""); err != nil {
			t.Errorf("cancelling it says %v", err)
		}
		page, err := r.Calls(t.Context(), tool.CallQuery{})
		if err != nil || len(page.Calls) != 2 || page.Calls[0].Session != "t" || page.Calls[1].Session != "s" || page.Calls[1].State != tool.CallSucceeded {
			t.Errorf("the calls are %+v, %v", page, err)
		}
		if stats, _ := r.Stats(t.Context(), tool.StatsQuery{}); len(stats) != 1 || stats[0].Calls != 2 {
			t.Errorf("the statistics are %+v: a replay is no call, a conflict is one that failed", stats)
		}
	})
}

// The outcome of a call is available after its plugin is gone, also to a caller that repeats the
// call. A call that was never made is not found.
func TestLedgerOutlivesTheTool(t *testing.T) {
	file, tools := filepath.Join(t.TempDir(), "calls.db"), hosttest.Tools()
	life(t, file, tools, func(r *rig, _ *callstore.Store) {
		if got := outcome(t, r, counted("once")); got.Result.Text() != "1" {
			t.Fatalf("the first life answered %+v", got)
		}
	})
	tools = slices.DeleteFunc(tools, func(f hosttest.Tool) bool { return f.Spec.Name == "count" })
	life(t, file, tools, func(r *rig, _ *callstore.Store) {
		if got := outcome(t, r, counted("once")); got.Err != nil || got.Result.Text() != "1" || !got.Replayed || got.CallID != "once" {
			t.Errorf("the second life answered %+v", got)
		}
		other := counted("once")
		other.Arguments = []byte(`{"key":"other"}`)
		for kind, c := range map[tool.Kind]tool.Call{tool.KindConflict: other, tool.KindNotFound: counted("never")} {
			if e, err := r.Open(t.Context(), c, true); tool.KindOf(err) != kind || e != nil {
				t.Errorf("%s with %s gave %v, want %s", c.ID, c.Arguments, err, kind)
			}
		}
	})
}

// A call that ran when toolhost died is not executed again. Its outcome is unknown, and says so.
func TestUnknownOutcome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	waits := call("wait", `{"key":"never"}`)
	waits.ID = "cut"
	s := openCalls(t, callstore.Config{Path: file})
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = s })
	e, err := r.Open(t.Context(), waits, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	untilStatus(t, e, "waiting")
	if err := s.Close(); err != nil { // as if toolhost had died: nothing more is written
		t.Fatal(err)
	}
	life(t, file, hosttest.Tools(), func(r *rig, _ *callstore.Store) {
		for range 2 {
			got := outcome(t, r, waits)
			if got.Err == nil || got.Err.Kind != tool.KindOutcomeUnknown || !got.Replayed || r.started() != 0 {
				t.Errorf("the next life answered %+v", got)
			}
		}
	})
}

// No call reaches a plugin before it is stored. A call that cannot be stored is not executed.
func TestBegunBeforeDispatched(t *testing.T) {
	s := openCalls(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")})
	var found []bool
	looks := hosttest.Tool{
		Spec: tool.Spec{Name: "looks", Description: "Looks whether it is written down.", PartialArguments: true},
		Run: func(ctx context.Context, c tool.Call, _ func(tool.Event)) (tool.Result, error) {
			entry, ok, err := s.Find(ctx, callstore.Key{ID: c.ID})
			found = append(found, ok && entry.State == callstore.StateBegun)
			return tool.TextResult("looked"), err
		},
		Preview: func([]byte, func(tool.Event)) {},
	}
	r := newRig(t, []hosttest.Tool{looks}, func(c *host.Config) { c.Calls = s })
	whole := call("looks", "{}")
	whole.ID = "whole"
	if got := outcome(t, r, whole); got.Err != nil {
		t.Fatal(got.Err)
	}
	pieces := call("looks", "{")
	pieces.ID = "pieces"
	e, err := r.Open(t.Context(), pieces, false)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	if err := e.Send(t.Context(), []byte("}"), true); err != nil {
		t.Fatal(err)
	}
	if got := end(t, e); got.Err != nil {
		t.Fatal(got.Err)
	}
	if len(found) != 2 || !found[0] || !found[1] {
		t.Errorf("when it ran, it was written down: %v", found)
	}
	s.Close()
	late := call("looks", "{}")
	late.ID = "late"
	if got := outcome(t, r, late); got.Err == nil || got.Err.Kind != tool.KindUnavailable || len(found) != 2 {
		t.Errorf("without the ledger it ended with %+v", got)
	}
	if got := outcome(t, r, call("looks", "{}")); got.Err == nil {
		t.Errorf("the nameless call looked into a closed ledger and got %+v", got)
	}
}

// The id of a call that reached no plugin can be used again, also after a restart.
func TestNeverDispatchedIsForgotten(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	life(t, file, hosttest.Tools(), func(r *rig, s *callstore.Store) {
		r.launch = func(context.Context, *catalog.Plugin, string) (host.Process, error) {
			return nil, errors.New("not today")
		}
		if got := outcome(t, r, counted("again")); got.Err == nil || got.Err.Kind != tool.KindUnavailable {
			t.Fatalf("without a plugin it ended with %+v", got)
		}
		if _, ok, err := s.Find(t.Context(), callstore.Key{Principal: "uid:7", Session: "s", ID: "again"}); ok || err != nil {
			t.Errorf("it is written down: %v, %v", ok, err)
		}
	})
	life(t, file, hosttest.Tools(), func(r *rig, _ *callstore.Store) {
		if got := outcome(t, r, counted("again")); got.Err != nil || got.Replayed {
			t.Errorf("the next life answered %+v", got)
		}
	})
}

// When the store is full of ids, the host refuses new calls with side effects, and says when there
// is room. Other calls go on.
func TestFullLedger(t *testing.T) {
	s := openCalls(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db"), Bounds: callstore.Bounds{MaxIDs: 2}})
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = s })
	outcome(t, r, counted("a"))
	outcome(t, r, counted("b"))
	got := outcome(t, r, counted("c"))
	if got.Err == nil || got.Err.Kind != tool.KindUnavailable || got.Err.RetryAfter < 6*24*time.Hour {
		t.Errorf("the third id ended with %+v", got.Err)
	}
	if got := outcome(t, r, counted("a")); !got.Replayed || got.Result.Text() != "1" {
		t.Errorf("the first id is answered by %+v", got)
	}
	echo := call("echo", `{"text":"x"}`)
	echo.ID = "harmless"
	if got := outcome(t, r, echo); got.Err != nil {
		t.Errorf("a harmless call ended with %v", got.Err)
	}
}

// An id whose result is no longer stored is not executed again. The answer says how the call ended.
func TestResultThatIsNotKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "calls.db")
	life(t, file, hosttest.Tools(), func(r *rig, _ *callstore.Store) { outcome(t, r, counted("old")) })
	now := time.Now().Add(48 * time.Hour)
	s := openCalls(t, callstore.Config{Path: file, Now: func() time.Time { return now }})
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = s })
	outcome(t, r, counted("new")) // this write removes what is too old
	for {
		entry, ok, err := s.Find(t.Context(), callstore.Key{Principal: "uid:7", Session: "s", ID: "old"})
		if err != nil || !ok {
			t.Fatalf("the id is gone: %v", err)
		}
		if entry.Outcome == nil {
			break
		}
		outcome(t, r, counted("new"+strings.Repeat("x", len(entry.ID))+time.Now().String()[20:29]))
	}
	got := outcome(t, r, counted("old"))
	if got.Err == nil || got.Err.Kind != tool.KindOutcomeUnknown || !strings.Contains(got.Err.Message, "ended with a result") {
		t.Errorf("it is answered by %+v", got)
	}
}

// A thousand callers with one id cause one execution and get equal results.
func TestThousandCallersOfOneID(t *testing.T) {
	s := openCalls(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db")})
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = s })
	var callers sync.WaitGroup
	var mu sync.Mutex
	answers := map[string]int{}
	for range 1000 {
		callers.Go(func() {
			got := outcome(t, r, counted("one"))
			mu.Lock()
			defer mu.Unlock()
			answers[got.Result.Text()]++
		})
	}
	callers.Wait()
	if len(answers) != 1 || answers["1"] != 1000 {
		t.Errorf("the answers were %v", answers)
	}
}

// A call that was first sent so long ago that the ledger may have forgotten it is not executed.
func TestOldCallIsNotExecutedAgain(t *testing.T) {
	now := time.Now()
	var later atomic.Int64 // the store reads the time on another goroutine
	clock := func() time.Time { return now.Add(time.Duration(later.Load())) }
	s := openCalls(t, callstore.Config{Path: filepath.Join(t.TempDir(), "calls.db"), Bounds: callstore.Bounds{KeepIDs: time.Hour}, Now: clock})
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Calls = s })
	old := counted("old")
	old.Ledger = s.ID()
	old.FirstSent = now
	if got := outcome(t, r, old); got.Err != nil || got.Result.Text() != "1" {
		t.Fatalf("the call ended with %+v", got)
	}
	later.Store(int64(59*time.Minute + 45*time.Second))
	if got := outcome(t, r, old); got.Err != nil || !got.Replayed {
		t.Errorf("a call that is known ended with %+v", got)
	}
	lost := counted("lost")
	lost.Ledger, lost.FirstSent = s.ID(), old.FirstSent
	if _, err := r.Open(t.Context(), lost, true); tool.KindOf(err) != tool.KindOutcomeUnknown || !strings.Contains(err.Error(), "forgets") {
		t.Errorf("a call that may be forgotten: %v", err)
	}
	lost.FirstSent = clock()
	if got := outcome(t, r, lost); got.Err != nil || got.Result.Text() != "2" {
		t.Errorf("a new call ended with %+v", got)
	}
}
