package agent_test

import (
	"context"
	"iter"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func TestModelRetry(t *testing.T) {
	overloaded := func(after time.Duration) *model.Error {
		return &model.Error{Status: 529, Message: "overloaded", Retryable: true, RetryAfter: after}
	}
	for name, test := range map[string]struct {
		failures []error
		want     loop.StopReason
		asked    int
		atLeast  time.Duration
		atMost   time.Duration
	}{
		"passes":                {[]error{overloaded(0), overloaded(0)}, loop.StopEndTurn, 3, 0, 3 * time.Second},
		"honours Retry-After":   {[]error{overloaded(20 * time.Second)}, loop.StopEndTurn, 2, 20 * time.Second, 20 * time.Second},
		"the longest pause":     {[]error{overloaded(time.Minute)}, loop.StopEndTurn, 2, time.Minute, time.Minute},
		"too long a pause":      {[]error{overloaded(time.Hour)}, loop.StopModelError, 1, 0, 0},
		"a long pause later":    {[]error{overloaded(0), overloaded(61 * time.Second)}, loop.StopModelError, 2, 0, time.Second},
		"gives up":              {[]error{overloaded(0), overloaded(0), overloaded(0), overloaded(0)}, loop.StopModelError, 4, 0, 7 * time.Second},
		"not retryable":         {[]error{&model.Error{Status: 401, Message: "bad key"}}, loop.StopModelError, 1, 0, 0},
		"not a model's error":   {[]error{context.DeadlineExceeded}, loop.StopModelError, 1, 0, 0},
		"overflow is the end":   {[]error{&model.Error{Message: "too long", ContextOverflow: true, Retryable: true}}, loop.StopContextOverflow, 1, 0, 0},
		"a failure, then a bad": {[]error{overloaded(0), &model.Error{Message: "bad"}}, loop.StopModelError, 2, 0, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				failures := test.failures
				m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
					if len(failures) == 0 {
						return response(model.StopEndTurn, text("ok")), nil
					}
					err := failures[0]
					failures = failures[1:]
					return nil, err
				}}
				f := newFixture(t, m, newTools(echo), func(c *agent.Config) { c.ModelRetry.MaxAttempts = 4 })
				began := time.Now()
				f.start(loop.Task{})
				end := f.end()
				if took := time.Since(began); took < test.atLeast || took > test.atMost {
					t.Errorf("it took %s, want %s to %s", took, test.atLeast, test.atMost)
				}
				if end.StopReason != test.want || len(m.seen()) != test.asked {
					t.Errorf("ended with %+v after %d requests", end, len(m.seen()))
				}
			})
		})
	}
}

// A watcher that saw the beginning of a broken response sees that it is void.
func TestRetriedStreamIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &breakingModel{}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = m })
		f.start(loop.Task{})
		shown := ""
		for e, err := range f.WatchRun(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch p := e.Payload.(type) {
			case *loop.TextDelta:
				shown += p.Text
			case *loop.TurnReset:
				shown += "|" + p.Reason + "|"
				if p.Attempt != 2 {
					t.Errorf("attempt %d comes next", p.Attempt)
				}
			}
		}
		if want := "half|the model's stream ended before the response was complete|whole"; shown != want {
			t.Errorf("shown %q, want %q", shown, want)
		}
	})
}

// breakingModel breaks its first stream.
type breakingModel struct{ asked int }

func (*breakingModel) Name() string { return "fake:breaking" }
func (m *breakingModel) Generate(context.Context, model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if m.asked++; m.asked == 1 {
			yield(model.Chunk{TextDelta: &model.TextDelta{Text: "half"}}, nil)
			return
		}
		yield(model.Chunk{TextDelta: &model.TextDelta{Text: "whole"}}, nil)
		yield(model.Chunk{Response: response(model.StopEndTurn, text("whole"))}, nil)
	}
}

// A stream may be slow but not silent.
func TestStalledStreamIsRetried(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &stallingModel{}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = m })
		f.start(loop.Task{})
		shown, reason := "", ""
		for e, err := range f.WatchRun(t.Context(), "r", 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch p := e.Payload.(type) {
			case *loop.TextDelta:
				shown += p.Text
			case *loop.TurnReset:
				reason = p.Reason
			}
		}
		if m.asked != 2 || shown != "slow" || !strings.Contains(reason, "nothing came for 5m0s") {
			t.Errorf("asked %d times, shown %q, reset because %q", m.asked, shown, reason)
		}
	})
}

// stallingModel writes slowly, and then nothing.
type stallingModel struct{ asked int }

func (*stallingModel) Name() string { return "fake:stalling" }
func (m *stallingModel) Generate(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		if m.asked++; m.asked > 1 {
			yield(model.Chunk{Response: response(model.StopEndTurn, text("ok"))}, nil)
			return
		}
		for _, piece := range []string{"s", "l", "o", "w"} {
			select {
			case <-time.After(4 * time.Minute):
			case <-ctx.Done():
				yield(model.Chunk{}, ctx.Err())
				return
			}
			if !yield(model.Chunk{TextDelta: &model.TextDelta{Text: piece}}, nil) {
				return
			}
		}
		<-ctx.Done()
		yield(model.Chunk{}, &model.Error{Message: "closed", Err: ctx.Err()})
	}
}

