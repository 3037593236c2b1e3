package host

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/toolhost/toolhost/internal/host/result"
	"github.com/toolhost/toolhost/tool"
)

// statistics counts the calls that have ended, by tool. Counts are exact, percentiles within 5
// percent. It is safe for concurrent use.
type statistics struct {
	mu    sync.Mutex
	tools map[string]*counters
}

type counters struct {
	stats   tool.Stats
	ran     uint64
	buckets map[int]uint64 // by the logarithm of the duration
}

// bucketStep is the ratio between the bounds of neighboring buckets. The middle of a bucket differs
// from every duration in it by less than 5 percent.
const bucketStep = 1.09

func newStatistics() *statistics { return &statistics{tools: map[string]*counters{}} }

// count adds a call that has ended. took is 0 if the tool did not run.
func (s *statistics) count(name, plugin string, outcome *tool.Outcome, took time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.tools[name]
	if c == nil {
		c = &counters{stats: tool.Stats{Tool: name, Failures: map[tool.Kind]uint64{}}, buckets: map[int]uint64{}}
		s.tools[name] = c
	}
	c.stats.Plugin = plugin
	c.stats.Calls++
	switch {
	case outcome.Err != nil:
		c.stats.Failures[outcome.Err.Kind]++
	case outcome.Result.IsError:
		c.stats.ToolErrors++
	default:
		c.stats.Succeeded++
	}
	c.stats.TotalCost += result.CostOf(outcome)
	if took > 0 {
		c.ran++
		c.stats.TotalDuration += took
		c.buckets[int(math.Floor(math.Log(float64(took))/math.Log(bucketStep)))]++
	}
}

// list returns the statistics of a plugin's tools, or of all tools if plugin is empty, ordered by
// tool.
func (s *statistics) list(plugin string) []tool.Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []tool.Stats{}
	for _, c := range s.tools {
		if plugin != "" && c.stats.Plugin != plugin {
			continue
		}
		stats := c.stats
		stats.Failures = maps.Clone(stats.Failures)
		if c.ran > 0 {
			stats.MeanDuration = stats.TotalDuration / time.Duration(c.ran)
			stats.P50, stats.P99 = c.percentile(.50), c.percentile(.99)
		}
		all = append(all, stats)
	}
	slices.SortFunc(all, func(a, b tool.Stats) int { return cmp.Compare(a.Tool, b.Tool) })
	return all
}

// percentile returns a duration that a share of the calls, such as .99, did not exceed.
func (c *counters) percentile(share float64) time.Duration {
	rank := uint64(math.Ceil(share * float64(c.ran)))
	seen := uint64(0)
	for _, bucket := range slices.Sorted(maps.Keys(c.buckets)) {
		if seen += c.buckets[bucket]; seen >= rank {
			return time.Duration(math.Pow(bucketStep, float64(bucket)+.5))
		}
	}
	return 0
}
