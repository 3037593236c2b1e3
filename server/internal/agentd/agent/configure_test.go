package agent_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/server/internal/agentd/runstore/memory"
)

// namedModel is a model with another name.
type namedModel struct {
	*fakeModel
	name string
}

func (m namedModel) Name() string { return m.name }

// A run keeps the configuration that it began with, and a later run gets the new one. The journal
// of each run has the configuration.
func TestReconfigure(t *testing.T) {
	asked, release := make(chan struct{}), make(chan struct{})
	first := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("of the first model")))
	answer := first.answer
	first.answer = func(ctx context.Context, req model.Request) (*model.Response, error) {
		if len(first.seen()) == 1 {
			close(asked)
			<-release
		}
		return answer(ctx, req)
	}
	tools := newTools(echo)
	cfg := agent.Config{Store: memory.New(), Model: namedModel{first, "fake:first"}, Tools: tools, SystemPrompt: "one", Limits: loop.Limits{MaxTurns: 5}}
	a, err := agent.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.Close(); tools.group.Wait() })
	start := func(id string) {
		t.Helper()
		if _, err := a.StartRun(t.Context(), loop.Task{RunID: id, Prompt: "hello"}); err != nil {
			t.Fatal(err)
		}
	}
	start("before")
	<-asked
	second := turns(response(model.StopEndTurn, text("of the second model")))
	next := agent.Config{Model: namedModel{second, "fake:second"}, SystemPrompt: "two", Limits: loop.Limits{MaxTurns: 7}}
	if err := a.Reconfigure(next); err != nil {
		t.Fatal(err)
	}
	next.SystemTools = []string{"no_such_tool"}
	if err := a.Reconfigure(next); err == nil {
		t.Error("a wrong configuration was accepted")
	}
	start("after")
	close(release)
	for id, want := range map[string]struct {
		model, prompt, text string
		turns               int
	}{
		"before": {"fake:first", "one", "of the first model", 5},
		"after":  {"fake:second", "two", "of the second model", 7},
	} {
		for e, err := range a.WatchRun(t.Context(), id, 0) {
			if err != nil {
				t.Fatal(err)
			}
			switch p := e.Payload.(type) {
			case *loop.RunStarted:
				if p.Model != want.model || p.SystemPrompt != want.prompt || p.Limits.MaxTurns != want.turns {
					t.Errorf("the run %s began with %s, %q, %d turns", id, p.Model, p.SystemPrompt, p.Limits.MaxTurns)
				}
			case *loop.RunFinished:
				if p.Text != want.text {
					t.Errorf("the run %s ended with %q, want %q", id, p.Text, want.text)
				}
			}
		}
	}
}

// A run whose model is not configured any more ends with an error that names the model and what to
// do. A model that the operator names for the process continues the run.
func TestLostModel(t *testing.T) {
	for _, named := range []bool{false, true} {
		t.Run(fmt.Sprintf("named=%t", named), func(t *testing.T) {
			f := newFixture(t, turns(response(model.StopToolUse, call("a", "echo"))), newTools(echo), nil)
			dying := &dyingStore{Store: f.store}
			dying.left.Store(2)
			f.Close()
			f.open(func(c *agent.Config) { c.Store = dying })
			f.start(loop.Task{})
			for range f.WatchRun(t.Context(), "r", 0) {
			}
			f.Close()

			second := turns(nil, response(model.StopEndTurn, text("of the second model")))
			f.open(func(c *agent.Config) { c.Model, c.ModelForLost = namedModel{second, "fake:second"}, named })
			if _, err := f.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			ended := f.end()
			if named && ended.Text != "of the second model" {
				t.Errorf("the run ended with %+v", ended)
			}
			if !named && (ended.StopReason != loop.StopModelError || !strings.Contains(ended.Message, "--model") || len(second.seen()) != 0) {
				t.Errorf("the run ended with %+v", ended)
			}
		})
	}
}
