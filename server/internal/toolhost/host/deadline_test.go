package host_test

import (
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// stubborn ignores its context until the test releases it.
func stubborn(release <-chan struct{}) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: "stubborn", Description: "Ignores every order to stop.", Timeout: 3 * time.Second},
		Run: func(_ context.Context, _ tool.Call, emit func(tool.Event)) (tool.Result, error) {
			emit(tool.Event{Status: &tool.Status{State: tool.StatusDoing, Message: "at it"}})
			<-release
			return tool.TextResult("too late"), nil
		},
	}
}

// The caller's timeout applies, bounded by the tool's and by the host's. If neither the caller nor
// the tool sets one, the default applies.
func TestDeadline(t *testing.T) {
	for name, tc := range map[string]struct{ caller, declared, want time.Duration }{
		"nobody says":        {0, 0, 30 * time.Second},
		"the caller":         {7 * time.Second, 0, 7 * time.Second},
		"the caller's more":  {time.Minute, 0, time.Minute},
		"the tool":           {0, 5 * time.Second, 5 * time.Second},
		"the tool's is less": {time.Minute, 5 * time.Second, 5 * time.Second},
		"the host's cap":     {time.Hour, 2 * time.Hour, 10 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				waits := hosttest.Tool{
					Spec: tool.Spec{Name: "waits", Description: "Waits to be told to stop.", Timeout: tc.declared},
					Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
						<-ctx.Done()
						return tool.Result{}, ctx.Err()
					},
				}
				r := newRig(t, []hosttest.Tool{waits}, nil)
				began := time.Now()
				c := call("waits", "{}")
				c.Timeout = tc.caller
				got := outcome(t, r, c)
				if got.Err == nil || got.Err.Kind != tool.KindTimeout {
					t.Errorf("the call ended with %+v", got)
				}
				if took := time.Since(began); took != tc.want {
					t.Errorf("it ended after %v, want %v", took, tc.want)
				}
			})
		})
	}
}

// A call at its deadline ends with the host's message, even if the clock of the plugin is slightly
// ahead. A timeout that a tool reports about something else stays unchanged.
func TestTheHostSaysThatTheTimeIsUp(t *testing.T) {
	for name, tc := range map[string]struct {
		after time.Duration
		want  string
	}{
		"at the end":   {3*time.Second - time.Millisecond, "took longer than the 3s that it had"},
		"in the midst": {time.Second, "the server did not answer"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, []hosttest.Tool{{
					Spec: tool.Spec{Name: "impatient", Description: "Says itself that it took too long.", Timeout: 3 * time.Second},
					Run: func(context.Context, tool.Call, func(tool.Event)) (tool.Result, error) {
						time.Sleep(tc.after) // virtual
						return tool.Result{}, tool.Errorf(tool.KindTimeout, "the server did not answer")
					},
				}}, nil)
				got := outcome(t, r, call("impatient", "{}"))
				if got.Err == nil || got.Err.Kind != tool.KindTimeout || !strings.Contains(got.Err.Message, tc.want) {
					t.Errorf("the call ended with %+v, want %q", got.Err, tc.want)
				}
			})
		})
	}
}

// A call ends at its deadline although its tool does not stop. Its instance takes no new calls,
// finishes the others and ends.
func TestToolThatDoesNotYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, append(hosttest.Tools(), stubborn(release)), nil)
		defer close(release) // before the rig closes, so that the fake process can end
		neighbour, err := r.Open(t.Context(), call("wait", `{"key":"k"}`), true)
		if err != nil {
			t.Fatal(err)
		}
		defer neighbour.Close()
		untilStatus(t, neighbour, "waiting")

		began := time.Now()
		got := outcome(t, r, call("stubborn", "{}"))
		if got.Err == nil || got.Err.Kind != tool.KindTimeout || !strings.Contains(got.Err.Message, "3s") {
			t.Errorf("the call ended with %+v", got)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it ended after %v, want its deadline, 3s", took)
		}
		time.Sleep(5*time.Second + time.Millisecond) // virtual: YieldTimeout
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Instance != "fixture-2" {
			t.Errorf("the next call ended with %+v", got)
		}
		instances, _ := r.Instances(t.Context(), "")
		if len(instances) != 2 || instances[0].State != tool.InstanceUnhealthy || instances[0].Calls != 1 {
			t.Errorf("instances: %+v", instances)
		}
		outcome(t, r, call("release", `{"key":"k"}`))
		if got := end(t, neighbour); got.Err != nil || got.Instance != "fixture-1" {
			t.Errorf("the neighbour ended with %+v", got)
		}
	})
}

