package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/tool"
)

// dyingStore fails all appends after some, as if the process had ended: before the next append, or
// just after it.
type dyingStore struct {
	runstore.Store
	left  atomic.Int64 // appends before it fails
	after bool         // the last append is stored, but reported as failed
}

var errDead = errors.New("the process is dead")

func (s *dyingStore) Append(ctx context.Context, b runstore.Batch) error {
	if left := s.left.Add(-1); left < 0 {
		if left == -1 && s.after {
			return errors.Join(s.Store.Append(ctx, b), errDead)
		}
		return errDead
	}
	return s.Store.Append(ctx, b)
}

// longRun is a run with everything that a run can have: parallel and serial batches, failures,
// unknown tools, a cut response, and a direct result that does not end the run.
func longRun() *fakeModel {
	var answers []*model.Response
	for i := range 6 {
		answers = append(answers,
			response(model.StopToolUse, text(fmt.Sprint("step ", i)), call("a", "echo"), call("a", "echo"), call("", "missing")),
			response(model.StopToolUse, call("s", "serial"), call("b", "echo"), call("c", "direct")),
			response(model.StopPauseTurn, text("thinking")),
		)
	}
	answers = append(answers, response(model.StopMaxTokens, text("cut"), call("x", "echo")), response(model.StopEndTurn, text("the end")))
	return turns(answers...)
}

// sometimes fails some calls and delays others.
func sometimes(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
	switch {
	case strings.HasSuffix(call.ID, ".c1") && strings.Contains(call.ID, "t4"):
		return tool.Outcome{CallID: call.ID, Err: tool.Errorf(tool.KindTimeout, "too slow")}
	case strings.HasSuffix(call.ID, ".c0"):
		time.Sleep(time.Second)
	}
	return echo(ctx, call, nil)
}

func TestResumeAtEveryBoundary(t *testing.T) {
	type ending struct {
		finished *loop.RunFinished
		asked    []model.Request
	}
	undisturbed := func() (e ending) {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, longRun(), newTools(sometimes), nil)
			f.start(loop.Task{})
			e = ending{f.end(), f.model.seen()}
		})
		return e
	}()
	if undisturbed.finished.StopReason != loop.StopEndTurn || undisturbed.finished.Turns != 20 {
		t.Fatalf("the undisturbed run ended with %+v", undisturbed.finished)
	}
	for _, after := range []bool{false, true} {
		for boundary := 1; ; boundary++ {
			died := false
			synctest.Test(t, func(t *testing.T) {
				f := newFixture(t, longRun(), newTools(sometimes), nil)
				dying := &dyingStore{Store: f.store, after: after}
				dying.left.Store(int64(boundary))
				f.Close()
				f.open(func(c *agent.Config) { c.Store = dying })
				f.start(loop.Task{})
				for _, err := range f.WatchRun(t.Context(), "r", 0) {
					died = died || err != nil
				}
				f.Close()
				f.open(nil)
				defer f.Close()
				if _, err := f.Resume(t.Context()); err != nil {
					t.Fatal(err)
				}
				got := f.end()
				if diff := cmp.Diff(undisturbed.finished, got); diff != "" {
					t.Errorf("killed at %d (after: %v), the run ends otherwise:\n%s", boundary, after, diff)
				}
				for id, n := range f.tools.executions() {
					if n != 1 {
						t.Errorf("killed at %d (after: %v), call %s was executed %d times", boundary, after, id, n)
					}
				}
				checkAsked(t, undisturbed.asked, f.model.seen())
			})
			if !died {
				if boundary < 30 {
					t.Errorf("only %d boundaries", boundary)
				}
				break
			}
		}
	}
}

// checkAsked checks that the undisturbed run made each request with the same messages.
func checkAsked(t *testing.T, want, got []model.Request) {
	t.Helper()
	for i, req := range got {
		n := 0
		for _, m := range req.Messages {
			if m.Role == model.RoleAssistant {
				n++
			}
		}
		if reflect.DeepEqual(want[n], req) {
			continue
		}
		// Different text may be the same JSON, and the model sees JSON.
		a, errA := json.Marshal(want[n])
		b, errB := json.Marshal(req)
		if err := errors.Join(errA, errB); err != nil || !bytes.Equal(a, b) {
			t.Errorf("request %d differs from the undisturbed one: %v\n%s", i, err, cmp.Diff(want[n], req))
		}
	}
}

// Closing an agent cancels no call. The next agent joins it.
func TestCloseLeavesCallsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			select {
			case <-release:
				return echo(ctx, call, nil)
			case <-ctx.Done():
				return tool.Outcome{Err: tool.AsError(context.Cause(ctx))}
			}
		})
		var calls []model.Block // many calls, because a wrong cancel depends on timing
		for range 40 {
			calls = append(calls, call("", "echo"))
		}
		f := newFixture(t, turns(response(model.StopToolUse, calls...), response(model.StopEndTurn, text("ok"))), tools, nil)
		f.start(loop.Task{})
		synctest.Wait()
		f.Close()
		for _, err := range f.WatchRun(t.Context(), "r", 42) {
			if tool.KindOf(err) != tool.KindUnavailable {
				t.Errorf("watching a run that nobody works on: %v", err)
			}
		}
		f.open(nil)
		defer f.Close()
		if n, err := f.Resume(t.Context()); n != 1 || err != nil {
			t.Fatalf("resumed %d: %v", n, err)
		}
		synctest.Wait()
		close(release)
		if end := f.end(); end.Text != "ok" {
			t.Errorf("ended with %+v", end)
		}
		for _, e := range f.watch(0) {
			if p, ok := e.Payload.(*loop.CallResult); ok && (p.Failure != nil || f.tools.executions()[p.CallID] != 1) {
				t.Errorf("call %s: %+v, executed %d times", p.CallID, p.Failure, f.tools.executions()[p.CallID])
			}
		}
	})
}

