// Package statistics counts the calls that have ended, by tool and tenant: since the start, and by
// hour. It owns the counts in memory, and when they go to the history. It does not own the history
// itself, the calls that it counts, or who may see the counts of a tenant.
package statistics

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/server/internal/toolhost/host/history"
	"github.com/toolhost/toolhost/server/internal/toolhost/host/result"
	"github.com/toolhost/toolhost/tool"
)

// Statistics counts the calls that have ended, by tool and tenant: since it was made, and by hour
// for the history. It is safe for concurrent use.
type Statistics struct {
	history *history.Log // nil: none

	mu    sync.Mutex
	tools map[toolOfTenant]*toolCounts
}

type toolOfTenant struct{ tool, tenant string }

// toolCounts counts the calls of one tool that one tenant made.
type toolCounts struct {
	plugin string // of the last call
	total  history.Counts
	// hour has the calls that the history does not have yet. They ended in the hour that hour.Start
	// is in.
	hour history.Hour
}

// New returns statistics without calls. log gets the counts by hour; nil: none.
func New(log *history.Log) *Statistics {
	return &Statistics{history: log, tools: map[toolOfTenant]*toolCounts{}}
}

// Count adds a call of a tenant that has ended. took is 0 if the tool did not run. If the call is
// the first of its tool and tenant in a new hour, Count passes what it has of the hour before to
// the history.
func (s *Statistics) Count(name, tenant, plugin string, outcome *tool.Outcome, took time.Duration) {
	cost := result.CostOf(outcome)
	s.mu.Lock()
	defer s.mu.Unlock()
	key := toolOfTenant{name, tenant}
	c := s.tools[key]
	if c == nil {
		c = &toolCounts{}
		s.tools[key] = c
	}
	c.plugin = plugin
	c.total.Count(outcome, took, cost)
	if s.history == nil {
		return
	}
	now := time.Now()
	if c.hour.Plugin != plugin || now.Sub(c.hour.Start) >= time.Hour || now.Before(c.hour.Start) {
		c.flush(s.history)
		c.hour.Start, c.hour.Tool, c.hour.Tenant, c.hour.Plugin = now.UTC().Truncate(time.Hour), name, tenant, plugin
	}
	c.hour.Count(outcome, took, cost)
}

// Flush passes the counts of all tools to the history.
func (s *Statistics) Flush() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.tools {
		c.flush(s.history)
	}
}

// flushEvery is how long the history lacks the calls that have ended. It is what a kill of toolhost
// loses.
const flushEvery = 10 * time.Second

// FlushRegularly flushes every flushEvery, until ctx ends.
func (s *Statistics) FlushRegularly(ctx context.Context) {
	ticker := time.NewTicker(flushEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			s.Flush()
		case <-ctx.Done():
			return // the last Flush passes the rest
		}
	}
}

func (c *toolCounts) flush(log *history.Log) {
	if c.hour.Calls == 0 {
		return
	}
	hour := c.hour
	log.Append(history.Entry{Hour: &hour})
	c.hour.Counts = history.Counts{}
}

// List returns the statistics of a plugin's tools, or of all tools if plugin is empty, ordered by
// tool. They count the calls of the tenants only.
func (s *Statistics) List(plugin string, tenants tool.Tenants) []tool.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	sums := statSums{}
	for key, c := range s.tools {
		if (plugin == "" || c.plugin == plugin) && tenants.Contain(key.tenant) {
			sums.add(key.tool, c.plugin, &c.total)
		}
	}
	return sums.list()
}

// Since returns the statistics that a query selects, from the beginning of the hour that
// contains its time, ordered by tool and plugin. There must be a history.
func (s *Statistics) Since(ctx context.Context, q tool.StatsQuery) ([]tool.Stats, error) {
	s.Flush()
	hours, err := s.history.Hours(ctx, q.Since)
	if err != nil {
		return nil, tool.Errorf(tool.KindUnavailable, "%w", err)
	}
	sums := statSums{}
	if !q.Own {
		err := s.history.HoursElsewhere(ctx, q.Since, q.Plugin, q.Tenants, func(h *history.Hour) { sums.add(h.Tool, h.Plugin, &h.Counts) })
		if err != nil {
			return nil, tool.Errorf(tool.KindUnavailable, "%w", err)
		}
	}
	for i := range hours {
		if h := &hours[i]; (q.Plugin == "" || h.Plugin == q.Plugin) && q.Tenants.Contain(h.Tenant) {
			sums.add(h.Tool, h.Plugin, &h.Counts)
		}
	}
	return sums.list(), nil
}

// statSums adds the counts of tenants and hours, by tool and plugin.
type statSums map[[2]string]*history.Counts

func (s statSums) add(name, plugin string, counts *history.Counts) {
	key := [2]string{name, plugin}
	if s[key] == nil {
		s[key] = &history.Counts{}
	}
	s[key].Add(counts)
}

// list returns the sums, ordered by tool and plugin.
func (s statSums) list() []tool.Stats {
	all := []tool.Stats{}
	for key, sum := range s {
		all = append(all, statsOf(key[0], key[1], sum))
	}
	slices.SortFunc(all, func(a, b tool.Stats) int {
		return cmp.Or(cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.Plugin, b.Plugin))
	})
	return all
}

func statsOf(name, plugin string, c *history.Counts) tool.Stats {
	failures := maps.Clone(c.Failures)
	if failures == nil {
		failures = map[tool.Kind]uint64{}
	}
	needsApproval := failures[tool.KindApprovalRequired]
	delete(failures, tool.KindApprovalRequired)
	return tool.Stats{
		Tool: name, Plugin: plugin, Calls: c.Calls, Succeeded: c.Succeeded, ToolErrors: c.ToolErrors, NeedsApproval: needsApproval, Failures: failures,
		TotalCost: c.Cost, TotalDuration: c.Duration, MeanDuration: c.Mean(), P50: c.Percentile(.50), P99: c.Percentile(.99),
	}
}
