package host_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/internal/audit"
	"github.com/toolhost/toolhost/internal/host"
	"github.com/toolhost/toolhost/internal/host/hosttest"
	"github.com/toolhost/toolhost/internal/host/lifecycle"
	"github.com/toolhost/toolhost/internal/plugin/catalog"
	"github.com/toolhost/toolhost/internal/policy"
	"github.com/toolhost/toolhost/internal/rpc/pluginwire"
	"github.com/toolhost/toolhost/tool"
)

// done makes a call with Do and returns a channel that gets the outcome, once.
func done(ctx context.Context, t *testing.T, r *rig, c tool.Call) (told <-chan tool.Outcome, execution tool.Execution) {
	t.Helper()
	return doneReceived(ctx, t, r, c, time.Time{})
}

// doneReceived is done for a call that the server received at a time.
func doneReceived(ctx context.Context, t *testing.T, r *rig, c tool.Call, received time.Time) (told <-chan tool.Outcome, execution tool.Execution) {
	t.Helper()
	ends := make(chan tool.Outcome, 2)
	var opened tool.Execution
	var mu sync.Mutex
	r.Do(ctx, c, received, func(e tool.Execution) {
		mu.Lock()
		defer mu.Unlock()
		opened = e
	}, func(ev tool.Event) { ends <- *ev.Ended })
	mu.Lock()
	defer mu.Unlock()
	return ends, opened
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

// warm returns a rig whose plugin has a process, so that a call that waits for nothing takes the
// inline path.
func warm(t *testing.T, answers chan string, change func(*host.Config)) *rig {
	t.Helper()
	r := newRig(t, []hosttest.Tool{held(answers), {Spec: tool.Spec{Name: "log", Description: "Says its id."}, Run: echoLog}}, change)
	if got := outcome(t, r, call("log", "{}")); got.Err != nil {
		t.Fatal(got.Err)
	}
	return r
}

// Whatever happens to a call on the inline path, its caller gets one outcome, and the lease ends.
func TestInline(t *testing.T) {
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
			r.process(0).end(tool.Exit{Signal: "SIGKILL"})
			answers <- "hello again"
		}, text: "hello again"},
		"its process crashes": {act: func(r *rig, _ tool.Execution, _ chan<- string, _ context.CancelFunc) {
			r.process(0).end(tool.Exit{Code: 2})
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
				told, e := done(ctx, t, r, c)
				if e == nil {
					t.Error("Do returned before the call was opened, though it need not wait")
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

// Close waits until the caller of a call on the inline path has its outcome.
func TestInlineWhenTheHostCloses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := warm(t, make(chan string), nil)
		told, _ := done(t.Context(), t, r, call("held", "{}"))
		synctest.Wait()
		r.Close()
		select {
		case got := <-told: // either the process or the call stopped first
			if got.Err == nil || got.Err.Kind != tool.KindCancelled && got.Err.Kind != tool.KindCrashed {
				t.Errorf("the call ended with %+v", got)
			}
		default:
			t.Error("the host is closed, and the caller was not told")
		}
		told, _ = done(t.Context(), t, r, call("held", "{}"))
		if got := <-told; got.Err == nil || got.Err.Kind != tool.KindUnavailable {
			t.Errorf("afterwards a call ended with %+v", got)
		}
	})
}

// A call that has to wait for its process requests the process once. A second request during the
// first launch would make the pool look too small. Processes would then start for calls at the same
// time, and not one after the other.
func TestInlineAsksOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string)
		r := newRig(t, []hosttest.Tool{held(answers)}, with(lifecycle.Config{Isolation: lifecycle.PerCall, Prewarmed: 1}))
		first, _ := done(t.Context(), t, r, call("held", "{}"))
		answers <- "hello"
		if got := <-first; got.Err != nil {
			t.Error(got.Err)
		}
		synctest.Wait()
		if n := r.started(); n != 2 {
			t.Errorf("%d processes were started for the first call and the pool", n)
		}
		second, _ := done(t.Context(), t, r, call("held", "{}"))
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

