package host_test

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/wire/pluginwire"
	"github.com/toolhost/toolhost/server/internal/audit"
	"github.com/toolhost/toolhost/server/internal/toolhost/host"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/lifecycle"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/server/internal/toolhost/policy"
	"github.com/toolhost/toolhost/tool"
)

// unary opens a call of which the caller wants only the outcome. told gets the outcome once; it is
// the error of Open if e is nil. The caller leaves when ctx ends.
func unary(ctx context.Context, t *testing.T, r *rig, c tool.Call) (told <-chan tool.Outcome, e tool.Execution) {
	t.Helper()
	c.OutcomeOnly = true
	ends := make(chan tool.Outcome, 2)
	e, err := r.Open(ctx, c, true)
	if err != nil {
		ends <- tool.Outcome{Err: tool.AsError(err)}
		return ends, nil
	}
	stay := context.AfterFunc(ctx, e.Close)
	go func() { // ends with the call
		defer e.Close()
		defer stay()
		for {
			ev, err := e.Next(context.WithoutCancel(ctx))
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil || ev.Ended == nil {
				t.Errorf("instead of the outcome: %+v, %v", ev, err)
				return
			}
			ends <- *ev.Ended
		}
	}()
	return ends, e
}

// held is a tool that waits until the test sends its answer.
func held(answers <-chan string) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: "held", Description: "Answers when it is told to.", ReadOnly: true},
		Run: func(ctx context.Context, _ tool.Call, emit func(tool.Event)) (tool.Result, error) {
			select {
			case text := <-answers:
				if text == "status" {
					emit(tool.Event{Status: &tool.Status{Message: "at it"}})
					text = <-answers
				}
				return tool.TextResult(text), nil
			case <-ctx.Done():
				return tool.Result{}, context.Cause(ctx)
			}
		},
	}
}

// warm returns a rig whose plugin has a process.
func warm(t *testing.T, answers chan string, change func(*host.Config)) *rig {
	t.Helper()
	r := newRig(t, []hosttest.Tool{held(answers), {Spec: tool.Spec{Name: "log", Description: "Says its id."}, Run: echoLog}}, change)
	if got := outcome(t, r, call("log", "{}")); got.Err != nil {
		t.Fatal(got.Err)
	}
	return r
}

// Whatever happens to a call, its caller gets one outcome, and the lease ends.
func TestOneOutcome(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(*tool.Call)
		act    func(r *rig, e tool.Execution, answers chan<- string, leave context.CancelFunc)
		text   string
		kind   tool.Kind
	}{
		"it answers": {act: func(_ *rig, _ tool.Execution, answers chan<- string, _ context.CancelFunc) { answers <- "hello" }, text: "hello"},
		"with much": {act: func(_ *rig, _ tool.Execution, answers chan<- string, _ context.CancelFunc) {
			answers <- strings.Repeat("x", 300_000)
		}, text: strings.Repeat("x", 300_000)},
		"after a status": {act: func(_ *rig, _ tool.Execution, answers chan<- string, _ context.CancelFunc) {
			answers <- "status"
			synctest.Wait()
			answers <- "hello"
		}, text: "hello"},
		"it is cancelled": {act: func(_ *rig, e tool.Execution, _ chan<- string, _ context.CancelFunc) { e.Cancel("enough") }, kind: tool.KindCancelled},
		"its time is up": {change: func(c *tool.Call) { c.Timeout = time.Second },
			act: func(*rig, tool.Execution, chan<- string, context.CancelFunc) { time.Sleep(2 * time.Second) }, kind: tool.KindTimeout},
		"its caller leaves": {act: func(_ *rig, _ tool.Execution, _ chan<- string, leave context.CancelFunc) { leave() }, kind: tool.KindCancelled},
		"its caller leaves, and it has an id": {change: func(c *tool.Call) { c.ID = "mine" },
			act: func(_ *rig, _ tool.Execution, answers chan<- string, leave context.CancelFunc) {
				leave()
				answers <- "hello"
			}, text: "hello"},
		"its process is killed": {act: func(r *rig, _ tool.Execution, answers chan<- string, _ context.CancelFunc) {
			// a call without side effects goes to another process
			r.process(0).End(tool.Exit{Signal: "SIGKILL"})
			answers <- "hello again"
		}, text: "hello again"},
		"its process crashes": {act: func(r *rig, _ tool.Execution, _ chan<- string, _ context.CancelFunc) {
			r.process(0).End(tool.Exit{Code: 2})
		}, kind: tool.KindCrashed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers := make(chan string)
				r := warm(t, answers, nil)
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				c := call("held", "{}")
				c.ID = ""
				most := 1 << 20
				c.MaxShown = &most
				if tc.change != nil {
					tc.change(&c)
				}
				told, e := unary(ctx, t, r, c)
				if e == nil {
					t.Fatal((<-told).Err)
				}
				synctest.Wait()
				tc.act(r, e, answers, leave)
				got := <-told
				if tc.kind == "" && (got.Err != nil || got.Result.Text() != tc.text) || tc.kind != "" && (got.Err == nil || got.Err.Kind != tc.kind) {
					t.Errorf("the call ended with %.100v, want %q", got, tc.kind)
				}
				synctest.Wait()
				select {
				case again := <-told:
					t.Errorf("the caller was told a second time: %+v", again)
				default:
				}
				instances, err := r.Instances(context.Background(), "")
				if err != nil {
					t.Fatal(err)
				}
				for _, in := range instances {
					if in.Calls != 0 {
						t.Errorf("the instance still has %d calls", in.Calls)
					}
				}
			})
		})
	}
}

