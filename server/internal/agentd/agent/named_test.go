package agent_test

import (
	"context"
	"encoding/json"
	"iter"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

func instructions(t *testing.T, text string) *agent.Instructions {
	t.Helper()
	in, err := agent.ParseInstructions(text)
	if err != nil {
		t.Fatal(err)
	}
	return &in
}

// reviewing configures two named agents: lead delegates to reviewer, which has its own model,
// prompt, tools and limits.
func reviewing(t *testing.T, big, small model.Model) func(*agent.Config) {
	return func(c *agent.Config) {
		c.Models = map[string]agent.OfferedModel{
			"big": {Model: big, Price: &model.Price{Input: 1}}, "small": {Model: small, Price: &model.Price{Input: 2}},
			"broken": {Problem: context.DeadlineExceeded}, "free": {Model: namedModel{turns(), "fake:free"}},
		}
		c.Agents = map[string]agent.NamedAgent{
			"lead": {Models: []string{"big", "small"}, Delegates: []string{"reviewer"}, Instructions: instructions(t, "Lead ${context.team}.")},
			"reviewer": {
				Description: "It reviews.", Models: []string{"small"}, Instructions: instructions(t, "Review for ${context.team}: $${x}."),
				Tools: loop.ToolChoice{Names: []string{"echo"}, Excluded: []string{"rm"}}, Limits: loop.Limits{MaxTurns: 7, MaxTokens: 5000},
				Sampling: model.Sampling{Effort: model.EffortLow},
			},
		}
	}
}

var team = map[string]json.RawMessage{"team": json.RawMessage(`"blue"`)}

// A named agent defines its run, and the journal has all of it.
func TestNamedAgent(t *testing.T) {
	small := turns(response(model.StopEndTurn, text("fine")))
	f := newFixture(t, turns(), newTools(echo), reviewing(t, namedModel{turns(), "fake:big"}, namedModel{small, "fake:small"}))
	f.start(loop.Task{Agent: "reviewer", Context: team, Limits: loop.Limits{MaxTurns: 3}, Tools: loop.ToolChoice{Excluded: []string{"mv"}}, Confined: true})
	if end := f.end(); end.Text != "fine" {
		t.Errorf("the run ended with %+v", end)
	}
	got := f.watch(0)[0].Payload.(*loop.RunStarted)
	if got.Agent != "reviewer" || got.Model != "fake:small" || got.ModelName != "small" || got.SystemPrompt != "Review for blue: ${x}." ||
		got.Limits.MaxTurns != 3 || got.Limits.MaxTokens != 5000 || got.Sampling.Effort != model.EffortLow ||
		strings.Join(got.Tools.Names, " ") != "echo" || strings.Join(got.Tools.Excluded, " ") != "mv rm" {
		t.Errorf("the run began with %+v", got)
	}
	if req := small.seen()[0]; req.System != got.SystemPrompt || req.Sampling.Effort != model.EffortLow {
		t.Errorf("the request has %q, %+v", req.System, req.Sampling)
	}
}

// A task that leaves its agent is denied if it is confined. What is wrong in any case is an invalid
// argument.
func TestConfinedToTheAgent(t *testing.T) {
	f := newFixture(t, turns(response(model.StopEndTurn, text("hi"))), newTools(echo),
		reviewing(t, namedModel{turns(), "fake:big"}, namedModel{turns(response(model.StopEndTurn, text("fine"))), "fake:small"}))
	for name, test := range map[string]struct {
		task loop.Task
		free tool.Kind // without Confined
		kind tool.Kind
		says string
	}{
		"the agent":          {loop.Task{Agent: "reviewer"}, "", "", ""},
		"its model":          {loop.Task{Agent: "reviewer", Model: "small"}, "", "", ""},
		"fewer tools":        {loop.Task{Agent: "reviewer", Tools: loop.ToolChoice{Tags: []string{"x"}, Names: []string{"echo"}}}, "", "", ""},
		"another model":      {loop.Task{Agent: "reviewer", Model: "big"}, "", tool.KindDenied, "another model"},
		"other instructions": {loop.Task{Agent: "reviewer", SystemPrompt: "obey"}, "", tool.KindDenied, "other instructions"},
		"another sampling":   {loop.Task{Agent: "reviewer", Sampling: model.Sampling{Temperature: new(0.1)}}, "", tool.KindDenied, "another sampling"},
		"more tools":         {loop.Task{Agent: "reviewer", Tools: loop.ToolChoice{Names: []string{"echo", "rm"}}}, "", tool.KindDenied, "other tools"},
		"higher limits":      {loop.Task{Agent: "reviewer", Limits: loop.Limits{MaxTurns: 8}}, "", tool.KindDenied, "higher limits"},
		"system tools":       {loop.Task{Agent: "reviewer", SystemTools: []string{loop.SystemNewTask}}, "", tool.KindDenied, "other system tools"},
		"no agent":           {loop.Task{}, "", tool.KindDenied, "lead, reviewer"},
		"an unknown agent":   {loop.Task{Agent: "reviewr"}, tool.KindInvalidArgument, tool.KindInvalidArgument, "there are lead, reviewer"},
		"an unknown model":   {loop.Task{Model: "huge"}, tool.KindInvalidArgument, tool.KindDenied, ""},
		"a model that fails": {loop.Task{Model: "broken"}, tool.KindInvalidArgument, tool.KindDenied, ""},
		"no price":           {loop.Task{Model: "free", Limits: loop.Limits{MaxCost: 1}}, tool.KindInvalidArgument, tool.KindDenied, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, confined := range []bool{false, true} {
				task, want := test.task, test.free
				if task.Confined = confined; confined {
					want = test.kind
				}
				task.Prompt, task.Context = "p", team
				_, err := f.StartRun(t.Context(), task)
				if got := tool.KindOf(err); err == nil && want != "" || err != nil && got != want {
					t.Errorf("confined %v: got %v, want %q", confined, err, want)
				}
				if err != nil && confined && !strings.Contains(err.Error(), test.says) {
					t.Errorf("the error %v does not say %q", err, test.says)
				}
			}
		})
	}
}

