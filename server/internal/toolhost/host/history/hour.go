package history

import (
	"maps"
	"math"
	"slices"
	"time"

	"github.com/toolhost/toolhost/tool"
)

// Hour counts the calls of one tool that one tenant made and that ended in one hour. The zero value
// counts none.
type Hour struct {
	Start  time.Time `json:"-"` // the beginning of the hour, in UTC
	Tenant string    `json:"-"` // of the calls
	Tool   string    `json:"-"`
	Plugin string    `json:"-"`
	Counts
}

// Counts counts calls that have ended, and their durations. Counts of different times can be added.
// It is not safe for concurrent use.
type Counts struct {
	Calls      uint64               `json:"calls"`
	Succeeded  uint64               `json:"succeeded,omitempty"`   // with a result that is no error
	ToolErrors uint64               `json:"tool_errors,omitempty"` // with a result that is an error
	Failures   map[tool.Kind]uint64 `json:"failures,omitempty"`    // of the infrastructure
	Cost       float64              `json:"cost,omitempty"`        // in the unit of Spec.CostPerUse
	Ran        uint64               `json:"ran,omitempty"`         // calls that a plugin executed
	Duration   time.Duration        `json:"duration,omitempty"`    // of those that ran, in nanoseconds
	// Buckets has the number of durations by the logarithm of the duration in nanoseconds, to the
	// base bucketStep, rounded down.
	Buckets map[int]uint64 `json:"buckets,omitempty"`
}

// bucketStep is the ratio between the bounds of neighboring buckets. The middle of a bucket differs
// from every duration in it by less than 5 percent. Files contain numbers of buckets, so another
// step needs another layout of the file.
const bucketStep = 1.09

// Count adds a call that has ended, and what it cost. took is 0 if no plugin executed it.
func (c *Counts) Count(outcome *tool.Outcome, took time.Duration, cost float64) {
	c.Calls++
	switch {
	case outcome.Err != nil:
		if c.Failures == nil {
			c.Failures = map[tool.Kind]uint64{}
		}
		c.Failures[outcome.Err.Kind]++
	case outcome.Result.IsError:
		c.ToolErrors++
	default:
		c.Succeeded++
	}
	c.Cost += cost
	if took <= 0 {
		return
	}
	c.Ran++
	c.Duration += took
	if c.Buckets == nil {
		c.Buckets = map[int]uint64{}
	}
	c.Buckets[int(math.Floor(math.Log(float64(took))/math.Log(bucketStep)))]++
}

// Add adds the calls that other counted.
func (c *Counts) Add(other *Counts) {
	c.Calls += other.Calls
	c.Succeeded += other.Succeeded
	c.ToolErrors += other.ToolErrors
	c.Cost += other.Cost
	c.Ran += other.Ran
	c.Duration += other.Duration
	if c.Failures == nil && len(other.Failures) > 0 {
		c.Failures = make(map[tool.Kind]uint64, len(other.Failures))
	}
	for kind, n := range other.Failures {
		c.Failures[kind] += n
	}
	if c.Buckets == nil && len(other.Buckets) > 0 {
		c.Buckets = make(map[int]uint64, len(other.Buckets))
	}
	for bucket, n := range other.Buckets {
		c.Buckets[bucket] += n
	}
}

// Mean returns the mean duration of the calls that ran; 0 if none did.
func (c *Counts) Mean() time.Duration {
	if c.Ran == 0 {
		return 0
	}
	return c.Duration / time.Duration(c.Ran)
}

// Percentile returns a duration that a share of the calls that ran, such as .99, did not exceed,
// within 5 percent; 0 if none ran.
func (c *Counts) Percentile(share float64) time.Duration {
	rank := uint64(math.Ceil(share * float64(c.Ran)))
	seen := uint64(0)
	for _, bucket := range slices.Sorted(maps.Keys(c.Buckets)) {
		if seen += c.Buckets[bucket]; seen >= rank {
			return time.Duration(math.Pow(bucketStep, float64(bucket)+.5))
		}
	}
	return 0
}
