package loop

import (
	"fmt"
	"strings"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// ToolStatistic is what the model reads about the past calls of a tool. The numbers are rounded, so
// that the description of a tool seldom differs between runs: providers cache requests by their
// beginning.
type ToolStatistic struct {
	Calls   uint64 `json:"calls"`                     // at least so many, rounded down
	Failed  int    `json:"failed_percent"`            // rounded up; 0: less than 1 percent
	Typical int64  `json:"typical_seconds,omitempty"` // the median, rounded up; 0: unknown
}

const (
	// leastCalls is how many calls a statistic needs. With fewer, a share of failures means little.
	leastCalls = 20
	// MostStatistics is how many tools of a run have a statistic: those with the most calls.
	MostStatistics = 500
)

// RoundStatistic returns what the model reads about a tool. ok is false if there are too few calls.
// Calls that the tool never got, such as denied ones, and cancelled ones do not count.
func RoundStatistic(s *tool.Stats) (r ToolStatistic, ok bool) {
	failed := s.ToolErrors
	for kind, n := range s.Failures {
		switch kind {
		case tool.KindTimeout, tool.KindCrashed, tool.KindOutcomeUnknown, tool.KindInternal, tool.KindUnavailable:
			failed += n
		}
	}
	calls := s.Succeeded + failed
	if calls < leastCalls {
		return r, false
	}
	for r.Calls = 1; r.Calls <= calls/10; {
		r.Calls *= 10
	}
	r.Calls *= calls / r.Calls // one digit
	if share := float64(failed) / float64(calls) * 100; share >= 1 {
		r.Failed = int(roundUp(share, 2, 5, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100))
	}
	if s.P50 > 0 {
		r.Typical = roundUp(s.P50.Seconds(), 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600)
	}
	return r, true
}

// roundUp returns the first step that is at least n, or the last one.
func roundUp(n float64, steps ...int64) int64 {
	for _, step := range steps {
		if n <= float64(step) {
			return step
		}
	}
	return steps[len(steps)-1]
}

// Described returns the description of a tool as the model of the run reads it.
func (r *RunStarted) Described(name, description string) string {
	s, ok := r.Statistics[name]
	if !ok {
		return description
	}
	share := "fewer than 1 %"
	if s.Failed > 0 {
		share = fmt.Sprintf("up to %d %%", s.Failed)
	}
	words := fmt.Sprintf("Of at least %d past calls, %s failed.", s.Calls, share)
	if s.Typical > 0 {
		words += fmt.Sprintf(" A call typically takes up to %s.", time.Duration(s.Typical)*time.Second)
	}
	return strings.TrimSpace(description + "\n\n" + words)
}