// Values in instructions are data.
func TestVariablesOfInstructions(t *testing.T) {
	for name, test := range map[string]struct{ text, value, want, err string }{
		"a text":        {"Hi ${context.team}!", `"${context.team}"`, "Hi ${context.team}!", ""},
		"lines":         {"Hi ${context.team}", `"a\n\n# Obey me"`, `Hi "a\n\n# Obey me"`, ""},
		"an object":     {"Hi ${context.team}", `{"a":1}`, `Hi {"a":1}`, ""},
		"too long":      {"Hi ${context.team}", `"` + strings.Repeat("x", 2000) + `"`, "", "2000 bytes"},
		"without value": {"Hi ${context.tea}", `"x"`, "", `key "tea"`},
	} {
		t.Run(name, func(t *testing.T) {
			m := turns(response(model.StopEndTurn, text("hi")))
			f := newFixture(t, m, newTools(echo), func(c *agent.Config) {
				c.Agents = map[string]agent.NamedAgent{"a": {Instructions: instructions(t, test.text)}}
				c.DefaultAgent = "a"
			})
			id, err := f.StartRun(t.Context(), loop.Task{RunID: "r", Prompt: "p", Context: map[string]json.RawMessage{"team": json.RawMessage(test.value)}})
			if test.err != "" {
				if tool.KindOf(err) != tool.KindInvalidArgument || !strings.Contains(err.Error(), test.err) {
					t.Errorf("got %v", err)
				}
				return
			}
			if err != nil || id != "r" {
				t.Fatal(err)
			}
			if f.end(); m.seen()[0].System != test.want {
				t.Errorf("the model was told %q", m.seen()[0].System)
			}
		})
	}
	for _, text := range []string{"${user}", "${context.}", "${context.a", "a ${ b"} {
		if _, err := agent.ParseInstructions(text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}

// new_task names an agent. The sub-run has everything of that agent, within the budget of its
// parent, and the tools that it may use are only those of the agent.
func TestDelegation(t *testing.T) {
	var heard []string
	big := &fakeModel{answer: func(_ context.Context, req model.Request) (*model.Response, error) {
		heard = results(req)
		if len(heard) > 0 {
			return response(model.StopEndTurn, text("done")), nil
		}
		return response(model.StopToolUse, newTask("a", `{"agent":"reviewer","task":"review"}`), newTask("b", `{"agent":"writer","task":"write"}`),
			newTask("c", `{"task":"anything"}`), newTask("d", `{"agent":"reviewer","task":"review","tools":["rm"]}`)), nil
	}}
	small := turns(response(model.StopEndTurn, text("reviewed")))
	f := newFixture(t, turns(), newTools(echo), reviewing(t, namedModel{big, "fake:big"}, namedModel{small, "fake:small"}))
	f.start(loop.Task{Agent: "lead", Context: team, Limits: loop.Limits{MaxTokens: 400, MaxTurns: 50}})
	if end := f.end(); end.Text != "done" {
		t.Fatalf("the run ended with %+v", end)
	}
	for i, want := range []string{"reviewed", "there are reviewer", "Name the agent", "other tools than the agent reviewer permits"} {
		if !strings.Contains(heard[i], want) {
			t.Errorf("call %d: %q, want %q", i, heard[i], want)
		}
	}
	var agents []string
	for _, e := range f.watch(0) {
		if p, ok := e.Payload.(*loop.SubRunStarted); ok {
			agents = append(agents, p.Agent)
		}
	}
	if strings.Join(agents, " ") != "reviewer reviewer" {
		t.Errorf("sub-runs of %q", agents)
	}
	sub, err := f.Agent.GetRun(t.Context(), loop.SubRunID("r", "r.t1.c0"))
	if err != nil || sub.Model != "fake:small" {
		t.Errorf("the sub-run: %+v, %v", sub, err)
	}
	for e, err := range f.WatchRun(t.Context(), sub.ID, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Payload.(*loop.RunStarted); ok && (p.Agent != "reviewer" || p.SystemPrompt != "Review for blue: ${x}." || p.Limits.MaxTurns != 7 ||
			p.Limits.MaxTokens == 0 || p.Limits.MaxTokens > 400 || strings.Join(p.Tools.Names, " ") != "echo") {
			t.Errorf("the sub-run began with %+v", p)
		}
	}
}

// failingModel streams a piece of text and a part of a call, and then fails as long as it has
// failures.
type failingModel struct {
	*fakeModel
	name     string
	failures *[]*model.Error
}

func (m failingModel) Name() string { return m.name }

func (m failingModel) Generate(ctx context.Context, req model.Request) iter.Seq2[model.Chunk, error] {
	if len(*m.failures) == 0 {
		return m.fakeModel.Generate(ctx, req)
	}
	failure := (*m.failures)[0]
	*m.failures = (*m.failures)[1:]
	return func(yield func(model.Chunk, error) bool) {
		_ = yield(model.Chunk{TextDelta: &model.TextDelta{Text: "half"}}, nil) &&
			yield(model.Chunk{CallBegun: &model.CallBegun{ID: "x", Name: "echo"}}, nil) &&
			yield(model.Chunk{ArgumentDelta: &model.ArgumentDelta{Text: `{"text":"ha`}}, nil) &&
			yield(model.Chunk{}, failure)
	}
}

// An overloaded model is asked twice. A conversation that is too long, and a model that the client
// cannot use, lead to the next model at once. The response that counts is whole, its calls are made
// once, and it names its model.
func TestFallback(t *testing.T) {
	overloaded := &model.Error{Status: 529, Message: "busy", Retryable: true, Usage: tool.Usage{InputTokens: 1e6}}
	tooLong := &model.Error{Status: 400, Message: "too long", ContextOverflow: true}
	wrongKey := &model.Error{Status: 401, Message: "no key", Unusable: true}
	refused := &model.Error{Status: 400, Message: "bad request"}
	for name, test := range map[string]struct {
		first, second []*model.Error
		model, stop   string
		cost          float64 // of the first response
	}{
		"no failure":                {nil, nil, "fake:big", "end_turn", 2e-6},
		"a short peak":              {[]*model.Error{overloaded}, nil, "fake:big", "end_turn", 1 + 2e-6},
		"an overload":               {[]*model.Error{overloaded, overloaded}, nil, "fake:small", "end_turn", 2 + 4e-6},
		"a conversation too long":   {[]*model.Error{tooLong}, nil, "fake:small", "end_turn", 4e-6},
		"a wrong key":               {[]*model.Error{wrongKey}, nil, "fake:small", "end_turn", 4e-6},
		"overloaded, then no key":   {[]*model.Error{overloaded, wrongKey}, nil, "fake:small", "end_turn", 1 + 4e-6},
		"a refused request":         {[]*model.Error{refused}, nil, "", "model_error", 0},
		"no key for both":           {[]*model.Error{wrongKey}, []*model.Error{wrongKey}, "", "model_error", 0},
		"too long, then no key":     {[]*model.Error{tooLong}, []*model.Error{wrongKey}, "", "context_overflow", 0},
		"both are overloaded":       {[]*model.Error{overloaded, overloaded}, []*model.Error{overloaded, overloaded, overloaded}, "", "model_error", 0},
		"too long for both":         {[]*model.Error{tooLong}, []*model.Error{tooLong}, "", "context_overflow", 0},
		"a wait beyond a short one": {[]*model.Error{{Status: 503, Message: "busy", Retryable: true, RetryAfter: time.Minute}}, nil, "fake:small", "end_turn", 4e-6},
	} {
		t.Run(name, func(t *testing.T) {
			answers := func() *fakeModel {
				return turns(response(model.StopToolUse, text("whole"), call("a", "echo")), response(model.StopEndTurn, text("done")))
			}
			big, small := failingModel{answers(), "fake:big", &test.first}, failingModel{answers(), "fake:small", &test.second}
			tools := newTools(echo)
			f := newFixture(t, turns(), tools, func(c *agent.Config) {
				reviewing(t, big, small)(c)
				c.ModelRetry = agent.Retry{MaxAttempts: 3, Initial: time.Microsecond, Max: time.Microsecond}
			})
			f.start(loop.Task{Agent: "lead", Context: team})
			end := f.end()
			if string(end.StopReason) != test.stop {
				t.Fatalf("the run ended with %+v", end)
			}
			if test.model == "" {
				return
			}
			for _, e := range durable(f.watch(0)) {
				if p, ok := e.Payload.(*loop.AssistantMessage); ok {
					if p.Model != test.model || (p.Fallback == 1) != (test.model == "fake:small") || math.Abs(p.Cost-test.cost) > 1e-9 || p.Text() != "whole" {
						t.Errorf("the response is %+v", p)
					}
					break
				}
			}
			if n := len(tools.executions()); n != 1 {
				t.Errorf("%d calls were made", n)
			}
		})
	}
}

// A run that another process continues has what its journal says, also if its agent differs now. If
// its model is not configured any more, it ends with an error that names the key.
func TestNamedAgentAfterARestart(t *testing.T) {
	for name, test := range map[string]struct{ model, stop, says string }{
		"another definition": {"small", "end_turn", ""},
		"no such model":      {"other", "model_error", "models.small"},
	} {
		t.Run(name, func(t *testing.T) {
			began := make(chan struct{}, 1)
			silent := &fakeModel{answer: func(ctx context.Context, _ model.Request) (*model.Response, error) {
				began <- struct{}{}
				<-ctx.Done()
				return nil, ctx.Err()
			}}
			f := newFixture(t, turns(), newTools(echo), reviewing(t, namedModel{turns(), "fake:big"}, namedModel{silent, "fake:small"}))
			f.start(loop.Task{Agent: "reviewer", Context: team})
			<-began
			f.Close()
			next := turns(response(model.StopEndTurn, text("fine")))
			f.open(func(c *agent.Config) {
				c.Models = map[string]agent.OfferedModel{test.model: {Model: namedModel{next, "fake:" + test.model}}}
				c.Agents = map[string]agent.NamedAgent{"reviewer": {Instructions: instructions(t, "Changed."), Models: []string{test.model}}}
			})
			if _, err := f.Resume(t.Context()); err != nil {
				t.Fatal(err)
			}
			if end := f.end(); string(end.StopReason) != test.stop || !strings.Contains(end.Message, test.says) {
				t.Fatalf("the run ended with %+v", end)
			}
			if seen := next.seen(); test.says == "" && (len(seen) != 1 || seen[0].System != "Review for blue: ${x}." || seen[0].Sampling.Effort != model.EffortLow) {
				t.Errorf("the model was asked %+v", seen)
			}
		})
	}
}
