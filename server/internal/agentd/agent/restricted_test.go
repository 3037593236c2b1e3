package agent_test

import (
	"slices"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// kinds are tools that differ in everything that a choice can select. The fake toolhost ignores the
// query, as an old one ignores the fields that it does not know.
func kinds() []tool.Info {
	return []tool.Info{
		{Plugin: "fs", Spec: tool.Spec{Name: "dear", Category: "files", Tags: []string{"read"}, CostPerUse: 5, ReadOnly: true}},
		{Plugin: "fs", Spec: tool.Spec{Name: "read", Category: "files", Tags: []string{"read"}, CostPerUse: 1, ReadOnly: true}},
		{Plugin: "sh", Spec: tool.Spec{Name: "run", Category: "shell", Tags: []string{"write"}, Dangerous: true}},
		{Plugin: "fs", Spec: tool.Spec{Name: "write", Category: "files", Tags: []string{"read", "write"}, CostPerUse: 1}},
	}
}

// The choices of a caller and of an agent, and the tools that both select.
var choices = map[string]struct {
	caller, agent loop.ToolChoice
	want          []string
}{
	"nothing":             {loop.ToolChoice{}, loop.ToolChoice{}, []string{"dear", "read", "run", "write"}},
	"excluded":            {loop.ToolChoice{Excluded: []string{"run"}}, loop.ToolChoice{Excluded: []string{"dear"}}, []string{"read", "write"}},
	"plugins":             {loop.ToolChoice{Plugins: []string{"fs"}}, loop.ToolChoice{}, []string{"dear", "read", "write"}},
	"plugins of both":     {loop.ToolChoice{Plugins: []string{"fs"}}, loop.ToolChoice{Plugins: []string{"sh"}}, nil},
	"dangerous":           {loop.ToolChoice{Dangerous: new(false)}, loop.ToolChoice{}, []string{"dear", "read", "write"}},
	"dangerous or not":    {loop.ToolChoice{Dangerous: new(false)}, loop.ToolChoice{Dangerous: new(true)}, nil},
	"a lower cost":        {loop.ToolChoice{MaxCostPerUse: new(2.0)}, loop.ToolChoice{MaxCostPerUse: new(9.0)}, []string{"read", "run", "write"}},
	"a higher cost":       {loop.ToolChoice{MaxCostPerUse: new(9.0)}, loop.ToolChoice{MaxCostPerUse: new(0.0)}, []string{"run"}},
	"names":               {loop.ToolChoice{Names: []string{"read", "run"}}, loop.ToolChoice{Names: []string{"run", "write"}}, []string{"run"}},
	"names of the caller": {loop.ToolChoice{Names: []string{"read"}}, loop.ToolChoice{}, []string{"read"}},
	"no common name":      {loop.ToolChoice{Names: []string{"read"}}, loop.ToolChoice{Names: []string{"run"}}, nil},
	"categories":          {loop.ToolChoice{Categories: []string{"files"}}, loop.ToolChoice{Tags: []string{"write"}}, []string{"write"}},
	"tags of both":        {loop.ToolChoice{Tags: []string{"read"}}, loop.ToolChoice{Tags: []string{"write"}}, []string{"write"}},
}

// toolsOf returns the tools of toolhost in a request.
func toolsOf(req model.Request) []string {
	return slices.DeleteFunc(offeredIn(req), loop.IsSystemTool)
}

// What the caller of a run says about its tools applies to the delegates of the run at every depth,
// together with what their agents say.
func TestDelegatesKeepTheRestrictionsOfTheCaller(t *testing.T) {
	for name, test := range choices {
		t.Run(name, func(t *testing.T) {
			below := turns(response(model.StopToolUse, call("a", "dear"), call("b", "read"), call("c", "run"), call("d", "write")), response(model.StopEndTurn, text("done")))
			middle := turns(response(model.StopToolUse, newTask("w", `{"agent":"writer","task":"write"}`)), response(model.StopEndTurn, text("done")))
			lead := turns(response(model.StopToolUse, newTask("m", `{"agent":"middle","task":"go on"}`)), response(model.StopEndTurn, text("done")))
			tools := newTools(echo)
			tools.infos = kinds()
			f := newFixture(t, turns(), tools, func(c *agent.Config) {
				c.Models = map[string]agent.OfferedModel{
					"lead": {Model: namedModel{lead, "fake:lead"}}, "middle": {Model: namedModel{middle, "fake:middle"}}, "below": {Model: namedModel{below, "fake:below"}},
				}
				c.Agents = map[string]agent.NamedAgent{
					"lead":   {Models: []string{"lead"}, Delegates: []string{"middle"}},
					"middle": {Models: []string{"middle"}, Delegates: []string{"writer"}},
					"writer": {Models: []string{"below"}, Tools: test.agent},
				}
			})
			f.start(loop.Task{Agent: "lead", Tools: test.caller, Confined: true})
			if end := f.end(); end.Text != "done" {
				t.Fatalf("the run ended with %+v", end)
			}
			if len(below.seen()) != 2 {
				t.Fatalf("the delegate of the delegate made %d requests", len(below.seen()))
			}
			if got := toolsOf(below.seen()[0]); !slices.Equal(got, test.want) {
				t.Errorf("the delegate is told of %q, want %q", got, test.want)
			}
			if n := len(tools.executions()); n != len(test.want) {
				t.Errorf("%d of its calls were made, want those of %q", n, test.want)
			}
		})
	}
}

// The system tools that the caller of a run permits bound those of its delegates at every depth,
// also in a process that continues the run. Delegation itself follows from the agent and the levels
// of sub-runs.
func TestDelegatesKeepTheSystemToolsOfTheCaller(t *testing.T) {
	agents := []string{loop.SystemAskUser, loop.SystemCompact}
	for name, test := range map[string]struct{ caller, want []string }{
		"unset":      {nil, agents},
		"none":       {[]string{}, nil},
		"one":        {[]string{loop.SystemCompact}, []string{loop.SystemCompact}},
		"no common":  {[]string{loop.SystemAttemptCompletion}, nil},
		"more":       {[]string{loop.SystemAskUser, loop.SystemAttemptCompletion, loop.SystemCompact}, agents},
		"delegating": {[]string{loop.SystemNewTask}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			below := turns(response(model.StopToolUse, call("a", loop.SystemCompact)), response(model.StopEndTurn, text("done")))
			middle := turns(response(model.StopToolUse, newTask("w", `{"agent":"writer","task":"write"}`)), response(model.StopEndTurn, text("done")))
			lead := turns(response(model.StopToolUse, newTask("m", `{"agent":"middle","task":"go on"}`)), response(model.StopEndTurn, text("done")))
			f := newFixture(t, turns(), newTools(echo), func(c *agent.Config) {
				withPeople(c)
				c.Models = map[string]agent.OfferedModel{
					"lead": {Model: namedModel{lead, "fake:lead"}}, "middle": {Model: namedModel{middle, "fake:middle"}}, "below": {Model: namedModel{below, "fake:below"}},
				}
				c.Agents = map[string]agent.NamedAgent{
					"lead":   {Models: []string{"lead"}, SystemTools: loop.SystemTools(), Delegates: []string{"middle"}},
					"middle": {Models: []string{"middle"}, SystemTools: []string{}, Delegates: []string{"writer"}},
					"writer": {Models: []string{"below"}, SystemTools: agents},
				}
			})
			f.start(loop.Task{Agent: "lead", SystemTools: test.caller, Confined: true})
			if end := f.end(); end.Text != "done" {
				t.Fatalf("the run ended with %+v", end)
			}
			if got := slices.DeleteFunc(offeredIn(below.seen()[0]), func(name string) bool { return !loop.IsSystemTool(name) }); !slices.Equal(got, test.want) {
				t.Errorf("the delegate of the delegate has the system tools %q, want %q", got, test.want)
			}
			if got := offeredIn(middle.seen()[0]); !slices.Contains(got, loop.SystemNewTask) {
				t.Errorf("the delegate cannot delegate: it has %q", got)
			}
		})
	}
}