// An instance that stops because of a call that does not stop is no normal stop: the observer
// learns that, and its exit names the call and is in the history.
func TestUnhealthyExitIsKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "history.db")
		release := make(chan struct{})
		start := func(o *recorder) (*rig, *history.Log) {
			log, err := history.Open(t.Context(), history.Config{Path: path, Logger: slog.New(slog.DiscardHandler)})
			if err != nil {
				t.Fatal(err)
			}
			return newRig(t, append(hosttest.Tools(), stubborn(release)), func(c *host.Config) { c.History, c.PluginObserver = log, o }), log
		}
		observer := &recorder{}
		r, log := start(observer)
		stuck := call("stubborn", "{}")
		stuck.ID = "stuck"
		outcome(t, r, stuck)
		time.Sleep(5*time.Second + time.Millisecond) // virtual: YieldTimeout
		synctest.Wait()
		close(release)
		r.Close()
		log.Close()
		if !slices.Contains(observer.plugins, "unhealthy fixture") {
			t.Errorf("the reports are %v", observer.plugins)
		}
		later, log := start(&recorder{})
		defer log.Close()
		outcome(t, later, call("echo", `{"text":"x"}`))
		plugins, err := later.Plugins(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exits := plugins[0].RecentExits
		if len(exits) != 1 || !exits[0].Unhealthy || len(exits[0].Calls) != 1 || exits[0].Calls[0].CallID != "stuck" || !strings.Contains(exits[0].Exit.Reason, "did not stop") {
			t.Errorf("the exits are %+v", exits)
		}
		later.Close()
	})
}

// A call that is cancelled shortly before its deadline ends at the deadline, even if its tool does
// not stop.
func TestCancelDoesNotPutTheDeadlineOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, []hosttest.Tool{stubborn(release)}, nil)
		defer close(release)
		began := time.Now()
		e, err := r.Open(t.Context(), call("stubborn", "{}"), true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		untilStatus(t, e, "at it")
		time.Sleep(2900 * time.Millisecond) // virtual
		e.Cancel("enough")
		got := end(t, e)
		if got.Err == nil || got.Err.Kind != tool.KindCancelled {
			t.Errorf("it ended with %+v", got)
		}
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("it ended after %v, want its deadline, 3s", took)
		}
	})
}

// A call does not wait for an instance whose tool ignores a cancel. The instance takes calls again
// if the tool stops after all.
func TestStoppedInstanceGetsNoCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := newRig(t, append(hosttest.Tools(), stubborn(release)), nil)
		e, err := r.Open(t.Context(), call("stubborn", "{}"), true)
		if err != nil {
			t.Fatal(err)
		}
		defer e.Close()
		untilStatus(t, e, "at it")
		e.Cancel("enough")
		time.Sleep(499 * time.Millisecond) // virtual
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Instance != "fixture-1" {
			t.Errorf("a call that came at once ended with %+v", got)
		}
		time.Sleep(2 * time.Millisecond)
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Instance != "fixture-2" {
			t.Errorf("a call that came later ended with %+v", got)
		}
		instances, _ := r.Instances(t.Context(), "")
		if len(instances) != 2 || instances[0].State != tool.InstanceUnhealthy {
			t.Errorf("instances: %+v", instances)
		}
		r.process(1).End(tool.Exit{Signal: "SIGKILL"})
		synctest.Wait()
		close(release)
		if got := end(t, e); got.Err != nil || got.Result.Text() != "too late" {
			t.Errorf("the cancelled call ended with %+v", got)
		}
		synctest.Wait()
		if got := outcome(t, r, call("echo", `{"text":"x"}`)); got.Err != nil || got.Instance != "fixture-1" {
			t.Errorf("a call that came when all had stopped ended with %+v", got)
		}
	})
}

// A call whose deadline passes during the launch says that it reached no plugin, and its id can be
// used again.
func TestTimeoutWhileLaunching(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := hosttest.Tools()
		r := newRig(t, tools, nil)
		open := gate(r, tools)
		c := call("count", `{"key":"k"}`)
		c.ID, c.Timeout = "patient", time.Second
		if got := outcome(t, r, c); got.Err == nil || got.Err.Kind != tool.KindTimeout || !strings.Contains(got.Err.Message, "nothing was executed") {
			t.Errorf("the call ended with %+v", got)
		}
		open()
		if got := outcome(t, r, c); got.Err != nil || got.Result.Text() != "1" {
			t.Errorf("the second try ended with %+v", got)
		}
	})
}

// The ledger forgets the oldest outcomes first, by number and by bytes.
func TestLedgerIsBounded(t *testing.T) {
	for name, change := range map[string]func(*host.Config){
		"by count": func(c *host.Config) { c.MaxLedgerEntries = 2 },
		"by bytes": func(c *host.Config) { c.MaxLedgerBytes = 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, hosttest.Tools(), change)
			do := func(id string) tool.Outcome {
				c := call("count", `{"key":"k"}`)
				c.ID = id
				return outcome(t, r, c)
			}
			for _, id := range []string{"a", "b", "c", "d"} {
				do(id)
			}
			if got := do("d"); !got.Replayed || got.Result.Text() != "4" {
				t.Errorf("the newest id ended with %+v", got)
			}
			if got := do("a"); got.Replayed || got.Result.Text() != "5" {
				t.Errorf("the oldest id ended with %+v; it should have been evicted", got)
			}
		})
	}
}

// Calls without an id remove no outcome from the ledger, and calls without side effects remove no
// outcome of a call with side effects.
func TestNamelessCallsPushNothingOut(t *testing.T) {
	r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.MaxLedgerEntries = 5 })
	once := call("count", `{"key":"k"}`)
	once.ID = "once"
	outcome(t, r, once)
	for i := range 20 {
		outcome(t, r, call("echo", `{"text":"x"}`))
		named := call("echo", `{"text":"x"}`)
		named.ID = fmt.Sprint("named-", i)
		outcome(t, r, named)
	}
	if got := outcome(t, r, once); !got.Replayed || got.Result.Text() != "1" {
		t.Errorf("the id ended with %+v; it was executed twice", got)
	}
}
