package agent_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/loop/looptest"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/tool"
)

// The SDK of Temporal forgets a workflow that was open at the end, and does not end its goroutine.
func TestMain(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("go.temporal.io/sdk/internal.(*coroutineState).initialYield"))
}

// fakeModel computes its answer from the request, and streams it in two pieces.
type fakeModel struct {
	answer func(ctx context.Context, req model.Request) (*model.Response, error)

	mu       sync.Mutex
	requests []model.Request
}

func (m *fakeModel) Name() string { return "fake:model" }

func (m *fakeModel) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		m.mu.Lock()
		m.requests = append(m.requests, req)
		m.mu.Unlock()
		resp, err := m.answer(ctx, req)
		if err != nil {
			yield(model.Chunk{}, err)
			return
		}
		for _, b := range resp.Message.Blocks {
			if b.Text == nil {
				continue
			}
			half := len(b.Text.Text) / 2
			for _, piece := range []string{b.Text.Text[:half], b.Text.Text[half:]} {
				if !yield(model.Chunk{TextDelta: &model.TextDelta{Text: piece}}, nil) {
					return
				}
			}
		}
		yield(model.Chunk{Response: resp}, nil)
	}
}

func (m *fakeModel) seen() []model.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.requests
}

// turns returns a model that answers a conversation with n-1 answers by its nth answer.
func turns(answers ...*model.Response) *fakeModel {
	return &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
		n := 0
		for _, m := range req.Messages {
			if m.Role == model.RoleAssistant {
				n++
			}
		}
		if n >= len(answers) {
			return nil, &model.Error{Message: fmt.Sprintf("the script has %d turns", len(answers))}
		}
		return answers[n], nil
	}}
}

// What the tests of the reducer and of the driver share.
var (
	text, call, effect = looptest.Text, looptest.Call, looptest.Effect
	response           = looptest.Response
	completion         = looptest.Completion
	offered            = looptest.Offered()
	checkPaired        = looptest.CheckPaired
)

// fakeTools is a toolhost in memory. It executes an id once; later calls join the execution or get
// its outcome.
type fakeTools struct {
	infos []tool.Info
	// run executes a call. Its context ends when the call is cancelled.
	run func(ctx context.Context, call tool.Call, status func(tool.Status)) tool.Outcome
	// refuse, if not nil, can reject opening a call.
	refuse func(call tool.Call) error
	// repeated, if not nil, is what a repeat of a call ends with, as if its tool had settled it.
	repeated func(call tool.Call) tool.Outcome
	// ledger is the id of the ledger. Empty means no ledger; then it accepts every call.
	ledger string

	mu       sync.Mutex
	executed map[string]int
	calls    map[string]*fakeCall
	group    sync.WaitGroup
}

type fakeCall struct {
	cancel  context.CancelCauseFunc
	mu      sync.Mutex
	events  []tool.Event
	changed chan struct{}
}

func newTools(run func(context.Context, tool.Call, func(tool.Status)) tool.Outcome) *fakeTools {
	return &fakeTools{infos: offered, run: run, executed: make(map[string]int), calls: make(map[string]*fakeCall)}
}

func echo(_ context.Context, call tool.Call, _ func(tool.Status)) tool.Outcome {
	return tool.Outcome{CallID: call.ID, Plugin: "p", Instance: "p-1", Result: tool.TextResult("echo " + call.ID)}
}

func (f *fakeTools) ListTools(ctx context.Context, _ tool.Query) ([]tool.Info, error) {
	return f.infos, ctx.Err()
}

func (f *fakeTools) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if !complete {
		return nil, tool.Errorf(tool.KindInternal, "the test wants complete arguments")
	}
	if f.refuse != nil {
		if err := f.refuse(call); err != nil {
			return nil, err
		}
	}
	if call.Ledger != "" && f.ledger != "" && call.Ledger != f.ledger {
		return nil, tool.Errorf(tool.KindOutcomeUnknown, "the call is of the ledger %s", call.Ledger)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[call.ID]
	if c != nil && f.repeated != nil {
		settled := f.repeated(call)
		c = &fakeCall{changed: make(chan struct{}), cancel: func(error) {}}
		c.add(tool.Event{Ended: &settled})
		return &fakeExecution{call: c}, nil
	}
	if c == nil {
		c = &fakeCall{changed: make(chan struct{})}
		f.calls[call.ID] = c
		f.executed[call.ID]++
		ctx, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
		c.cancel = cancel
		f.group.Go(func() {
			defer cancel(nil)
			c.add(tool.Event{Started: &tool.Started{CallID: call.ID, Plugin: "p", Instance: "p-1", Attempt: 1}})
			out := f.run(ctx, call, func(s tool.Status) { c.add(tool.Event{Status: &s}) })
			c.add(tool.Event{Ended: &out})
		})
	}
	return &fakeExecution{call: c}, nil
}

