//go:build more

package agent_test

import (
	"context"
	"fmt"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/internal/testkit/postgrestest"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/postgres"
	database "github.com/toolhost/toolhost/server/internal/store/postgres"
	"github.com/toolhost/toolhost/tool"
)

// shared are agents with one database and one toolhost.
type shared struct {
	t     *testing.T
	db    *postgrestest.Server
	name  string
	model *fakeModel
	tools *fakeTools
}

func newShared(t *testing.T, m *fakeModel, tools *fakeTools) *shared {
	t.Helper()
	db := postgrestest.Start(t)
	t.Cleanup(tools.group.Wait)
	return &shared{t: t, db: db, name: db.Create(t), model: m, tools: tools}
}

// open returns an agent that looks for runs, and the number of those that it has found at once.
func (s *shared) open() (f *fixture, found int) { s.t.Helper(); return s.openWith(nil) }

func (s *shared) openWith(engine agent.Engine) (f *fixture, found int) {
	s.t.Helper()
	store, err := postgres.Open(s.t.Context(), database.Config{URL: s.db.URL(s.name)})
	if err != nil {
		s.t.Fatal(err)
	}
	f = &fixture{t: s.t, store: store, model: s.model, tools: s.tools}
	return f, f.serve(engine)
}

// one returns what a query returns, which is one value.
func (s *shared) one(sql string) string {
	s.t.Helper()
	return s.db.Do(s.t, s.name, sql)[0][0]
}

// rest waits until a number of runs wait, without an owner and without a goroutine.
func (s *shared) rest(n int) {
	s.t.Helper()
	eventually.Shows(s.t, "the runs wait without an owner", func() (bool, any) {
		var stacks strings.Builder
		_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
		goroutines := strings.Count(stacks.String(), "agent.(*run).") + strings.Count(stacks.String(), "agent.(*subRun).")
		got := s.one("SELECT count(*) FILTER (WHERE claimer IS NULL AND wake_at > now() IS NOT FALSE) || ' of ' || count(*) FROM agentd_runs WHERE unfinished")
		return goroutines == 0 && got == fmt.Sprintf("%d of %d", n, n), fmt.Sprintf("%s have no owner, and runs have %d goroutines", got, goroutines)
	})
}

