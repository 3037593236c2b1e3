//go:build more

package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
	"github.com/toolhost/toolhost/tool"
)

func TestLocalEngine(t *testing.T) { testEngine(t, func() agent.Engine { return agent.Local{} }) }

// forgetful is an engine that has lost everything, and calls nothing.
type forgetful struct{}

func (forgetful) Drive(ctx context.Context, _ agent.Worker) { <-ctx.Done() }
func (forgetful) Ready() bool                               { return false }
func (forgetful) Due(string)                                {}

// scheduler has agents work on runs in any order, each at any agent, and looks seldom.
type scheduler struct{ due chan string }

func TestSchedulingEngine(t *testing.T) {
	due := make(chan string, 1000) // also of earlier tests, whose runs nobody finds
	testEngine(t, func() agent.Engine { return scheduler{due} })
}

func (s scheduler) Ready() bool      { return true }
func (s scheduler) Due(runID string) { s.due <- runID }

func (s scheduler) Drive(ctx context.Context, w agent.Worker) {
	var group sync.WaitGroup
	defer group.Wait()
	look, collect := time.NewTicker(5*time.Second), time.NewTicker(time.Second)
	for {
		select {
		case id := <-s.due:
			group.Go(func() {
				rest, err := w.Work(ctx, id)
				switch kind := tool.KindOf(err); {
				case err != nil && ctx.Err() != nil, kind == tool.KindConflict, kind == tool.KindUnavailable:
					time.AfterFunc(50*time.Millisecond, func() { s.due <- id })
				case err == nil && rest.Next > 0:
					time.AfterFunc(rest.Next, func() { s.due <- id })
				}
			})
		case <-collect.C:
			_ = w.Collect(ctx)
		case <-look.C:
			_, _ = w.Look(ctx)
		case <-ctx.Done():
			return
		}
	}
}

// The service is one in memory, and the SDK the real one.
func TestTemporalEngine(t *testing.T) {
	service := temporaltest.Start(t)
	testEngine(t, func() agent.Engine {
		e, err := temporal.New(temporal.Config{Address: service.Address, Namespace: "default", TaskQueue: "agentd", Check: time.Second, Log: slog.New(slog.DiscardHandler), Report: func(error) {}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(e.Close)
		return e
	})
	if n := len(service.Closed()); n < 10 {
		t.Errorf("%d workflows have ended, or continued as new", n)
	}
}

// deaf is an engine that is ready, and does nothing.
type deaf struct{ due chan string }

func (deaf) Drive(ctx context.Context, _ agent.Worker) { <-ctx.Done() }
func (deaf) Ready() bool                               { return true }
func (d deaf) Due(runID string)                        { d.due <- runID }

// A reload keeps the engine. It is told of a run that starts, on which the agent does not work.
func TestReconfigureKeepsTheEngine(t *testing.T) {
	s, e := newShared(t, okModel(), newTools(echo)), deaf{make(chan string, 1)}
	a, _ := s.openWith(e)
	if err := a.Reconfigure(agent.Config{Model: s.model}); err != nil {
		t.Fatal(err)
	}
	if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello"}); err != nil {
		t.Fatal(err)
	}
	select {
	case id := <-e.due:
		if owner := s.one("SELECT claimer IS NOT NULL FROM agentd_runs"); id != "r" || owner != "f" {
			t.Errorf("due is %s, and the run has an owner: %s", id, owner)
		}
	default:
		t.Error("the engine was not told")
	}
}

// A request for a run that nobody works on is written, and the engine is told of the run at the top
// of its family.
func TestRequestsAreLeftToTheEngine(t *testing.T) {
	s := newShared(t, asking(), newTools(echo))
	a, _ := s.openWith(forgetful{})
	a.start(loop.Task{})
	s.rest(3)
	a.stop()
	e := deaf{make(chan string, 1)}
	b, _ := s.openWith(e)
	pending := state(t, b, "r").Pending
	ctx, cancel := context.WithCancel(t.Context())
	answered := make(chan error, 1)
	go func() { // ends with ctx
		_, err := b.Respond(ctx, "r", loop.DecisionMade{ID: pending[0].ID, Verdict: loop.VerdictAnswer, Text: "blue"})
		answered <- err
	}()
	if id := <-e.due; id != "r" {
		t.Errorf("the engine is told of %s", id)
	}
	if got := s.one("SELECT count(*) || ' rows, ' || count(claimer) || ' owners' FROM agentd_inbox JOIN agentd_runs ON run = agentd_runs.number AND seq IS NULL"); got != "1 rows, 0 owners" {
		t.Error(got)
	}
	cancel()
	if err := <-answered; err == nil {
		t.Error("the request has an answer")
	}
	if _, err := b.Look(t.Context()); err != nil { // as each engine does
		t.Fatal(err)
	}
	b.ended("r", "heard: blue")
}

// The engine is not told of a run on which an agent works, which finds the request by itself: the
// signals of a run that works for hours would have no end.
func TestNoEngineIsToldOfARunAtWork(t *testing.T) {
	release := make(chan struct{})
	s := newShared(t, slotModel(release), newTools(echo))
	a, _ := s.openWith(agent.Local{})
	if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "wait"}); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the model is asked", func() bool { return len(s.model.seen()) > 0 })
	e := deaf{make(chan string, 1)}
	b, _ := s.openWith(e)
	if _, err := b.SendMessage(t.Context(), "r", "and this"); err != nil {
		t.Fatal(err)
	}
	if _, err := b.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "wait"}); err != nil { // a repetition
		t.Fatal(err)
	}
	if n := len(e.due); n != 0 {
		t.Error("the engine is told of the run")
	}
	close(release)
	ended(t, b, "r")
}