func (*fakeTools) AnswerQuestion(context.Context, tool.CallKey, uint32, tool.Answer) error {
	return tool.Errorf(tool.KindNotFound, "nothing is asked")
}

func (f *fakeTools) CancelCall(_ context.Context, key tool.CallKey, reason string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	c := f.calls[key.ID]
	if c == nil {
		return tool.Errorf(tool.KindNotFound, "there is no call %s", key.ID)
	}
	c.cancel(&tool.Error{Kind: tool.KindCancelled, Message: reason})
	return nil
}

func (f *fakeTools) WatchCall(ctx context.Context, key tool.CallKey, _ uint64) iter.Seq2[tool.Event, error] {
	return func(yield func(tool.Event, error) bool) {
		f.mu.Lock()
		c := f.calls[key.ID]
		f.mu.Unlock()
		if c == nil {
			yield(tool.Event{}, tool.Errorf(tool.KindNotFound, "there is no call %s", key.ID))
			return
		}
		e := &fakeExecution{call: c}
		for {
			event, err := e.Next(ctx)
			if errors.Is(err, io.EOF) || !yield(event, err) || err != nil {
				return
			}
		}
	}
}

// executions returns how often each call was executed.
func (f *fakeTools) executions() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.executed
}

func (c *fakeCall) add(e tool.Event) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.events = append(c.events, e)
	close(c.changed)
	c.changed = make(chan struct{})
}

type fakeExecution struct {
	call *fakeCall
	next int
}

func (e *fakeExecution) Send(context.Context, []byte, bool) error { return nil }
func (e *fakeExecution) Close()                                   {}
func (e *fakeExecution) Cancel(reason string) {
	e.call.cancel(&tool.Error{Kind: tool.KindCancelled, Message: reason})
}

func (e *fakeExecution) Next(ctx context.Context) (tool.Event, error) {
	for {
		e.call.mu.Lock()
		events, changed := e.call.events, e.call.changed
		e.call.mu.Unlock()
		if e.next < len(events) {
			e.next++
			return events[e.next-1], nil
		}
		if n := len(events); n > 0 && events[n-1].Ended != nil {
			return tool.Event{}, io.EOF
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return tool.Event{}, ctx.Err()
		}
	}
}

// fixture is an agent with fakes.
type fixture struct {
	*agent.Agent
	t     *testing.T
	store runstore.Store
	model *fakeModel
	tools *fakeTools
}

func newFixture(t *testing.T, m *fakeModel, tools *fakeTools, change func(*agent.Config)) *fixture {
	t.Helper()
	f := &fixture{t: t, store: memory.New(), model: m, tools: tools}
	f.open(change)
	t.Cleanup(func() { f.Close(); tools.group.Wait() })
	return f
}

// open creates the agent, and after Close another one for the same store.
func (f *fixture) open(change func(*agent.Config)) {
	f.t.Helper()
	// Take every possible snapshot, so that every continued run continues from one.
	cfg := agent.Config{Store: f.store, Model: f.model, Tools: f.tools, SnapshotEvery: 1}
	if change != nil {
		change(&cfg)
	}
	a, err := agent.New(cfg)
	if err != nil {
		f.t.Fatal(err)
	}
	f.Agent = a
}

func (f *fixture) start(task loop.Task) {
	f.t.Helper()
	task.RunID, task.Prompt = "r", "hello"
	if _, err := f.StartRun(f.t.Context(), task); err != nil {
		f.t.Fatal(err)
	}
}

// watch returns the run's events after a Seq, up to its end.
func (f *fixture) watch(after uint64) []loop.Event {
	f.t.Helper()
	var events []loop.Event
	for e, err := range f.WatchRun(f.t.Context(), "r", after) {
		if err != nil {
			f.t.Fatalf("watching after %d: %v", after, err)
		}
		events = append(events, e)
	}
	return events
}

// end waits for the run's end and returns it.
func (f *fixture) end() *loop.RunFinished {
	f.t.Helper()
	events := f.watch(0)
	end, ok := events[len(events)-1].Payload.(*loop.RunFinished)
	if !ok {
		f.t.Fatalf("the run ends with %s", events[len(events)-1].Payload.Type())
	}
	return end
}

func types(events []loop.Event) []loop.Type {
	list := make([]loop.Type, len(events))
	for i, e := range events {
		list[i] = e.Payload.Type()
	}
	return list
}

func durable(events []loop.Event) []loop.Event {
	var list []loop.Event
	for _, e := range events {
		if e.Durable() {
			list = append(list, e)
		}
	}
	return list
}