// A model that reports that it is thinking is not treated as silent.
func TestThinkingIsNoStall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &thinkingModel{}
		f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model = m })
		f.start(loop.Task{})
		if end := f.end(); end.Text != "42" || m.asked != 1 {
			t.Errorf("asked %d times, ended with %+v", m.asked, end)
		}
	})
}

// thinkingModel thinks for an hour.
type thinkingModel struct{ asked int }

func (*thinkingModel) Name() string { return "fake:thinking" }
func (m *thinkingModel) Generate(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.asked++
		for range 15 {
			select {
			case <-time.After(4 * time.Minute):
			case <-ctx.Done():
				yield(model.Chunk{}, ctx.Err())
				return
			}
			if !yield(model.Chunk{Alive: true}, nil) {
				return
			}
		}
		yield(model.Chunk{Response: response(model.StopEndTurn, text("42"))}, nil)
	}
}

func TestToolhostAway(t *testing.T) {
	for name, test := range map[string]struct {
		refusals int
		err      error
		want     tool.Kind // empty: a result
	}{
		"comes back":  {5, tool.Errorf(tool.KindUnavailable, "nobody there"), ""},
		"stays away":  {1000, tool.Errorf(tool.KindUnavailable, "nobody there"), tool.KindUnavailable},
		"refuses":     {1, tool.Errorf(tool.KindDenied, "no"), tool.KindDenied},
		"knows it as": {1, tool.Errorf(tool.KindConflict, "taken"), tool.KindConflict},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				tools := newTools(echo)
				tools.refuse = func(tool.Call) error {
					if test.refusals--; test.refusals >= 0 {
						return test.err
					}
					return nil
				}
				m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
				f := newFixture(t, m, tools, nil)
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

// A call that toolhost refuses because its ledger is away is sent again until its deadline, so the
// model does not see it. What the model can avoid, it is told.
func TestRefusedForNow(t *testing.T) {
	for name, test := range map[string]struct {
		refusals int
		pause    time.Duration
		want     tool.Kind // empty: a result
	}{
		"the ledger comes back":   {30, time.Second, ""},
		"the ledger stays away":   {1_000_000, time.Second, tool.KindTimeout},
		"the tool stays away":     {1000, 0, tool.KindUnavailable},
		"the tool ends itself":    {1, time.Minute, tool.KindUnavailable},
		"the ledger is away once": {1, time.Millisecond, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				answer := func(tool.Call) tool.Outcome {
					if test.refusals--; test.refusals >= 0 {
						return tool.Outcome{Err: &tool.Error{Kind: tool.KindUnavailable, Message: "nothing was executed", RetryAfter: test.pause}}
					}
					return tool.Outcome{Result: tool.TextResult("done")}
				}
				tools := newTools(func(_ context.Context, c tool.Call, _ func(tool.Status)) tool.Outcome { return answer(c) })
				tools.repeated = answer
				m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
				f := newFixture(t, m, tools, nil)
				f.start(loop.Task{})
				f.end()
				for _, e := range f.watch(0) {
					if p, ok := e.Payload.(*loop.CallResult); ok && (p.Failure == nil) != (test.want == "") || ok && p.Failure != nil && p.Failure.Kind != test.want {
						t.Errorf("the result is %+v, %+v", p, p.Failure)
					}
				}
			})
		})
	}
}

// A call that toolhost never ends is given up with an unknown outcome.
func TestSilentCall(t *testing.T) {
	for name, want := range map[string]tool.Kind{"serial": tool.KindOutcomeUnknown, "echo": tool.KindTimeout} {
		synctest.Test(t, func(t *testing.T) {
			done := make(chan struct{})
			tools := newTools(func(context.Context, tool.Call, func(tool.Status)) tool.Outcome {
				<-done
				return tool.Outcome{}
			})
			m := turns(response(model.StopToolUse, call("a", name)), response(model.StopEndTurn, text("ok")))
			f := newFixture(t, m, tools, nil)
			f.start(loop.Task{})
			f.end()
			close(done)
			got := m.seen()[1].Messages[2].Blocks[0].ToolResult.Content[0].Text
			if !strings.HasPrefix(got, "["+string(want)+"]") || !strings.Contains(got, "took longer than 15m0s") {
				t.Errorf("the model reads %q", got)
			}
		})
	}
}