// A call that may have had side effects is not opened just to cancel it.
func TestCancelBeforeResume(t *testing.T) {
	for name, want := range map[string]tool.Kind{"serial": tool.KindOutcomeUnknown, "echo": tool.KindCancelled} {
		synctest.Test(t, func(t *testing.T) {
			tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
				<-ctx.Done()
				return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
			})
			f := newFixture(t, turns(response(model.StopToolUse, call("a", name))), tools, nil)
			dying := &dyingStore{Store: f.store, after: true}
			dying.left.Store(2)
			f.Close()
			f.open(func(c *agent.Config) { c.Store = dying })
			f.start(loop.Task{})
			synctest.Wait()
			if err := f.CancelRun(t.Context(), "r", "stop"); err == nil {
				t.Fatal("the store did not die")
			}
			f.Close()
			tools.mu.Lock()
			for _, c := range tools.calls {
				c.cancel(nil)
			}
			clear(tools.calls) // toolhost has forgotten the calls
			clear(tools.executed)
			tools.mu.Unlock()
			f.open(nil)
			defer f.Close()
			if err := f.ResumeRun(t.Context(), "r"); err != nil {
				t.Fatal(err)
			}
			if end := f.end(); end.StopReason != loop.StopCancelled {
				t.Errorf("ended with %+v", end)
			}
			for _, e := range f.watch(0) {
				if p, ok := e.Payload.(*loop.CallResult); ok && p.Failure.Kind != want {
					t.Errorf("%s: the call ended with %+v, want %s", name, p.Failure, want)
				}
			}
			if n := len(f.tools.executions()); name == "serial" && n != 0 {
				t.Errorf("the cancelled call was executed")
			}
		})
	}
}

func TestForegroundRunsAreNotResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{answer: func(ctx context.Context, _ model.Request) (*model.Response, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{Foreground: true})
		synctest.Wait()
		f.Close()
		f.open(nil)
		defer f.Close()
		if n, err := f.Resume(t.Context()); n != 0 || err != nil {
			t.Errorf("resumed %d: %v", n, err)
		}
		_, sent := f.SendMessage(t.Context(), "r", "hi")
		_, joined := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello"})
		cancelled := f.CancelRun(t.Context(), "r", "")
		if tool.KindOf(sent) != tool.KindConflict || tool.KindOf(cancelled) != tool.KindConflict || joined != nil || len(m.seen()) != 1 {
			t.Errorf("taken over: %v, %v, %v", sent, cancelled, joined)
		}
		if err := f.ResumeRun(t.Context(), "r"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if len(m.seen()) != 2 {
			t.Errorf("the model was asked %d times", len(m.seen()))
		}
	})
}

// The second of two writers leaves the run to the first.
func TestSomebodyElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			<-release
			return response(model.StopEndTurn, text("ok")), nil
		}}
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{})
		synctest.Wait()
		intruder := runstore.Batch{RunID: "r", After: 1, Head: runstore.Head{Unfinished: true, Summary: []byte("{}")}, Records: []runstore.Record{
			{Type: string(loop.TypeUserMessage), Version: 1, Data: []byte(`{"text":"hi"}`)},
		}}
		if err := f.store.Append(t.Context(), intruder); err != nil {
			t.Fatal(err)
		}
		var last error
		for e, err := range f.WatchRun(t.Context(), "r", 0) {
			if last = err; e.Seq == 1 {
				close(release)
			}
		}
		if tool.KindOf(last) != tool.KindConflict {
			t.Errorf("the watch ended with %v", last)
		}
	})
}

// A journal of a later program, or a corrupt one, is refused with the reason.
func TestJournalsThatCannotBeRead(t *testing.T) {
	for want, rec := range map[string]runstore.Record{
		"newer agentd": {Type: "user_message", Version: 99, Data: []byte("{}")},
		"unknown type": {Type: "teleported", Version: 1, Data: []byte("{}")},
		"decoding":     {Type: "user_message", Version: 1, Data: []byte(`{"text":7}`)},
		"wants none":   {Type: "call_result", Version: 1, Data: []byte(`{"call_id":"x"}`)},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := newFixture(t, turns(response(model.StopEndTurn)), newTools(echo), nil)
			start := runstore.Record{Type: "run_started", Version: 1, Data: []byte(`{"run_id":"r","limits":{"max_turns":1,"max_calls":1}}`)}
			batch := runstore.Batch{RunID: "r", Records: []runstore.Record{start, rec}, Head: runstore.Head{Unfinished: true, Summary: []byte("{}")}}
			if err := f.store.Append(t.Context(), batch); err != nil {
				t.Fatal(err)
			}
			_, err := f.SendMessage(t.Context(), "r", "hi")
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want it to say %q", err, want)
			}
		})
	}
}