// A panic on the inline path reaches the caller. It leaves no lease and no id behind, and Close
// does not wait for the call.
func TestInlineWithABug(t *testing.T) {
	for name, tc := range map[string]struct {
		atProcess bool
		again     tool.Kind // the failure of a call with the same id
	}{
		"before it has a place": {},
		// which may have got the call
		"at its process": {atProcess: true, again: tool.KindInternal},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answers := make(chan string, 1)
				var broken *mortal
				r := warm(t, answers, func(c *host.Config) {
					launch := c.Launch
					c.Launch = func(ctx context.Context, p *catalog.Plugin, instance string) (host.Process, error) {
						started, err := launch(ctx, p, instance)
						broken = &mortal{fakeProcess: started.(*fakeProcess)}
						return broken, err
					}
				})
				c := call("held", "{}")
				c.ID = "mine"
				func() {
					defer func() {
						if p := recover(); p != "a bug" {
							t.Errorf("Do panicked with %v", p)
						}
					}()
					broken.bug.Store(tc.atProcess)
					time.Sleep(time.Nanosecond) // so that the host checks again whether the process lives
					r.Do(t.Context(), c, time.Time{}, func(tool.Execution) {
						if !tc.atProcess {
							panic("a bug")
						}
					}, func(tool.Event) {})
				}()
				broken.bug.Store(false)
				synctest.Wait()
				instances, err := r.Instances(context.Background(), "")
				if err != nil || len(instances) != 1 || instances[0].Calls != 0 {
					t.Errorf("the instances are %+v, %v", instances, err)
				}
				answers <- "hello"
				told, _ := done(t.Context(), t, r, c)
				if got := <-told; tc.again == "" && got.Result.Text() != "hello" || tc.again != "" && (got.Err == nil || got.Err.Kind != tc.again) {
					t.Errorf("the next call of its id ended with %+v", got)
				}
				r.Close()
			})
		})
	}
}

// A call whose id is taken gets the outcome of the call that has the id, also if that call is in
// progress.
func TestInlineJoins(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answers := make(chan string)
		r := warm(t, answers, nil)
		c := call("held", "{}")
		c.ID = "one"
		first, _ := done(t.Context(), t, r, c)
		second, _ := done(t.Context(), t, r, c)
		synctest.Wait()
		answers <- "once"
		if a, b := <-first, <-second; a.Result.Text() != "once" || b.Result.Text() != "once" || a.Replayed || !b.Replayed {
			t.Errorf("the calls ended with %+v and %+v", a, b)
		}
		third, _ := done(t.Context(), t, r, c)
		if got := <-third; got.Result.Text() != "once" || !got.Replayed {
			t.Errorf("afterwards it ended with %+v", got)
		}
	})
}

// If the audit log must record the decision about a call, a goroutine writes it before the call is
// executed.
func TestInlineWaitsForNoLog(t *testing.T) {
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
		told, _ := done(t.Context(), t, r, c)
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

// If a tool disappears while its call begins, the inline path does not look it up again, because
// that could block.
func TestInlineKeepsItsTool(t *testing.T) {
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
	told, _ := done(t.Context(), t, u.rig, call("version", "{}"))
	if got := <-told; got.Err == nil || got.Err.Kind != tool.KindUnavailable || !strings.Contains(got.Err.Message, "its file is gone") {
		t.Errorf("the call ended with %+v", got.Err)
	}
}

// The goroutine that reads the plugin's stream passes the outcome to the caller, unless a part of
// the outcome goes to disk. That is possible even for a small result: the replacement of a secret
// may be longer than the secret.
func TestInlineWritesNothing(t *testing.T) {
	const key = "k3y-0f-h"
	for name, tc := range map[string]struct {
		says   string
		reader bool
	}{
		"little":                  {"hello", true},
		"much":                    {strings.Repeat("x", 300), false},
		"much without its secret": {strings.Repeat(key, 20), false},
	} {
		t.Run(name, func(t *testing.T) {
			asked := make(chan struct{})
			r, file := newSecretRig(t, func(_ context.Context, call *pluginwire.ServerCall, _ map[string]string) (tool.Result, error) {
				if call.Start().Tool == "learn" {
					return tool.TextResult("learnt"), nil
				}
				<-asked
				return tool.TextResult(tc.says), nil
			}, func(c *host.Config) { c.MaxShown = 200; withArtifacts(t)(c) }, needing("learn", "KEY"), needing("say"))
			give(t, file, key)
			if got := outcome(t, r, call("learn", "{}")); got.Err != nil {
				t.Fatal(got.Err)
			}
			stacks, outcomes := make(chan string, 1), make(chan tool.Outcome, 1)
			r.Do(t.Context(), call("say", "{}"), time.Time{}, func(tool.Execution) {}, func(ev tool.Event) {
				stacks <- string(debug.Stack())
				outcomes <- *ev.Ended
			})
			close(asked)
			reader := strings.Contains(<-stacks, "pluginwire.(*Conn).read(")
			got := <-outcomes
			if whole := got.Result.Content[0].Kind == tool.ContentText; whole != tc.reader || reader != tc.reader {
				t.Errorf("the outcome %+v came from who reads the stream: %v", got, reader)
			}
		})
	}
}
