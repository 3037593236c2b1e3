package agent_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// fakeSearch finds the tools whose name contains the words.
type fakeSearch struct {
	infos []tool.Info
	fail  error // of the first search

	mu      sync.Mutex
	queries []tool.Query
}

func (f *fakeSearch) SearchTools(_ context.Context, words string, query tool.Query) ([]tool.Match, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.queries = append(f.queries, query)
	if f.fail != nil && len(f.queries) == 1 {
		return nil, f.fail
	}
	var found []tool.Match
	for _, info := range f.infos {
		if strings.Contains(info.Spec.Name, words) {
			found = append(found, tool.Match{Info: info, Score: 1})
		}
	}
	return found, nil
}

func manyTools(names ...string) []tool.Info {
	infos := make([]tool.Info, 0, 10+len(names))
	for i := range 10 {
		infos = append(infos, tool.Info{Spec: tool.Spec{Name: fmt.Sprintf("tool%d", i), Description: "number " + fmt.Sprint(i), ReadOnly: true}})
	}
	for _, name := range names {
		infos = append(infos, tool.Info{Spec: tool.Spec{Name: name, Description: "a plugin's own"}, Plugin: "own"})
	}
	return infos
}

func offeredIn(req model.Request) []string {
	var names []string
	for _, t := range req.Tools {
		names = append(names, t.Name)
	}
	return names
}

func search(words string) model.Block {
	b := call("s", loop.SystemToolSearch)
	b.ToolCall.Arguments = `{"query":"` + words + `"}`
	return b
}

// A request lists a few of many tools. What a search finds is listed from then on, also after a
// restart, and can be called.
func TestToolSearch(t *testing.T) {
	infos := manyTools()
	for i := range infos {
		infos[i].Spec.Tags = []string{"a"}
	}
	infos[8].UnavailableReason = "it needs a key"
	finder := &fakeSearch{infos: infos, fail: tool.Errorf(tool.KindUnavailable, "not yet")}
	m := turns(response(model.StopToolUse, search("tool")), response(model.StopToolUse, call("x", "tool7")), response(model.StopEndTurn, text("done")),
		response(model.StopEndTurn, text("more")))
	tools := newTools(echo)
	tools.infos = infos
	configure := func(cfg *agent.Config) { cfg.Search, cfg.ToolRetry = finder, agent.Retry{Initial: 1, Max: 1} }
	finder.infos = []tool.Info{infos[7], infos[8]}
	f := newFixture(t, m, tools, configure)
	f.start(loop.Task{Tools: loop.ToolChoice{MaxTools: 3, Tags: []string{"a"}}})
	if end := f.end(); end.StopReason != loop.StopEndTurn || end.Calls != 1 {
		t.Fatalf("the run ends with %+v", end)
	}
	f.Close()
	f.open(configure)
	at, err := f.SendMessage(t.Context(), "r", "go on")
	if err != nil {
		t.Fatal(err)
	}
	f.watch(at)
	want := [][]string{
		{"tool0", "tool1", "tool2", "tool_search"}, {"tool0", "tool1", "tool7", "tool_search"},
		{"tool0", "tool1", "tool7", "tool_search"}, {"tool0", "tool1", "tool7", "tool_search"},
	}
	for i, req := range m.seen() {
		if got := offeredIn(req); !slices.Equal(got, want[i]) {
			t.Errorf("in turn %d the model is told of %q, want %q", i+1, got, want[i])
		}
	}
	told := results(m.seen()[1])[0]
	if !strings.Contains(told, "- tool7: number 7") || !strings.Contains(told, "- tool8: number 8 (It cannot be called now: it needs a key)") {
		t.Errorf("the model reads %q", told)
	}
	if q := finder.queries; len(q) != 2 || !slices.Equal(q[1].Tags, []string{"a"}) || q[1].Session != "r" || q[1].MaxTools != 5 {
		t.Errorf("asked for %+v", q)
	}
}

