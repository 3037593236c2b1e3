package agent_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// The driver's tests run in synctest bubbles, which end only when every goroutine in them has
// ended.

func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := turns(response(model.StopToolUse, text("look"), call("a", "echo"), call("b", "echo")), response(model.StopEndTurn, text("done")))
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{})
		end := f.end()
		want := []loop.Type{
			loop.TypeRunStarted, loop.TypeAssistantMessage, loop.TypeCallStarted, loop.TypeCallStarted,
			loop.TypeCallResult, loop.TypeCallResult, loop.TypeAssistantMessage, loop.TypeRunFinished,
		}
		if diff := cmp.Diff(want, types(f.watch(0))); diff != "" {
			t.Errorf("journal (-want +got):\n%s", diff)
		}
		if end.StopReason != loop.StopEndTurn || end.Text != "done" || end.Turns != 2 || end.Calls != 2 || end.Usage.OutputTokens != 6 {
			t.Errorf("ended with %+v", end)
		}
		requests := m.seen()
		if len(requests) != 2 || len(requests[0].Tools) != 3 || requests[0].System == "" {
			t.Fatalf("requests: %+v", requests)
		}
		results := requests[1].Messages[2].Blocks
		if len(results) != 2 || results[0].ToolResult.Content[0].Text != "echo r.t1.c0" || results[1].ToolResult.ID != "b" {
			t.Errorf("results: %+v", results)
		}
		run, err := f.GetRun(t.Context(), "r")
		if err != nil || run.StopReason != loop.StopEndTurn || run.Turns != 2 || run.Prompt != "hello" || run.LastSeq != 8 {
			t.Errorf("summary %+v, %v", run, err)
		}
	})
}

func TestCallsOfATurnRunTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		arrived, all := make(chan struct{}, 2), make(chan struct{})
		tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			if arrived <- struct{}{}; len(arrived) == 2 {
				close(all)
			}
			<-all
			return echo(ctx, call, nil)
		})
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo"), call("b", "echo")), response(model.StopEndTurn, text("done"))), tools, nil)
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Errorf("ended with %+v", end)
		}
	})
}

func TestFailuresAreResults(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		kinds := []tool.Kind{
			tool.KindCrashed, tool.KindTimeout, tool.KindOutcomeUnknown, tool.KindRateLimited, tool.KindDenied, tool.KindApprovalRequired,
			tool.KindNotFound, tool.KindInvalidArgument, tool.KindUnavailable, tool.KindInternal, tool.KindCancelled, tool.KindConflict,
		}
		var calls []model.Block
		for _, kind := range kinds {
			b := call(string(kind), "echo")
			b.ToolCall.Arguments = string(kind)
			calls = append(calls, b)
		}
		m := turns(response(model.StopToolUse, calls...), response(model.StopEndTurn, text("ok")))
		tools := newTools(func(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			return tool.Outcome{CallID: call.ID, Plugin: "p", Err: &tool.Error{
				Kind: tool.Kind(call.Arguments), Message: "it went wrong", RetryAfter: time.Minute, Exit: &tool.Exit{Code: 3},
			}}
		})
		f := newFixture(t, m, tools, nil)
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopEndTurn {
			t.Fatalf("ended with %+v", end)
		}
		for i, b := range m.seen()[1].Messages[2].Blocks {
			got := b.ToolResult
			if want := "[" + string(kinds[i]) + "] it went wrong"; !got.IsError || !strings.HasPrefix(got.Content[0].Text, want) {
				t.Errorf("the model reads %+v", got)
			}
		}
		for _, e := range f.watch(0) {
			if p, ok := e.Payload.(*loop.CallResult); ok {
				err := p.Failure.AsError(p.CallID)
				if err.RetryAfter != time.Minute || err.Exit.Code != 3 || p.Plugin != "p" || !slices.Contains(kinds, err.Kind) {
					t.Errorf("the journal has %+v", err)
				}
			}
		}
	})
}