// testEngine checks what each engine has to do for agents that share a store. Each agent gets an
// engine of its own, which knows nothing.
func testEngine(t *testing.T, engine func() agent.Engine) {
	asking := func() *fakeModel {
		return turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
	}
	begin := func(t *testing.T, f *fixture, id string) {
		t.Helper()
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("runs started anywhere end", func(t *testing.T) {
		s := newShared(t, okModel(), newTools(echo))
		a, _ := s.openWith(engine())
		b, _ := s.openWith(engine())
		for i := range 10 { // there are slots for four
			begin(t, []*fixture{a, b}[i%2], fmt.Sprint("r", i))
		}
		for i := range 10 {
			if end := ended(t, []*fixture{b, a}[i%2], fmt.Sprint("r", i)); end == nil || end.StopReason != loop.StopEndTurn {
				t.Errorf("run %d ended with %+v", i, end)
			}
		}
	})
	t.Run("a run that waits goes on", func(t *testing.T) {
		for name, goOn := range map[string]func(*shared, *fixture) error{
			"decision": func(s *shared, f *fixture) error { _, err := f.Respond(s.t.Context(), "r", approve("d1")); return err },
			"message":  func(s *shared, f *fixture) error { _, err := f.SendMessage(s.t.Context(), "r", "and this"); return err },
			"cancel":   func(s *shared, f *fixture) error { return f.CancelRun(s.t.Context(), "r", "") },
			"wake_at": func(s *shared, _ *fixture) error {
				s.db.Do(s.t, s.name, fmt.Sprintf("UPDATE agentd_records SET time = time - %d", 2*time.Hour))
				s.db.Do(s.t, s.name, "UPDATE agentd_runs SET wake_at = now()")
				return nil
			},
		} {
			t.Run(name, func(t *testing.T) {
				s := newShared(t, asking(), newTools(careful))
				a, _ := s.openWith(engine())
				begin(t, a, "r")
				s.rest(1)
				a.stop()
				b, _ := s.openWith(engine())
				before := state(t, b, "r").LastSeq
				if err := goOn(s, b); err != nil {
					t.Fatal(err)
				}
				eventually.Holds(t, "the run goes on", func() bool { return state(t, b, "r").LastSeq > before })
				if name != "message" { // which does not decide
					ended(t, b, "r")
				}
			})
		}
	})
	t.Run("one worker", func(t *testing.T) {
		s := newShared(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("ok"))), newTools(echo))
		a, _ := s.openWith(engine())
		b, _ := s.openWith(engine())
		begin(t, a, "r")
		var group sync.WaitGroup
		for _, f := range []*fixture{a, b} {
			for range 3 {
				group.Go(func() {
					if _, err := f.Work(t.Context(), "r"); err != nil && tool.KindOf(err) != tool.KindConflict {
						t.Error(err)
					}
				})
			}
		}
		group.Wait()
		b.ended("r", "ok")
		eventually.Shows(t, "the run has no owner", func() (bool, any) { rest, err := a.Work(t.Context(), "r"); return rest.Ended, err })
		last := state(t, a, "r").LastSeq
		if rest, err := a.Work(t.Context(), "r"); err != nil || !rest.Ended || state(t, a, "r").LastSeq != last {
			t.Errorf("a run that has ended: %+v, %v", rest, err)
		}
		if n := len(s.model.seen()); n != 2 {
			t.Errorf("models were asked %d times", n)
		}
	})
	t.Run("a parked run", func(t *testing.T) {
		s := newShared(t, asking(), newTools(careful))
		a, _ := s.openWith(forgetful{})
		begin(t, a, "r")
		s.rest(1)
		a.stop()
		s.db.Do(t, s.name, fmt.Sprintf("UPDATE agentd_runs SET wake_at = now(), stalled = %d", runstore.MaxStalled))
		b, _ := s.openWith(engine())
		before := state(t, b, "r").LastSeq
		if rest, err := b.Work(t.Context(), "r"); err != nil || !rest.Parked {
			t.Errorf("Work: %+v, %v", rest, err)
		}
		if n, err := b.Look(t.Context()); n != 0 || err != nil || state(t, b, "r").LastSeq != before {
			t.Errorf("Look: %d runs, %v", n, err)
		}
		if _, err := b.Respond(t.Context(), "r", approve("d1")); err != nil {
			t.Fatal(err)
		}
		ended(t, b, "r")
	})
	t.Run("a worker that is stopped is replaced", func(t *testing.T) {
		release := make(chan struct{})
		s := newShared(t, slotModel(release), newTools(echo))
		a, _ := s.openWith(engine())
		b, _ := s.openWith(engine())
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "wait"}); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "the model is asked", func() bool { return len(s.model.seen()) > 0 })
		a.stop()
		close(release)
		ended(t, b, "r")
	})
	t.Run("nothing that was acknowledged is in an engine", func(t *testing.T) {
		s := newShared(t, asking(), newTools(careful))
		a, _ := s.openWith(forgetful{})
		for i := range 5 { // there are slots for two
			begin(t, a, fmt.Sprint("r", i))
		}
		a.stop()
		b, _ := s.openWith(engine())
		s.rest(5)
		for i := range 5 {
			if _, err := b.Respond(t.Context(), fmt.Sprint("r", i), approve("d1")); err != nil {
				t.Fatal(err)
			}
			b.ended(fmt.Sprint("r", i), "ok")
		}
	})
}
