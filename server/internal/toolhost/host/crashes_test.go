package host_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// bomb is a tool whose calls end only with their process.
func bomb(entered chan<- struct{}) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: "bomb", Description: "Ends its process.", ReadOnly: true, InputSchema: []byte(`{"type":"object"}`)},
		Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
			entered <- struct{}{}
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		},
	}
}

// explode makes a call of the bomb and ends its process, the nth, as if the process had crashed.
func explode(t *testing.T, r *rig, entered <-chan struct{}, n int, c tool.Call, exit tool.Exit) tool.Outcome {
	t.Helper()
	e, err := r.Open(t.Context(), c, true)
	if err != nil {
		t.Fatal(err)
	}
	defer e.Close()
	<-entered
	r.process(n).End(exit)
	return end(t, e)
}

// The error of a crash says which effects the call may have had. A call of an idempotent tool ends
// as crashed, too, and what it wrote is there.
func TestACrashSaysWhatMayHaveHappened(t *testing.T) {
	for want, spec := range map[string]tool.Spec{
		"; it can be called again":                                     {ReadOnly: true},
		"; it may have done part of its work, and can be called again": {Idempotent: true},
		"; it may have done part of its work":                          {},
	} {
		entered := make(chan struct{}, 1)
		deadly := bomb(entered)
		deadly.Spec.ReadOnly, deadly.Spec.Idempotent = spec.ReadOnly, spec.Idempotent
		r := newRig(t, []hosttest.Tool{deadly}, nil)
		got := explode(t, r, entered, 0, call("bomb", `{}`), tool.Exit{Code: 2})
		if got.Err == nil || !strings.HasSuffix(got.Err.Message, want) {
			t.Errorf("%+v: %v", spec, got.Err)
		}
	}
}

// A call that failed in another process, after its first one was killed, may have left something
// behind: fs is killed once it has made a protected file, and cannot write the file the second
// time.
func TestAFailedRepetitionSaysWhatMayHaveHappened(t *testing.T) {
	const note = "may have done part of its work"
	for name, test := range map[string]struct {
		readOnly, fails, want bool
	}{
		"it fails":               {false, true, true},
		"it succeeds":            {false, false, false},
		"it only reads, in vain": {true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			entered := make(chan struct{}, 1)
			first := bomb(entered)
			first.Spec.ReadOnly, first.Spec.Idempotent = test.readOnly, true
			explodes, tries := first.Run, 0
			first.Run = func(ctx context.Context, c tool.Call, emit func(tool.Event)) (tool.Result, error) {
				if tries++; tries == 1 {
					return explodes(ctx, c, emit)
				}
				if test.fails {
					return tool.ErrorResult("cannot write"), nil
				}
				return tool.TextResult("written"), nil
			}
			r := newRig(t, []hosttest.Tool{first}, nil)
			got := explode(t, r, entered, 0, call("bomb", `{}`), tool.Exit{Code: -1, Signal: "SIGKILL"})
			if got.Err != nil || got.Result.IsError != test.fails || strings.Contains(got.Result.Text(), note) != test.want {
				t.Errorf("got %+v, %v", got.Result, got.Err)
			}
		})
	}
}

// A call that crashes its process repeatedly is refused. The plugin's other tools and calls go on.
func TestOneCallDoesNotQuarantineItsNeighbours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan struct{}, 1)
		r := newRig(t, append(hosttest.Tools(), bomb(entered)), nil)
		deadly := call("bomb", `{"n":1}`)
		// The process exits as if the system had killed it for want of memory. A call without a
		// retry policy is not moved then.
		oom := tool.Exit{Code: -1, Signal: "SIGKILL", OutOfMemory: true}
		for n := range 3 {
			if got := explode(t, r, entered, n, deadly, oom); got.Err == nil || got.Err.Kind != tool.KindCrashed {
				t.Fatalf("call %d ended with %+v", n, got)
			}
			synctest.Wait()
		}
		for range 5 {
			got := outcome(t, r, call("bomb", `{ "n": 1.0 }`)) // the same call
			if got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "with these arguments") || got.Err.RetryAfter == 0 {
				t.Fatalf("a call that has ended three processes ended with %+v", got.Err)
			}
		}
		const refused = `calls of "bomb" with the same arguments are refused until`
		plugins, _ := r.Plugins(t.Context())
		if p := plugins[0]; p.State != tool.PluginEnabled || !strings.HasPrefix(p.Reason, refused) {
			t.Errorf("an operator reads that the plugin is %s: %q", p.State, p.Reason)
		}
		told := 0
		for e, err := range r.WatchEvents(t.Context(), tool.EventQuery{}) {
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(e.Reason, refused) && e.Type == "calls_refused" && !e.Until.IsZero() {
				told++
			}
		}
		if told != 1 {
			t.Errorf("%d events tell of the refused calls", told)
		}
		if got := outcome(t, r, call("echo", `{"text":"on"}`)); got.Err != nil {
			t.Errorf("its neighbour's call ended with %v", got.Err)
		}
		if got := explode(t, r, entered, 3, call("bomb", `{"n":2}`), oom); got.Err == nil || got.Err.Kind != tool.KindCrashed {
			t.Errorf("a call with other arguments ended with %+v", got.Err)
		}
		synctest.Wait()
		if plugins, _ = r.Plugins(t.Context()); plugins[0].State == tool.PluginQuarantined {
			t.Errorf("the plugin is %s: %s", plugins[0].State, plugins[0].Reason)
		}
		if err := r.ClearQuarantine(t.Context(), plugins[0].Name); err != nil {
			t.Error(err)
		}
		if plugins, _ = r.Plugins(t.Context()); plugins[0].Reason != "" {
			t.Errorf("after it was cleared: %s", plugins[0].Reason)
		}
		if got := explode(t, r, entered, 4, deadly, oom); got.Err == nil || got.Err.Kind != tool.KindCrashed {
			t.Errorf("after it was cleared, the call ended with %+v", got.Err)
		}
		synctest.Wait()
		crashes := 0
		for _, e := range events(t, r) {
			if e == "instance_crashed" {
				crashes++
			}
		}
		if crashes != 5 {
			t.Errorf("there were %d crashes, want 5", crashes)
		}
	})
}

