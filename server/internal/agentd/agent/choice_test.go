package agent_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// asked records the queries that a toolhost receives.
type asked struct {
	*fakeTools
	mu      sync.Mutex
	queries []tool.Query
	opened  []tool.Call
}

func (a *asked) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	a.mu.Lock()
	a.queries = append(a.queries, query)
	a.mu.Unlock()
	return a.fakeTools.ListTools(ctx, query)
}

func (a *asked) Open(ctx context.Context, call tool.Call, complete bool) (tool.Execution, error) {
	a.mu.Lock()
	a.opened = append(a.opened, call)
	a.mu.Unlock()
	return a.fakeTools.Open(ctx, call, complete)
}

func askedFixture(t *testing.T, m *fakeModel, change func(*agent.Config)) (*fixture, *asked) {
	t.Helper()
	tools := &asked{fakeTools: newTools(echo)}
	return newFixture(t, m, tools.fakeTools, func(c *agent.Config) {
		if c.Tools = tools; change != nil {
			change(c)
		}
	}), tools
}

// Tools are listed with the session and the context of their calls, because dynamic tools depend on
// both.
func TestToolsAreListedAsTheyAreCalled(t *testing.T) {
	f, tools := askedFixture(t, turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("hi"))), nil)
	f.start(loop.Task{Session: "s", Context: map[string]json.RawMessage{"options": json.RawMessage(`["red"]`)}})
	f.end()
	if len(tools.queries) != 2 || len(tools.opened) != 1 {
		t.Fatalf("%d lists, %d calls", len(tools.queries), len(tools.opened))
	}
	query, opened := tools.queries[0], tools.opened[0]
	if diff := cmp.Diff(opened.Context, query.Context); diff != "" || query.Session != opened.Session || string(query.Context["options"]) != `["red"]` {
		t.Errorf("session %q and %q; values (-call +list):\n%s", opened.Session, query.Session, diff)
	}
}

// The agent's configuration applies unless the task decides.
func TestCompletionIsTheAgents(t *testing.T) {
	for name, test := range map[string]struct {
		agent bool
		task  *bool
		want  bool
	}{
		"neither": {false, nil, false}, "the agent": {true, nil, true},
		"the task": {false, new(true), true}, "the task against the agent": {true, new(false), false},
	} {
		t.Run(name, func(t *testing.T) {
			m := turns(response(model.StopEndTurn, text("hi")))
			f := newFixture(t, m, newTools(echo), func(c *agent.Config) { c.ExplicitCompletion = test.agent })
			f.start(loop.Task{ExplicitCompletion: test.task})
			f.end()
			if started := f.watch(0)[0].Payload.(*loop.RunStarted); started.ExplicitCompletion != test.want {
				t.Errorf("got %v", started.ExplicitCompletion)
			}
		})
	}
}