// The usage of failed attempts counts, even if no response follows.
func TestFailedTriesAreCharged(t *testing.T) {
	wasted := tool.Usage{InputTokens: 100, OutputTokens: 10}
	broken := &model.Error{Message: "broken", Retryable: true, Usage: wasted}
	for name, test := range map[string]struct {
		failures int
		want     loop.StopReason
		usage    tool.Usage
		cost     float64
	}{
		"a response comes":   {2, loop.StopEndTurn, tool.Usage{InputTokens: 202, OutputTokens: 23}, 225},
		"none comes":         {4, loop.StopModelError, tool.Usage{InputTokens: 400, OutputTokens: 40}, 440},
		"and it is too much": {3, loop.StopTokenBudget, tool.Usage{InputTokens: 302, OutputTokens: 33}, 335},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				left := test.failures
				m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
					if left--; left >= 0 {
						return nil, broken
					}
					if test.want == loop.StopTokenBudget {
						return response(model.StopToolUse, call("a", "echo")), nil
					}
					return response(model.StopEndTurn, text("ok")), nil
				}}
				f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
					c.ModelRetry.MaxAttempts = 4
					c.Prices = model.Prices{m.Name(): {Input: 1e6, Output: 1e6}}
				})
				f.start(loop.Task{Limits: loop.Limits{MaxTokens: 300}})
				if end := f.end(); end.StopReason != test.want || end.Usage != test.usage || end.Cost != test.cost {
					t.Errorf("ended with %+v", end)
				}
				if r := state(t, f, "r"); r.Usage != test.usage || r.Cost != test.cost {
					t.Errorf("the run used %+v, %g", r.Usage, r.Cost)
				}
			})
		})
	}
}

// Malformed answers are retried less often than missing ones. A model that asks for a pause longer
// than a run waits is not asked again: the run ends at once and says when it is worth trying again,
// or the next model gets the request (cline#10139, lobehub#13572, jcode#1183).
func TestAPauseThatIsTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := func(context.Context, model.Request) (*model.Response, error) {
			return nil, &model.Error{Status: 500, Message: "try again in 3h0m0s", Retryable: true, RetryAfter: 3 * time.Hour}
		}
		m := &fakeModel{answer: busy}
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{})
		until := time.Now().Add(3 * time.Hour).UTC().Format(time.RFC3339)
		if end := f.end(); end.StopReason != loop.StopModelError || !strings.Contains(end.Message, "worth trying again in 3h0m0s, at "+until) || len(m.seen()) != 1 {
			t.Errorf("ended with %+v after %d requests", end, len(m.seen()))
		}
		f.Close()
		first, second := namedModel{&fakeModel{answer: busy}, "fake:a"}, namedModel{turns(response(model.StopEndTurn, text("done"))), "fake:b"}
		f = newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) {
			c.Models = map[string]agent.OfferedModel{"a": {Model: first}, "b": {Model: second}}
			c.Agents = map[string]agent.NamedAgent{"x": {Models: []string{"a", "b"}}}
		})
		began := time.Now()
		f.start(loop.Task{Agent: "x"})
		if end := f.end(); end.Text != "done" || time.Since(began) != 0 || len(first.seen()) != 1 {
			t.Errorf("ended with %+v after %s and %d requests", end, time.Since(began), len(first.seen()))
		}
		f.Close()
	})
}

// An answer that was cut ends as cut if the model refuses the raised limit, which nobody asked for.
// A limit that somebody asked for is an error.
func TestRefusedRaisedLimit(t *testing.T) {
	for _, words := range []string{
		"max_tokens: 32000 > 8192, which is the maximum allowed number of output tokens for this model",
		"max_completion_tokens is too large: 32000. This model supports at most 16384 completion tokens",
	} {
		synctest.Test(t, func(t *testing.T) {
			refused := &model.Error{Status: 400, Message: words}
			var cut bool
			m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
				if cut = !cut; cut {
					return response(model.StopMaxTokens, text("half a sen")), nil
				}
				return nil, refused
			}}
			f := newFixture(t, m, newTools(echo), nil)
			f.start(loop.Task{})
			if end := f.end(); end.StopReason != loop.StopMaxTokens || end.Text != "half a sen" || !strings.Contains(end.Message, words) {
				t.Errorf("ended with %+v", end)
			}
			f.Close()
		})
		synctest.Test(t, func(t *testing.T) {
			m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
				return nil, &model.Error{Status: 400, Message: words}
			}}
			f := newFixture(t, m, newTools(echo), nil)
			f.start(loop.Task{Limits: loop.Limits{MaxResponseTokens: 32000}})
			if end := f.end(); end.StopReason != loop.StopModelError {
				t.Errorf("ended with %+v", end)
			}
			f.Close()
		})
	}
}

func TestMalformedAnswersAreAskedForThreeTimes(t *testing.T) {
	for _, c := range []struct {
		err  error
		want int
	}{
		{model.UnknownStop("error"), 3},
		{&model.Error{Message: "no sense", Retryable: true, Malformed: true}, 3},
		{&model.Error{Message: "overloaded", Retryable: true}, 5},
		{&model.Error{Message: "refused"}, 1},
	} {
		synctest.Test(t, func(t *testing.T) {
			m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) { return nil, c.err }}
			f := newFixture(t, m, newTools(echo), nil)
			f.start(loop.Task{})
			if end := f.end(); end.StopReason != loop.StopModelError || !strings.Contains(end.Message, c.err.Error()) {
				t.Errorf("ended with %+v", end)
			}
			if n := len(m.seen()); n != c.want {
				t.Errorf("%v: asked %d times, want %d", c.err, n, c.want)
			}
			f.Close()
		})
	}
}
