package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
	"github.com/toolhost/toolhost/server/internal/toolhost/hosttest"
	"github.com/toolhost/toolhost/tool"
)

// stage is a toolhost with one tool that reads partial arguments, and a model whose nth stream is
// the nth script. It records what the tool saw and executed.
type stage struct {
	*hosttest.Toolhost
	t       *testing.T
	scripts []func(ctx context.Context, s *script) error
	agent   *agent.Agent

	mu       sync.Mutex
	asked    int
	seen     []string                 // every prefix that was previewed
	executed []string                 // arguments
	statuses map[string]chan struct{} // by message; closed when a watcher has seen it

	// Faults of previews; set before the model writes.
	refuse, lost error // on opening; in the events
	// the outcome while the model writes, or after the arguments are complete
	early, late   *tool.Error
	panics, stuck bool // opening panics; text is not accepted
}

func newStage(t *testing.T, scripts ...func(ctx context.Context, s *script) error) *stage {
	return newStageOn(t, memory.New(), scripts...)
}

func newStageOn(t *testing.T, store runstore.Store, scripts ...func(ctx context.Context, s *script) error) *stage {
	g := &stage{t: t, scripts: scripts, statuses: make(map[string]chan struct{})}
	serial := g.tool("serial")
	serial.Spec.Serial, serial.Spec.PartialArguments, serial.Preview = true, false, nil
	plain := g.tool("plain")
	plain.Spec.PartialArguments, plain.Preview = false, nil
	g.Toolhost = hosttest.New(t, nil, g.tool("write"), serial, plain)
	f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Store, c.Model, c.Tools = store, g, g })
	g.agent = f.Agent
	f.start(loop.Task{})
	return g
}

func (g *stage) tool(name string) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: name, Description: "Writes.", InputSchema: json.RawMessage(`{"type":"object"}`), PartialArguments: true},
		Preview: func(text []byte, emit func(tool.Event)) {
			g.note(&g.seen, name+" "+string(text))
			emit(tool.Event{Status: &tool.Status{State: tool.StatusWait, Message: string(text)}})
		},
		Run: func(_ context.Context, call tool.Call, _ func(tool.Event)) (tool.Result, error) {
			g.note(&g.executed, name+" "+string(call.Arguments))
			return tool.TextResult("done"), nil
		},
	}
}

func (g *stage) note(list *[]string, line string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	*list = append(*list, line)
}

func (g *stage) Name() string { return "fake:streaming" }

func (g *stage) Generate(ctx context.Context, _ model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		g.mu.Lock()
		n := g.asked
		g.asked++
		g.mu.Unlock()
		if n >= len(g.scripts) {
			yield(model.Chunk{Response: response(model.StopEndTurn, text("ok"))}, nil)
			return
		}
		s := &script{stage: g, yield: yield, stop: model.StopToolUse}
		if err := g.scripts[n](ctx, s); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		blocks := make([]model.Block, len(s.calls))
		for i := range s.calls {
			blocks[i].ToolCall = &s.calls[i]
		}
		yield(model.Chunk{Response: response(s.stop, blocks...)}, nil)
	}
}

// sawMessage returns when a watcher of the run has seen a status with a message.
func (g *stage) sawMessage(message string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.statuses[message]
	if seen == nil {
		seen = make(chan struct{})
		g.statuses[message] = seen
	}
	return seen
}

// watch follows the run to its end.
func (g *stage) watch() (events []loop.Event) {
	g.t.Helper()
	for e, err := range g.agent.WatchRun(g.t.Context(), "r", 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		events = append(events, e)
		if p, ok := e.Payload.(*loop.CallStatus); ok && p.Status.Message != "" {
			select {
			case <-g.sawMessage(p.Status.Message):
			default:
				close(g.sawMessage(p.Status.Message))
			}
		}
	}
	return events
}

// script writes one response.
type script struct {
	stage *stage
	yield func(model.Chunk, error) bool
	calls []model.ToolCall
	stop  model.StopReason
}

func (s *script) begin(name string) {
	id := fmt.Sprintf("m%d", len(s.calls))
	s.yield(model.Chunk{CallBegun: &model.CallBegun{Index: len(s.calls), ID: id, Name: name}}, nil)
	s.calls = append(s.calls, model.ToolCall{ID: id, Name: name})
}

func (s *script) write(text string) {
	i := len(s.calls) - 1
	s.calls[i].Arguments += text
	s.yield(model.Chunk{ArgumentDelta: &model.ArgumentDelta{Index: i, Text: text}}, nil)
}

// shown waits until a watcher has seen the tool's status for a prefix of the arguments.
func (s *script) shown(ctx context.Context, prefix string) error {
	select {
	case <-s.stage.sawMessage(prefix):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Open is the toolhost's Open, unless the test injects a fault.
func (g *stage) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	if complete {
		return g.Toolhost.Open(ctx, call, complete)
	}
	if g.refuse != nil {
		return nil, g.refuse
	}
	if g.panics {
		panic("a bug in the client")
	}
	execution, err := g.Toolhost.Open(ctx, call, complete)
	if err != nil {
		return nil, err
	}
	return &spoiled{Execution: execution, stage: g, complete: make(chan struct{})}, nil
}

// spoiled is an execution that fails as its stage says, before the call is executed.
type spoiled struct {
	tool.Execution
	stage    *stage
	complete chan struct{}
	once     sync.Once
}

func (e *spoiled) Send(ctx context.Context, text []byte, complete bool) error {
	switch {
	case e.stage.stuck:
		<-ctx.Done()
		return ctx.Err()
	case complete && e.stage.late != nil:
		e.Execution.Close()
		e.once.Do(func() { close(e.complete) })
		return nil
	}
	return e.Execution.Send(ctx, text, complete)
}

func (e *spoiled) Next(ctx context.Context) (tool.Event, error) {
	switch g := e.stage; {
	case g.early != nil:
		return tool.Event{Ended: &tool.Outcome{Err: g.early}}, nil
	case g.lost != nil:
		return tool.Event{}, g.lost
	case g.late != nil:
		select {
		case <-e.complete:
			return tool.Event{Ended: &tool.Outcome{Err: g.late}}, nil
		case <-ctx.Done():
			return tool.Event{}, ctx.Err()
		}
	}
	return e.Execution.Next(ctx)
}

// slowCancel is a journal that delays a cancel.
type slowCancel struct {
	runstore.Store
	entered, leave chan struct{}
}

func (s *slowCancel) Append(ctx context.Context, b runstore.Batch) error {
	if b.Records[0].Type == string(loop.TypeCancelRequested) {
		close(s.entered)
		<-s.leave
	}
	return s.Store.Append(ctx, b)
}