// When Close returns, every call has its outcome.
func TestOneOutcomeWhenTheHostCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := warm(t, make(chan string), nil)
		told, _ := unary(t.Context(), t, r, call("held", "{}"))
		synctest.Wait()
		r.Close()
		synctest.Wait() // for the goroutine that reads the outcome
		select {
		case got := <-told: // either the process or the call stopped first
			if got.Err == nil || got.Err.Kind != tool.KindCancelled && got.Err.Kind != tool.KindCrashed {
				t.Errorf("the call ended with %+v", got)
			}
		default:
			t.Error("the host is closed, and the caller was not told")
		}
		told, _ = unary(t.Context(), t, r, call("held", "{}"))
		if got := <-told; got.Err == nil || got.Err.Kind != tool.KindUnavailable {
			t.Errorf("afterwards a call ended with %+v", got)
		}
	})
}

// A call that has to wait for its process requests the process once. A second request during the
// first launch would make the pool look too small. Processes would then start for calls at the same
// time, and not one after the other.
func TestACallAsksOnceForAProcess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string)
		r := newRig(t, []hosttest.Tool{held(answers)}, with(lifecycle.Config{Isolation: lifecycle.PerCall, Prewarmed: 1}))
		first, _ := unary(t.Context(), t, r, call("held", "{}"))
		answers <- "hello"
		if got := <-first; got.Err != nil {
			t.Error(got.Err)
		}
		synctest.Wait()
		if n := r.started(); n != 2 {
			t.Errorf("%d processes were started for the first call and the pool", n)
		}
		second, _ := unary(t.Context(), t, r, call("held", "{}"))
		synctest.Wait()
		if n := r.started(); n != 2 {
			t.Errorf("%d processes were started when the second call ran, which is replaced when it has ended", n)
		}
		answers <- "hello"
		if got := <-second; got.Err != nil {
			t.Error(got.Err)
		}
	})
}

// A call whose id is taken gets the outcome of the call that has the id, also if that call is in
// progress.
func TestCallersJoin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string)
		r := warm(t, answers, nil)
		c := call("held", "{}")
		c.ID = "one"
		first, _ := unary(t.Context(), t, r, c)
		second, _ := unary(t.Context(), t, r, c)
		synctest.Wait()
		answers <- "once"
		if a, b := <-first, <-second; a.Result.Text() != "once" || b.Result.Text() != "once" || a.Replayed || !b.Replayed {
			t.Errorf("the calls ended with %+v and %+v", a, b)
		}
		third, _ := unary(t.Context(), t, r, c)
		if got := <-third; got.Result.Text() != "once" || !got.Replayed {
			t.Errorf("afterwards it ended with %+v", got)
		}
	})
}

// The audit log has the decision about a call before the caller gets the outcome.
func TestTheAuditLogComesBeforeTheOutcome(t *testing.T) {
	file := filepath.Join(t.TempDir(), "audit.log")
	log, err := audit.Open(audit.Config{File: file, All: true})
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	rules, err := policy.Compile([]policy.Rule{{Name: "never", When: `tool.name == "log"`, Then: policy.Deny}})
	if err != nil {
		t.Fatal(err)
	}
	answers := make(chan string, 1)
	r := newRig(t, []hosttest.Tool{held(answers), {Spec: tool.Spec{Name: "log", Description: "Says its id."}, Run: echoLog}},
		func(c *host.Config) { c.Audit, c.Policy = log, rules })
	answers <- "hello"
	for _, name := range []string{"held", "log"} {
		c := call(name, "{}")
		c.ID = "id-" + name
		told, _ := unary(t.Context(), t, r, c)
		if got := <-told; (got.Err == nil) != (name == "held") {
			t.Errorf("%s ended with %+v", name, got)
		}
	}
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(string(kept)), "\n"); len(lines) != 2 || !strings.Contains(lines[0], "id-held") || !strings.Contains(lines[1], "id-log") {
		t.Errorf("the log has %q", lines)
	}
}

