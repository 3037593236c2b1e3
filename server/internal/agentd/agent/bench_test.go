package agent_test

import (
	"context"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/toolhost/toolhost/internal/testkit/eventually"
	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/sqlite"
	"github.com/toolhost/toolhost/tool"
)

// BenchmarkTurn measures the agent's part of a turn with one call: the model and the tool answer at
// once. The journal is in memory or on disk, and the runs are sequential or concurrent. Each run
// has 20 turns, because a turn costs more in a longer conversation.
func BenchmarkTurn(b *testing.B) {
	for name, open := range map[string]func(*testing.B) runstore.Store{
		"memory": func(*testing.B) runstore.Store { return memory.New() },
		"sqlite": func(b *testing.B) runstore.Store {
			store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"))
			if err != nil {
				b.Fatal(err)
			}
			b.Cleanup(func() { _ = store.Close() })
			return store
		},
	} {
		for _, atOnce := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d", name, atOnce), func(b *testing.B) { benchmarkTurns(b, open(b), nil, atOnce) })
		}
	}
}

func benchmarkTurns(b *testing.B, store runstore.Store, engine agent.Engine, atOnce int) {
	const turnsOfARun = 20
	m := &atOnceModel{turns: turnsOfARun}
	a, err := agent.New(agent.Config{Store: store, Model: m, Tools: atOnceTools{}, Engine: engine})
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	driven(b, a, engine)
	runs := (b.N + turnsOfARun - 1) / turnsOfARun
	var next atomic.Int64
	var group sync.WaitGroup
	b.ResetTimer()
	for range atOnce {
		group.Go(func() {
			for n := next.Add(1); n <= int64(runs); n = next.Add(1) {
				id, err := a.StartRun(b.Context(), loop.Task{Prompt: "go", RunID: fmt.Sprint("r", n)})
				for _, err := range a.WatchRun(b.Context(), id, 0) {
					if err != nil {
						b.Error(err)
					}
				}
				if err != nil {
					b.Error(err)
				}
			}
		})
	}
	group.Wait()
	b.StopTimer()
	b.ReportMetric(float64(runs*turnsOfARun)/b.Elapsed().Seconds(), "turns/s")
}

// driven lets an engine, if there is one, drive an agent, and waits until it does.
func driven(b *testing.B, a *agent.Agent, engine agent.Engine) {
	if engine == nil {
		return
	}
	if _, err := a.Resume(b.Context()); err != nil {
		b.Fatal(err)
	}
	if _, local := engine.(agent.Local); !local {
		eventually.Holds(b, "the engine is ready", engine.Ready)
	}
}

// BenchmarkGoOn measures how long an agent takes to continue an interrupted run, from the message
// to the answer, by the number of events. cpu-µs/op is processor time, which depends less on the
// machine's load.
func BenchmarkGoOn(b *testing.B) {
	for _, size := range []struct{ turns, calls int }{{4, 11}, {100, 49}} {
		store, err := sqlite.Open(b.Context(), filepath.Join(b.TempDir(), "runs.db"))
		if err != nil {
			b.Fatal(err)
		}
		defer store.Close()
		m := &atOnceModel{turns: size.turns, calls: size.calls}
		cfg := agent.Config{Store: store, Model: m, Tools: atOnceTools{}}
		seq := converse(b, cfg, func(a *agent.Agent) error {
			_, err := a.StartRun(b.Context(), loop.Task{Prompt: "go", RunID: "r", Limits: loop.Limits{MaxTurns: 1 << 30, MaxCalls: 1 << 30, MaxRepeats: 1 << 30}})
			return err
		})
		b.Run(fmt.Sprintf("%d events", seq), func(b *testing.B) {
			before := processorTime(b)
			for b.Loop() {
				converse(b, cfg, func(a *agent.Agent) error {
					_, err := a.SendMessage(b.Context(), "r", "and now?")
					return err
				})
			}
			b.ReportMetric(float64((processorTime(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
		})
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// converse starts a new agent that works on the run until it ends, and returns the Seq of the run's
// last event.
func converse(b *testing.B, cfg agent.Config, do func(*agent.Agent) error) (seq uint64) {
	a, err := agent.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	defer a.Close()
	if err := do(a); err != nil {
		b.Fatal(err)
	}
	run, err := a.GetRun(b.Context(), "r")
	if err != nil {
		b.Fatal(err)
	}
	for e, err := range a.WatchRun(b.Context(), "r", run.LastSeq) {
		if err != nil {
			b.Fatal(err)
		}
		seq = e.Seq
	}
	return max(seq, run.LastSeq)
}

// atOnceModel answers at once, with calls in each turn except the last. calls is their number; 0
// means one.
type atOnceModel struct{ turns, calls int }

func (m *atOnceModel) Name() string { return "fake:at-once" }

func (m *atOnceModel) Generate(_ context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		answer := response(model.StopToolUse, text("I look."))
		for range max(m.calls, 1) {
			answer.Message.Blocks = append(answer.Message.Blocks, call("", "echo"))
		}
		if len(req.Messages) > 2*(m.turns-1) {
			answer = response(model.StopEndTurn, text("done"))
		}
		yield(model.Chunk{Response: answer}, nil)
	}
}

// atOnceTools is a toolhost whose calls end when they are opened.
type atOnceTools struct{}

func (atOnceTools) ListTools(context.Context, tool.Query) ([]tool.Info, error) { return offered, nil }

func (atOnceTools) Open(_ context.Context, call tool.Call, _ bool) (tool.Execution, error) {
	return &atOnceExecution{tool.Outcome{CallID: call.ID, Result: tool.TextResult("found")}, false}, nil
}

func (atOnceTools) AnswerQuestion(context.Context, tool.CallKey, uint32, tool.Answer) error {
	return tool.Errorf(tool.KindNotFound, "nothing is asked")
}

func (atOnceTools) CancelCall(context.Context, tool.CallKey, string) error { return nil }

func (atOnceTools) WatchCall(context.Context, tool.CallKey, uint64) iter.Seq2[tool.Event, error] {
	return func(func(tool.Event, error) bool) {}
}

type atOnceExecution struct {
	outcome tool.Outcome
	told    bool
}

func (e *atOnceExecution) Send(context.Context, []byte, bool) error { return nil }
func (e *atOnceExecution) Cancel(string)                            {}
func (e *atOnceExecution) Close()                                   {}

func (e *atOnceExecution) Next(context.Context) (tool.Event, error) {
	if e.told {
		return tool.Event{}, io.EOF
	}
	e.told = true
	return tool.Event{Ended: &e.outcome}, nil
}