// Runs that wait for people have no owner and cost neither a goroutine nor a part of a restart.
// Each goes on with its decision, at any agent, or when the decision expires.
func TestRunsThatWaitHaveNoOwner(t *testing.T) {
	const runs = 20
	m := turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
	s := newShared(t, m, newTools(careful))
	a, _ := s.open()
	for i := range runs {
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: fmt.Sprint("r", i), Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	s.rest(runs)
	b, _ := s.open()
	for name, f := range map[string]*fixture{"a": a, "b": b} {
		list, _, err := f.ListRuns(t.Context(), agent.RunQuery{States: []agent.RunState{agent.RunWaiting}})
		if err != nil || len(list) != runs {
			t.Errorf("%s lists %d runs, %v", name, len(list), err)
		}
		for _, r := range list {
			if one := state(t, f, r.ID); r.Interrupted || one.Interrupted || len(one.Pending) != 1 || one.Pending[0].Expires.IsZero() {
				t.Errorf("%s shows %+v, and listed %+v", name, one, r)
			}
		}
	}
	if least := s.one("SELECT min(wake_at) > now() + interval '50 minutes' AND max(wake_at) < now() + interval '1 hour' AND count(wake_at) = count(*) FROM agentd_runs"); least != "t" && least != "true" {
		t.Errorf("the runs go on at %s", s.one("SELECT array_agg(wake_at) FROM agentd_runs"))
	}
	var watching sync.WaitGroup // it goes on elsewhere
	watching.Go(func() { a.ended("r1", "ok") })
	for id, f := range map[string]*fixture{"r0": a, "r1": b} {
		if _, err := f.Respond(t.Context(), id, approve("d1")); err != nil {
			t.Fatal(err)
		}
		f.ended(id, "ok")
	}
	watching.Wait()
	a.stop()
	b.stop()
	if epoch := s.one("SELECT max(epoch) FROM agentd_runs WHERE unfinished"); epoch != "1" {
		t.Errorf("runs that wait were claimed again: epoch %s", epoch)
	}
	s.db.Do(t, s.name, "UPDATE agentd_runs SET wake_at = wake_at - interval '2 hours' WHERE id IN ('r2', 'r3')")
	s.db.Do(t, s.name, fmt.Sprintf("UPDATE agentd_records SET time = time - %d WHERE run IN (SELECT number FROM agentd_runs WHERE id IN ('r2', 'r3'))", 2*time.Hour))
	a, found := s.open()
	if found != 2 {
		t.Errorf("after the restart, %d runs go on, want those that expire", found)
	}
	for _, id := range []string{"r2", "r3"} {
		a.ended(id, "ok")
		if verdicts := s.one("SELECT count(*) FROM agentd_records JOIN agentd_runs ON run = number WHERE id = '" + id + "' AND position('expired'::bytea IN data) > 0"); verdicts != "1" {
			t.Errorf("%s expired %s times", id, verdicts)
		}
	}
	if _, err := a.Respond(t.Context(), "r4", approve("d1")); err != nil {
		t.Fatal(err)
	}
	a.ended("r4", "ok")
	s.rest(runs - 5)
}

// A run and its sub-runs are given up together and go on together, wherever the decision of the
// lowest one is made.
func TestAFamilyThatWaitsHasNoOwner(t *testing.T) {
	s := newShared(t, asking(), newTools(echo))
	a, _ := s.open()
	a.start(loop.Task{})
	s.rest(3)
	b, found := s.open()
	if found != 0 {
		t.Errorf("%d runs that wait are taken", found)
	}
	before := state(t, a, "r").Pending
	if diff := cmp.Diff(before, state(t, b, "r").Pending); diff != "" || len(before) != 1 {
		t.Fatalf("the run waits for %+v, at the other agent (-want +got):\n%s", before, diff)
	}
	for _, f := range []*fixture{a, b} { // there is nothing to do
		if rest, err := f.Work(t.Context(), "r"); err != nil || rest.Next < 50*time.Minute || rest.Next > time.Hour || rest.WaitsFor == "" {
			t.Errorf("the run rests: %+v, %v", rest, err)
		}
	}
	s.rest(3)
	if _, err := b.Respond(t.Context(), "r", loop.DecisionMade{ID: before[0].ID, Verdict: loop.VerdictAnswer, Text: "blue"}); err != nil {
		t.Fatal(err)
	}
	b.ended("r", "heard: blue")
	if rest, err := a.Work(t.Context(), "r"); err != nil || !rest.Ended {
		t.Errorf("a run that has ended: %+v, %v", rest, err)
	}
	s.rest(0)
}

// Runs beyond the slots of an agent wait in the store, where any agent with a free slot finds them.
// A request for such a run is recorded at once.
func TestRunsWithoutASlotWaitInTheStore(t *testing.T) {
	release := make(chan struct{})
	m := &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return response(model.StopEndTurn, text("ok")), nil
	}}
	s := newShared(t, m, newTools(echo))
	a, _ := s.open() // with two slots
	for i := range 6 {
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: fmt.Sprint("r", i), Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	claimed := func(want string) {
		t.Helper()
		eventually.Shows(t, "the runs have owners", func() (bool, any) {
			got := s.one("SELECT count(*) FILTER (WHERE claimer IS NOT NULL) || ' at ' || count(DISTINCT claimer) FROM agentd_runs")
			return got == want, got
		})
	}
	claimed("2 at 1")
	if err := a.CancelRun(t.Context(), "r5", ""); err != nil {
		t.Fatal(err)
	}
	if _, err := a.SendMessage(t.Context(), "r4", "and this"); err != nil {
		t.Fatal(err)
	}
	claimed("2 at 1")
	b, _ := s.open()
	claimed("4 at 2")
	close(release)
	for i := range 5 {
		b.ended(fmt.Sprint("r", i), "ok")
	}
	s.rest(0)
}