// A plugin that crashes with every call is quarantined.
func TestDifferentCallsStillQuarantine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		entered := make(chan struct{}, 1)
		r := newRig(t, append(hosttest.Tools(), bomb(entered)), nil)
		for n := range 5 {
			explode(t, r, entered, n, call("bomb", fmt.Sprintf(`{"n":%d}`, n)), tool.Exit{Code: 2})
			synctest.Wait()
		}
		plugins, _ := r.Plugins(t.Context())
		if p := plugins[0]; p.State != tool.PluginQuarantined {
			t.Errorf("after five crashes by different calls the plugin is %s", p.State)
		}
	})
}

// Exits, events and the log name the calls that were executed during a crash, also in a later host.
func TestACrashNamesItsCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history.db")
	var log bytes.Buffer
	var minted string
	check := func(t *testing.T, r *rig) {
		t.Helper()
		plugins, err := r.Plugins(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		exits := plugins[0].RecentExits
		if len(exits) != 1 || len(exits[0].Calls) != 1 || exits[0].Calls[0].Tool != "bomb" || exits[0].Calls[0].CallID != minted || exits[0].Calls[0].Principal != "uid:9" {
			t.Errorf("the last exits are %+v", exits)
		}
		told := ""
		for e := range r.WatchEvents(t.Context(), tool.EventQuery{}) {
			if e.Type == "instance_crashed" {
				told = e.Reason
			}
		}
		if !strings.Contains(told, "bomb (call "+minted+")") {
			t.Errorf("the event says %q", told)
		}
	}
	keep := func(h **history.Log) func(*host.Config) {
		return func(c *host.Config) {
			var err error
			if *h, err = history.Open(t.Context(), history.Config{Path: path, Logger: slog.Default()}); err != nil {
				t.Fatal(err)
			}
			c.History, c.Logger = *h, slog.New(slog.NewTextHandler(&log, nil))
		}
	}
	entered := make(chan struct{}, 1)
	var first, second *history.Log
	r := newRig(t, append(hosttest.Tools(), bomb(entered)), keep(&first))
	c := call("bomb", `{}`) // without an id
	c.Principal = "uid:9"
	minted = explode(t, r, entered, 0, c, tool.Exit{Code: 2}).CallID
	if minted == "" {
		t.Fatal("the call has no id")
	}
	r.Drain(t.Context(), hosttest.PluginName, "") // wait until the exit is known
	check(t, r)
	r.Close()
	first.Close()
	if !strings.Contains(log.String(), "calls=1 executing=\"bomb (call "+minted+" of uid:9)\"") {
		t.Errorf("the log says\n%s", &log)
	}
	r = newRig(t, hosttest.Tools(), keep(&second))
	check(t, r)
	r.Close()
	second.Close()
}

// Each event of a plugin is logged in one line, at its level.
func TestWhatHappensToAPluginIsLogged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log bytes.Buffer
		r := newRig(t, hosttest.Tools(), func(c *host.Config) { c.Logger = slog.New(slog.NewTextHandler(&log, nil)) })
		for i := range 5 {
			outcome(t, r, call("echo", `{"text":"x"}`))
			synctest.Wait() // until the lease has ended; otherwise the crash would name the call
			r.process(i).End(tool.Exit{Code: 2})
			synctest.Wait()
		}
		if err := r.ClearQuarantine(t.Context(), hosttest.PluginName); err != nil {
			t.Fatal(err)
		}
		if err := r.Pause(t.Context(), hosttest.PluginName, ""); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		r.Close()
		for line, want := range map[string]int{
			"level=WARN msg=\"plugin backs off\"": 3, "level=ERROR msg=\"plugin quarantined\"": 1,
			"level=INFO msg=\"plugin enabled\"": 1, "level=WARN msg=\"plugin paused\"": 1,
			"level=ERROR msg=\"instance crashed\"": 5, "level=INFO msg=\"instance ready\"": 5,
		} {
			if n := strings.Count(log.String(), line); n != want {
				t.Errorf("%d lines say %s, want %d:\n%s", n, line, want, &log)
			}
		}
	})
}