func TestAnswersThatAreNoJSON(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bad := []byte(`{"torn`)
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, model.Block{Opaque: &model.Opaque{Provider: "x", JSON: bad}}))
		f := newFixture(t, m, newTools(func(context.Context, tool.Call, func(tool.Status)) tool.Outcome {
			return tool.Outcome{Result: tool.Result{Content: []tool.Content{tool.JSON(bad)}}}
		}), nil)
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopModelError || !strings.Contains(end.Message, "not well-formed") {
			t.Errorf("ended with %+v", end)
		}
		if got := m.seen()[1].Messages[2].Blocks[0].ToolResult; !got.IsError || !strings.Contains(got.Content[0].Text, "not well-formed") {
			t.Errorf("the model reads %+v", got)
		}
	})
}

func TestCancelKeepsFinishedSiblings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tools := newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			if strings.HasSuffix(call.ID, "c0") {
				return echo(ctx, call, nil)
			}
			<-ctx.Done()
			if call.Tool == "stubborn" {
				time.Sleep(time.Hour) // of fake time: a call that does not yield
			}
			return tool.Outcome{CallID: call.ID, Err: tool.AsError(context.Cause(ctx))}
		})
		tools.infos = append(slices.Clone(offered), tool.Info{Spec: tool.Spec{Name: "stubborn", Parallel: true}})
		f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo"), call("b", "echo"), call("c", "stubborn"))), tools, nil)
		f.start(loop.Task{})
		synctest.Wait()
		for _, reason := range []string{"enough", "once more"} {
			if err := f.CancelRun(t.Context(), "r", reason); err != nil {
				t.Fatal(err)
			}
		}
		if end := f.end(); end.StopReason != loop.StopCancelled || end.Message != "enough" {
			t.Errorf("ended with %+v", end)
		}
		got := make(map[string]string)
		for _, e := range f.watch(0) {
			if p, ok := e.Payload.(*loop.CallResult); ok {
				got[p.CallID] = "ok"
				if p.Failure != nil {
					got[p.CallID] = string(p.Failure.Kind)
				}
			}
		}
		want := map[string]string{"r.t1.c0": "ok", "r.t1.c1": "cancelled", "r.t1.c2": "outcome_unknown"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("results (-want +got):\n%s", diff)
		}
		before := len(f.watch(0))
		if err := f.CancelRun(t.Context(), "r", "late"); err != nil || len(f.watch(0)) != before {
			t.Errorf("cancelling a finished run: %v, %v", err, types(f.watch(0)))
		}
	})
}

func TestCancelWhileTheModelWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &fakeModel{answer: func(ctx context.Context, _ model.Request) (*model.Response, error) {
			<-ctx.Done()
			return nil, &model.Error{Message: "gone", Retryable: true, Err: ctx.Err()}
		}}
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{})
		synctest.Wait()
		if err := f.CancelRun(t.Context(), "r", ""); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.StopReason != loop.StopCancelled || len(m.seen()) != 1 {
			t.Errorf("ended with %+v after %d requests", end, len(m.seen()))
		}
	})
}

func TestMessages(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("one")), response(model.StopEndTurn, text("two")))
		f := newFixture(t, m, newTools(func(ctx context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
			<-release
			return echo(ctx, call, nil)
		}), nil)
		f.start(loop.Task{})
		synctest.Wait()
		seq, err := f.SendMessage(t.Context(), "r", "and this")
		if err != nil || seq != 4 {
			t.Errorf("at %d: %v", seq, err)
		}
		close(release)
		if end := f.end(); end.Text != "one" {
			t.Errorf("ended with %+v", end)
		}
		if b := m.seen()[1].Messages[2].Blocks; len(b) != 2 || b[1].Text.Text != "and this" {
			t.Errorf("the model reads %+v", b)
		}
		if _, err := f.SendMessage(t.Context(), "r", "go on"); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.Text != "two" || end.Turns != 3 {
			t.Errorf("ended with %+v", end)
		}
	})
}

// A failed model request is repeated after a user message, although the turn has the same number.
func TestMessageAfterAFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := true
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			if down {
				return nil, &model.Error{Message: "down"}
			}
			return response(model.StopEndTurn, text("up")), nil
		}}
		f := newFixture(t, m, newTools(echo), nil)
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopModelError || end.Message != "down" {
			t.Errorf("ended with %+v", end)
		}
		down = false
		if _, err := f.SendMessage(t.Context(), "r", "again"); err != nil {
			t.Fatal(err)
		}
		if end := f.end(); end.Text != "up" {
			t.Errorf("ended with %+v", end)
		}
	})
}