// An agent that is drained keeps the answer of a model that is on its way, and another agent goes
// on with its runs at once: it joins the calls that are under way, and repeats none.
func TestDrain(t *testing.T) {
	answer, result, asked, called := make(chan struct{}), make(chan struct{}), make(chan struct{}, 10), make(chan struct{}, 10)
	first := make(chan struct{}, 1)
	first <- struct{}{}
	m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("ok")))
	inner := m.answer
	m.answer = func(ctx context.Context, req model.Request) (*model.Response, error) {
		asked <- struct{}{}
		select {
		case <-answer:
		case <-first:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return inner(ctx, req)
	}
	tools := newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
		called <- struct{}{}
		<-result
		return echo(ctx, call, status)
	})
	s := newShared(t, m, tools)
	a, _ := s.open()
	b, _ := s.open()
	start := func(id string) {
		t.Helper()
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
		<-asked
	}
	start("calls")
	<-called
	start("r")
	drained := make(chan struct{})
	go func() { a.Drain(t.Context()); close(drained) }() // ends with the answer
	start("later")                                       // at b
	select {
	case <-drained:
		t.Error("the answer of the model is not waited for")
	default:
	}
	close(answer)
	<-drained
	if owners := s.one("SELECT count(*) FROM agentd_runs WHERE claimer = (SELECT node FROM agentd_nodes ORDER BY since LIMIT 1)"); owners != "0" {
		t.Errorf("%s runs are left", owners)
	}
	eventually.Holds(t, "the other one goes on with what it has slots for", func() bool {
		return s.one("SELECT count(*) FROM agentd_runs WHERE claimer IS NOT NULL") == "2"
	})
	close(result)
	for _, id := range []string{"calls", "r", "later"} {
		b.ended(id, "ok")
	}
	for id, n := range tools.executions() {
		if n != 1 {
			t.Errorf("call %s was executed %d times", id, n)
		}
	}
	if n := len(m.seen()); n != 6 {
		t.Errorf("models were asked %d times", n)
	}
}

