package agent_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// The tool receives arguments while the model writes them: the model waits until a watcher has seen
// the tool's status.
func TestArgumentsReachTheToolAsTheyAreWritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStage(t, func(ctx context.Context, s *script) error {
			s.begin("write")
			s.write(`{"te`)
			if err := s.shown(ctx, `{"te`); err != nil {
				return err
			}
			s.write(`xt":`)
			if err := s.shown(ctx, `{"text":`); err != nil {
				return err
			}
			s.write(`1}`)
			return nil
		})
		var order []string
		for _, e := range g.watch() {
			line := string(e.Payload.Type())
			if p, ok := e.Payload.(*loop.ArgumentDelta); ok {
				line += " " + p.CallID + " " + p.Tool + " " + p.Text
			}
			if p, ok := e.Payload.(*loop.CallStatus); ok {
				line += " " + p.CallID + " " + string(p.Status.State) + " " + p.Status.Message
			}
			order = append(order, line)
		}
		want := []string{
			"run_started", `argument_delta r.t1.c0 write {"te`, `call_status r.t1.c0 WAIT {"te`, `argument_delta r.t1.c0 write xt":`,
			`call_status r.t1.c0 WAIT {"text":`, `argument_delta r.t1.c0 write 1}`, "assistant_message",
			"call_started", "call_result", "assistant_message", "run_finished",
		}
		// Whether the tool sees the last piece depends on timing.
		order = slices.DeleteFunc(order, func(line string) bool { return line == `call_status r.t1.c0 WAIT {"text":1}` })
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`write {"text":1}`}, g.executed); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
		if opened := g.Opened(); len(opened) != 1 || opened[0].Session != "r" || string(opened[0].Context[loop.KeyTurn]) != "1" {
			t.Errorf("opened: %+v; the call that was shown is the one that is made", opened)
		}
	})
}

// toolhost never executes a call that the model did not complete, or that the agent must not make.
func TestPreviewsThatComeToNothing(t *testing.T) {
	begin := func(ctx context.Context, s *script) error {
		s.begin("write")
		s.write(`{"a":1}`)
		return s.shown(ctx, `{"a":1}`)
	}
	for name, test := range map[string]struct {
		script func(ctx context.Context, s *script) error
		want   loop.StopReason
	}{
		"cut": {func(ctx context.Context, s *script) error {
			s.stop = model.StopMaxTokens
			return begin(ctx, s)
		}, loop.StopEndTurn},
		"refusal": {func(ctx context.Context, s *script) error {
			s.stop = model.StopRefusal
			return begin(ctx, s)
		}, loop.StopRefusal},
		"content filter": {func(ctx context.Context, s *script) error {
			s.stop = model.StopContentFilter
			return begin(ctx, s)
		}, loop.StopContentFilter},
		"error": {func(ctx context.Context, s *script) error {
			return errors.Join(begin(ctx, s), &model.Error{Message: "bad key"})
		}, loop.StopModelError},
		"retried": {func(ctx context.Context, s *script) error {
			return errors.Join(begin(ctx, s), &model.Error{Message: "overloaded", Retryable: true})
		}, loop.StopEndTurn},
		"cancelled": {func(ctx context.Context, s *script) error {
			if err := begin(ctx, s); err != nil {
				return err
			}
			if err := s.stage.agent.CancelRun(ctx, "r", "enough"); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}, loop.StopCancelled},
		"something else": {func(ctx context.Context, s *script) error {
			if err := begin(ctx, s); err != nil {
				return err
			}
			s.calls[0] = model.ToolCall{ID: "m0", Name: "plain", Arguments: "{}"}
			return nil
		}, loop.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newStage(t, test.script)
				events := g.watch()
				end, _ := events[len(events)-1].Payload.(*loop.RunFinished)
				if end == nil || end.StopReason != test.want {
					t.Errorf("ended with %+v", end)
				}
				synctest.Wait()
				if slices.ContainsFunc(g.executed, func(line string) bool { return strings.HasPrefix(line, "write") }) {
					t.Errorf("executed: %v", g.executed)
				}
				stats, err := g.Stats(t.Context(), tool.StatsQuery{})
				if i := slices.IndexFunc(stats, func(s tool.Stats) bool { return s.Tool == "write" }); err != nil || i < 0 ||
					stats[i].Calls != 1 || stats[i].Failures[tool.KindCancelled] != 1 {
					t.Errorf("the call that was shown was not abandoned: %+v, %v", stats, err)
				}
			})
		})
	}
}

// The call of a broken stream and the same call of the next stream have the same id. The second one
// is executed, once.
func TestPreviewAfterARetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStage(t,
			func(ctx context.Context, s *script) error {
				s.begin("write")
				s.write(`{"n":1`)
				if err := s.shown(ctx, `{"n":1`); err != nil {
					return err
				}
				return &model.Error{Message: "overloaded", Retryable: true}
			},
			func(ctx context.Context, s *script) error {
				s.begin("write")
				s.write(`{"n":2`)
				if err := s.shown(ctx, `{"n":2`); err != nil {
					return err
				}
				s.write(`}`)
				return nil
			})
		var order []string
		for _, e := range g.watch() {
			switch p := e.Payload.(type) {
			case *loop.CallStatus:
				order = append(order, p.CallID+" "+p.Status.Message)
			case *loop.TurnReset, *loop.CallResult:
				order = append(order, string(p.Type()))
			}
		}
		order = slices.DeleteFunc(order, func(line string) bool { return line == `r.t1.c0 {"n":2}` })
		if diff := cmp.Diff([]string{`r.t1.c0 {"n":1`, "turn_reset", `r.t1.c0 {"n":2`, "call_result"}, order); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`write {"n":2}`}, g.executed); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
	})
}