// A part of the same agent's work keeps the restrictions too, also when it delegates.
func TestSubRunsKeepTheRestrictionsOfTheCaller(t *testing.T) {
	m := delegating(func(n int, _ model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, newTask("a", `{"task":"one","tools":["read","run"]}`))
		}
		return response(model.StopEndTurn, text("done"))
	}, func(n int, _ model.Request) *model.Response {
		if n == 0 {
			return response(model.StopToolUse, call("b", "read"), call("c", "run"))
		}
		return response(model.StopEndTurn, text("done"))
	})
	tools := newTools(echo)
	tools.infos = kinds()
	f := newFixture(t, m, tools, withSystem)
	f.start(loop.Task{Tools: loop.ToolChoice{Excluded: []string{"run"}}})
	f.end()
	sub := m.seen()[1]
	if got := toolsOf(sub); firstText(sub) != "one" || !slices.Equal(got, []string{"read"}) {
		t.Errorf("the sub-run %q is told of %q", firstText(sub), got)
	}
}

// agentd applies the choice of tools itself: an old toolhost ignores fields of a query that it does
// not know. A call of another tool is refused, also one that a search has found.
func TestToolsOutsideOfTheChoice(t *testing.T) {
	for name, test := range map[string]struct {
		choice loop.ToolChoice
		want   []string
	}{
		"excluded":   {loop.ToolChoice{Excluded: []string{"run", "dear"}}, []string{"read", "write"}},
		"plugins":    {loop.ToolChoice{Plugins: []string{"fs"}}, []string{"dear", "read", "write"}},
		"no plugin":  {loop.ToolChoice{Plugins: []string{"web"}}, nil},
		"names":      {loop.ToolChoice{Names: []string{"read", "run"}}, []string{"read", "run"}},
		"categories": {loop.ToolChoice{Categories: []string{"files"}}, []string{"dear", "read", "write"}},
		"tags":       {loop.ToolChoice{Tags: []string{"write"}}, []string{"run", "write"}},
		"dangerous":  {loop.ToolChoice{Dangerous: new(true)}, []string{"run"}},
		"cost":       {loop.ToolChoice{MaxCostPerUse: new(1.0)}, []string{"read", "run", "write"}},
	} {
		t.Run(name, func(t *testing.T) {
			m := turns(response(model.StopToolUse, search("r")),
				response(model.StopToolUse, call("a", "dear"), call("b", "read"), call("c", "run"), call("d", "write")), response(model.StopEndTurn, text("done")))
			tools := newTools(echo)
			tools.infos = kinds()
			f := newFixture(t, m, tools, func(c *agent.Config) {
				c.Search, c.MaxTools = &fakeSearch{infos: tools.infos}, 1
				c.Agents = map[string]agent.NamedAgent{"a": {Tools: test.choice}}
			})
			f.start(loop.Task{Agent: "a"})
			f.end()
			if len(m.seen()) != 3 {
				t.Fatalf("%d requests", len(m.seen()))
			}
			if n := len(tools.executions()); n != len(test.want) {
				t.Errorf("%d calls were made, want those of %q", n, test.want)
			}
			if told := results(m.seen()[1])[0]; len(test.want) > 1 && !slices.Equal(searched(told), test.want) {
				t.Errorf("a search finds %q, want %q; the model reads %q", searched(told), test.want, told)
			}
		})
	}
}
