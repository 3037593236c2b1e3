//go:build more

package agent_test

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal"
	"github.com/toolhost/toolhost/server/internal/agentd/temporal/temporaltest"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/tool"
)

// deaf is an engine that is ready, and does nothing.
type deaf struct{ due chan string }

func (deaf) Drive(ctx context.Context, _ agent.Worker) { <-ctx.Done() }
func (deaf) Ready() bool                               { return true }
func (d deaf) Due(runID string)                        { d.due <- runID }

func TestLocalEngine(t *testing.T) { testShared(t, func() agent.Engine { return agent.Local{} }) }

func TestSchedulingEngine(t *testing.T) {
	due := make(chan string, 1000) // also of earlier tests, whose runs nobody finds
	testShared(t, func() agent.Engine { return scheduler{due} })
}

// The service is one in memory, and the SDK the real one.
func TestTemporalEngine(t *testing.T) {
	service := temporaltest.Start(t)
	testShared(t, func() agent.Engine { return newTemporal(t, service, "agentd") })
	if len(service.Closed()) == 0 {
		t.Error("no workflow has ended: the runs did without the service")
	}
}

// Histories grow with the waits of a run, and not with its turns. Each stays as small as the
// others, because a workflow continues as new after a wait.
func TestHistoriesOfRuns(t *testing.T) {
	act := func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
		if call.Tool == "serial" {
			return careful(ctx, call, status)
		}
		return echo(ctx, call, status)
	}
	for _, tc := range []struct{ waits, turns int }{{0, 1}, {1, 1}, {10, 1}, {100, 1}, {0, 1000}, {1, 1000}} {
		t.Run(fmt.Sprintf("%d waits, %d turns", tc.waits, tc.turns), func(t *testing.T) {
			m := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
				switch n := len(req.Messages) / 2; {
				case n < tc.waits:
					return response(model.StopToolUse, call("a", "serial")), nil
				case n < tc.waits+tc.turns-1:
					return response(model.StopToolUse, call("b", "echo")), nil
				}
				return response(model.StopEndTurn, text("ok")), nil
			}}
			s, service := newShared(t, m, newTools(act)), temporaltest.Start(t)
			e := newTemporal(t, service, "q")
			f := s.after(e)
			eventually.Holds(t, "the engine is ready", e.Ready)
			if _, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello", Limits: loop.Limits{MaxTurns: 2000, MaxCalls: 2000, MaxRepeats: 2000}}); err != nil {
				t.Fatal(err)
			}
			for n := range tc.waits {
				decision := fmt.Sprintf("d%d", n+1)
				eventually.Holds(t, "the run waits", func() bool {
					r := state(t, f, "r")
					return len(r.Pending) == 1 && r.Pending[0].ID == decision && service.Waits("q/r") != ""
				})
				if _, err := f.Respond(t.Context(), "r", approve(decision)); err != nil {
					t.Fatal(err)
				}
			}
			f.ended("r", "ok")
			eventually.Holds(t, "the workflow has ended", func() bool { return len(service.Open()) == 0 })
			if n := state(t, f, "r").Turns; n != tc.waits+tc.turns {
				t.Errorf("the run has %d turns", n)
			}
			events, size, longest := 0, 0, 0
			for _, h := range service.Closed() {
				events, size, longest = events+len(h.GetEvents()), size+proto.Size(h), max(longest, len(h.GetEvents()))
			}
			t.Logf("%d histories, %d events, %d bytes; the longest has %d events", len(service.Closed()), events, size, longest)
			if most := 20 * (tc.waits + 1); longest > 20 || events > most || size > 200*most {
				t.Errorf("at most %d events and %d bytes are expected", most, 200*most)
			}
		})
	}
}

// newTemporal returns the engine of a service.
func newTemporal(t testing.TB, service *temporaltest.Service, queue string) *temporal.Engine {
	t.Helper()
	e, err := temporal.New(temporal.Config{Address: service.Address, Namespace: "default", TaskQueue: queue, Check: time.Second, Log: slog.New(slog.DiscardHandler), Report: func(error) {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

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

// posting is a store that acts before and after it adds an entry.
type posting struct {
	*postgres.Store
	before, after func()
}

func (s *posting) Post(ctx context.Context, e runstore.Entry) error {
	s.before()
	defer s.after()
	return s.Store.Post(ctx, e)
}

// The engine is told of a run with a request although another agent finds the request first, also
// if the agent that worked on the run gives it up just before. Otherwise it would show for long
// what the run waited for.
func TestTheEngineIsToldOfARequestThatALookFinds(t *testing.T) {
	for name, left := range map[string]bool{"nobody works on it": false, "it is given up just before": true} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t, asksOnce(), newTools(careful))
			a, _ := s.openWith(forgetful{})
			a.start(loop.Task{})
			s.rest(1)
			store, err := postgres.Open(t.Context(), database.Config{URL: s.db.URL(s.name)})
			if err != nil {
				t.Fatal(err)
			}
			look := func() {
				if n, err := a.Look(t.Context()); n != 1 || err != nil {
					t.Errorf("%d runs are taken, %v", n, err)
				}
			}
			e, hooks := deaf{make(chan string, 10)}, &posting{store, func() {}, look}
			b := &fixture{t: t, model: s.model, tools: s.tools, store: hooks}
			b.serve(e)
			if left {
				s.db.Do(t, s.name, "INSERT INTO agentd_nodes (node, since, renewed) VALUES (1, now(), now() + interval '1 hour')")
				s.db.Do(t, s.name, "UPDATE agentd_runs SET claimer = 1")
				hooks.before, hooks.after = func() { s.db.Do(t, s.name, "UPDATE agentd_runs SET claimer = NULL") }, func() {}
			}
			answered := make(chan error, 1)
			go func() { // ends with the look
				_, err := b.Respond(t.Context(), "r", approve("d1"))
				answered <- err
			}()
			select {
			case <-e.due:
			case <-time.After(5 * time.Second): // before b goes on with the run itself
				t.Error("the engine is not told")
			}
			if left {
				look()
			}
			if err := <-answered; err != nil {
				t.Error(err)
			}
			a.ended("r", "ok")
		})
	}
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

func (s *shared) after(e agent.Engine) *fixture {
	s.t.Helper()
	f, _ := s.openWith(e)
	return f
}

func (s *shared) two(a, b agent.Engine) (*fixture, *fixture) { return s.after(a), s.after(b) }

// testShared checks what each engine has to do for agents that share a store.
func testShared(t *testing.T, engine func() agent.Engine) {
	testEngine(t, func(t *testing.T, m *fakeModel, tools *fakeTools) place { return newShared(t, m, tools) }, engine)
	t.Run("a run that waits goes on at its time", func(t *testing.T) {
		s := newShared(t, asksOnce(), newTools(careful))
		a := s.after(engine())
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
		s.rest(1)
		a.stop()
		b := s.after(engine())
		s.db.Do(t, s.name, fmt.Sprintf("UPDATE agentd_records SET time = time - %d", 2*time.Hour))
		s.db.Do(t, s.name, "UPDATE agentd_runs SET wake_at = now()")
		ended(t, b, "r")
	})
	t.Run("a parked run", func(t *testing.T) {
		s := newShared(t, asksOnce(), newTools(careful))
		a := s.after(forgetful{})
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
		s.rest(1)
		a.stop()
		s.db.Do(t, s.name, fmt.Sprintf("UPDATE agentd_runs SET wake_at = now(), stalled = %d", runstore.MaxStalled))
		b := s.after(engine())
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
}