// A call that has to wait in a serial batch loses its preview and is made in its turn.
func TestPreviewInASerialBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newStage(t, func(ctx context.Context, s *script) error {
			s.begin("serial")
			s.write(`{}`)
			s.begin("write")
			s.write(`{"n":1}`)
			return s.shown(ctx, `{"n":1}`)
		})
		g.watch()
		if diff := cmp.Diff([]string{"serial {}", `write {"n":1}`}, g.executed); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
	})
}

// A preview that cannot be opened, or that ends too early, does not affect the call.
func TestPreviewThatDies(t *testing.T) {
	for name, spoil := range map[string]func(g *stage){
		"not opened":         func(g *stage) { g.refuse = tool.Errorf(tool.KindUnavailable, "not now") },
		"ends early":         func(g *stage) { g.early = &tool.Error{Kind: tool.KindCrashed, Message: "gone"} },
		"ends when complete": func(g *stage) { g.late = &tool.Error{Kind: tool.KindUnavailable, Message: "gone"} },
		"events are lost":    func(g *stage) { g.lost = tool.Errorf(tool.KindUnavailable, "the connection was lost") },
		"panics":             func(g *stage) { g.panics = true },
		"takes no text":      func(g *stage) { g.stuck = true },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ready := make(chan struct{})
				g := newStage(t, func(ctx context.Context, s *script) error {
					<-ready
					s.begin("write")
					s.write(`{"n":`)
					synctest.Wait()
					s.write(`1}`)
					synctest.Wait()
					return nil
				})
				spoil(g)
				began := time.Now()
				close(ready)
				events := g.watch()
				if took := time.Since(began); took > 2*time.Second {
					t.Errorf("it took %s", took)
				}
				if end, ok := events[len(events)-1].Payload.(*loop.RunFinished); !ok || end.StopReason != loop.StopEndTurn {
					t.Errorf("ended with %+v", end)
				}
				for _, e := range events {
					if p, ok := e.Payload.(*loop.CallResult); ok && (p.Failure != nil || p.Result.Text() != "done") {
						t.Errorf("the result is %+v, %+v", p.Result, p.Failure)
					}
				}
				if diff := cmp.Diff([]string{`write {"n":1}`}, g.executed); diff != "" {
					t.Errorf("executed (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A response with many calls opens a limited number of previews.
func TestNotTooManyPreviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const calls = 40
		early := 0
		g := newStage(t, func(_ context.Context, s *script) error {
			for i := range calls {
				s.begin("write")
				s.write(fmt.Sprintf(`{"n":%d}`, i))
			}
			synctest.Wait()
			early = len(s.stage.Opened())
			return nil
		})
		g.watch()
		if early != 16 || len(g.executed) != calls {
			t.Errorf("%d calls were opened early, %d executed", early, len(g.executed))
		}
	})
}

// An agent that closes leaves no preview open.
func TestCloseAbandonsPreviews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shown := make(chan struct{})
		g := newStage(t, func(ctx context.Context, s *script) error {
			s.begin("write")
			s.write(`{"n":1}`)
			synctest.Wait()
			close(shown)
			<-ctx.Done()
			return ctx.Err()
		})
		<-shown
		g.agent.Close()
		synctest.Wait()
		if len(g.seen) == 0 || len(g.executed) != 0 {
			t.Errorf("seen %q, executed %q", g.seen, g.executed)
		}
		if stats, err := g.Stats(t.Context(), tool.StatsQuery{}); err != nil || len(stats) != 1 || stats[0].Failures[tool.KindCancelled] != 1 {
			t.Errorf("the call was not abandoned: %+v, %v", stats, err)
		}
	})
}

// A response that arrives while a cancel is being recorded is dropped, and its previews are
// abandoned.
func TestCancelWhileAResponseIsHandedOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &slowCancel{Store: memory.New(), entered: make(chan struct{}), leave: make(chan struct{})}
		g := newStageOn(t, store, func(ctx context.Context, s *script) error {
			s.begin("write")
			s.write(`{"n":1}`)
			if err := s.shown(ctx, `{"n":1}`); err != nil {
				return err
			}
			go func() { _ = s.stage.agent.CancelRun(context.Background(), "r", "enough") }()
			<-store.entered
			return nil
		})
		go func() {
			<-store.entered
			synctest.Wait() // until the response waits for the run
			close(store.leave)
		}()
		g.watch()
		synctest.Wait()
		stats, err := g.Stats(t.Context(), tool.StatsQuery{})
		if err != nil || len(stats) != 1 || stats[0].Failures[tool.KindCancelled] != 1 || len(g.executed) > 0 {
			t.Errorf("the call was not abandoned: %+v, %v, executed %q", stats, err, g.executed)
		}
	})
}
