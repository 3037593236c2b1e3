package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/internal/agent"
	"github.com/toolhost/toolhost/internal/host/hosttest"
	"github.com/toolhost/toolhost/internal/model"
	"github.com/toolhost/toolhost/tool"
)

// stage is a toolhost with a tool that looks on, what it saw and what it executed; and a model whose nth stream is the
// nth script.
type stage struct {
	*hosttest.Fake
	t       *testing.T
	scripts []func(ctx context.Context, s *script) error
	agent   *agent.Agent

	mu       sync.Mutex
	asked    int
	seen     []string // every prefix that was previewed
	executed []string // arguments
	changed  chan struct{}
	statuses map[string]chan struct{} // by tip, closed once a watcher of the run has seen it
}

func newStage(t *testing.T, scripts ...func(ctx context.Context, s *script) error) *stage {
	g := &stage{t: t, scripts: scripts, statuses: make(map[string]chan struct{})}
	serial := g.tool("serial")
	serial.Spec.Serial, serial.Spec.PartialArguments, serial.Preview = true, false, nil
	plain := g.tool("plain")
	plain.Spec.PartialArguments, plain.Preview = false, nil
	g.Fake = hosttest.NewFake(g.tool("write"), serial, plain)
	f := newFixture(t, &fakeModel{}, newTools(echo), func(c *agent.Config) { c.Model, c.Tools = g, g })
	g.agent = f.Agent
	t.Cleanup(g.Fake.Close)
	f.start(agent.Task{})
	return g
}

func (g *stage) tool(name string) hosttest.Tool {
	return hosttest.Tool{
		Spec: tool.Spec{Name: name, InputSchema: json.RawMessage(`{"type":"object"}`), PartialArguments: true},
		Preview: func(text []byte, emit func(tool.Event)) {
			g.note(&g.seen, name+" "+string(text))
			emit(tool.Event{Status: &tool.Status{State: tool.StatusWait, Tip: string(text)}})
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

// sawTip returns when a watcher of the run sees a status with a tip.
func (g *stage) sawTip(tip string) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	seen := g.statuses[tip]
	if seen == nil {
		seen = make(chan struct{})
		g.statuses[tip] = seen
	}
	return seen
}

// watch follows the run to its end.
func (g *stage) watch() (events []agent.Event) {
	g.t.Helper()
	for e, err := range g.agent.WatchRun(g.t.Context(), "r", 0) {
		if err != nil {
			g.t.Fatal(err)
		}
		events = append(events, e)
		if p, ok := e.Payload.(*agent.CallStatus); ok && p.Status.Tip != "" {
			select {
			case <-g.sawTip(p.Status.Tip):
			default:
				close(g.sawTip(p.Status.Tip))
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

// shown waits until a watcher of the run has seen what the tool says about a prefix of the arguments.
func (s *script) shown(ctx context.Context, prefix string) error {
	select {
	case <-s.stage.sawTip(prefix):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestArgumentsReachTheToolAsTheyAreWritten: the model does not go on before a watcher has seen the tool's status.
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
			if p, ok := e.Payload.(*agent.CallStatus); ok {
				line += " " + p.CallID + " " + string(p.Status.State) + " " + p.Status.Tip
			}
			order = append(order, line)
		}
		want := []string{
			"run_started", `call_status r.t1.c0 WAIT {"te`, `call_status r.t1.c0 WAIT {"text":`, "assistant_message",
			"call_started", "call_result", "assistant_message", "run_finished",
		}
		// What was written last is seen by the tool or not, as it happens.
		order = slices.DeleteFunc(order, func(line string) bool { return line == `call_status r.t1.c0 WAIT {"text":1}` })
		if diff := cmp.Diff(want, order); diff != "" {
			t.Errorf("events (-want +got):\n%s", diff)
		}
		if diff := cmp.Diff([]string{`write {"text":1}`}, g.executed); diff != "" {
			t.Errorf("executed (-want +got):\n%s", diff)
		}
		if opened := g.Opened(); len(opened) != 1 || opened[0].Session != "r" {
			t.Errorf("opened: %+v; the call that was shown is the one that is made", opened)
		}
	})
}

// TestPreviewsThatComeToNothing: what the model does not say to its end, or must not do, is never executed.
func TestPreviewsThatComeToNothing(t *testing.T) {
	begin := func(ctx context.Context, s *script) error {
		s.begin("write")
		s.write(`{"a":1}`)
		return s.shown(ctx, `{"a":1}`)
	}
	for name, test := range map[string]struct {
		script func(ctx context.Context, s *script) error
		want   agent.StopReason
	}{
		"cut": {func(ctx context.Context, s *script) error {
			s.stop = model.StopMaxTokens
			return begin(ctx, s)
		}, agent.StopEndTurn},
		"refusal": {func(ctx context.Context, s *script) error {
			s.stop = model.StopRefusal
			return begin(ctx, s)
		}, agent.StopRefusal},
		"content filter": {func(ctx context.Context, s *script) error {
			s.stop = model.StopContentFilter
			return begin(ctx, s)
		}, agent.StopContentFilter},
		"error": {func(ctx context.Context, s *script) error {
			return errors.Join(begin(ctx, s), &model.Error{Message: "bad key"})
		}, agent.StopModelError},
		"retried": {func(ctx context.Context, s *script) error {
			return errors.Join(begin(ctx, s), &model.Error{Message: "overloaded", Retryable: true})
		}, agent.StopEndTurn},
		"cancelled": {func(ctx context.Context, s *script) error {
			if err := begin(ctx, s); err != nil {
				return err
			}
			if err := s.stage.agent.CancelRun(ctx, "r", "enough"); err != nil {
				return err
			}
			<-ctx.Done()
			return ctx.Err()
		}, agent.StopCancelled},
		"something else": {func(ctx context.Context, s *script) error {
			if err := begin(ctx, s); err != nil {
				return err
			}
			s.calls[0] = model.ToolCall{ID: "m0", Name: "plain", Arguments: "{}"}
			return nil
		}, agent.StopEndTurn},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newStage(t, test.script)
				events := g.watch()
				end, _ := events[len(events)-1].Payload.(*agent.RunFinished)
				if end == nil || end.StopReason != test.want {
					t.Errorf("ended with %+v", end)
				}
				synctest.Wait()
				if slices.ContainsFunc(g.executed, func(line string) bool { return strings.HasPrefix(line, "write") }) {
					t.Errorf("executed: %v", g.executed)
				}
				stats, err := g.Stats(t.Context(), "")
				if i := slices.IndexFunc(stats, func(s tool.Stats) bool { return s.Tool == "write" }); err != nil || i < 0 ||
					stats[i].Calls != 1 || stats[i].Failures[tool.KindCancelled] != 1 {
					t.Errorf("the call that was shown was not abandoned: %+v, %v", stats, err)
				}
			})
		})
	}
}
