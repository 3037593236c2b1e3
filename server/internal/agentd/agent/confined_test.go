package agent_test

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// verdict says what a confined caller may do with a field of a task.
type verdict struct {
	// leaves is a value that needs the right to customize, and stays is one that needs none. A field
	// without leaves has no value that could leave an agent, for the reason in because.
	leaves, stays any
	because       string
}

// The reasons why no value of a field leaves an agent.
const (
	isInput    = "what the run is about, which no agent defines"
	isPeople   = "whether the caller's people answer; toolhost enforces approvals in every case"
	isNarrower = "it can only take tools away"
	isInternal = "no caller can set it"
)

// verdicts has every field of a task. The agent is the one of bounded.
var verdicts = map[string]verdict{
	"Prompt": {because: isInput}, "RunID": {because: isInput}, "Session": {because: isInput}, "Attachments": {because: isInput},
	"Context": {because: isInput}, "ResponseSchema": {because: isInput}, "Traceparent": {because: isInput},
	"Agent":           {because: "it names the agent"},
	"People.Attended": {because: isPeople}, "People.Expiry": {because: isPeople}, "People.AskOutcome": {because: isPeople},
	"Principal": {because: isInternal}, "Groups": {because: isInternal}, "Confined": {because: isInternal}, "Foreground": {because: isInternal},
	"Parent": {because: isInternal}, "Effects": {because: isInternal}, "Like": {because: isInternal}, "Variables": {because: isInternal},
	"Ledger": {because: isInternal}, "Restricted": {because: isInternal}, "RestrictedSystem": {because: isInternal},

	"SystemPrompt":         {leaves: "Obey."},
	"Model":                {leaves: "big", stays: "small"},
	"Sampling.Temperature": {leaves: new(0.1), stays: new(0.5)},
	"Sampling.TopP":        {leaves: new(0.1), stays: new(0.5)},
	"Sampling.Effort":      {leaves: model.EffortHigh, stays: model.EffortLow},
	"Tools.Names":          {leaves: []string{"echo", "rm"}, stays: []string{"echo"}},
	"Tools.Categories":     {leaves: []string{"b"}, stays: []string{"a"}},
	"Tools.Tags":           {leaves: []string{"a", "b"}, stays: []string{"a"}},
	"Tools.Plugins":        {leaves: []string{"b"}, stays: []string{"a"}},
	"Tools.Excluded":       {because: isNarrower},
	"Tools.Dangerous":      {leaves: new(true), stays: new(false)},
	"Tools.MaxCostPerUse":  {leaves: new(3.0), stays: new(1.0)},
	"Tools.MaxTools":       {leaves: 6, stays: 4},
	"SystemTools":          {leaves: []string{loop.SystemNewTask}, stays: []string{}},
	"ExplicitCompletion":   {leaves: new(true), stays: new(false)},
	"SubRuns":              {leaves: 2, stays: 1},

	"Limits.MaxTurns": {leaves: 6, stays: 4}, "Limits.MaxCalls": {leaves: 6, stays: 4}, "Limits.MaxResponseTokens": {leaves: 6, stays: 4},
	"Limits.MaxTokens": {leaves: int64(6), stays: int64(4)}, "Limits.MaxCost": {leaves: 6.0, stays: 4.0},
	"Limits.MaxWallTime": {leaves: 6 * time.Hour, stays: 4 * time.Hour}, "Limits.MaxOutput": {leaves: int64(6), stays: int64(4)},
	"Limits.MaxFailures": {leaves: 6, stays: 4}, "Limits.MaxTimeouts": {leaves: 6, stays: 4}, "Limits.MaxRepeats": {leaves: 6, stays: 4},

	"Window.Tokens": {leaves: int64(5000), stays: int64(9000)}, "Window.ClearAt": {leaves: 0.1, stays: 0.5},
	"Window.SummarizeAt": {leaves: 0.1, stays: 0.8}, "Window.Keep": {leaves: 9, stays: 3},
}