// If a tool disappears while its call begins, the call fails like any call of a plugin whose file
// is gone.
func TestAToolThatDisappears(t *testing.T) {
	var u *release
	var goes atomic.Bool
	u = newReleaseWith(t, func(c *host.Config) {
		c.Disabled = func(string) bool { // called between the lookup of the tool and the call
			if goes.CompareAndSwap(true, false) {
				if err := os.Remove(u.path); err != nil {
					t.Error(err)
				}
				if err := u.catalog.Load(t.Context()); err != nil {
					t.Error(err)
				}
			}
			return false
		}
	})
	if u.version() != "1" {
		t.Error("it does not answer")
	}
	goes.Store(true)
	told, _ := unary(t.Context(), t, u.rig, call("version", "{}"))
	if got := <-told; got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "its file is gone") {
		t.Errorf("the call ended with %+v", got.Err)
	}
}

// A result is measured without its secrets: the replacement of a secret may be longer than the
// secret, so that the result becomes an artifact.
func TestResultsAreMeasuredWithoutSecrets(t *testing.T) {
	const key = "k3y-0f-h"
	for name, tc := range map[string]struct {
		says  string
		whole bool
	}{
		"little":                  {"hello", true},
		"much":                    {strings.Repeat("x", 300), false},
		"much without its secret": {strings.Repeat(key, 20), false},
	} {
		t.Run(name, func(t *testing.T) {
			r, file := newSecretRig(t, func(_ context.Context, call *pluginwire.ServerCall, _ map[string]string) (tool.Result, error) {
				if call.Start().Tool == "learn" {
					return tool.TextResult("learnt"), nil
				}
				return tool.TextResult(tc.says), nil
			}, func(c *host.Config) { c.MaxShown = 200; withArtifacts(t)(c) }, needing("learn", "KEY"), needing("say"))
			give(t, file, key)
			if got := outcome(t, r, call("learn", "{}")); got.Err != nil {
				t.Fatal(got.Err)
			}
			got := outcome(t, r, call("say", "{}"))
			if whole := got.Result.Content[0].Kind == tool.ContentText; whole != tc.whole {
				t.Errorf("the outcome is %+v", got)
			}
		})
	}
}

// resting takes a second, unless its call is cancelled.
var resting = hosttest.Tool{
	Spec: tool.Spec{Name: "rest", Description: "Takes a second."},
	Run: func(ctx context.Context, _ tool.Call, _ func(tool.Event)) (tool.Result, error) {
		select {
		case <-time.After(time.Second): // virtual
			return tool.TextResult("rested"), nil
		case <-ctx.Done():
			return tool.Result{}, ctx.Err()
		}
	},
}

func withID(name, arguments string) tool.Call {
	c := call(name, arguments)
	c.ID = "mine"
	return c
}

// A caller that wants only the outcome gets it exactly once, whatever it does meanwhile.
func TestOutcomeOnly(t *testing.T) {
	for name, tc := range map[string]struct {
		call   tool.Call
		cancel bool      // the caller leaves while the tool runs
		closed bool      // the host is closed before the call
		kind   tool.Kind // of the failure; empty: there is a result
		text   string    // of the result
	}{
		"answered":               {call: call("echo", `{"text":"x"}`), text: "x"},
		"with an id":             {call: withID("echo", `{"text":"x"}`), text: "x"},
		"no such tool":           {call: withID("nothing", `{}`), kind: tool.KindNotFound},
		"left by its caller":     {call: call("rest", `{}`), cancel: true, kind: tool.KindCancelled},
		"left, and it has an id": {call: withID("rest", `{}`), cancel: true, text: "rested"},
		"toolhost stops":         {call: withID("echo", `{"text":"x"}`), closed: true, kind: tool.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, append(hosttest.Tools(), resting), nil)
				if tc.closed {
					r.Close()
				}
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				told, e := unary(ctx, t, r, tc.call)
				if tc.cancel {
					synctest.Wait()
					leave()
				}
				got := <-told
				synctest.Wait()
				if len(told) > 0 {
					t.Errorf("the caller was told a second time: %+v", <-told)
				}
				kind := tool.Kind("")
				if got.Err != nil {
					kind = got.Err.Kind
				}
				if kind != tc.kind || got.Result.Text() != tc.text {
					t.Errorf("the call ended with %v and %q", got.Err, got.Result.Text())
				}
				if e != nil && tc.call.ID != "" && got.CallID != tc.call.ID {
					t.Errorf("the outcome is that of call %q", got.CallID)
				}
			})
		})
	}
}
