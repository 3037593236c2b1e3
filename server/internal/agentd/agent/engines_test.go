package agent_test

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/tool"
)

// forgetful is an engine that has lost everything, and calls nothing.
type forgetful struct{}

func (forgetful) Drive(ctx context.Context, _ agent.Worker) { <-ctx.Done() }
func (forgetful) Ready() bool                               { return false }
func (forgetful) Due(string)                                {}

// scheduler has agents work on runs in any order, each at any agent, and looks seldom.
type scheduler struct{ due chan string }

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

// place is a store for agents with one model and one toolhost.
type place interface {
	// two returns two agents, which are the same one in a store that agents do not share.
	two(a, b agent.Engine) (*fixture, *fixture)
	// after returns another agent, also of a store that agents do not share; then the one before has
	// ended.
	after(agent.Engine) *fixture
	// rest waits until a number of runs wait.
	rest(n int)
}

// alone is a store in a file, for one agent at a time.
type alone struct {
	t     *testing.T
	path  string
	model *fakeModel
	tools *fakeTools
	last  *fixture
}

func newAlone(t *testing.T, m *fakeModel, tools *fakeTools) place {
	t.Cleanup(tools.group.Wait)
	return &alone{t: t, path: filepath.Join(t.TempDir(), "runs.db"), model: m, tools: tools}
}

func (p *alone) two(a, _ agent.Engine) (*fixture, *fixture) {
	f := p.after(a)
	return f, f
}

func (p *alone) after(e agent.Engine) *fixture {
	p.t.Helper()
	store, err := sqlite.Open(p.t.Context(), p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.last = &fixture{t: p.t, store: store, model: p.model, tools: p.tools}
	p.last.serve(e)
	return p.last
}

func (p *alone) rest(n int) {
	p.t.Helper()
	eventually.Shows(p.t, "the runs wait", func() (bool, any) {
		runs, _, err := p.last.ListRuns(p.t.Context(), agent.RunQuery{States: []agent.RunState{agent.RunWaiting}})
		return err == nil && len(runs) == n, runs
	})
}

// serve opens an agent with few slots, which continues the runs of its store until the test ends.
func (f *fixture) serve(engine agent.Engine) (found int) {
	f.t.Helper()
	f.open(func(c *agent.Config) {
		withPeople(c)
		withSystem(c)
		c.MaxRuns = 2
		c.SnapshotEvery = 1000
		c.Engine = engine
	})
	f.t.Cleanup(func() { f.stop() })
	found, err := f.Resume(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	return found
}

// stop closes the agent and its store. It may be called more than once.
func (f *fixture) stop() {
	f.Close()
	_ = f.store.(io.Closer).Close()
}

func approve(id string) loop.DecisionMade {
	return loop.DecisionMade{ID: id, Verdict: loop.VerdictApprove}
}

func (f *fixture) ended(id, want string) {
	f.t.Helper()
	var end *loop.RunFinished
	for e, err := range f.WatchRun(f.t.Context(), id, 0) {
		if err != nil {
			f.t.Fatal(err)
		}
		end, _ = e.Payload.(*loop.RunFinished)
	}
	if end == nil || end.Text != want {
		f.t.Errorf("%s ended with %+v", id, end)
	}
}

// undriven is an engine in a store that agents do not share, which nobody lets drive.
type undriven struct {
	agent.Engine
	t *testing.T
}

func (e undriven) Drive(context.Context, agent.Worker) { e.t.Error("the engine drives") }

// A store that agents do not share needs no engine: the agent works on all runs itself, also if the
// engine says that it does, or has lost everything.
func TestEnginesAlone(t *testing.T) {
	for name, engine := range map[string]agent.Engine{"local": agent.Local{}, "forgetful": forgetful{}, "ready": scheduler{make(chan string, 1000)}} {
		t.Run(name, func(t *testing.T) { testEngine(t, newAlone, func() agent.Engine { return undriven{engine, t} }) })
	}
}

// asksOnce returns a model whose first answer is a call that has to be approved.
func asksOnce() *fakeModel {
	return turns(response(model.StopToolUse, call("a", "serial")), response(model.StopEndTurn, text("ok")))
}

// testEngine checks what each engine has to do. Each agent gets an engine of its own, which knows
// nothing.
func testEngine(t *testing.T, at func(*testing.T, *fakeModel, *fakeTools) place, engine func() agent.Engine) {
	begin := func(t *testing.T, f *fixture, id string) {
		t.Helper()
		if _, err := f.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	t.Run("runs started anywhere end", func(t *testing.T) {
		a, b := at(t, okModel(), newTools(echo)).two(engine(), engine())
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
		for name, goOn := range map[string]func(*fixture) error{
			"decision": func(f *fixture) error { _, err := f.Respond(f.t.Context(), "r", approve("d1")); return err },
			"message":  func(f *fixture) error { _, err := f.SendMessage(f.t.Context(), "r", "and this"); return err },
			"cancel":   func(f *fixture) error { return f.CancelRun(f.t.Context(), "r", "") },
		} {
			t.Run(name, func(t *testing.T) {
				p := at(t, asksOnce(), newTools(careful))
				a := p.after(engine())
				begin(t, a, "r")
				p.rest(1)
				a.stop()
				b := p.after(engine())
				before := state(t, b, "r").LastSeq
				if err := goOn(b); err != nil {
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
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("ok")))
		a, b := at(t, m, newTools(echo)).two(engine(), engine())
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
		if n := len(m.seen()); n != 2 {
			t.Errorf("models were asked %d times", n)
		}
	})
	t.Run("a worker that is stopped is replaced", func(t *testing.T) {
		release := make(chan struct{})
		m := slotModel(release)
		p := at(t, m, newTools(echo))
		a, b := p.two(engine(), engine())
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "wait"}); err != nil {
			t.Fatal(err)
		}
		eventually.Holds(t, "the model is asked", func() bool { return len(m.seen()) > 0 })
		a.stop()
		close(release)
		if b == a {
			b = p.after(engine())
		}
		ended(t, b, "r")
	})
	t.Run("nothing that was acknowledged is in an engine", func(t *testing.T) {
		p := at(t, asksOnce(), newTools(careful))
		a := p.after(forgetful{})
		for i := range 5 { // there are slots for two
			begin(t, a, fmt.Sprint("r", i))
		}
		a.stop()
		b := p.after(engine())
		p.rest(5)
		for i := range 5 {
			if _, err := b.Respond(t.Context(), fmt.Sprint("r", i), approve("d1")); err != nil {
				t.Fatal(err)
			}
			b.ended(fmt.Sprint("r", i), "ok")
		}
	})
}