func TestErrors(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopEndTurn)), newTools(echo), nil)
		f.start(loop.Task{})
		f.end()
		ctx := t.Context()
		_, unknownMessage := f.SendMessage(ctx, "x", "hi")
		_, emptyMessage := f.SendMessage(ctx, "r", " ")
		_, unknownRun := f.GetRun(ctx, "x")
		_, noPrompt := f.StartRun(ctx, loop.Task{Prompt: "\n"})
		_, badID := f.StartRun(ctx, loop.Task{Prompt: "a", RunID: "a b"})
		_, badSession := f.StartRun(ctx, loop.Task{Prompt: "a", Session: "a b"})
		_, taken := f.StartRun(ctx, loop.Task{Prompt: "other", RunID: "r"})
		_, same := f.StartRun(ctx, loop.Task{Prompt: "hello", RunID: "r"})
		_, _, badToken := f.ListRuns(ctx, agent.RunQuery{Size: 1, Token: "nope"})
		var unwatched error
		for _, err := range f.WatchRun(ctx, "x", 0) {
			unwatched = err
		}
		cancelled, resumed := f.CancelRun(ctx, "x", ""), f.ResumeRun(ctx, "x")
		f.Close()
		_, closed := f.SendMessage(ctx, "r", "hi")
		for i, test := range []struct {
			err  error
			want tool.Kind
		}{
			{unknownMessage, tool.KindNotFound}, {emptyMessage, tool.KindInvalidArgument}, {unknownRun, tool.KindNotFound},
			{noPrompt, tool.KindInvalidArgument}, {badID, tool.KindInvalidArgument}, {badSession, tool.KindInvalidArgument},
			{taken, tool.KindConflict}, {same, ""}, {badToken, tool.KindInvalidArgument}, {unwatched, tool.KindNotFound},
			{cancelled, tool.KindNotFound}, {resumed, tool.KindNotFound}, {closed, tool.KindUnavailable},
		} {
			if got := tool.KindOf(test.err); got != test.want {
				t.Errorf("%d: got %v (%s), want %s", i, test.err, got, test.want)
			}
		}
	})
}

func TestListRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopEndTurn, text("done"))), newTools(echo), nil)
		for _, id := range []string{"a", "b", "c"} {
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "hi"}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		var got []string
		token := ""
		for more := true; more; more = token != "" {
			page, next, err := f.ListRuns(t.Context(), agent.RunQuery{Size: 2, Token: token})
			if err != nil {
				t.Fatal(err)
			}
			for _, r := range page {
				got = append(got, r.ID+" "+string(r.StopReason))
			}
			token = next
		}
		if diff := cmp.Diff([]string{"c end_turn", "b end_turn", "a end_turn"}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}

func TestToolsThatCannotBeListed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newFixture(t, turns(response(model.StopEndTurn)), newTools(echo), func(c *agent.Config) { c.Tools = noTools{} })
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopInternalError || !strings.Contains(end.Message, "nobody there") {
			t.Errorf("ended with %+v", end)
		}
	})
}

type noTools struct{ agent.Tools }

func (noTools) ListTools(context.Context, tool.Query) ([]tool.Info, error) {
	return nil, tool.Errorf(tool.KindUnavailable, "%w", errors.New("nobody there"))
}

// A panic in a model or a client ends one run or one call only.
func TestPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		m := &fakeModel{answer: func(context.Context, model.Request) (*model.Response, error) {
			if asked++; asked > 1 {
				panic("model")
			}
			return response(model.StopToolUse, call("a", "echo")), nil
		}}
		tools := newTools(echo)
		tools.refuse = func(tool.Call) error { panic("tools") }
		f := newFixture(t, m, tools, nil)
		f.start(loop.Task{})
		if end := f.end(); end.StopReason != loop.StopInternalError || !strings.Contains(end.Message, "a panic: model") {
			t.Errorf("ended with %+v", end)
		}
		if got := m.seen()[1].Messages[2].Blocks[0].ToolResult.Content[0].Text; !strings.Contains(got, "a panic: tools") {
			t.Errorf("the model reads %q", got)
		}
	})
}