// bounded configures an agent that defines everything that an agent can define.
func bounded(c *agent.Config) {
	price := &model.Price{Input: 1}
	done := turns(response(model.StopEndTurn, text("done")))
	c.Search = noSearch{}
	c.Models = map[string]agent.OfferedModel{"big": {Model: namedModel{done, "fake:big"}, Price: price}, "small": {Model: namedModel{done, "fake:small"}, Price: price, Window: 9000}}
	c.Agents = map[string]agent.NamedAgent{"a": {
		Models: []string{"small"}, Sampling: model.Sampling{Temperature: new(0.5), TopP: new(0.5), Effort: model.EffortLow},
		Tools: loop.ToolChoice{
			Names: []string{"echo"}, Categories: []string{"a"}, Tags: []string{"a"}, Plugins: []string{"a"}, Excluded: []string{"rm"},
			Dangerous: new(false), MaxCostPerUse: new(2.0), MaxTools: 5,
		},
		SystemTools: []string{loop.SystemAskUser}, SubRuns: 1, ExplicitCompletion: new(false),
		Limits: loop.Limits{
			MaxTurns: 5, MaxCalls: 5, MaxResponseTokens: 5, MaxTokens: 5, MaxCost: 5, MaxWallTime: 5 * time.Hour, MaxOutput: 5,
			MaxFailures: 5, MaxTimeouts: 5, MaxRepeats: 5,
		},
	}}
}

// fieldsOf returns the paths of the fields of a struct. A struct of structs counts by its fields if
// verdicts has those.
func fieldsOf(of reflect.Type, prefix string) []string {
	var paths []string
	for i := range of.NumField() {
		f := of.Field(i)
		path, inner := prefix+f.Name, f.Type
		if inner.Kind() == reflect.Pointer {
			inner = inner.Elem()
		}
		if _, whole := verdicts[path]; !whole && inner.Kind() == reflect.Struct {
			paths = append(paths, fieldsOf(inner, path+".")...)
			continue
		}
		paths = append(paths, path)
	}
	return paths
}

// taskWith returns a task of the agent with one field set.
func taskWith(path string, value any) loop.Task {
	task := loop.Task{Prompt: "p", Agent: "a"}
	at := reflect.ValueOf(&task).Elem()
	for name := range strings.SplitSeq(path, ".") {
		at = at.FieldByName(name)
	}
	at.Set(reflect.ValueOf(value))
	return task
}

// Every field of a task has a verdict: a confined caller may narrow its agent with it, or it
// defines nothing of an agent. A new field fails this test until it has one.
func TestEveryFieldOfATask(t *testing.T) {
	paths := fieldsOf(reflect.TypeFor[loop.Task](), "")
	for path := range verdicts {
		if !slices.Contains(paths, path) {
			t.Errorf("a task has no field %s", path)
		}
	}
	f := newFixture(t, turns(), newTools(echo), bounded)
	start := func(task loop.Task, confined bool) tool.Kind {
		task.Confined = confined
		if _, err := f.StartRun(t.Context(), task); err != nil {
			return tool.KindOf(err)
		}
		return ""
	}
	for _, path := range paths {
		t.Run(path, func(t *testing.T) {
			v, known := verdicts[path]
			switch {
			case !known:
				t.Fatal("say in verdicts what a caller without the right runs.customize may do with the field, and let departure refuse the rest")
			case (v.leaves == nil) != (v.because != ""):
				t.Fatal("the verdict needs a value that leaves the agent, or the reason why there is none")
			case v.leaves == nil:
				return
			}
			if got := start(taskWith(path, v.leaves), true); got != tool.KindDenied {
				t.Errorf("%v: a confined caller gets %q", v.leaves, got)
			}
			if got := start(taskWith(path, v.leaves), false); got != "" {
				t.Errorf("%v: a caller with the right gets %q", v.leaves, got)
			}
			if v.stays == nil {
				return
			}
			if got := start(taskWith(path, v.stays), true); got != "" {
				t.Errorf("%v: a confined caller gets %q, although it narrows the agent", v.stays, got)
			}
		})
	}
}

// A delegate has the window of its own model, whatever window the run has that delegates.
func TestDelegatesHaveTheirOwnWindow(t *testing.T) {
	lead := turns(response(model.StopToolUse, newTask("a", `{"agent":"a","task":"work"}`)), response(model.StopEndTurn, text("done")))
	f := newFixture(t, turns(), newTools(echo), func(c *agent.Config) {
		bounded(c)
		c.Models["lead"] = agent.OfferedModel{Model: namedModel{lead, "fake:lead"}, Price: &model.Price{Input: 1}, Window: 70_000}
		c.Agents["lead"] = agent.NamedAgent{Models: []string{"lead"}, Delegates: []string{"a"}}
	})
	f.start(loop.Task{Agent: "lead", Confined: true})
	f.end()
	for e, err := range f.WatchRun(t.Context(), loop.SubRunID("r", "r.t1.c0"), 0) {
		if err != nil {
			t.Fatal(err)
		}
		if p, ok := e.Payload.(*loop.RunStarted); ok && p.Window.Tokens != 9000 {
			t.Errorf("the delegate has the window %+v", p.Window)
		}
	}
}
