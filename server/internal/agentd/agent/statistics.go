package agent

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/identity"
	"github.com/toolhost/toolhost/server/internal/agentd/loop"
	"github.com/toolhost/toolhost/server/internal/logging/loglevel"
	"github.com/toolhost/toolhost/tool"
)

const (
	// statisticsSpan is how far statistics look back.
	statisticsSpan = 7 * 24 * time.Hour
	// statisticsAge is how long statistics are used again. Runs that start in this time have the same
	// descriptions, which the provider's cache then has.
	statisticsAge = 10 * time.Minute
	// statisticsWait bounds the time by which statistics delay the start of a run.
	statisticsWait = 2 * time.Second
	// mostScopes bounds the memory for the statistics of tenants.
	mostScopes = 1000
)

// statistics remembers the statistics of tools, by tenant. The zero value is empty. It is safe for
// concurrent use.
type statistics struct {
	mu     sync.Mutex
	scopes map[string]*scope
}

// scope is the statistics of one tenant, or of all.
type scope struct {
	read  time.Time
	tools map[string]loop.ToolStatistic // not changed
}

// statisticsFor returns the statistics for the descriptions of tools in a new run. Without them,
// the run goes on: they are a hint. A sub-run without an agent of its own has those of its parent.
func (a *Agent) statisticsFor(ctx context.Context, task *loop.Task, started *loop.RunStarted) map[string]loop.ToolStatistic {
	if task.Like != nil {
		return task.Like.Statistics
	}
	config := a.config()
	var tenants tool.Tenants
	key := "" // no tenant has an empty name
	switch cmp.Or(config.Agents[started.Agent].ToolStatistics, config.ToolStatistics, StatisticsNone) {
	case StatisticsTenant:
		key = identity.TenantOf(started.Principal)
		tenants = tool.Tenants{key}
	case StatisticsNone:
		return nil
	}
	if config.Statistics == nil {
		return nil
	}
	now := time.Now()
	if known := a.statistics.of(key); known != nil && now.Sub(known.read) < statisticsAge {
		return known.tools
	}
	ctx, cancel := context.WithTimeout(ctx, statisticsWait)
	defer cancel()
	list, err := config.Statistics(ctx, tool.StatsQuery{Since: now.Add(-statisticsSpan), Tenants: tenants})
	if err != nil {
		config.Log.With(loglevel.Key, loglevel.Tools).Warn("the statistics of tools are not known; the descriptions of tools lack them", "run", started.RunID, "error", err)
		list = nil // asked again later, so that a toolhost without an answer does not delay each run
	}
	return a.statistics.keep(key, now, list)
}

func (s *statistics) of(key string) *scope {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.scopes[key]
}

// keep remembers statistics, and returns those for a run.
func (s *statistics) keep(key string, now time.Time, list []tool.Stats) map[string]loop.ToolStatistic {
	slices.SortStableFunc(list, func(a, b tool.Stats) int { return cmp.Compare(b.Calls, a.Calls) })
	tools := make(map[string]loop.ToolStatistic)
	for i := range list {
		rounded, ok := loop.RoundStatistic(&list[i])
		// A tool that moved to another plugin has several entries, and the one with the most calls
		// counts.
		if _, seen := tools[list[i].Tool]; ok && !seen && len(tools) < loop.MostStatistics && tool.CheckName(list[i].Tool) == nil {
			tools[list[i].Tool] = rounded
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scopes == nil || len(s.scopes) >= mostScopes {
		s.scopes = make(map[string]*scope)
	}
	s.scopes[key] = &scope{now, tools}
	return tools
}
