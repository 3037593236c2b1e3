package agent_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/toolhost/toolhost/server/internal/agentd/agent"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/agentd/model"
	"github.com/toolhost/toolhost/tool"
)

// pastCalls are statistics of the tool echo that change with each request.
type pastCalls struct {
	queries []tool.StatsQuery
	err     error
}

func (p *pastCalls) stats(_ context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	p.queries = append(p.queries, q)
	calls := uint64(237 + 100*len(p.queries))
	return []tool.Stats{
		{Tool: "echo", Plugin: "old", Calls: 30, Succeeded: 30},
		{Tool: "echo", Plugin: "p", Calls: calls, Succeeded: calls - 10, ToolErrors: 6, Failures: map[tool.Kind]uint64{tool.KindTimeout: 4}, P50: 1300 * time.Millisecond},
		{Tool: "serial", Plugin: "p", Calls: 19, Succeeded: 19}, {Tool: "not a name\n", Calls: 100, Succeeded: 100},
	}, p.err
}

// descriptionOf returns the description of a tool in a request.
func descriptionOf(t *testing.T, req model.Request, name string) string {
	t.Helper()
	for _, offered := range req.Tools {
		if offered.Name == name {
			return offered.Description
		}
	}
	t.Fatalf("the request has no tool %s", name)
	return ""
}

// The descriptions of tools have the statistics of the run's tenant. They stay the same during a
// run, also after a restart, and for a while for other runs.
func TestToolStatistics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		past := &pastCalls{}
		config := func(c *agent.Config) { c.ToolStatistics, c.Statistics = agent.StatisticsTenant, past.stats }
		m := turns(response(model.StopToolUse, call("a", "echo")), response(model.StopEndTurn, text("one")), response(model.StopEndTurn, text("two")))
		f := newFixture(t, m, newTools(echo), config)
		f.start(loop.Task{Principal: "red/ada"})
		f.watchRun(t, "red/r")
		f.Close()
		time.Sleep(time.Hour)
		f.open(config)
		if _, err := f.SendMessage(t.Context(), "red/r", "again"); err != nil {
			t.Fatal(err)
		}
		f.watchRun(t, "red/r")
		for range 2 {
			if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "p", Principal: "blue/bob"}); err != nil {
				t.Fatal(err)
			}
		}
		want := []tool.StatsQuery{
			{Since: past.queries[0].Since, Tenants: tool.Tenants{"red"}}, {Since: past.queries[0].Since.Add(time.Hour), Tenants: tool.Tenants{"blue"}},
		}
		if diff := cmp.Diff(want, past.queries); diff != "" {
			t.Errorf("the queries (-want +got):\n%s", diff)
		}
		synctest.Wait()
		for i, req := range m.seen()[:3] {
			if got, want := descriptionOf(t, req, "echo"), "Of at least 300 past calls, up to 5 % failed. A call typically takes up to 2s."; got != want {
				t.Errorf("request %d has %q, want %q", i, got, want)
			}
			if got := descriptionOf(t, req, "serial"); got != "" {
				t.Errorf("a tool with few calls has %q", got)
			}
		}
		if got := descriptionOf(t, m.seen()[3], "echo"); !strings.Contains(got, "at least 400 past calls") {
			t.Errorf("a later run has %q", got)
		}
	})
}

// An agent has its own setting. Without an answer of toolhost the run starts all the same, and the
// next one does not wait again.
func TestToolStatisticsThatAreNotKnown(t *testing.T) {
	past := &pastCalls{err: errors.New("no right")}
	small := turns(response(model.StopEndTurn, text("fine")))
	f := newFixture(t, turns(), newTools(echo), func(c *agent.Config) {
		reviewing(t, namedModel{turns(response(model.StopEndTurn, text("fine"))), "fake:big"}, namedModel{small, "fake:small"})(c)
		reviewer := c.Agents["reviewer"]
		reviewer.ToolStatistics = agent.StatisticsAll
		c.Agents["reviewer"], c.Statistics = reviewer, past.stats
	})
	for _, name := range []string{"reviewer", "reviewer", "lead"} {
		if _, err := f.StartRun(t.Context(), loop.Task{Prompt: "p", Agent: name, Context: team}); err != nil {
			t.Fatal(err)
		}
	}
	if len(past.queries) != 1 || past.queries[0].Tenants != nil {
		t.Errorf("the queries are %+v", past.queries)
	}
}

func (f *fixture) watchRun(t *testing.T, id string) {
	t.Helper()
	for _, err := range f.WatchRun(t.Context(), id, 0) {
		if err != nil {
			t.Fatal(err)
		}
	}
}
