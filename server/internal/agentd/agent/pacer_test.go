package agent_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// A provider with room for two requests at a time refuses the others of a tenant with many runs and
// of one with a few. No run fails, and the few do not wait for the many.
func TestTooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const many, few = 60, 3
		var mu sync.Mutex
		atWork, refused := 0, 0
		var answered []string
		m := &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
			mu.Lock()
			if atWork == 2 {
				refused++
				mu.Unlock()
				return nil, &model.Error{Status: 429, Message: "too many", Retryable: true, RetryAfter: time.Duration(refused%3) * time.Second}
			}
			atWork++
			mu.Unlock()
			time.Sleep(time.Second)
			mu.Lock()
			defer mu.Unlock()
			atWork--
			answered = append(answered, req.Messages[0].Blocks[0].Text.Text)
			return response(model.StopEndTurn, text("ok")), nil
		}}
		f := newFixture(t, m, newTools(echo), func(c *agent.Config) { c.ModelRetry.MaxAttempts = 2 })
		defer f.Close()
		start := func(principal string, n int) {
			for i := range n {
				task := loop.Task{RunID: fmt.Sprint("r", i), Prompt: principal, Principal: principal}
				if _, err := f.StartRun(t.Context(), task); err != nil {
					t.Fatal(err)
				}
			}
		}
		start("red/ada", many)
		start("blue/eve", few)
		time.Sleep(30 * time.Minute)
		runs, _, err := f.ListRuns(t.Context(), agent.RunQuery{Size: 100})
		if err != nil || len(runs) != many+few {
			t.Fatalf("%d runs, %v", len(runs), err)
		}
		for _, r := range runs {
			if r.StopReason != loop.StopEndTurn {
				t.Errorf("run %s ended with %q", r.ID, r.StopReason)
			}
		}
		place := 0
		for i, p := range answered {
			if strings.HasPrefix(p, "blue/") {
				place = i + 1
			}
		}
		if len(answered) != many+few || place > 4*few+2 {
			t.Errorf("the last answer of the few was number %d of %d", place, len(answered))
		}
		if all := many + few; refused == 0 || refused > 2*all {
			t.Errorf("%d requests were refused for %d answers", refused, all)
		}
	})
}

// A run that waits for its turn ends when it is cancelled, and gives its turn to the next one. A
// limit that holds for an hour is the end of a request.
func TestWaitingForAModel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := true
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			if full {
				return nil, &model.Error{Status: 429, Message: "too many", Retryable: true, RetryAfter: time.Minute}
			}
			return response(model.StopEndTurn, text("ok")), nil
		}}
		f := newFixture(t, m, newTools(echo), nil)
		defer f.Close()
		for _, id := range []string{"a", "b", "c"} {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "go"}); err != nil {
				t.Fatal(err)
			}
		}
		ended := func(id string, want loop.StopReason) {
			t.Helper()
			if r, err := f.GetRun(t.Context(), id); err != nil || r.StopReason != want {
				t.Errorf("run %s: %q, %v; want %q", id, r.StopReason, err, want)
			}
		}
		time.Sleep(10 * time.Minute)
		if err := f.CancelRun(t.Context(), "a", "no more"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		ended("a", loop.StopCancelled)
		ended("b", "")
		time.Sleep(time.Hour)
		ended("b", loop.StopModelError)
		ended("c", loop.StopModelError)
		full = false
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: "d", Prompt: "go"}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute)
		ended("d", loop.StopEndTurn)
	})
}

// A toolhost that executes nothing now makes a run slower. What a tool or a quota of a day says is
// for the model.
func TestFullToolhost(t *testing.T) {
	refused := func(kind tool.Kind, after time.Duration, instance string) tool.Outcome {
		return tool.Outcome{Plugin: "p", Instance: instance, Err: &tool.Error{Kind: kind, Message: "not now", RetryAfter: after}}
	}
	for name, test := range map[string]struct {
		refused  tool.Outcome
		refusals int
		want     tool.Kind // empty: the call is executed
	}{
		"full":                      {refused(tool.KindRateLimited, 2*time.Second, ""), 40, ""},
		"full for ever":             {refused(tool.KindRateLimited, 2*time.Second, ""), 10_000, tool.KindRateLimited},
		"full for the day":          {refused(tool.KindRateLimited, time.Hour, ""), 1, tool.KindRateLimited},
		"the tool says so":          {refused(tool.KindRateLimited, 2*time.Second, "p-1"), 1, tool.KindRateLimited},
		"unavailable":               {refused(tool.KindUnavailable, 0, ""), 9, ""},
		"unavailable for ever":      {refused(tool.KindUnavailable, 0, ""), 10_000, tool.KindUnavailable},
		"a plugin that starts late": {refused(tool.KindUnavailable, 10*time.Second, ""), 1, tool.KindUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				next := func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
					if test.refusals--; test.refusals >= 0 {
						return test.refused
					}
					return echo(t.Context(), call, nil)
				}
				tools := newTools(next)
				tools.repeated = func(call tool.Call) tool.Outcome { return next(t.Context(), call, nil) }
				f := newFixture(t, turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok"))), tools, nil)
				f.start(loop.Task{})
				if end := f.end(); end.Text != "ok" {
					t.Errorf("ended with %+v", end)
				}
				for _, e := range f.watch(0) {
					if p, ok := e.Payload.(*loop.CallResult); ok && (p.Failure == nil) != (test.want == "") || ok && p.Failure != nil && p.Failure.Kind != test.want {
						t.Errorf("the result is %+v", p)
					}
				}
			})
		})
	}
}

// A panic in the client of a model gives the turn of the request to the next one.
func TestAPanicKeepsNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			switch asked++; asked {
			case 1: // from now on, one request goes at a time
				return nil, &model.Error{Status: 429, Message: "too many", Retryable: true}
			case 2:
				panic("a bug in the client")
			}
			return response(model.StopEndTurn, text("ok")), nil
		}}
		f := newFixture(t, m, newTools(echo), nil)
		defer f.Close()
		for _, id := range []string{"a", "b", "c"} {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "go"}); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		time.Sleep(10 * time.Minute)
		ends := make(map[loop.StopReason]int)
		for _, id := range []string{"a", "b", "c"} {
			r, err := f.GetRun(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			ends[r.StopReason]++
		}
		if ends[loop.StopInternalError] != 1 || ends[loop.StopEndTurn] != 2 {
			t.Errorf("the runs ended with %v", ends)
		}
	})
}

// An agent that drains does not wait for requests that wait for their turn or for another attempt,
// or begin to.
func TestDrainLeavesRequestsThatWait(t *testing.T) {
	for i, begins := range []time.Duration{time.Second, 10 * time.Second, time.Second, 10 * time.Second} {
		status := []int{429, 500}[i/2]
		synctest.Test(t, func(t *testing.T) {
			m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
				time.Sleep(3 * time.Second)
				return nil, &model.Error{Status: status, Message: "not now", Retryable: true, RetryAfter: time.Minute}
			}}
			f, store := newRemote(t, m, newTools(echo))
			defer f.Close()
			for _, id := range []string{"a", "b", "c"} {
				if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "go"}); err != nil {
					t.Fatal(err)
				}
			}
			time.Sleep(begins)
			began := time.Now()
			ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
			defer cancel()
			f.Drain(ctx)
			if took := time.Since(began); took > 3*time.Second || ctx.Err() != nil || store.held.Load() != 0 {
				t.Errorf("begun after %s, refused with %d: %d runs are left after %s", begins, status, store.held.Load(), took)
			}
		})
	}
}