// A decision for a sub-run makes an agent go on with the whole family, also if the run at the top,
// or the sub-run itself, is parked. Until then the parked run says that it is.
func TestADecisionBelowAParkedRun(t *testing.T) {
	for name, parked := range map[string]string{"the top": "id = 'r'", "the sub-run": "decisions IS NOT NULL", "all": "true"} {
		t.Run(name, func(t *testing.T) {
			s := newShared(t, asking(), newTools(echo))
			a, _ := s.open()
			a.start(loop.Task{})
			s.rest(3)
			s.db.Do(t, s.name, "UPDATE agentd_runs SET stalled = 3 WHERE "+parked)
			b, found := s.open()
			if found != 0 {
				t.Errorf("%d runs are taken", found)
			}
			before := state(t, b, "r")
			if top := name != "the sub-run"; (before.Parked != "") != top || (before.State() == agent.RunInterrupted) != top || len(before.Pending) != 1 {
				t.Fatalf("the run is %s, parked: %q, and waits for %+v", before.State(), before.Parked, before.Pending)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if _, err := b.Respond(ctx, "r", loop.DecisionMade{ID: before.Pending[0].ID, Verdict: loop.VerdictAnswer, Text: "blue"}); err != nil {
				t.Fatal(err)
			}
			b.ended("r", "heard: blue")
		})
	}
}

// A run above the one that goes on is at work, too, also if no slot is free, and does not say any
// more that it waits for a person.
func TestADecisionBelowAParkedRunWithoutASlot(t *testing.T) {
	release, called, result := make(chan struct{}), make(chan struct{}, 1), make(chan struct{})
	m := delegating(func(n int, req model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"one"}`))
		}
		return response(model.StopEndTurn, text("heard: "+results(req)[0]))
	}, func(n int, _ model.Request) *model.Response {
		return []*model.Response{response(model.StopToolUse, question("which?")), response(model.StopToolUse, call("c", "echo")), response(model.StopEndTurn, text("blue"))}[n]
	})
	inner := m.answer
	m.answer = func(ctx context.Context, req model.Request) (*model.Response, error) {
		if firstText(req) != "busy" {
			return inner(ctx, req)
		}
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		return response(model.StopEndTurn, text("ok")), nil
	}
	s := newShared(t, m, newTools(func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome {
		called <- struct{}{}
		<-result
		return echo(ctx, call, status)
	}))
	end := sync.OnceFunc(func() { close(result) })
	defer end()
	a, _ := s.open() // with two slots
	a.start(loop.Task{})
	s.rest(2)
	s.db.Do(t, s.name, "UPDATE agentd_runs SET stalled = 3")
	before := state(t, a, "r").Pending
	for i := range 2 {
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: fmt.Sprint("busy", i), Prompt: "busy"}); err != nil {
			t.Fatal(err)
		}
	}
	eventually.Holds(t, "no slot is free", func() bool {
		return s.one("SELECT count(*) FROM agentd_runs WHERE claimer IS NOT NULL") == "2"
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if _, err := a.Respond(ctx, "r", loop.DecisionMade{ID: before[0].ID, Verdict: loop.VerdictAnswer, Text: "blue"}); err != nil {
		t.Fatal(err)
	}
	select {
	case <-called:
	case <-ctx.Done():
		t.Fatal("the sub-run does not go on")
	}
	eventually.Shows(t, "the run above is at work", func() (bool, any) {
		r := state(t, a, "r")
		return r.State() == agent.RunRunning && !r.Waiting, r
	})
	close(release)
	end()
	a.ended("r", "heard: blue")
}

// A run that an agent cannot read is not taken again with each look, neither by this agent nor by
// another one, and with an entry in its inbox neither.
func TestARunThatFailsIsLeftAlone(t *testing.T) {
	s := newShared(t, turns(response(model.StopToolUse, call("a", "serial"))), newTools(careful))
	a, _ := s.openWith(forgetful{})
	b, _ := s.openWith(forgetful{})
	a.start(loop.Task{})
	s.rest(1)
	s.db.Do(t, s.name, "UPDATE agentd_records SET type = 'of_the_future' WHERE seq = 2")
	s.db.Do(t, s.name, "UPDATE agentd_runs SET wake_at = now()")
	look := func(f *fixture, want int) {
		t.Helper()
		if n, err := f.Look(t.Context()); n != want || err != nil {
			t.Errorf("%d runs are taken, %v, want %d", n, err, want)
		}
	}
	fails := func(want string) {
		t.Helper()
		eventually.Shows(t, "the run has failed", func() (bool, any) {
			var stacks strings.Builder
			_ = pprof.Lookup("goroutine").WriteTo(&stacks, 2)
			got := s.one("SELECT epoch || ' ' || (claimer IS NULL) || ' ' || (wake_at > now() + interval '50 seconds') FROM agentd_runs")
			return !strings.Contains(stacks.String(), "agent.(*run).") && got == want, got
		})
	}
	look(a, 1)
	fails("2 true true")
	look(a, 0)
	look(b, 0)
	if err := a.store.(*postgres.Store).Post(t.Context(), runstore.Entry{EntryRef: runstore.EntryRef{RunID: "r", ID: "e"}, Data: []byte("1")}); err != nil {
		t.Fatal(err)
	}
	look(b, 1)
	fails("3 false false")
	look(a, 0)
	look(b, 0)
	fails("3 false false")
	if _, err := b.SendMessage(t.Context(), "r", "go on"); tool.KindOf(err) != tool.KindInternal {
		t.Errorf("a message: %v", err)
	}
	fails("4 false false")
}

// An agent that was stopped, and goes on, still has a run that another one works on. What it would
// refuse, because the run has asked for it since, reaches the run through the other one.
func TestADecisionAtAFormerOwner(t *testing.T) {
	var asked atomic.Int64
	s := newShared(t, &fakeModel{answer: func(ctx context.Context, req model.Request) (*model.Response, error) {
		switch {
		case asked.Add(1) == 1:
			<-ctx.Done()
			return nil, ctx.Err()
		case len(req.Messages) == 1:
			return response(model.StopToolUse, question("which?")), nil
		}
		return response(model.StopEndTurn, text("ok")), nil
	}}, newTools(echo))
	a, _ := s.openWith(forgetful{}) // which does not look
	if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "ask"}); err != nil {
		t.Fatal(err)
	}
	eventually.Holds(t, "the model is asked", func() bool { return asked.Load() == 1 })
	b, _ := s.open()
	s.db.Do(t, s.name, "UPDATE agentd_runs SET claimer = NULL, wake_at = now()")
	eventually.Holds(t, "the run asks", func() bool { return len(state(t, b, "r").Pending) == 1 })
	pending := state(t, b, "r").Pending
	d, err := a.Decide(t.Context(), "r", pending[0].Etag(), loop.DecisionMade{ID: pending[0].ID, Verdict: loop.VerdictAnswer, Text: "blue"})
	if err != nil || d.Made == nil {
		t.Fatalf("the decision: %+v, %v", d, err)
	}
	ended(t, b, "r")
}