func TestToolSearchFails(t *testing.T) {
	finder := &fakeSearch{fail: tool.Errorf(tool.KindInvalidArgument, "no words")}
	bad := call("b", loop.SystemToolSearch)
	m := turns(response(model.StopToolUse, search("x"), bad), response(model.StopToolUse, search("nothing")), response(model.StopEndTurn, text("done")))
	tools := newTools(echo)
	tools.infos = manyTools()
	f := newFixture(t, m, tools, func(cfg *agent.Config) { cfg.Search, cfg.MaxTools = finder, 5 })
	f.start(loop.Task{})
	f.end()
	got := append(results(m.seen()[1]), results(m.seen()[2])...)
	for i, want := range []string{"[invalid_argument] no words", `[invalid_argument] The arguments must be {"query"`, "No tool was found."} {
		if !strings.HasPrefix(got[i], want) {
			t.Errorf("the model reads %q, want %q", got[i], want)
		}
	}
}

// Requests have at most the configured number of tools, in the order of preference.
func TestWhichToolsAreOffered(t *testing.T) {
	tests := []struct {
		name   string
		infos  []tool.Info
		choice loop.ToolChoice
		want   []string
	}{
		{"few enough", manyTools(), loop.ToolChoice{MaxTools: 10}, []string{"tool0", "tool1", "tool2", "tool3", "tool4", "tool5", "tool6", "tool7", "tool8", "tool9"}},
		{"named ones", manyTools(), loop.ToolChoice{MaxTools: 2, Names: []string{"tool9", "tool5"}}, []string{"tool5", "tool9"}},
		{"a plugin's search", manyTools("tool_search"), loop.ToolChoice{MaxTools: 2}, []string{"tool0", "tool_search"}},
		{"a plugin's task", manyTools("new_task"), loop.ToolChoice{MaxTools: 2}, []string{"new_task", "tool0", "tool_search"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := turns(response(model.StopEndTurn, text("done")))
			tools := newTools(echo)
			tools.infos = tt.infos
			f := newFixture(t, m, tools, func(cfg *agent.Config) {
				cfg.Search, cfg.SystemToolPlugins = &fakeSearch{}, map[string]string{"tool_search": "own", "new_task": "own"}
			})
			f.start(loop.Task{Tools: tt.choice})
			f.end()
			if got := offeredIn(m.seen()[0]); !slices.Equal(got, tt.want) {
				t.Errorf("the model is told of %q, want %q", got, tt.want)
			}
		})
	}
}

func TestBoundWithoutSearch(t *testing.T) {
	f := newFixture(t, turns(), newTools(echo), nil)
	_, err := f.StartRun(t.Context(), loop.Task{Prompt: "x", Tools: loop.ToolChoice{MaxTools: 3}})
	if tool.KindOf(err) != tool.KindInvalidArgument {
		t.Errorf("a bound that would hide tools is taken: %v", err)
	}
}

// The run's choice reaches toolhost as a query.
func TestToolChoiceIsAsked(t *testing.T) {
	dangerous, cost := false, 0.5
	m := turns(response(model.StopEndTurn, text("done")))
	tools := &listing{fakeTools: newTools(echo)}
	a, err := agent.New(agent.Config{Store: newFixture(t, m, newTools(echo), nil).store, Model: m, Tools: tools})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	id, err := a.StartRun(t.Context(), loop.Task{Prompt: "x", Tools: loop.ToolChoice{Categories: []string{"c"}, Dangerous: &dangerous, MaxCostPerUse: &cost}})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range a.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
	q := tools.query
	if len(q.Categories) != 1 || q.Dangerous == nil || *q.Dangerous || q.MaxCostPerUse == nil || *q.MaxCostPerUse != cost {
		t.Errorf("asked for %+v", q)
	}
}

type listing struct {
	*fakeTools
	query tool.Query
}

func (l *listing) ListTools(ctx context.Context, query tool.Query) ([]tool.Info, error) {
	l.query = query
	return l.fakeTools.ListTools(ctx, query)
}

// searched returns the names in the result of a search.
func searched(told string) []string {
	var names []string
	for line := range strings.Lines(told) {
		if name, _, ok := strings.Cut(strings.TrimPrefix(line, "- "), ": "); ok && strings.HasPrefix(line, "- ") {
			names = append(names, name)
		}
	}
	return names
}
